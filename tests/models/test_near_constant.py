# SPDX-License-Identifier: BSD-3-Clause
"""What is constant in training but for rounding moves no decision more than what varies."""

import dask
import numpy as np
import pytest

import d2ke
import d2ke.dask

N = 40
LABELS = np.arange(N) % 2


def rounded(rng, n, dtype=np.float32, level=5.0):
    """Return numbers that are one but for rounding."""
    return (level * (1 + np.finfo(dtype).eps * rng.uniform(-1, 1, n))).astype(dtype)


def first_or_second(x, omega):
    """Compare the first numbers, or return the second one of x."""
    return float(abs(x[0] - omega[0]) if omega[1] else x[1])


def omegas(R, X, *, seed):
    places = np.random.default_rng(seed).uniform(-2, 2, R)
    return [np.array([place, j % 4]) for j, place in enumerate(places)]


def numbers(rng, n, moved):
    """Return pairs of a number that says something and one that is constant in training."""
    u = rng.normal(size=n) + LABELS[:n]
    return [np.array(pair) for pair in zip(u, rounded(rng, n) + moved, strict=True)]


def trained_ways(y, X, **options):
    """Return models of training in memory, with sums, and by dask."""
    yield d2ke.d2ke_train(y, X, **options)
    yield d2ke.d2ke_train(y, X, keep_sums=True, **options)
    with dask.config.set(scheduler="synchronous"):
        yield d2ke.dask.d2ke_train(y, X, chunks=17, **options)


@pytest.mark.parametrize("families", [("f", "f"), ("f", "g")])
@pytest.mark.parametrize("power", [1.0, 0.5])
@pytest.mark.parametrize("R", [16, 60])
def test_distances_that_vary_by_rounding(R, power, families):
    rng = np.random.default_rng(0)
    X = numbers(rng, N, 0.0)
    blocks = [
        d2ke.Block(name, first_or_second, omegas, R // 2, sd_power=power, family=family)
        for name, family in zip("ab", families, strict=True)
    ]
    decisions = []
    for model in trained_ways(LABELS, X, blocks=blocks):
        before = d2ke.d2ke_predict(None, X, model)[2]
        moved = [x + np.array([0.0, 1.0]) for x in X]
        after = d2ke.d2ke_predict(None, moved, model)[2]
        assert np.abs(after - before).max() < 0.1 * before.std()
        decisions.append(before)
    for other in decisions[1:]:
        np.testing.assert_allclose(other, decisions[0], atol=1e-3 * decisions[0].std())


def vectors(kind, rng, n, dtype, moved):
    """Return series, sets or vectors of which one channel is constant in training."""
    items = []
    for label in LABELS[:n]:
        m = {"series": rng.integers(20, 30), "sets": 6, "vectors": 1}[kind]
        x = rng.normal(size=(m, 2)) + label
        rest = rounded(rng, m, dtype, 3.0) + dtype(moved)
        items.append(np.column_stack([x, rest]).astype(dtype))
    return d2ke.pack(items, kind="series" if kind == "series" else "sets", channels_first=False)


@pytest.mark.filterwarnings("ignore:40 of 40 objects are more than 10 times as far")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["series", "sets", "vectors"])
def test_a_channel_that_varies_by_rounding(kind, dtype):
    X = vectors(kind, np.random.default_rng(1), N, dtype, 0.0)
    for model in trained_ways(LABELS, X, R=64):
        decisions = [
            d2ke.d2ke_predict(None, vectors(kind, np.random.default_rng(2), N, dtype, by), model)[2]
            for by in (0.0, 1e-3, 1.0, 100.0)
        ]
        usual = np.ptp(decisions[0])
        for moved, most in zip(decisions[1:], (0.01, 1.5, 1.5), strict=True):
            assert np.abs(moved - decisions[0]).max() < most * usual


@pytest.mark.parametrize(
    ("dtype", "level"),
    [("f8", 1 / 3), ("f8", 1e8 / 3), ("f8", -1e12), ("f4", 0.1), ("f4", 1e3 / 3)],
)
def test_a_column_of_numbers_that_varies_by_rounding(dtype, level):
    """Its rounding says the labels, and is not listened to."""
    rng = np.random.default_rng(3)
    names = ["".join(rng.choice(list("ab" if label else "bc"), 8)) for label in LABELS]
    constant = (level * (1 + np.finfo(dtype).eps * LABELS)).astype(dtype)
    table = {"name": names, "x": constant, "z": rng.normal(size=N) + LABELS}
    model = d2ke.d2ke_train(LABELS, table, R=64)
    plain = d2ke.d2ke_predict(None, table, model)[2]
    for by in (0.0, 1e-6, 1.0, 1e6):
        moved = d2ke.d2ke_predict(None, table | {"x": constant + by}, model)[2]
        np.testing.assert_array_equal(moved, plain)


def test_whole_numbers_are_not_rounded():
    """Numbers of 10,000,000 and one more are as far as they say."""
    rng = np.random.default_rng(5)
    names = ["".join(rng.choice(list("ab"), 8)) for _ in LABELS]
    table = {"name": names, "x": 1e7 + LABELS}
    model = d2ke.d2ke_train(LABELS, table, R=64)
    assert d2ke.d2ke_predict(LABELS, table, model)[1] == 100


def test_strings_that_all_are_as_far():
    """Distances to strings of other letters are exactly equal in training."""
    rng = np.random.default_rng(4)
    X = ["".join(rng.choice(list("ab" if label else "bc"), 8)) for label in LABELS]

    def sampler(R, X, *, seed):
        return d2ke.pack(["zz", "ab", "bcb", "aabb"])

    block = d2ke.Block("f", "levenshtein", sampler, 4, parameters={"mode": "infix"})
    for model in trained_ways(LABELS, X, blocks=[block]):
        before = d2ke.d2ke_predict(None, X, model)[2]
        with pytest.warns(UserWarning, match="letters"):
            after = d2ke.d2ke_predict(None, [x + "zz" for x in X], model)[2]
        assert np.abs(after - before).max() < 1e-6 * before.std()
