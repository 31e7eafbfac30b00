# SPDX-License-Identifier: BSD-3-Clause
"""MATLAB's names: random streams, learners, Random Warping Series, Word Mover's Embedding."""

from __future__ import annotations

import contextlib
from io import StringIO
from pathlib import Path

import numpy as np
from scipy import sparse

from snapshot_cases import blobs, clouds, d2ke, exact, matlab_compat, rounded


@exact("matlab/random")
def random():
    made = []
    for seed in (0, 1, 5489, 2**32 - 1):
        matlab_compat.rng(seed)
        made += [
            matlab_compat.rand(), matlab_compat.rand(3), matlab_compat.rand(2, 5),
            matlab_compat.randn(1000, 3), matlab_compat.randn(), matlab_compat.randi(9, 4, 4),
            matlab_compat.randi([-3, 10**12], 1, 50), matlab_compat.randperm(100),
        ]  # fmt: skip
    matlab_compat.rng("default")
    state = matlab_compat.rng()
    first = matlab_compat.randn(2, 2)
    matlab_compat.rng(state)
    assert isinstance(state, matlab_compat.Struct)
    return [made, state, first, matlab_compat.randn(2, 2)]


@exact("matlab/RandStream")
def stream():
    one = matlab_compat.RandStream(7)
    made = [one.randn(40000, 1), one.rand(3, 2), one.randi([2, 9], 1, 30), one.randperm(17)]
    before = one.State
    made += [before, one.rand(2), repr(one), one.Seed]
    one.State = before
    return [*made, one.rand(2)]


def problem():
    """Return labels as a column, and points of overlapping classes."""
    X, y = blobs(60)
    rng = np.random.default_rng(110)
    return np.array([4.0, -1.0, 2.0])[y][:, np.newaxis], X + 1.5 * rng.standard_normal(X.shape)


def _printed(function, *arguments):
    with contextlib.redirect_stdout(StringIO()) as text:
        value = function(*arguments)
    return [value, text.getvalue()]


@exact("matlab/train")
def train():
    y, X = problem()
    kept = y[:, 0] != 2
    of_two = y[kept], sparse.csc_array(X[kept])
    made = {}
    for options in ("-s 2", "-s 0 -B 2", "-s 2 -B 1 -c 10 -e 0.0001", "-s 1", "-s 3", "-s 4",
                    "-s 5", "-s 6", "-s 7", "-s 2 -w4 7 -w-1 0.5", "-s 11 -p 0.01", "-s 12",
                    "-s 13"):  # fmt: skip
        problems = (y, X), of_two
        made[options] = [matlab_compat.train(*one, f"{options} -q") for one in problems]
    return made


@rounded("matlab/predict", 1e-9)
def predict():
    y, X = problem()
    made = []
    for options in ("-s 2 -q", "-s 0 -B 1 -q", "-s 11 -q"):
        model = matlab_compat.train(y[::2], X[::2], options)
        made += [_printed(matlab_compat.predict, y, X, model),
                 matlab_compat.predict(y, sparse.csc_array(X), model, "-q")]  # fmt: skip
        if "-s 0" in options:
            made += [matlab_compat.predict(y, X, model, "-b 1 -q")]
    return made


def kernels():
    """Return options and data of each kind of kernel."""
    y, X = problem()
    numbered = np.c_[np.arange(1, len(X) + 1), X @ X.T]
    return y, {"-t 0": X, "-t 1 -d 2": X, "-t 2 -g 0.1": X, "-t 3 -g 0.01": X,
               "-t 4": numbered.round(6)}  # fmt: skip


@exact("matlab/svmtrain")
def svmtrain():
    y, data = kernels()
    return {
        f"{kernel} {more}": matlab_compat.svmtrain(y, X, f"{kernel} {more} -q")
        for kernel, X in data.items()
        for more in ("", "-c 10 -w4 3", "-s 1 -n 0.2", "-s 3 -p 0.2", "-s 4")
    }


@rounded("matlab/svmpredict", 1e-9)
def svmpredict():
    y, data = kernels()
    made = {}
    for kernel, X in data.items():
        for more in ("-c 1", "-s 3"):
            model = matlab_compat.svmtrain(y, X, f"{kernel} {more} -q")
            made[f"{kernel} {more}"] = [
                _printed(matlab_compat.svmpredict, y[:30], X[:30], model),
                matlab_compat.svmpredict(y[:30], X[:30], model, "-q"),
            ]
    return made


@exact("matlab/libsvmread and libsvmwrite")
def sparse_text(folder: Path):
    y, X = problem()
    matlab_compat.libsvmwrite(folder / "a.txt", y, sparse.csc_array(np.where(X > 1, X, 0)))
    text = (folder / "a.txt").read_text()
    return [text, matlab_compat.libsvmread(folder / "a.txt")]


def cell(seed, n, d, longest=30):
    """Make a column cell of d x L matrices."""
    made = np.empty((n, 1), dtype=object)
    made[:, 0] = [one.T for one in clouds(seed, n, d, lengths=(1, longest))]
    return made


@exact("matlab/dtw")
def dtw():
    s, t = clouds(111, 2, 3)
    rows = np.random.default_rng(112).standard_normal((6, 20))
    return [
        [function(s, t, w) for function in (matlab_compat.dtw_c, matlab_compat.dtw_m)
         for w in (-1, 0, 4, np.inf)],
        [matlab_compat.dtw_similarity_cell(rows, cell(113, 5, 1), n_threads=n)[0] for n in (1, 2)],
        matlab_compat.dtw_similarity_cell_mulvar(cell(114, 6, 2, 60), cell(115, 4, 2))[0],
    ]  # fmt: skip


def walks(folder):
    """Write random walks of two classes as files of the UCR archive."""
    rng = np.random.default_rng(116)
    y = np.arange(48) % 2 * 3 + 2
    X = np.cumsum(rng.standard_normal((48, 25)), axis=1)
    X[y == 5] += np.linspace(0, 9, 25)
    (folder / "Walks").mkdir()
    np.savetxt(folder / "Walks" / "Walks_TRAIN", np.c_[y, X][:30], delimiter=",", fmt="%.17g")
    np.savetxt(folder / "Walks" / "Walks_TEST", np.c_[y, X][30:], delimiter=",", fmt="%.17g")
    return folder, "Walks"


def several(folder):
    """Write series of three classes and two channels as a MAT-file."""
    y = np.repeat([4.0, 2.0, 9.0], 8)[:, np.newaxis]
    X = cell(117, 24, 2, 12)
    for i, label in enumerate(y[:, 0]):
        X[i, 0] = X[i, 0] + label
    parts = {"train_X": X[::2], "train_Y": y[::2], "test_X": X[1::2], "test_Y": y[1::2]}
    (folder / "several").mkdir()
    d2ke.io.save_mat(folder / "several" / "several.mat", parts)
    return folder, "several"


def _untimed(struct):
    return {
        name: one for name, one in struct.items() if "time" not in name and "elapsed" not in name
    }


@exact("matlab/rws_GenFea")
def rws_features(folder: Path):
    Train, Test, Runtime = matlab_compat.rws_GenFea(*walks(folder), 4.46, 12, 1, 20)
    made = [Train, Test, sorted(Runtime)]
    Train, Test, Runtime = matlab_compat.rws_GenFea_mulvar(*several(folder), 0.79, 12, 1, 9)
    return [*made, Train, Test, sorted(Runtime)]


# Percentages of settings that differ much.
@rounded("matlab/rws_VaryingR_CV", 1e-9)
def varying_r(folder: Path):
    made = []
    for solver in ("trust-region", "line-search"):
        given = {"R_list": [4, 16], "solver": solver}
        (folder / solver).mkdir()
        found = matlab_compat.rws_VaryingR_CV(*walks(folder / solver), 4.46, 20, 10.0, **given)
        made += [_untimed(found)]
        found = matlab_compat.rws_VaryingR_CV_mulvar(
            *several(folder / solver), 0.79, 9, 10.0, save_dir=folder / solver, **given
        )
        made += [_untimed(found), sorted(path.name for path in (folder / solver).iterdir())]
    return made


@rounded("matlab/rws_gridsearch_CV", 1e-9)
def grid_search(folder: Path):
    made = []
    given = {"R": 8, "CV": 5, "lambda_inverse": [0.1, 10.0], "sigma_list": [0.3, 3.0]}
    for solver in ("trust-region", "line-search"):
        (folder / solver).mkdir()
        matlab_compat.rng(11)
        made += [
            _untimed(
                matlab_compat.rws_gridsearch_CV(
                    *walks(folder / solver), DMax_list=[4, 9], solver=solver, **given
                )
            )
        ]
        made += [matlab_compat.rand(1, 3)]
        made += [
            _untimed(
                matlab_compat.rws_gridsearch_CV_mulvar(
                    *several(folder / solver),
                    DMax_list=[5],
                    solver=solver,
                    save_dir=folder / solver,
                    **given,
                )
            )
        ]
        for path in (folder / solver).glob("*.mat"):
            made += [path.name, _untimed(d2ke.io.load_mat(path)["info"])]
    return made  # fmt: skip


def documents():
    """Make a collection of documents as the authors' data have it."""
    rng = np.random.default_rng(118)
    vocabulary = rng.standard_normal((5, 30))
    X, names, counts = [], [], []
    for _ in range(12):
        chosen = rng.permutation(30)[: rng.integers(2, 8)]
        X.append(vocabulary[:, chosen])
        names.append([f"word{i}" for i in chosen])
        counts.append(rng.integers(1, 4, len(chosen))[np.newaxis])
    rows = np.vstack([rng.permutation(12) for _ in range(2)]) + 1.0
    return {"X": X, "Y": np.arange(1.0, 13)[np.newaxis], "BOW_X": counts, "words": names,
            "TR": rows[:, :8], "TE": rows[:, 8:]}  # fmt: skip


@exact("matlab/wmd_dist")
def word_movers_distance():
    data = documents()
    X, weights = data["X"], [one.astype(float) for one in data["BOW_X"]]
    return [matlab_compat.wmd_dist(X, weights, X[:4], weights[:4], gamma)[0] for gamma in (-1, 0.7)]


# The norms of the words are dot products.
@rounded("matlab/wme_GenFea", 1e-12)
def word_movers_embedding():
    data = documents()
    statistics = matlab_compat.wme_GenFea_preproc(data)
    made = [statistics]
    for gamma in (-1, 0.5):
        for scheme in (1, 2):
            Train, Test, Runtime = matlab_compat.wme_GenFea(
                data, gamma, 6, 2, 4, 2, *statistics, 1, scheme
            )
            made += [Train, Test, sorted(Runtime)]
    return made
