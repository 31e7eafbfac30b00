# SPDX-License-Identifier: BSD-3-Clause
"""Work that is done by blocks gives the same results however small the blocks are.

Every module-level size that is named as one of a block is made small at once, and each package's
functions must return what they return with the usual sizes.
"""

import dataclasses
import importlib
import pkgutil
import re
import sys
from functools import partial

import numpy as np
import pytest
from scipy import sparse

import d2ke

NAMES = re.compile(
    r"_?(BLOCK|RUN|ROWS|STEP|TILE|CHUNK|LETTERS|VALUES|STRIP|BATCH|ENTRIES|QUERIES|GATHERED|PAIRS"
    r"|(RUN|TILE|BLOCK|CHUNK)_(BYTES|ROWS|VALUES|WORK)|BYTES|TOGETHER)"
)
# Sizes of samples and of tables, which are part of the result, and what tests elsewhere make small.
OTHERS = {
    ("d2ke.models.kmers", "ROWS"),
    ("d2ke.models.kmers", "_LETTERS"), ("d2ke.models.train", "ROWS"),
    ("d2ke.objects.samplers.training", "_LETTERS"),
    ("d2ke.groups.median_string", "_PAIRS"),
    ("d2ke.groups.median_string", "_LETTERS"),
}  # fmt: skip
WORDS = d2ke.samplers.random_strings(36, "ACGTUVWXYZ", length=(1, 30), seed=0)
TEXTS = [str(word) for word in WORDS]
RNG = np.random.default_rng(0)
SERIES = [RNG.normal(size=(n, 2)).cumsum(axis=0) for n in RNG.integers(5, 30, 24)]
POINTS = RNG.normal(size=(50, 3))
Z = np.round(RNG.normal(size=(36, 9)), 2)
Y = np.arange(36) % 3
COLUMNS = {"word": TEXTS, "size": RNG.random(36), "kind": d2ke.categories(list("abc") * 12)}


def parts(objects):
    """Return what a packed collection holds."""
    return [objects.values, objects.offsets, str(objects.alphabet), objects.letters]


def tour_objects(folder):
    yield parts(d2ke.pack(TEXTS))
    yield parts(d2ke.pack([list(text) for text in TEXTS]))
    yield parts(d2ke.pack([[f"{letter}-token" for letter in text] for text in TEXTS]))
    yield parts(d2ke.pack([text + "\N{SNOWMAN}" for text in TEXTS]))
    yield parts(d2ke.pack(SERIES))
    yield parts(d2ke.concatenate([d2ke.pack(TEXTS), d2ke.pack(["xyz"])]))
    pa = pytest.importorskip("pyarrow")
    for items in (TEXTS, SERIES):
        array = d2ke.pack(items).to_arrow()
        yield repr(array.to_pylist())
        yield parts(d2ke.pack(array))
    yield parts(d2ke.pack(pa.chunked_array([TEXTS[:7], TEXTS[7:]])))
    yield parts(d2ke.pack(pa.array(TEXTS).dictionary_encode()))


def tour_distances(folder):
    for name in ("levenshtein", "osa", "jaro_winkler", "weighted_levenshtein", "gapped", "bag"):
        yield d2ke.distance_matrix(WORDS, None, name)
    yield d2ke.distance_matrix(SERIES, None, "dtw")
    for out in (None, np.empty((36, 36), np.float32)):
        yield d2ke.distance_matrix(
            COLUMNS, None, {"word": "levenshtein", "size": "absolute"}, out=out
        )
    yield d2ke.align(SERIES[0], SERIES[1], "window").distance
    yield d2ke.nearest(WORDS, k=3, distance="levenshtein")
    yield d2ke.nearest(SERIES, k=3, distance="dtw")
    # A file that is there is compared with these objects.
    d2ke.write_distances(folder / "words.h5", WORDS, distance="levenshtein")
    d2ke.write_distances(folder / "series.h5", SERIES, distance="dtw")


def tour_embedding(folder):
    yield d2ke.d2ke_embed(WORDS, WORDS[:9], distance="levenshtein", gamma=1.0)
    scaling = d2ke.embedding.Scaling.fit(Z)
    yield scaling, scaling.apply(Z)
    yield d2ke.embedding.SpectrumRepair.fit(Z @ Z.T - np.eye(36), "clip").apply(Z @ Z.T)


def tour_learners(folder):
    yield d2ke.train(Y, Z)
    yield d2ke.train_least_squares(Y, Z)
    yield d2ke.train_classifier(Y, Z, loss="squared_hinge", C=1.0)


def tour_theory(folder):
    yield d2ke.theory.bootstrap_kernel_error(Z, n_resamples=20)


def tour_discriminative(folder):
    yield d2ke.discriminative.gaussian_gram(POINTS)
    yield d2ke.discriminative.neighbor_similarities(POINTS)
    yield d2ke.cdsk(points=POINTS, n_clusters=2).labels
    yield d2ke.lpdsk(points=POINTS, y=np.r_[0, 1, np.full(48, -1)]).labels


def tour_neighbors(folder):
    for distance, X in (("levenshtein", TEXTS + TEXTS[:9]), ("dtw", SERIES), ("mhd", SERIES)):
        yield d2ke.nearest(X, k=3, distance=distance)
        yield d2ke.within(X, radius=4, distance=distance)
        yield d2ke.outlier_scores(X, k=3, distance=distance)
    yield d2ke.nearest(TEXTS, k=3, distance=lambda x, y: abs(len(x) - len(y)), metric=True)
    series = [x[:, :1] for x in SERIES]
    for how in ({}, {"normalize": False}, {"distance": "dtw"}):
        yield d2ke.nearest_windows(series, series[3][:4], 3, **how)


def tour_groups(folder):
    for distance, X in (("levenshtein", TEXTS + TEXTS[:9]), ("dtw", SERIES)):
        yield d2ke.single_linkage(X, distance=distance)
        yield d2ke.dbscan(X, 3, 2, distance=distance).labels
        yield d2ke.hdbscan(X, min_cluster_size=2, distance=distance).labels
        yield d2ke.kmedoids(X, 3, distance=distance).labels
        yield d2ke.barycenter(X[:12], distance=distance).inertia
    found = d2ke.dedupe(TEXTS + TEXTS[:9], radius=2)
    yield found
    yield found.assign(["".join(reversed(text)) for text in TEXTS])


def tour_io(folder):
    d2ke.write_distances(folder / "d.h5", WORDS, distance="levenshtein")
    d2ke.write_features(folder / "z.h5", WORDS, WORDS[:9], distance="levenshtein", gamma=1.0)
    d2ke.io.save_features(folder / "s.h5", Z, labels=Y, omega=WORDS[:9])
    d2ke.io.save_mat(folder / "m.mat", {"Z": Z, "words": TEXTS})
    for name in ("d.h5", "z.h5", "s.h5"):
        yield d2ke.io.load_features(folder / name).Z
        yield d2ke.io.load_features(folder / name, rows=slice(3, 33, 7), columns=slice(2, 5)).Z
    yield sorted(d2ke.io.load_mat(folder / "m.mat").items())


def tour_model_selection(folder):
    for method in ("rsm", "knn", "dsk_rbf", "gdk_led"):
        yield repr(d2ke.search(Y, WORDS, method, distance="levenshtein", n_folds=3).parameters)


def tour_models(folder):
    for X in (WORDS, SERIES + SERIES[:12], COLUMNS, Z):
        model = d2ke.d2ke_train(Y, X, R=32)
        labels, _, decisions = d2ke.d2ke_predict(None, X, model)
        novelty = d2ke.novelty(X, model).round(3)  # a model keeps what it compares as float16
        yield [labels, decisions, d2ke.d2ke_transform(X, model), novelty]


TOURS = {name[5:]: tour for name, tour in globals().items() if name.startswith("tour_")}


def sizes():
    """Return (module, name) of the sizes of blocks in all modules that are loaded."""
    for module in pkgutil.walk_packages(d2ke.__path__, "d2ke."):
        if not re.match(r"d2ke\.(_ext|__main__|dask|estimators|cli)", module.name):
            importlib.import_module(module.name)
    for name, module in sorted(sys.modules.items()):
        if name.startswith("d2ke.") and module is not None:
            for key, value in sorted(vars(module).items()):
                if NAMES.fullmatch(key) and type(value) is int and (name, key) not in OTHERS:
                    yield module, key, value


def same(first, second, path):
    if sparse.issparse(first):
        first, second = first.toarray(), second.toarray()
    if dataclasses.is_dataclass(first):
        names = [field.name for field in dataclasses.fields(first)]
        first, second = ([getattr(x, name) for name in names] for x in (first, second))
    if isinstance(first, partial):
        first, second = ([x.func, x.args, x.keywords] for x in (first, second))
    if isinstance(first, dict):
        first, second = list(first.items()), list(second.items())
    if isinstance(first, np.ndarray) and first.dtype.kind in "fc":
        np.testing.assert_allclose(second, first, rtol=1e-6, atol=1e-7, err_msg=str(path))
    elif isinstance(first, np.ndarray):
        np.testing.assert_array_equal(second, first, err_msg=str(path))
    elif isinstance(first, list | tuple):
        assert len(first) == len(second), path
        for i, (a, b) in enumerate(zip(first, second, strict=True)):
            same(a, b, (*path, i))
    else:
        assert first == second or float(first) == pytest.approx(second, rel=1e-6), path


@pytest.mark.parametrize("name", TOURS)
@pytest.mark.filterwarnings("ignore")
def test_small_blocks_change_nothing(name, monkeypatch, tmp_path):
    usual = list(TOURS[name](tmp_path))
    patched = 0
    for module, key, value in sizes():
        monkeypatch.setattr(module, key, min(value, 64 if key.endswith("BYTES") else 7))
        patched += 1
    assert patched > 20
    same(usual, list(TOURS[name](tmp_path)), ())


def test_every_letter_and_number_is_part_of_the_print(monkeypatch, tmp_path):
    """A file of other objects is refused, wherever they differ."""
    for module, key, value in sizes():
        monkeypatch.setattr(module, key, min(value, 64 if key.endswith("BYTES") else 7))
    words, series = ["ACGTACGT", "GATTACA", "CCC"], [[0.0, 1.0, 2.0], [3.0, 4.0]]
    write = partial(d2ke.write_distances, tmp_path / "words.h5", distance="levenshtein")
    write(words)
    for i, word in enumerate(words):
        for j in range(len(word)):
            other = [*words[:i], word[:j] + "U" + word[j + 1 :], *words[i + 1 :]]
            with pytest.raises(ValueError, match="X"):
                write(other)
    write = partial(d2ke.write_distances, tmp_path / "series.h5", distance="dtw")
    write(series)
