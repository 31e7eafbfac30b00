# SPDX-License-Identifier: BSD-3-Clause
"""Near-copies are found by the model's features, and left out together."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import reloaded

import d2ke
from d2ke.learners.ridge import Ridge, RidgeSums, ridge_of_rows
from d2ke.models.kmers import ScoredKmers
from d2ke.models.loo import near_copies

LETTERS = list("ACGT")


def components(lengths, longest):
    """Return the groups that pairs up to a length join."""
    groups = list(range(len(lengths)))
    for i, j in np.argwhere(lengths <= longest):
        groups = [groups[i] if code == groups[j] else code for code in groups]
    return groups


def share(groups):
    return np.mean([groups.count(code) > 1 for code in groups])


def groups_of(lengths, largest):
    """Return the groups of different objects by definition, from all pairs, and if they decide."""
    levels = np.unique(lengths[np.triu_indices(len(lengths), 1)])
    every = [components(lengths, length) for length in levels]
    too_long = next(
        length
        for length, groups in zip(levels, every, strict=True)
        if max(map(groups.count, groups)) > largest
    )
    for stop, least in ((too_long, 0.8), (too_long / 2, 0.1)):
        shorter = [groups for length, groups in zip(levels, every, strict=True) if length < stop]
        if shorter and share(shorter[-1]) >= least:
            return shorter[-1], share(shorter[-1]) >= 0.5
    return None


@given(st.lists(st.integers(0, 60), min_size=4, max_size=24), st.integers(1, 4))
def test_groups_by_their_definition(places, largest):
    x = np.array(places, float)  # of whole numbers, so that many lengths are equal
    different, numbers = np.unique(x, return_inverse=True)
    if largest >= len(different):
        return
    wanted = groups_of(np.abs(different[:, None] - different), largest)
    if wanted is not None:
        codes, decide = np.array(wanted[0])[numbers], wanted[1]
    elif share(numbers.tolist()) >= 0.1 and len(different) > 2:
        codes, decide = numbers, False
    else:
        codes, decide = None, False
    found = near_copies(np.outer(x, x), lambda n: largest)
    assert (found is None) == (codes is None)
    if codes is not None:
        assert ((found.codes[:, None] == found.codes) == (codes[:, None] == codes)).all()
        assert found.decide == decide


def copies(rng, n=40, each=4, noise=0.03):
    """Strings with a motif of their class, `each` noisy copies of each; and new strings."""

    def string(label):
        s = rng.choice(LETTERS, 40)
        s[10:16] = list("ACGTAC" if label else "TTGACA")
        s[rng.integers(0, 40, 6)] = "A"
        return s

    def noisy(s):
        return "".join(np.where(rng.random(len(s)) < noise, rng.choice(LETTERS, len(s)), s))

    y = np.arange(n) % 2
    X = [noisy(s) for s in map(string, y) for _ in range(each)]
    new = np.arange(200) % 2
    return (
        np.repeat(y, each),
        X,
        np.repeat(np.arange(n), each),
        new,
        ["".join(string(c)) for c in new],
    )


def assert_found(model, n=40, each=4):
    """Copies have one code; ordinary objects that are near may have it, too."""
    codes = model.groups.reshape(n, each)
    assert (codes == codes[:, :1]).mean() > 0.94
    assert len(np.unique(codes)) > 0.75 * n


def test_noisy_copies_are_found_and_left_out_together():
    y, X, groups, new, Z = copies(np.random.default_rng(0))
    model = d2ke.d2ke_train(y, X, R=128)
    assert ((model.groups[:, None] == model.groups) == (groups[:, None] == groups)).mean() > 0.99
    accuracy = d2ke.d2ke_predict(new, Z, model)[1]
    assert abs(model.accuracy - accuracy) < abs(model.near_copies.accuracy - accuracy)
    assert "160 of 160 objects are near-copies of another (" in str(model)
    alone = d2ke.d2ke_train(y, X, R=128, groups="none")
    assert alone.groups is None
    assert alone.accuracy > model.accuracy
    given_groups = d2ke.d2ke_train(y, X, R=128, groups=groups)
    assert given_groups.near_copies is None
    assert given_groups.C == model.C


def test_ordinary_objects_have_no_copies():
    y, X, *_ = copies(np.random.default_rng(1), 100, 1)
    assert d2ke.d2ke_train(y, X, R=64).groups is None


def test_scores_of_pieces_get_the_groups(monkeypatch):
    monkeypatch.setattr("d2ke.models.recipes._SCORED", (100, 100))
    kept = []
    monkeypatch.setattr(
        ScoredKmers, "fit",
        lambda block, sample, seed, fit=ScoredKmers.fit: (
            kept.append(sample.labels.groups), fit(block, sample, seed)
        )[1],
    )  # fmt: skip
    y, X, *_ = copies(np.random.default_rng(0))
    model = d2ke.d2ke_train(y, X, R=64)
    assert (kept[0] == model.groups).all()


def test_records_and_files():
    y, X, *_ = copies(np.random.default_rng(3))
    rng = np.random.default_rng(0)
    records = {
        "s": X,
        "x": (np.repeat(rng.normal(size=40), 4) + rng.normal(size=160) / 50).tolist(),
    }
    model = d2ke.d2ke_train(y, records, R=64)
    assert_found(model)
    again = reloaded(model)
    assert str(again) == str(model)
    assert (again.groups == model.groups).all()
    assert (again.near_copies.rows == np.arange(160)).all()


def test_a_sample_scores_where_objects_are_more(monkeypatch):
    monkeypatch.setattr("d2ke.models.blocks.SAMPLE", 110)
    monkeypatch.setattr("d2ke.models.recipes.SAMPLE", 110)
    y, X, _, new, Z = copies(np.random.default_rng(0))
    model = d2ke.d2ke_train(y, X, R=100)
    assert model.n_train == 160
    assert len(model.groups) == 110 == model.confusion.sum()
    assert "of a sample of 110 objects" in str(model)
    assert d2ke.d2ke_predict(new, Z, model)[1] > model.accuracy - 10


def test_dask_finds_the_same():
    dask = pytest.importorskip("dask")
    import d2ke.dask as lazy

    y, X, *_ = copies(np.random.default_rng(0))
    model = d2ke.d2ke_train(y, X, R=64)
    with dask.config.set(scheduler="threads"):
        train = partial(lazy.d2ke_train, y, X, R=64, chunks=70)
        other, alone = train(), train(groups="none")
    assert (other.groups == model.groups).all()
    assert other.accuracy == pytest.approx(model.accuracy)
    assert alone.groups is None


@pytest.mark.parametrize("R", [30, 200])
@pytest.mark.parametrize("C", [1.0, 1e6])
def test_exact_copies_left_out_together_are_as_if_never_seen(R, C):
    rng = np.random.default_rng(0)
    Z = np.repeat(rng.normal(size=(25, R)).astype(np.float32), 4, axis=0)
    T = np.repeat(rng.normal(size=(25, 1)), 4, axis=0)
    if len(Z) < R:
        ridge, P = ridge_of_rows(Z, T, np.full(R, np.sqrt(R)))
    else:
        sums = RidgeSums.empty(np.zeros(R), np.full(R, np.sqrt(R)), np.zeros(1))
        sums.add(Z, T)
        ridge = Ridge.of(sums)
        P = ridge.coordinates(Z)
    left_out = ridge.loo_together(P[:4], T[:4], [C])[:, 0]
    other, _ = ridge_of_rows(Z[4:], T[4:], np.full(R, np.sqrt(R)))
    weights, offset = other.weights(C)
    expected = (Z[:4] - other.mean) / other.divisor @ weights.T + offset
    np.testing.assert_allclose(left_out, expected, rtol=1e-4, atol=1e-4)
