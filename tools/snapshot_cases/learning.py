# SPDX-License-Identifier: BSD-3-Clause
"""Scaling, selection, the learners, models in files, errors of the kernel, and searches."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path

import numpy as np
from scipy import sparse

from snapshot_cases import blobs, d2ke, exact, rounded, some_digits


@cache
def features(n=60, dim=5):
    """Return features of overlapping classes with their labels of text, and numbers to fit."""
    X, y = blobs(n, dim)
    rng = np.random.default_rng(90)
    Z = X + rng.standard_normal(X.shape)
    return (
        Z,
        np.array(["north", "east", "south"])[y],
        (X * np.arange(dim)).sum(axis=1) + rng.standard_normal(n),
    )


@rounded("Scaling", 1e-12)
def scaling(folder: Path):
    Z, _, _ = features()
    Z = np.c_[Z, np.full(len(Z), 0.25)]
    d2ke.io.save_features(folder / "Z.h5", Z)
    made = []
    for kind in ("standard", "center", "none"):
        one = d2ke.Scaling.fit(Z, kind)
        stored = d2ke.Scaling.fit(folder / "Z.h5", kind)
        made += [one, one.apply(Z), stored, d2ke.Scaling.of_moments(Z[0], Z[1], kind)]
        labels = np.arange(len(Z)) % 2
        made += [d2ke.train_least_squares(labels, stored.apply(folder / "Z.h5"), 2.0)]
    return made


@rounded("Scaling/float32", 1e-6)
def scaling_float32():
    Z = features()[0].astype(np.float32)
    return [d2ke.Scaling.fit(Z, kind).apply(Z) for kind in ("standard", "center", "none")]


@rounded("select_features", 1e-10)
def select_features():
    Z, y, _ = features(60, 12)
    made = []
    for one in (Z, Z.astype(np.float32)):
        for given in ({}, {"rho": 5.0}, {"centre": False}, {"keep": "sample", "seed": 3}):
            chosen = d2ke.select_features(one, y, 5, **given)
            made += [chosen, chosen.apply(Z)]
    return made


SOLVERS = (0, 1, 2, 3, 4, 5, 6, 7)


def train(n_classes):
    """Train with every solver; LIBLINEAR has loops of its own."""
    Z, y, target = features()
    kept = np.isin(y, np.unique(y)[:n_classes])
    Z, y = Z[kept], y[kept]
    numbers = np.unique(y, return_inverse=True)[1] * 3 - 2
    made = {}
    for solver in SOLVERS:
        for more in ("", " -B 1", " -c 10 -e 0.001"):
            options = f"-s {solver}{more} -q"
            made[options] = d2ke.train(y, Z, options, n_threads=2, seed=1)
        if solver in (0, 2, 5, 6):
            made[f"{solver} -R"] = d2ke.train(y, Z, f"-s {solver} -B 1 -R -q")
        made[f"{solver} weights"] = d2ke.train(
            y, Z, f"-s {solver}", class_weight={y[0]: 5.0, y[1]: 0.5}
        )
    for solver in (11, 12, 13):
        made[f"-s {solver}"] = d2ke.train(target[kept], Z, f"-s {solver} -p 0.01 -B 1 -q")
    made["-w"] = d2ke.train(numbers, Z, "-s 2 -w-2 7 -w1 0.5 -q")
    made["sparse"] = d2ke.train(y, sparse.csr_array(np.where(Z > 1, Z, 0)), "-s 2 -B 1 -q")
    made["float32"] = d2ke.train(y, Z.astype(np.float32), "-s 2 -q")
    made["defaults"] = d2ke.train(y, Z)
    return made


for _n in (2, 3):
    exact(f"train/{_n} classes", _n)(train)


@exact("train/store")
def train_on_a_store(folder: Path):
    Z, y, _ = features()
    d2ke.io.save_features(folder / "Z.h5", Z)
    with d2ke.io.open_features(folder / "Z.h5") as store:
        return [d2ke.train(y, one, "-s 2 -B 1 -q") for one in (folder / "Z.h5", store)]


def train_block(dtype, folder):
    """Train by the block solver on an array and on a store, of three classes and of two."""
    Z, y, _ = features()
    Z, two = Z.astype(dtype), y != "east"
    d2ke.io.save_features(folder / "Z.h5", Z)
    return [
        d2ke.train(labels, one, options, solver="block", n_threads=2, **given)
        for labels, one in ((y, Z), (y, folder / "Z.h5"), (y[two], Z[two]))
        for options in ("-s 2 -e 0.0001 -q", "-s 2 -B 1 -c 10 -e 0.0001")
        for given in ({}, {"class_weight": {"north": 3.0}})
    ]


# Steps are as many as the tolerance wants, so that rounding of the last one shows.
rounded("train/block", 1e-6, np.float64)(train_block)
rounded("train/block float32", 1e-4, np.float32)(train_block)


@rounded("predict", 1e-10)
def predict():
    Z, y, target = features()
    made = []
    for options in ("-s 0 -B 1", "-s 2", "-s 4", "-s 7"):
        model = d2ke.train(y[::2], Z[::2], options)
        assert isinstance(model, d2ke.LinearModel)
        made += [model.n_features, d2ke.predict(y, Z, model), d2ke.predict(None, Z[:3], model)]
        made += [d2ke.predict(y, sparse.csr_array(Z), model)]
        if options in ("-s 0 -B 1", "-s 7"):
            made += [d2ke.predict(y, Z, model, probability=True)]
    model = d2ke.train(target, Z, "-s 11 -B 1")
    two = y != "east"
    binary = d2ke.train(y[two], Z[two], "-s 2")
    return [*made, d2ke.predict(target, Z, model), d2ke.predict(y[two], Z[two], binary)]


def _kernels(X):
    return {"-t 0": X, "-t 1 -d 2 -g 0.2 -r 1": X, "-t 2 -g 0.1": X, "-t 3 -g 0.01": X,
            "-t 4": np.exp(-0.05 * ((X[:, None] - X) ** 2).sum(axis=2))}  # fmt: skip


@exact("svmtrain")
def svmtrain():
    X, y, target = features()
    made = {}
    for kernel, K in _kernels(X).items():
        for options in ("-s 0 -c 1", "-s 0 -c 20 -h 0", "-s 1 -n 0.3"):
            made[f"{kernel} {options}"] = d2ke.svmtrain(y, K, f"{kernel} {options} -q")
        for options in ("-s 3 -p 0.1 -c 5", "-s 4 -n 0.4"):
            made[f"{kernel} {options}"] = d2ke.svmtrain(target, K, f"{kernel} {options} -q")
        made[f"{kernel} weights"] = d2ke.svmtrain(y, K, kernel, class_weight={"east": 4.0})
    made["default"] = d2ke.svmtrain(y, K)
    made["sparse"] = d2ke.svmtrain(y, sparse.csr_array(np.where(X > 0, X, 0)), "-t 2 -g 0.1")
    return made


@rounded("svmpredict", 1e-9)
def svmpredict():
    X, y, target = features()
    made = {}
    for kernel, K in _kernels(X).items():
        new = K[:20]
        model = d2ke.svmtrain(y, K, f"{kernel} -c 1")
        assert isinstance(model, d2ke.SVMModel)
        made[kernel] = [d2ke.svmpredict(y[:20], new, model), d2ke.svmpredict(None, new, model)]
        model = d2ke.svmtrain(target, K, f"{kernel} -s 3")
        made[f"{kernel} -s 3"] = d2ke.svmpredict(target[:20], new, model)
    return made


@rounded("train_least_squares", 1e-9)
def train_least_squares(folder: Path):
    Z, y, _ = features()
    wide = np.random.default_rng(91).standard_normal((len(Z), 90)) + (y == "east")[:, None]
    d2ke.io.save_features(folder / "Z.h5", Z)
    return [
        d2ke.train_least_squares(y, one, C, n_threads=n)
        for one in (Z, wide, folder / "Z.h5")
        for C in (0.1, 10.0)
        for n in (1, 2, None)
    ] + [d2ke.train_least_squares(y == "east", Z)]


@rounded("train_classifier", 1e-6)
def train_classifier():
    Z, y, _ = features()
    models = [
        d2ke.train_classifier(y, Z, loss=loss, C=C)
        for loss in ("squared", "squared_hinge")
        for C in (0.3, 30.0)
    ]
    return [models, [d2ke.predict(y, Z, model)[:2] for model in models]]


@exact("knn_predict")
def knn_predict():
    rng = np.random.default_rng(92)
    D = rng.integers(0, 9, size=(30, 20)) / 4.0
    return [
        d2ke.knn_predict(one, y, k)
        for one in (D, D.astype(np.float32))
        for y in (np.arange(20) % 3, list("abcdabcdabcdabcdabcd"))
        for k in (1, 2, 3, 7, 20)
    ]


@exact("models in files")
def models(folder: Path):
    Z, y, target = features()
    text = sparse.csr_array(np.where(Z > 0, Z, 0))
    trained = [
        d2ke.train(y, Z, "-s 2 -B 1"), d2ke.train(target, Z, "-s 11"),
        d2ke.svmtrain(y, Z, "-t 2 -g 0.1"), d2ke.svmtrain(y, text, "-t 0"),
        d2ke.svmtrain(target, Z, "-s 3 -t 1"), d2ke.svmtrain(y, Z @ np.eye(5) @ Z.T),
    ]  # fmt: skip
    made = []
    for i, model in enumerate(trained[:5]):
        d2ke.save_model(folder / f"{i}.npz", model)
        made.append(d2ke.load_model(folder / f"{i}.npz"))
        with np.load(folder / f"{i}.npz", allow_pickle=False) as parts:
            made.append({name: parts[name] for name in sorted(parts.files)})
    return made


@exact("guarantees")
def guarantees():
    return [
        d2ke.effective_dimension("strings", length=60, alphabet_size=4),
        d2ke.effective_dimension("multisets", length=10, n_elements=1000),
        d2ke.features_needed(0.1, 0.05, 80.0, gamma=0.1),
        d2ke.features_needed(0.5, 0.2, 10.0, gamma=2.0),
    ]


@rounded("kernel_error", 1e-7)
def kernel_error():
    X = ["ACGT", "AGGT", "TTTT", "", "CATTAC"]
    omega = d2ke.random_strings(1000, "ACGT", length=(2, 8), seed=0)
    Z = d2ke.d2ke_embed(X, omega[:200], distance="levenshtein", gamma=0.5)
    many = d2ke.d2ke_embed(X, omega[200:], distance="levenshtein", gamma=0.5)
    return [
        d2ke.kernel_error(Z, features=many),
        d2ke.kernel_error(Z, gram=many @ many.T, sizes=[5, 50, 200], max_blocks=3, n_threads=2),
        d2ke.kernel_error(Z.astype(np.float32), features=many, sizes=[20]),
        d2ke.kernel_standard_error(Z),
        d2ke.kernel_standard_error(Z, Z[:2]),
    ]


def _told(found):
    """Return what a search has found, without times and places."""
    places = "seconds", "folder", "checkpoint"
    kept = {key: one for key, one in found.info.items() if key not in places}
    return [found.parameters, found.accuracy, found.tried, kept, str(found)]


SEARCHES = {
    "d2ke": {"grid": {"length": [(2, 10), (10, 40)], "R": [32, 64]}},
    "rsm": {"grid": {"R": [64], "scaling": ["standard", "center", "none"], "C": [0.1, 1.0, 10.0]}},
    "knn": {},
    "dsk_rbf": {},
    "dsk_nd": {"grid": {"beta": [1.0, 2.0]}},
    "gdk_led": {"grid": {"R": [4, 16, 40], "C_scale": [0.1, 1.0, 10.0]}},
}


def search(method, name):
    """Search on strings of a data set."""
    if name == "digits":
        X, y = some_digits(200)
        chosen = np.isin(y, [0, 1, 4, 6, 7])
        X, y = X[chosen], y[chosen]
    else:
        data = d2ke.datasets.load("splice")
        X, y = data.objects[::30], data.labels[::30]
    given = {"n_folds": 4, "seed": 3, "distance": "levenshtein", **SEARCHES[method]}
    if method == "d2ke":
        letters = "".join(chr(one) for one in X.alphabet)
        given["sampler"] = partial(d2ke.random_strings, alphabet=letters)
    found = d2ke.search(X, y, method, **given)
    assert isinstance(found, d2ke.Search)
    made = _told(found)
    if method not in ("d2ke", "rsm"):
        D = d2ke.distance_matrix(X, None, "levenshtein")
        made += _told(d2ke.search(None, y, method, within=D, **given))
    return made


for _method in SEARCHES:
    rounded(f"search/digits/{_method}", 1e-8, _method, "digits")(search)
    rounded(f"search/splice/{_method}", 1e-8, _method, "splice", needs_data=True)(search)


class _LengthGap:
    """A distance of the user's own, whose text has no address."""

    def __call__(self, x, y):
        return abs(len(x) - len(y))

    def __repr__(self):
        return "length gap"


@rounded("search/series and sets", 1e-8)
def search_vectors():
    X, y = some_digits(60, "digits-points")
    y = y % 3
    sampler = partial(d2ke.random_sets, dim=2, region="box", low=0.0, high=8.0)
    grid = {"size": [(1, 5)], "R": [32], "gamma": [0.3, 1.0], "C": [1.0, 10.0]}
    given = {"distance": "dtw", "n_folds": 3, "window": 5}
    return [
        _told(d2ke.search(X, y, distance="mhd", sampler=sampler, grid=grid, n_folds=3)),
        _told(d2ke.search(X, y, "knn", grid={"k": [1, 3]}, **given)),
        _told(d2ke.search(list(X), y, "knn", distance=_LengthGap(),
                          grid={"k": [1, 2]}, n_folds=3)),
    ]  # fmt: skip


@rounded("search/folder, save and load", 1e-8)
def search_in_a_folder(folder: Path):
    X, y = some_digits(60)
    given = {
        "distance": "levenshtein", "n_folds": 3, "checkpoint": folder / "searched",
        "sampler": partial(d2ke.random_strings, alphabet="01234567"),
        "grid": {"length": [(2, 6), (4, 9)], "R": [16], "C": [1.0]},
    }  # fmt: skip
    found = d2ke.search(X, y, **given)
    made = [_told(found), _told(d2ke.search(X, y, **given))]
    made += [sorted(path.name for path in (folder / "searched").iterdir())]
    for suffix in ("json", "h5"):
        found.save(folder / f"search.{suffix}")
        loaded = d2ke.load_search(folder / f"search.{suffix}")
        made += [_told(loaded), loaded == found]
    knn = d2ke.Search.best_of([({"k": 1}, 70.0), ({"k": 3}, 72.5)], info={"method": "knn"})
    panels = [panel.get_xlabel() for panel in knn.plot().axes]
    return [*made, _told(knn), panels]
