# SPDX-License-Identifier: BSD-3-Clause
"""Training objects that are random objects: their features there, and predictions without them."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reference import ridge as solved

import d2ke
from d2ke.models import blocks as blocks_module
from d2ke.models.blocks import Sample, fit_blocks
from d2ke.models.distance_blocks import Block
from d2ke.models.feature_map import FeatureMap
from d2ke.models.labels import no_labels
from d2ke.models.loo import OwnColumns, own_values
from d2ke.models.recipes import recipe
from d2ke.samplers import segments, training_objects

N = 40
RNG = np.random.default_rng(0)
Y = np.arange(N) % 2
WORDS = ["".join(RNG.choice(list("abcd"), RNG.integers(3, 9))) + "ax"[y] for y in Y]
SETS = [RNG.normal(size=(RNG.integers(2, 6), 2)) + y for y in Y]
HOLED = [None if i % 5 == 1 else word for i, word in enumerate(WORDS)]


def own_value(column, i, n_own, R):
    """Return the value of object i in its own column, by the definition."""
    others = np.delete(column, i).astype(float)
    raised = others.mean() + others.std() * n_own / (2 * np.sqrt(len(column)))
    return others.max(), max(others.max(), min(1 / np.sqrt(R), raised))


@given(data=st.data())
def test_values_by_their_definition(data):
    n, R = data.draw(st.integers(2, 12)), data.draw(st.integers(1, 9))
    unit = st.floats(0, 1, width=32)
    F = data.draw(arrays(np.float32, (n, R), elements=unit)) / np.float32(np.sqrt(R))
    columns = np.array(data.draw(st.lists(st.integers(0, R - 1), unique=True)), int)
    rows = data.draw(arrays(int, len(columns), elements=st.integers(0, n - 1)))
    found = F.copy()
    hidden, own = own_values(found, rows, columns)
    single = [(rows == i).sum() == 1 for i in rows]
    for i, j, alone, h, value in zip(rows, columns, single, hidden, own, strict=True):
        nearest, expected = own_value(F[:, j], i, sum(single), R)
        assert h == np.float32(nearest)
        assert value == pytest.approx(expected if alone else nearest, rel=1e-5, abs=1e-6)
        assert h <= value
        assert found[i, j] == value
    F[rows, columns] = found[rows, columns]
    np.testing.assert_array_equal(found, F)  # nothing else has changed


def test_one_object_and_columns_that_are_constant():
    F = np.full((1, 3), 0.5, np.float32)
    hidden, own = own_values(F, np.zeros(3, int), np.arange(3))
    assert (hidden == 0.5).all()
    assert (own == 0.5).all()
    F = np.full((9, 9), 0.1, np.float32)
    F[np.diag_indices(9)] = 1 / 3
    hidden, own = own_values(F, np.arange(9), np.arange(9))
    assert (hidden == np.float32(0.1)).all()
    np.testing.assert_allclose(own, hidden, rtol=1e-6)


BLOCKS = {
    "strings": (WORDS, Block("words", "levenshtein", training_objects, N)),
    "few of them": (WORDS, Block("words", "levenshtein", training_objects, 3)),
    "sets": (SETS, Block("sets", "mhd", training_objects, N)),
    "from omega": (SETS, Block("sets", "mhd", training_objects, 30, from_omega=True)),
    "halves": (
        WORDS, Block("words", "osa", training_objects, 20, (partial(d2ke.views.part, stop=0.5),))
    ),
    "records": (
        {"word": HOLED, "number": np.arange(float(N))},
        Block("words", "levenshtein", training_objects, N, column="word"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", BLOCKS)
def test_blocks(kind):
    """Training objects have these values at themselves; as new objects they have not."""
    X, block = BLOCKS[kind]
    objects = d2ke.pack_records(X) if block.column else d2ke.pack(X)
    rows = np.arange(N) + 7  # of a sample, among all
    sample = Sample(objects, rows, no_labels(N), 1)
    sample = sample.column_entries(block.column)
    fitted, F = block.fit_features(sample, 0)
    plain = fitted.features(sample.objects, 1)
    assert len(sample.rows) == (32 if kind == "records" else N)
    assert min(block.R, len(sample.rows)) == fitted.R
    for j, source in enumerate(fitted.sources):
        i = np.flatnonzero(sample.rows == source)[0]
        h, own = own_value(plain[:, j], i, fitted.R, fitted.R)
        np.testing.assert_allclose([fitted.hidden[j], fitted.own[j]], [h, own], rtol=1e-5)
        plain[i, j] = fitted.own[j]
    np.testing.assert_array_equal(F, plain)
    np.testing.assert_array_equal(fitted.features(sample.objects, 1, sample.rows), F)
    assert (fitted.own >= fitted.hidden).all()
    assert (fitted.own > fitted.hidden).any() == (fitted.R > 3)
    raised = OwnColumns.of([fitted])
    pairs = sorted(zip(fitted.sources, range(fitted.R), strict=True))
    pairs = [(i, j) for i, j in pairs if fitted.own[j] > fitted.hidden[j]]
    assert list(zip(raised.rows, raised.columns, strict=True)) == pairs


def test_windows_stay_hidden():
    """Several windows are cut from a series."""
    X = d2ke.pack(list(np.random.default_rng(0).normal(size=(20, 60))))
    sample = Sample(X, np.arange(20), no_labels(20), 1)
    blocks = [block for block in recipe(X, R=1500) if block.distance == "window"]
    assert blocks
    for block in fit_blocks(blocks, sample, 0)[0]:
        single = np.bincount(block.sources[block.sources >= 0], minlength=20)[block.sources] == 1
        several = (block.sources >= 0) & ~single
        assert several.any()
        np.testing.assert_array_equal(block.own[several], block.hidden[several])


def test_columns_of_several_blocks_and_of_some_rows():
    sample = Sample(d2ke.pack(WORDS), np.arange(N), no_labels(N), 1)
    fitted = [
        block.fit(sample, seed)
        for seed, block in enumerate(
            [
                Block("words", "levenshtein", training_objects, 30),
                Block("segments", "levenshtein", segments, 5),
                Block("osa", "osa", training_objects, 25),
            ]
        )
    ]
    own = OwnColumns.of(fitted)
    assert (np.diff(own.rows) >= 0).all()
    F = FeatureMap(fitted).unscaled(sample.objects, 1, sample.rows)
    plain = FeatureMap(fitted).unscaled(sample.objects, 1)
    hidden = F.copy()
    hidden[own.rows, own.columns] = own.hidden
    assert (F[own.rows, own.columns] > own.hidden).all()
    assert ((plain != F).sum(axis=1) <= 2).all()
    assert (hidden <= F).all()
    some = np.array([31, 2, 17, 39])
    part = own.within(some)
    expected = {
        (place, j) for place, i in enumerate(some) for j in own.columns[own.rows == i].tolist()
    }
    assert set(zip(part.rows.tolist(), part.columns.tolist(), strict=True)) == expected
    assert (np.diff(part.rows) >= 0).all()
    again = own.within(np.arange(N))
    np.testing.assert_array_equal(again.columns, own.columns)
    assert not len(OwnColumns.of([fitted[1]]).within(some).rows)


PEOPLE = np.arange(N) // 3


@pytest.mark.parametrize(
    ("R", "rows", "groups"),
    [(N, N, None), (N - 4, N, None), (N, N, PEOPLE), (N - 4, N, PEOPLE), (30, 30, None)],
)
def test_scores_are_those_of_refits(R, rows, groups, monkeypatch):
    """The printed accuracy and the confusion are those of models without object and own columns.

    Of more rows than the sample has, too: random objects are training objects of the sample.
    """
    monkeypatch.setattr(blocks_module, "SAMPLE", rows)
    block = Block("words", "levenshtein", training_objects, R)
    model = d2ke.d2ke_train(Y, WORDS, blocks=[block], groups=groups, n_threads=1)
    Z = model.features(d2ke.pack(WORDS), 1, np.arange(N)).astype(float)
    own, folds = OwnColumns.of(model.blocks), np.arange(N) if groups is None else groups
    assert len(own.rows) > 5
    decisions = np.empty(N)
    for fold in np.unique(folds):
        out = np.flatnonzero(folds == fold)
        used = np.setdiff1d(np.arange(R), own.columns[np.isin(own.rows, out)])
        rest = folds != fold
        weights, offset = solved(Z[rest][:, used], Y[rest, None].astype(float), model.C)
        decisions[out] = (Z[np.ix_(out, used)] @ weights + offset)[:, 0]
    correct = (decisions > 0.5) == Y
    assert model.accuracy == pytest.approx(100 * correct.mean())
    assert model.confusion[1, 1] == (correct & (Y == 1)).sum()


def test_novelty_compares_with_the_nearest_others():
    """Raised features would make training objects look far from each other."""
    block = Block("words", "levenshtein", training_objects, N)
    model = d2ke.d2ke_train(Y, WORDS, blocks=[block], n_threads=1)
    F = FeatureMap(model.blocks).unscaled(d2ke.pack(WORDS), 1, np.arange(N))
    own = OwnColumns.of(model.blocks)
    F[own.rows, own.columns] = own.hidden
    rows = model.reference.sums(F)
    np.testing.assert_allclose(model.reference.rows, rows, rtol=2e-3, atol=1e-3)


def test_an_explanation_of_a_training_object_adds_up():
    block = Block("words", "levenshtein", training_objects, N)
    model = d2ke.d2ke_train(Y, WORDS, blocks=[block], n_threads=1)
    own = OwnColumns.of(model.blocks)
    i, j = int(own.rows[0]), int(own.columns[0])
    why = d2ke.d2ke_explain(WORDS[i], model, training_object=i, limit=N)
    assert why.offset + sum(why.blocks.values()) == pytest.approx(why.decision)
    distances = [entry["distance"] for entry in why.omegas if entry["index"] == j]
    fitted = model.blocks[0]
    wanted = -np.log(fitted.own[j] * np.sqrt(fitted.R)) / fitted.gamma[j]
    assert distances == [pytest.approx(wanted)]


def test_predictions_of_a_regression_of_few_objects_stay_near_the_targets():
    rng = np.random.default_rng([3, 7])
    X, new = rng.normal(size=(3, 2)), rng.normal(size=(50, 2))
    y = X.sum(axis=1)
    with pytest.warns(UserWarning, match="little or nothing"):
        model = d2ke.d2ke_train(y, list(X), task="regression", distance=math.dist)
    predicted = d2ke.d2ke_predict(None, list(new), model)[0]
    assert np.abs(predicted - y.mean()).max() < np.ptp(y)
    assert (model.blocks[0].own == np.float32(1 / np.sqrt(3))).all()


@pytest.mark.parametrize("seed", [3, 5, 8])
def test_predictions_of_a_regression_of_three_series_stay_near_the_targets(seed):
    rng = np.random.default_rng([3, seed])
    series = [rng.normal(size=(rng.integers(5, 20), 1)).cumsum(axis=0) for _ in range(53)]
    y = np.array([x.sum() for x in series[:3]])
    with pytest.warns(UserWarning, match="little or nothing"):
        model = d2ke.d2ke_train(y, series[:3], task="regression")
    predicted = d2ke.d2ke_predict(None, series[3:], model)[0]
    assert y.min() - np.ptp(y) <= predicted.min() <= predicted.max() <= y.max() + np.ptp(y)
    assert model.C <= 3
