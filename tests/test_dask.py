# SPDX-License-Identifier: BSD-3-Clause
"""The functions on dask collections give the bits of the functions in memory."""

import ctypes
import inspect
import itertools
import logging
import math
import os
import pickle
import signal
import subprocess
import sys
from contextlib import contextmanager
from functools import cache

import numpy as np
import pytest
from reference import same
from scipy import LowLevelCallable, sparse

import d2ke

dask = pytest.importorskip("dask", reason="dask is not installed")
da = pytest.importorskip("dask.array")

import d2ke.dask as lazy  # noqa: E402
from d2ke.dask import workers  # noqa: E402
from d2ke.models import blocks, data, recipes  # noqa: E402
from d2ke.models.feature_map import FeatureMap  # noqa: E402
from d2ke.models.kmers import KmerScores  # noqa: E402
from d2ke.models.tasks import LabelSets  # noqa: E402

RNG = np.random.default_rng(0)
WORDS = ["".join(RNG.choice(list("ACGT"), n)) for n in RNG.integers(0, 12, 90)]
STRINGS = d2ke.pack(WORDS)
OMEGA = d2ke.samplers.random_strings(24, "ACGT", length=(2, 8), seed=0)
SERIES = d2ke.pack([RNG.standard_normal((n, 2)) for n in RNG.integers(1, 6, 50)])
SINGLE = d2ke.pack([np.asarray(x, np.float32) for x in SERIES])
WEIGHTED = d2ke.pack(SERIES, weights=[RNG.random(n) + 0.1 for n in SERIES.lengths])
NUMBERS = [float(x) for x in range(40)]
LABELS = ["many" if word.count("A") > 1 else "few" for word in WORDS]
HOW = {"distance": "levenshtein", "gamma": 0.3}
MODEL = d2ke.d2ke_train(LABELS, STRINGS, R=32)
AMOUNTS = [len(word) + 0.5 for word in WORDS]
REGRESSION = d2ke.d2ke_train(AMOUNTS, STRINGS, R=32)


@pytest.fixture(autouse=True)
def scheduler(request):
    """Compute on threads of this process where a test has no cluster."""
    with dask.config.set(scheduler=None if "client" in request.fixturenames else "threads"):
        yield


def delayed_parts(items, *bounds):
    bounds = [0, *bounds, len(items)]
    return [dask.delayed(items[a:b]) for a, b in itertools.pairwise(bounds)]


def frame_column(items, n):
    """Return a column of dask.dataframe, strings as Arrow has them."""
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    dd = pytest.importorskip("dask.dataframe")
    return dd.from_pandas(pd.Series(items), npartitions=n)


def lists_column(series, n):
    """Return a column of Arrow lists."""
    pd = pytest.importorskip("pandas")
    pa = pytest.importorskip("pyarrow")
    dd = pytest.importorskip("dask.dataframe")
    values = pd.Series(pd.array(series, dtype=pd.ArrowDtype(pa.list_(pa.float64()))))
    return dd.from_pandas(values, npartitions=n)


def bag(items, n):
    return pytest.importorskip("dask.bag").from_sequence(items, npartitions=n)


COLLECTIONS = {
    "objects": lambda: STRINGS,
    "list": lambda: WORDS,
    "parts": lambda: delayed_parts(WORDS, 20, 20, 61),
    "packed parts": lambda: [dask.delayed(STRINGS[:50]), dask.delayed(STRINGS[50:])],
    "one part": lambda: dask.delayed(WORDS),
    "column": lambda: frame_column(WORDS, 4),
    "bag": lambda: bag(WORDS, 3),
    "array": lambda: da.from_array(np.array(WORDS), chunks=25),
}


def tripled(x, y):
    return abs(x - 3.0 * y)


def scaled(x, y, by):
    return by * abs(x - y)


# ---------------------------------------------------------------- the same bits


def results(module, X, Y):
    """Return what all functions of a module give but `d2ke_predict` and `within`."""
    return [
        module.distance_matrix(X, OMEGA, "levenshtein"),
        module.distance_matrix(X, None, "levenshtein"),
        module.d2ke_embed(X, OMEGA, **HOW),
        module.d2ke_transform(X, MODEL),
        *module.nearest(X, Y, k=3, distance="levenshtein"),
        *module.nearest(X, k=3, distance="levenshtein"),
    ]


def check_results(X):
    lazily = results(lazy, X, delayed_parts(WORDS, 40))
    assert all(isinstance(one, da.Array) for one in lazily)
    same_arrays(lazily, results(d2ke, STRINGS, STRINGS))
    check_prediction(lazy.d2ke_predict(LABELS, X, MODEL), LABELS, MODEL)
    how = {"radius": 3, "distance": "levenshtein"}
    same_graphs(lazy.within(X, **how), d2ke.within(STRINGS, **how))


@pytest.mark.parametrize("name", COLLECTIONS)
def test_every_collection(name):
    X = COLLECTIONS[name]()
    check_results(X)
    if name not in ("list", "objects", "parts"):
        return  # the functions read all collections alike
    P = lazy.d2ke_predict(None, X, MODEL, probability=True)[2]
    wanted = d2ke.d2ke_predict(None, STRINGS, MODEL, probability=True)[2]
    np.testing.assert_allclose(P.compute(), wanted, rtol=0, atol=1e-12)
    p, wanted = lazy.novelty(X, MODEL).compute(), d2ke.novelty(STRINGS, MODEL)
    np.testing.assert_allclose(p, wanted, rtol=0, atol=2 / MODEL.n_train)
    same_graphs(
        lazy.within(X, OMEGA, radius=4, distance="levenshtein"),
        d2ke.within(STRINGS, OMEGA, radius=4, distance="levenshtein"),
    )


def check_prediction(found, y, model, X=STRINGS):
    labels, accuracy, decisions = dask.compute(*found)
    wanted = d2ke.d2ke_predict(y, X, model)
    assert labels.dtype == wanted[0].dtype
    if model.classes is not None:
        same(labels, wanted[0])
    # The BLAS chooses its algorithm by the number of rows.
    np.testing.assert_allclose(decisions, wanted[2], rtol=0, atol=1e-12 * np.abs(wanted[2]).max())
    assert float(accuracy) == pytest.approx(wanted[1], rel=1e-9)


def same_arrays(lazily, wanted):
    for ours, other in zip(dask.compute(*lazily), wanted, strict=True):
        same(ours, other)


def same_graphs(blocks, wanted):
    found = dask.compute(*blocks)
    assert all(isinstance(block, sparse.csr_array) for block in found)
    ours = sparse.csr_array(sparse.vstack(found))
    assert ours.shape == wanted.shape
    same(ours.indptr.astype(np.int64), wanted.indptr.astype(np.int64))
    same(ours.indices.astype(np.int64), wanted.indices.astype(np.int64))
    same(ours.data, wanted.data)


MATRICES = {
    "strings": (STRINGS, None, "levenshtein", {}),
    "directed": (STRINGS, None, "levenshtein", {"mode": "infix"}),
    "bags": (STRINGS, None, "bag", {}),
    "gapped words": (STRINGS, None, "gapped", {}),
    "both strands": (["GATTACA", "", "TGTAATC"] * 9, ["NUA"], "gapped", {"strands": "both"}),
    "series": (SERIES, SERIES[:9], "dtw", {"window": 2}),
    "series, float32": (SINGLE, SINGLE[:9], "dtw", {}),
    "windows": (SERIES, SERIES[:9], "window", {"dilation": 2}),
    "one type of each": (SINGLE, None, "dtw", {"dtype": np.float64}),
    "directed sets": (SERIES, None, "directed_mhd", {}),
    "weighted sets": (WEIGHTED, None, "emd", {}),
    "letters of int": ([[3, 500], [7, 1], [1]] * 9, None, "levenshtein", {}),
    "function": (NUMBERS, [1.0, 5.0], scaled, {"by": 0.1}),
    "function that is not symmetric": (NUMBERS, None, tripled, {}),
    "missing": (
        d2ke.pack([[1.0, np.nan, 2.0], [0.5], [np.nan, 1.0]], missing=True), None, "dtw",
        {"missing": "arow"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", MATRICES)
def test_distances(case):
    X, Y, distance, options = MATRICES[case]
    wanted = d2ke.distance_matrix(X, Y, distance, **options)
    D = lazy.distance_matrix(X, Y, distance, chunks=len(X) // 3 + 1, **options)
    assert D.dtype == wanted.dtype
    assert D.shape == wanted.shape
    same(D.compute(), wanted)
    parts = delayed_parts(X, 2, 2, 3)  # one is empty
    columns = Y if Y is None else delayed_parts(Y, 1)
    D = lazy.distance_matrix(parts, columns, distance, **options)
    assert all(map(math.isnan, D.shape))
    same(D.compute(), wanted.astype(D.dtype))


def test_a_column_of_lists():
    series = [x.ravel() for x in SERIES]
    wanted = d2ke.distance_matrix(series, series[:3], "dtw")
    same(lazy.distance_matrix(lists_column(series, 3), series[:3], "dtw").compute(), wanted)
    table = np.arange(48.0).reshape(12, 4) ** 1.5
    D = lazy.distance_matrix(da.from_array(table, chunks=(5, 2)), table[:3], "dtw")
    assert D.chunks == ((5, 5, 2), (3,))
    same(D.compute(), d2ke.distance_matrix(table, table[:3], "dtw"))


def test_features_are_options_of_the_function_in_memory():
    plain = lazy.d2ke_embed(STRINGS, OMEGA, distance="levenshtein", link="distance", dtype="f4")
    same(
        plain.compute(),
        d2ke.d2ke_embed(STRINGS, OMEGA, distance="levenshtein", link="distance", dtype="f4"),
    )
    Z = lazy.d2ke_embed(NUMBERS, [1.0, 5.0], distance=scaled, by=0.1, gamma=1.0, chunks=7)
    same(Z.compute(), d2ke.d2ke_embed(NUMBERS, [1.0, 5.0], distance=scaled, by=0.1, gamma=1.0))
    np.testing.assert_allclose((Z.T @ Z).compute(), Z.compute().T @ Z.compute(), rtol=1e-12)


@pytest.mark.parametrize("chunks", [7, 50])
def test_itself_comes_first_among_copies(chunks):
    words = [*WORDS[:10] * 2, *["aab"] * 30]
    how = {"k": 6, "distance": "levenshtein", "include_self": True}
    wanted = d2ke.nearest(words, **how)
    assert (wanted[0][:, 0] == np.arange(50)).all()
    for X in (words, delayed_parts(words, 4, 25)):
        given = {"chunks": chunks} if X is words else {}
        same_arrays(lazy.nearest(X, **how, **given), wanted)


def test_a_radius_is_rounded_to_the_dtype_of_the_distances():
    X = [np.zeros((1, 1), np.float32), np.full((1, 1), 0.3, np.float32)]
    graph = sparse.vstack(dask.compute(*lazy.within(X, radius=0.3, distance="dtw", chunks=1)))
    assert graph.nnz == 2
    indices, _ = lazy.nearest(X, k=1, radius=0.3, distance="dtw", chunks=1)
    assert indices.compute().tolist() == [[1], [0]]


@pytest.mark.parametrize("include_self", [False, True])
@pytest.mark.parametrize("cut", ["objects", "parts", "single objects"])
def test_neighbours_among_themselves(include_self, cut):
    """Lists of all pairs of partitions are merged, ties by index."""
    X = items = STRINGS
    if cut != "objects":
        X = delayed_parts(WORDS, 1, 1, 30, 70)
    if cut == "single objects":
        X, items = delayed_parts(WORDS[:8], *range(1, 8)), STRINGS[:8]
    how = {"distance": "levenshtein", "include_self": include_self}
    chunks = 20 if cut == "objects" else None
    wanted = d2ke.nearest(items, k=6, **how)
    same_arrays(lazy.nearest(X, k=6, chunks=chunks, **how), wanted)
    radius = np.quantile(wanted[1], 0.4)
    within = d2ke.nearest(items, k=6, radius=radius, **how)
    assert (within[0] < 0).any()
    same_arrays(lazy.nearest(X, k=6, radius=radius, chunks=chunks, **how), within)
    same_graphs(lazy.within(X, radius=3, **how), d2ke.within(items, radius=3, **how))


def test_neighbours_of_two_collections():
    X, Y = delayed_parts(SERIES, 9, 9, 30), delayed_parts(SERIES[:20], 2, 19)
    wanted = d2ke.nearest(SERIES, SERIES[:20], k=8, distance="dtw")
    same_arrays(lazy.nearest(X, Y, k=8, distance="dtw"), wanted)
    same_graphs(
        lazy.within(X, Y, radius=2.0, distance="dtw"),
        d2ke.within(SERIES, SERIES[:20], radius=2.0, distance="dtw"),
    )
    known = {"k": 2, "distance": scaled, "by": 0.5, "metric": True}
    wanted = d2ke.nearest(NUMBERS, [3.0, 5.0, 5.0], **known)
    same_arrays(lazy.nearest(NUMBERS, [3.0, 5.0, 5.0], **known), wanted)
    single = lazy.nearest(SINGLE, SINGLE[:9], k=2, distance="dtw")[1]
    assert single.dtype == np.float32
    same(single.compute(), d2ke.nearest(SINGLE, SINGLE[:9], k=2, distance="dtw")[1])


def test_a_regression_and_labels_by_partition():
    check_prediction(lazy.d2ke_predict(AMOUNTS, STRINGS, REGRESSION), AMOUNTS, REGRESSION)
    found = lazy.d2ke_predict(frame_column(LABELS, 4), frame_column(WORDS, 4), MODEL)
    check_prediction(found, LABELS, MODEL)
    labels = delayed_parts(LABELS, 20, 20)
    check_prediction(lazy.d2ke_predict(labels, delayed_parts(WORDS, 20, 20), MODEL), LABELS, MODEL)
    _, accuracy, _ = lazy.d2ke_predict(None, WORDS, MODEL)
    assert math.isnan(accuracy.compute())


# ---------------------------------------------------------------- records


def people():
    """Return columns of every kind with missing entries; one has none in rows 60 to 89."""
    ages = [float(len(word)) for word in WORDS]
    walks = [[float(i % 7), float(len(word)), 1.0] for i, word in enumerate(WORDS)]
    columns = {
        "word": list(WORDS),
        "age": ages,
        "walk": walks,
        "town": ["Oslo" if i % 3 else "Rome" for i in range(90)],
    }
    for column in columns.values():
        column[4] = column[33] = None
    walks[60:] = [None] * 30
    return columns


def people_frame():
    pd = pytest.importorskip("pandas")
    pa = pytest.importorskip("pyarrow")
    frame = pd.DataFrame(people()).astype({"town": "category"})
    lists = pd.ArrowDtype(pa.list_(pa.float64()))
    return frame.assign(walk=pd.array(people()["walk"], dtype=lists))


def people_table(n):
    return pytest.importorskip("dask.dataframe").from_pandas(people_frame(), npartitions=n)


RECORDS = d2ke.pack_records(people() | {"town": d2ke.categories(people()["town"])})
RECORD_MODEL = d2ke.d2ke_train(LABELS, RECORDS, R=64)
TABLES = {
    "records": lambda: RECORDS,
    "dict": people,  # the model knows that towns are categories
    "frame": people_frame,
    "dask frame": lambda: people_table(3),
    "columns in another order": lambda: people_table(4)[["town", "walk", "word", "age"]],
    "parts": lambda: [dask.delayed(RECORDS[a:b]) for a, b in ((0, 20), (20, 20), (20, 90))],
    "dicts": lambda: [
        dask.delayed({name: column[a : a + 45] for name, column in people().items()})
        for a in (0, 45)
    ],
}


def check_records(name):
    X = TABLES[name]()
    chunks = 30 if name in ("records", "dict", "frame") else None
    Z = lazy.d2ke_transform(X, RECORD_MODEL, chunks=chunks)
    assert Z.numblocks[0] > 1
    same(Z.compute(), d2ke.d2ke_transform(RECORDS, RECORD_MODEL))
    found = lazy.d2ke_predict(LABELS, X, RECORD_MODEL, chunks=chunks)
    check_prediction(found, LABELS, RECORD_MODEL, RECORDS)
    p, wanted = lazy.novelty(X, RECORD_MODEL, chunks=chunks), d2ke.novelty(RECORDS, RECORD_MODEL)
    np.testing.assert_allclose(p.compute(), wanted, rtol=0, atol=2 / RECORD_MODEL.n_train)


@pytest.mark.parametrize("name", TABLES)
def test_records(name):
    check_records(name)


def test_labels_of_records_and_their_chunks():
    table = people_table(3)
    chunks = [len(part) for part in table.partitions]
    Z = lazy.d2ke_transform(table, RECORD_MODEL, chunks=chunks)
    assert Z.shape == (90, RECORD_MODEL.R)
    found = lazy.d2ke_predict(frame_column(LABELS, 3), table, RECORD_MODEL)
    check_prediction(found, LABELS, RECORD_MODEL, RECORDS)


def test_wrong_records():
    table = people_table(2)
    with pytest.warns(UserWarning, match="the columns 'more' are not used"):
        lazy.d2ke_predict(None, table.assign(more=1), RECORD_MODEL)
    with pytest.raises(TypeError, match="X is a Series; a DataFrame or a list of delayed parts"):
        lazy.d2ke_predict(None, table.word, RECORD_MODEL)
    for array in (da.zeros(90), da.zeros((90, 4))):
        with pytest.raises(TypeError, match="X is a Array; a DataFrame or a list"):
            lazy.d2ke_transform(array, RECORD_MODEL)
    with pytest.raises(TypeError, match=r"X\['age'\] holds strings") as caught:
        lazy.d2ke_transform(table.assign(age=table.word), RECORD_MODEL).compute()
    assert caught.value.__notes__[0] in ("in partition 0 of X", "in partition 1 of X")
    parts = [dask.delayed(part) for part in (people(), {**people(), "age": list(WORDS)})]
    with pytest.raises(TypeError, match=r"X\['age'\] holds numbers and strings in different part"):
        lazy.d2ke_train(delayed_parts(LABELS * 2, 90), parts)


# ---------------------------------------------------------------- training


@pytest.fixture
def small_sample(monkeypatch):
    """A sample that is smaller than the data."""
    monkeypatch.setattr(blocks, "SAMPLE", 60)


def same_models(ours, wanted, X=STRINGS, rtol=1e-5):
    for one, other in zip(ours.blocks, wanted.blocks, strict=True):
        assert one.name == other.name
        assert one.omega == other.omega
        if hasattr(one, "gamma"):
            same(one.gamma, other.gamma)
        assert one.kernel_weight == pytest.approx(other.kernel_weight, rel=1e-9)
        assert (one.sources is None) == (other.sources is None)
        if one.sources is not None:
            same(one.sources, other.sources)
        if one.own is not None:
            same(one.hidden, other.hidden)
            same(one.own, other.own)
    for name in ("kind", "channels", "letters", "C", "n_train"):
        assert getattr(ours, name) == getattr(wanted, name) or ours.classes is None
    assert ours.largest_class == pytest.approx(wanted.largest_class, rel=1e-12, nan_ok=True)
    if wanted.alphabet is not None:
        same(ours.alphabet, wanted.alphabet)
    if wanted.classes is not None:
        same(ours.classes, wanted.classes)
        same(ours.confusion, wanted.confusion)
    assert ours.accuracy == pytest.approx(wanted.accuracy, rel=rtol)
    if not isinstance(ours.task, LabelSets):
        same(ours.calibration.values, wanted.calibration.values)
    same(ours.reference.rows, wanted.reference.rows)
    np.testing.assert_allclose(ours.reference.scores, wanted.reference.scores, rtol=0, atol=1e-3)
    one, other = (model.calibration.decisions for model in (ours, wanted))
    np.testing.assert_allclose(one, other, rtol=0, atol=max(rtol, 1e-5) * np.abs(other).max())
    (_, _, one), (_, _, other) = (d2ke.d2ke_predict(None, X, model) for model in (ours, wanted))
    np.testing.assert_allclose(one, other, rtol=0, atol=rtol * np.abs(other).max())


@cache
def of_one_machine():
    return d2ke.d2ke_train(LABELS, STRINGS, R=32, seed=3)


@pytest.mark.parametrize("name", COLLECTIONS)
def test_the_model_is_that_of_one_machine(name, small_sample):
    wanted = of_one_machine()
    assert wanted.n_train == 90
    same_models(lazy.d2ke_train(LABELS, COLLECTIONS[name](), R=32, seed=3), wanted)


KINDS = {
    "regression": (AMOUNTS, STRINGS, {"R": 32}),
    "whole targets": (range(90), STRINGS, {"R": 32, "task": "regression"}),
    "many classes": ([len(word) for word in WORDS], STRINGS, {"R": 32}),
    "more features than rows": ([len(word) % 2 == 0 for word in WORDS], STRINGS, {"R": 60}),
    "series": ([len(x) > 3 for x in SERIES], SERIES, {"R": 24}),
    "float32": ([len(x) > 3 for x in SINGLE], SINGLE, {"R": 24, "distance": ["dtw", "msm"]}),
    "sets": ([len(x) % 3 for x in SERIES], SERIES, {"R": 32, "distance": "mhd"}),
    "function": ([x > 20 for x in NUMBERS], NUMBERS, {"R": 9, "distance": scaled, "by": 0.1}),
}


@pytest.mark.filterwarnings("ignore:little or nothing was learned")
@pytest.mark.parametrize("kind", KINDS)
def test_models_of_every_kind(kind, small_sample, monkeypatch):
    monkeypatch.setattr(data, "MAX_KEPT", 0)  # no hinge loss
    y, X, options = KINDS[kind]
    wanted = d2ke.d2ke_train(y, X, **options)
    bounds = (5, 5, 30)  # one is empty
    parts, labels = delayed_parts(X, *bounds), delayed_parts(list(y), *bounds)
    same_models(lazy.d2ke_train(labels, parts, **options), wanted, X)


SETS_OF_LABELS = np.array([["A" in word, word.count("C") > 1, len(word) > 6] for word in WORDS])
HEAVY = RNG.integers(0, 4, 90).astype(float)
WEIGHTED_LABELS = {
    "balanced": (LABELS, {"class_weight": "balanced"}),
    "by name": (LABELS, {"class_weight": {"many": 3.0}}),
    "objects": (LABELS, {"sample_weight": HEAVY}),
    "both": (LABELS, {"sample_weight": HEAVY, "class_weight": "balanced"}),
    "regression": (AMOUNTS, {"sample_weight": HEAVY}),
}


@pytest.mark.filterwarnings("ignore:little or nothing was learned")
@pytest.mark.sample(3)
@pytest.mark.parametrize("R", [32, 80])  # fewer features than objects, and more
@pytest.mark.parametrize("name", WEIGHTED_LABELS)
def test_weights(name, R, small_sample):
    y, options = WEIGHTED_LABELS[name]
    wanted = d2ke.d2ke_train(y, STRINGS, R=R, **options)
    same_models(lazy.d2ke_train(y, STRINGS, R=R, chunks=45, **options), wanted)
    if "sample_weight" in options:
        options = options | {"sample_weight": delayed_parts(HEAVY, 50)}
    parts = delayed_parts(STRINGS, 50)
    same_models(lazy.d2ke_train(delayed_parts(y, 50), parts, R=R, **options), wanted)


def test_wrong_weights():
    for weights, message in (
        (np.zeros(90), "sample_weight is zero for all objects"),
        (-HEAVY, "must be finite and not negative"),
        (HEAVY[:9], "sample_weight has 9 labels, but X has 90 rows"),
    ):
        with pytest.raises(ValueError, match=message):
            lazy.d2ke_train(LABELS, STRINGS, R=16, chunks=45, sample_weight=weights)


@pytest.mark.filterwarnings("ignore:little or nothing was learned")
def test_several_labels(small_sample):
    wanted = d2ke.d2ke_train(SETS_OF_LABELS, STRINGS, R=32)
    same_models(lazy.d2ke_train(SETS_OF_LABELS, STRINGS, R=32, chunks=45), wanted)
    rows = da.from_array(SETS_OF_LABELS, chunks=(50, 1))
    same_models(lazy.d2ke_train(rows, delayed_parts(STRINGS, 50), R=32), wanted)
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(SETS_OF_LABELS, columns=["a", "cc", "long"])
    named = lazy.d2ke_train(frame, STRINGS, R=32, chunks=45, sample_weight=HEAVY)
    assert named.classes.tolist() == ["a", "cc", "long"]
    same_models(named, d2ke.d2ke_train(frame, STRINGS, R=32, sample_weight=HEAVY))


@pytest.mark.filterwarnings("ignore:little or nothing was learned")
@pytest.mark.parametrize("name", ["records", "dask frame", "parts"])
def test_a_model_of_records(name, small_sample):
    wanted = d2ke.d2ke_train(LABELS, RECORDS, R=32, distance={"walk": "dtw"})
    chunks = 45 if name == "records" else None
    y = LABELS
    ours = lazy.d2ke_train(y, TABLES[name](), R=32, distance={"walk": "dtw"}, chunks=chunks)
    assert {key: kind.kind for key, kind in ours.inputs.items()} == {
        key: kind.kind for key, kind in wanted.inputs.items()
    }
    assert [block.family for block in ours.blocks] == [block.family for block in wanted.blocks]
    shares = [[block.kernel_weight for block in model.blocks] for model in (ours, wanted)]
    np.testing.assert_allclose(*shares, rtol=1e-6)
    assert pytest.approx(wanted.C, rel=1e-6) == ours.C
    same(d2ke_features(ours), d2ke_features(wanted))
    decisions = [d2ke.d2ke_predict(None, RECORDS, model)[2] for model in (ours, wanted)]
    np.testing.assert_allclose(*decisions, rtol=0, atol=1e-5 * np.abs(decisions[1]).max())


def d2ke_features(model):
    return FeatureMap(model.blocks).unscaled(RECORDS, 1)


def test_scores_of_pieces(small_sample, monkeypatch):
    monkeypatch.setattr(recipes, "_SCORED", (0, 0))
    wanted = d2ke.d2ke_train(LABELS, STRINGS, R=16)
    ours = lazy.d2ke_train(LABELS, STRINGS, R=16, chunks=17)
    one, other = ours.blocks[-1], wanted.blocks[-1]
    assert isinstance(one, KmerScores)
    assert one.omega == other.omega
    same(one.rows, np.arange(90))
    np.testing.assert_allclose(one.hidden, other.hidden, atol=1e-3)
    decisions = [d2ke.d2ke_predict(None, STRINGS, model)[2] for model in (ours, wanted)]
    np.testing.assert_allclose(*decisions, atol=1e-2)
    assert ours.R == wanted.R
    features = lazy.d2ke_transform(STRINGS, ours, chunks=17)
    assert features.shape == (90, ours.n_unsupervised)
    assert ours.n_unsupervised < ours.R
    same(features.compute(), d2ke.d2ke_transform(STRINGS, ours))


@pytest.mark.filterwarnings("ignore:.*nothing was learned")
def test_every_object_is_in_a_small_sample():
    y, X = LABELS[:30], STRINGS[:30]
    same_models(lazy.d2ke_train(y, X, R=40, chunks=8), d2ke.d2ke_train(y, X, R=40))


@pytest.mark.parametrize("R", [16, 80])
def test_sums_are_kept(R):
    y, X = LABELS[:30], STRINGS[:30]
    ours = lazy.d2ke_train(y, X, R=R, chunks=8, keep_sums=True)
    wanted = d2ke.d2ke_train(y, X, R=R, keep_sums=True)
    same_models(d2ke.d2ke_update(y, X, ours), d2ke.d2ke_update(y, X, wanted))


@pytest.mark.filterwarnings("ignore:little or nothing was learned")
def test_letters_of_all_partitions_are_known(small_sample, monkeypatch):
    """Also those of a partition of which the sample has nothing."""
    monkeypatch.setattr(blocks, "SAMPLE", 20)
    words = ["ab" * (i % 5) + "b" for i in range(80)] + ["xyz"]
    y = [i % 2 for i in range(81)]
    seed = next(s for s in range(99) if 80 not in blocks.sample_rows(81, s, 8))
    model = lazy.d2ke_train(y, delayed_parts(words, 40, 80), R=8, seed=seed)
    assert len(model.alphabet) == 5


def test_wrong_labels():
    parts = delayed_parts(WORDS, 45)
    for y, message in (
        (None, "y must be the labels of X"),
        (delayed_parts(["a"] * 90, 45), "y holds one class only, 'a'"),
        (delayed_parts([0.5] * 90, 45), "y holds one value only"),
        (
            [dask.delayed([0] * 45), dask.delayed(["a"] * 45)],
            "y holds strings and numbers in different",
        ),
        (delayed_parts(LABELS, 44), r"y has 4\d labels, but X has 45 rows"),
        (LABELS[:80], "y has 80 labels, but X has 90 rows"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            lazy.d2ke_train(y, parts, R=8)


# ---------------------------------------------------------------- partitions


def test_chunks():
    assert lazy.distance_matrix(WORDS, OMEGA, "levenshtein", chunks=40).chunks[0] == (40, 40, 10)
    assert lazy.d2ke_embed(WORDS, OMEGA, **HOW, chunks=(80, 0, 10)).chunks[0] == (80, 10)
    assert max(lazy.distance_matrix(range(20_000), None, scaled).chunks[0]) <= 4096
    with dask.config.set({"array.chunk-size": 24 * 8 * 10}):
        assert lazy.d2ke_embed(WORDS, OMEGA, **HOW).chunks[0][0] <= 10
    parts = delayed_parts(WORDS, 20)
    Z = lazy.d2ke_embed(parts, OMEGA, **HOW, chunks=[20, 70])
    assert Z.shape == (90, 24)
    Z = lazy.d2ke_embed(parts, OMEGA, **HOW)
    assert Z.compute_chunk_sizes().shape == (90, 24)
    with pytest.raises(ValueError, match="chunks has 80 rows in all, but there are 90"):
        lazy.d2ke_embed(WORDS, OMEGA, **HOW, chunks=(40, 40))
    with pytest.raises(TypeError, match="lengths of the 2 partitions that X has, got 5"):
        lazy.d2ke_embed(parts, OMEGA, **HOW, chunks=5)
    with pytest.raises(ValueError, match=r"chunks has \d0 for a partition of \d0 objects"):
        lazy.d2ke_embed(parts, OMEGA, **HOW, chunks=(30, 60)).compute()


def test_shared_values_travel_once():
    omega = d2ke.samplers.random_strings(5000, "ACGT", length=200, seed=0)
    Z = lazy.d2ke_embed(WORDS, omega, **HOW, chunks=1)
    [graph] = dask.optimize(Z)
    size = len(pickle.dumps(dict(graph.__dask_graph__()), protocol=5))
    assert size < omega.nbytes + 4000 * len(WORDS)


def test_workers_know_the_size_of_objects():
    assert dask.sizeof.sizeof(STRINGS) == STRINGS.nbytes
    assert dask.sizeof.sizeof(RECORDS) > RECORDS["word"].values.nbytes
    assert dask.sizeof.sizeof(MODEL) > sum(block.omega.nbytes for block in MODEL.blocks)


def test_arguments_are_those_of_the_functions_in_memory():
    for name in lazy.__all__:
        ours = inspect.signature(getattr(lazy, name)).parameters
        known = inspect.signature(getattr(d2ke, name)).parameters
        common = [one for one in known if one in ours]
        assert [one for one in ours if one != "chunks"] == common
        for one in set(common) - {"n_threads"}:
            assert ours[one].default == known[one].default


# ---------------------------------------------------------------- errors


def test_dask_is_named_where_it_is_missing():
    code = "import sys; sys.modules['dask'] = None; import d2ke; import d2ke.dask"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "ImportError: d2ke.dask needs dask 2025.1 or later" in done.stderr
    assert "pip install 'd2ke[dask]'" in done.stderr


PARTS = delayed_parts(WORDS, 20)
ADDRESS = LowLevelCallable(ctypes.CFUNCTYPE(ctypes.c_double)(float))
REFUSED = [
    (lambda: lazy.d2ke_train(["a", "b"] * 10, WORDS[:20], groups=[1, 2] * 10),
     "groups needs all features in memory"),
    (lambda: lazy.distance_matrix(PARTS, OMEGA, ADDRESS), r"is a scipy\.LowLevelCallable"),
    (lambda: lazy.distance_matrix([PARTS[0], WORDS], OMEGA, "levenshtein"),
     r"X\[1\] must be delayed"),
    (lambda: lazy.distance_matrix(frame_column(WORDS, 2).to_frame(), OMEGA, "levenshtein"),
     r"X is a DataFrame; a column of dask\.dataframe"),
    (lambda: lazy.d2ke_embed(PARTS, PARTS, **HOW), "omega must be in memory"),
    (lambda: lazy.d2ke_embed(PARTS, None, **HOW), "omega is None"),
    (lambda: lazy.nearest(WORDS, k=90, distance="levenshtein"), "k is 90, but there are 89"),
    (lambda: lazy.d2ke_transform(WORDS, None), "model must be a D2KEModel"),
    (lambda: lazy.d2ke_predict(delayed_parts(LABELS, 2, 3), PARTS, MODEL),
     "y has 3 partitions, but X has 2"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_errors_at_the_door(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()


def test_errors_in_tasks_say_where():
    parts = [dask.delayed([[1.0], [2.0]]), dask.delayed([[1.0], [np.nan]])]
    with pytest.raises(ValueError, match=r"X\[1\] has nan") as caught:
        lazy.distance_matrix(parts, [[1.0]], "dtw").compute()
    assert caught.value.__notes__ == ["in partition 1 of X"]
    with pytest.raises(ValueError, match="k is 9, but there are 3 candidates"):
        lazy.nearest(parts[:1] * 2, k=9, distance="dtw")[0].compute()
    with pytest.raises(ValueError, match="y has 2 labels, but X has 90 rows"):
        lazy.d2ke_predict(["few", "many"], delayed_parts(WORDS, 20), MODEL)[1].compute()


def test_other_versions_are_an_error(monkeypatch):
    Z = lazy.d2ke_embed(WORDS, OMEGA, **HOW)
    monkeypatch.setattr(workers, "__version__", "0.1")
    with pytest.raises(RuntimeError, match=r"the client has d2ke .*, a worker has 0\.1; install"):
        Z.compute()


# ---------------------------------------------------------------- a cluster


@contextmanager
def cluster(**options):
    """Two processes of one thread, restarted when they are killed."""
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    with (
        dask.config.set(scheduler=None),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=":0",
            memory_limit=None,
            silence_logs=logging.CRITICAL,
            **options,
        ) as processes,
        distributed.Client(processes) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client():
    with cluster() as found:
        yield found


@pytest.mark.slow
@pytest.mark.parametrize("name", ["objects", "column", "parts"])
def test_a_cluster_gives_the_same_bits(client, name):
    check_results(COLLECTIONS[name]())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["records", "dask frame"])
def test_a_cluster_gives_the_same_bits_of_records(client, name):
    check_records(name)


def kill_in(cluster, phase):
    """Kill the worker that gets the first task of a phase; return a list of those killed."""
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    killed = []

    class Killer(distributed.SchedulerPlugin):
        def transition(self, key, start, finish, *_, **__):
            if killed or finish != "processing" or f"d2ke-{phase}-" not in str(key):
                return
            address = cluster.scheduler.tasks[key].processing_on.address
            for nanny in cluster.workers.values():
                if nanny.worker_address == address:
                    killed.append(nanny.pid)
                    os.kill(nanny.pid, signal.SIGKILL)

    cluster.scheduler.add_plugin(Killer())
    return killed


@pytest.mark.slow
@pytest.mark.parametrize("phase", ["encode", "sample", "sum_products", "merged", "train"])
def test_a_lost_worker_does_not_change_a_model(phase):
    bounds = (15, 30, 45, 60)
    with cluster() as client:
        killed = kill_in(client.cluster, phase)
        parts, labels = delayed_parts(WORDS, *bounds), delayed_parts(LABELS, *bounds)
        model = lazy.d2ke_train(labels, parts, R=32)
        assert killed
    same_models(model, d2ke.d2ke_train(LABELS, STRINGS, R=32))
