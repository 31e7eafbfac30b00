# SPDX-License-Identifier: BSD-3-Clause
"""Training by passes over blocks of rows: samples, kept and recomputed features, many classes."""

import numpy as np
import pandas as pd
import pytest

import d2ke
from d2ke.learners.ridge import Ridge, decompose
from d2ke.models import blocks, inputs, tasks, train
from d2ke.models.feature_map import FeatureMap
from d2ke.models.labels import Labels, read_labels
from d2ke.models.loo import LooScores
from d2ke.models.tasks import Classes

N = 300


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, N)
    words = np.array(["GATTACA", "CCCGGG", "TATATA"])
    X = ["".join(rng.choice(list("ACGT"), 12)) + words[label] for label in y]
    return y, X


@pytest.fixture
def small(monkeypatch):
    """Samples and blocks that are smaller than the data."""
    monkeypatch.setattr(blocks, "SAMPLE", 120)
    monkeypatch.setattr(inputs, "_BLOCK_ROWS", (37, 37))


def decisions(model, X):
    return d2ke.d2ke_predict(None, X[:50], model)[2]


@pytest.fixture(scope="module")
def lengths():
    """Strings whose class is whether they are long: far ones cost the squared loss too much."""
    rng = np.random.default_rng(1)
    short = rng.random(600) < 0.7
    sizes = np.where(short, rng.integers(8, 14, 600), rng.integers(30, 90, 600))
    return sizes > 10, ["".join(rng.choice(list("ACGT"), size)) for size in sizes]


@pytest.mark.parametrize(
    "options",
    [
        {"R": 160, "groups": "none"},
        {"R": 160, "distance": ["osa", "indel"]},
        {"R": 16},
    ],
)
def test_a_limit_on_memory_changes_no_model(lengths, small, monkeypatch, options):
    """Features that are not kept are computed twice; the model and its size stay."""
    y, X = lengths
    options["keep_sums"] = True
    kept = d2ke.d2ke_train(y, X, **options)
    monkeypatch.setattr("d2ke.models.data.MAX_KEPT", 0)
    recomputed = d2ke.d2ke_train(y, X, n_threads=1, **options)
    assert kept.linear.options == recomputed.linear.options
    assert kept.R == recomputed.R
    assert kept.feature_names() == recomputed.feature_names()
    checked = kept.check_objects(X)
    features = [FeatureMap(one.blocks).unscaled(checked, 1) for one in (kept, recomputed)]
    assert (features[0] == features[1]).all()
    assert (kept.confusion == recomputed.confusion).all()
    np.testing.assert_allclose(decisions(kept, X), decisions(recomputed, X), atol=1e-6)


def test_blocks_of_rows_change_nothing_but_rounding(data, small, monkeypatch):
    some = d2ke.d2ke_train(*data, R=40)
    monkeypatch.setattr(inputs, "_BLOCK_ROWS", (1000, 1000))
    whole = d2ke.d2ke_train(*data, R=40)
    for one, other in zip(some.blocks, whole.blocks, strict=True):
        assert one.omega == other.omega
        assert np.array_equal(getattr(one, "gamma", 0), getattr(other, "gamma", 0))
    np.testing.assert_allclose(decisions(some, data[1]), decisions(whole, data[1]), atol=1e-6)


def test_more_features_than_rows_that_are_more_than_the_sample(data, small):
    """Blocks have no more random objects than the sample, but together more than all rows."""
    y, X = data
    segments = d2ke.samplers.segments
    parts = [d2ke.Block(name, "levenshtein", segments, 110) for name in ("a", "b")]
    model = d2ke.d2ke_train(y[:200], X[:200], blocks=parts)
    assert model.R == 220
    assert model.confusion.sum() == model.n_train == 200
    assert model.accuracy > 90


def test_gammas_and_random_objects_come_from_the_sample(data, small):
    y, X = data
    model = d2ke.d2ke_train(y, X, R=40)
    rows = blocks.sample_rows(N, 0, 40)
    assert len(np.unique(rows)) == 120
    sample = d2ke.pack([X[i] for i in rows])
    block = model.blocks[0]
    assert set(block.sources) <= set(rows)
    assert list(block.omega) == [X[i] for i in block.sources]
    D = d2ke.distance_matrix(sample, block.omega, "levenshtein")
    np.testing.assert_allclose(block.gamma, 1 / np.median(D, axis=0))
    Z = FeatureMap(model.blocks).unscaled(d2ke.pack(X), 1, np.arange(N))
    for j, source in enumerate(block.sources):
        others = D[rows != source, j].min()
        np.testing.assert_allclose(
            Z[source, j], np.exp(-block.gamma[j] * others) / np.sqrt(block.R), rtol=1e-5
        )


def test_the_sample_depends_on_the_seed_and_the_number_of_objects_alone():
    assert (blocks.sample_rows(100, 0, None) == np.arange(100)).all()
    rows = blocks.sample_rows(10**9, 0, None)
    assert len(np.unique(rows)) == blocks.SAMPLE
    assert (rows == blocks.sample_rows(10**9, 0, 64)).all()
    assert (rows != blocks.sample_rows(10**9, 1, None)).any()
    assert len(blocks.sample_rows(10**5, 0, 9000)) == 9000


def test_parts_of_scores_are_added(data):
    labels = read_labels(data[0], None)
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(N, 20)) + labels.dense_targets() @ rng.normal(size=(3, 20))
    ridge, P = decompose(Z, labels.targets(), np.ones(20))
    whole = LooScores.of(ridge, P, labels, [1.0, 10.0], np.arange(0, N, 7))
    cuts = [slice(i, i + 70) for i in range(0, N, 70)]
    parts = [
        LooScores.of(
            ridge, P[cut], labels[cut], [1.0, 10.0], np.arange(-cut.start % 7, len(P[cut]), 7)
        )
        for cut in cuts
    ]
    added = parts[0].merged(*parts[1:])
    assert whole.n == added.n == N
    assert (whole.confusion == added.confusion).all()
    np.testing.assert_allclose(whole.squared, added.squared)
    np.testing.assert_allclose(whole.calibration_decisions, added.calibration_decisions)
    assert (whole.n_correct == np.trace(whole.confusion, axis1=1, axis2=2)).all()


def test_with_many_classes_the_sample_chooses_C(data, monkeypatch):
    rng = np.random.default_rng(1)
    first = rng.integers(0, 4, (60, 20))
    y = np.arange(N) % 60
    letters = np.where(rng.random((N, 20)) < 0.1, rng.integers(0, 4, (N, 20)), first[y])
    X = ["".join("ACGT"[code] for code in row) for row in letters]
    all_C = d2ke.d2ke_train(y, X, R=100)  # 15 * 60 columns are more than R
    assert all_C.confusion.sum() == N
    assert all_C.accuracy > 80
    monkeypatch.setattr(tasks, "_MAX_CONFUSION", 50)
    assert d2ke.d2ke_train(y, X, R=100).confusion is None


def test_float32_products_differ_by_rounding(data, small, monkeypatch):
    exact = d2ke.d2ke_train(*data, R=40)
    monkeypatch.setattr("d2ke.learners.ridge._CHEAP", 0)
    rough = d2ke.d2ke_train(*data, R=40)
    assert (exact.C, exact.accuracy) == (rough.C, rough.accuracy)
    np.testing.assert_allclose(decisions(exact, data[1]), decisions(rough, data[1]), atol=1e-3)


def test_the_error_names_the_largest_R(data, monkeypatch):
    monkeypatch.setattr("d2ke._base.memory.memory_limit", lambda: 5 * 10**7)
    for R in (5000, 10**9, 2**63):
        with pytest.raises(MemoryError, match=f"R = {R} features") as refused:
            d2ke.d2ke_train(*data, R=R)
        largest = int(str(refused.value).split()[-1])
        assert 1000 < largest < 5000


def test_features_without_labels_that_do_not_fit_are_refused(data):
    estimators = pytest.importorskip("d2ke.estimators")
    for X in (data[1], np.ones((20, 9))):
        with pytest.raises(MemoryError, match="features of"):
            estimators.D2KETransformer(R=10**30).fit(X)


def test_what_does_not_fit_is_refused_before_any_work(data, monkeypatch):
    """The objects are packed and counted, and nothing is drawn from them."""
    y, X = data
    rng = np.random.default_rng(0)
    kinds = [
        (X, {}), ([list(x) for x in X], {}), (X, {"distance": "osa"}), (rng.random((N, 9)), {}),
        (X, {"distance": lambda x, y: abs(len(x) - len(y))}), ({"x": X, "y": rng.random(N)}, {}),
        (d2ke.pack(rng.random((N, 4, 2)), kind="sets"), {}), (X, {"keep_sums": True}),
    ]  # fmt: skip
    monkeypatch.setattr("d2ke._base.memory.memory_limit", lambda: 10**9)
    monkeypatch.setattr(train, "sample_rows", None)
    for objects, options in kinds:
        with pytest.raises(MemoryError, match=r"R = 60000 features"):
            d2ke.d2ke_train(y, objects, R=60_000, **options)


def test_ties_go_to_the_first_class():
    Z, codes = np.zeros((4, 1)), np.array([0, 1, 0, 1])
    target = Labels(Classes(np.array(["a", "b"])), codes)
    nothing = np.zeros((0, 1))
    ridge = Ridge(
        np.zeros(1), np.ones(1), np.zeros(0), nothing.T, nothing, np.array([0.5]), 4, Z.dtype
    )
    found = LooScores.of(ridge, np.zeros((4, 0)), target, [1.0])
    # Of the three others, two are of the other class.
    assert found.confusion.tolist() == [[[0, 2], [2, 0]]]


def test_swapped_arguments_are_noticed():
    names, languages = [f"name {i}" for i in range(60)], ["en", "fr", "de"] * 20
    with pytest.raises(ValueError, match=r"60 different values in 60 rows.* y and X swapped"):
        d2ke.d2ke_train(names, names[::-1])
    with pytest.raises(ValueError, match="y and X swapped"):
        d2ke.d2ke_train(names, languages)
    rng = np.random.default_rng(0)
    series = [rng.random(9) for _ in range(60)]
    sets = [rng.random((4, 2)) for _ in range(60)]
    reads = ["".join(rng.choice(list("ACGT"), 12)) for _ in range(40)]
    reads += reads[:20]
    numbers = np.arange(60) % 3
    for objects in (series, np.array(series), sets, d2ke.pack(sets), reads, d2ke.pack(reads)):
        for values in (languages, numbers, numbers.tolist(), pd.Series(numbers)):
            with pytest.raises(ValueError, match=r"X has 3 .* in 60 rows. Are y and X swapped"):
                d2ke.d2ke_train(objects, values)
            with pytest.raises(ValueError, match="y and X swapped"):
                d2ke.search(objects, values, "knn", distance="dtw")
    with pytest.raises(ValueError, match="y must be one-dimensional"):
        d2ke.d2ke_train(numbers[:, None], names)
    with pytest.raises(ValueError, match=r"y is a matrix.* y and D swapped"):
        d2ke.knn_predict(np.ones((3, 60)), languages)


def test_numbers_as_classes_are_noticed():
    rng = np.random.default_rng(0)
    ages = rng.integers(0, 51, 400)
    series = [np.full(6, age) + rng.normal(0, 2, 6) for age in ages]
    with pytest.warns(UserWarning, match="y has 51 .* say task='regression'") as caught:
        d2ke.d2ke_train(ages, series, R=32)
    assert len(caught) == 1
    d2ke.d2ke_train(ages, series, R=32, task="regression")
    # The same groups by numbers without order, and few classes in order.
    names = rng.permutation(51)[ages]
    d2ke.d2ke_train(names, series, R=32)
    d2ke.d2ke_train(ages // 6, series, R=32)
