# SPDX-License-Identifier: BSD-3-Clause
"""The kernel of window profiles against all pairs of windows, on every instruction set."""

import warnings

import numpy as np
import pytest
import reference
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import sliding_window_view

import d2ke
from d2ke._base.errors import ArgumentError
from d2ke._ext import isa

# The test's own rule of constant windows: both of the package's are far from it.
LIMIT = 1e-12


def profile(x, y, length, normalize, zone, k, n_threads=1):
    """Distances and places of each window's k-th nearest; NaN and -1 where no window has one."""
    how = {"k": k, "normalize": normalize, "exclusion": (zone + 0.5) / length}
    others = None if y is x else [y]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # missing values
            packed = d2ke.pack([x], missing=True, channels_first=False)
            found = d2ke.window_profile(packed, length, Y=others, n_threads=n_threads, **how)
    except ArgumentError:
        n = len(x) - length + 1
        return np.full(n, np.nan), np.full(n, -1)
    return found.distances, found.starts


def shapes(x, length, normalize):
    """All windows, (places, dim, length)."""
    windows = sliding_window_view(x, length, axis=0)
    if not normalize:
        return windows
    away = windows - windows.mean(axis=2, keepdims=True)
    deviation = windows.std(axis=2, keepdims=True)
    return np.where(deviation <= LIMIT, 0, away / np.where(deviation <= LIMIT, 1, deviation))


def all_distances(x, y, length, normalize):
    w, v = shapes(x, length, normalize), shapes(y, length, normalize)
    return np.sqrt(((w[:, None] - v) ** 2).sum(axis=(2, 3)))


def naive(x, y, length, normalize, zone, k):
    """The k-th nearest of each window, chosen one after another, apart by the zone."""
    D = all_distances(x, y, length, normalize)
    D[np.isnan(D)] = np.inf
    places = np.arange(D.shape[1])
    for i, row in enumerate(D):
        if y is x:
            row[np.abs(places - i) <= zone] = np.inf
        for _ in range(k - 1):
            if row.min() < np.inf:
                row[np.abs(places - row.argmin()) <= zone] = np.inf
    return np.where(D.min(axis=1) == np.inf, np.nan, D.min(axis=1)), D


@settings(max_examples=reference.examples(150))
@given(
    seed=st.integers(0, 2**32 - 1),
    dim=st.integers(1, 3),
    length=st.integers(1, 40),
    style=st.sampled_from(["noise", "walk", "runs", "holes"]),
    normalize=st.booleans(),
    k=st.integers(1, 3),
    exclusion=st.sampled_from([0, 0.25, 0.5, 1.5]),
    join=st.booleans(),
)
def test_the_nearest_are_those_of_all_pairs(
    seed, dim, length, style, normalize, k, exclusion, join
):
    # All normalised windows of two values are +-(1, -1): rounding chooses among ties, and after
    # another choice other windows are too near for the next one.
    assume(not (normalize and length == 2 and k > 1))
    rng = np.random.default_rng(seed)
    sizes = length + rng.integers(0, 150, 2)
    x, y = (rng.normal(size=(n, dim)) for n in sizes)
    if style == "walk":
        x, y = x.cumsum(axis=0), y.cumsum(axis=0)
    if style == "runs":
        for part in (x, y):
            part[len(part) // 3 : len(part) // 3 + length + 20, rng.integers(dim)] = 0.1
    if style == "holes":
        for part in (x, y):
            part[rng.integers(len(part), size=1 + len(part) // 60)] = np.nan
    y, zone = y if join else x, int(exclusion * length)
    wanted, D = naive(x, y, length, normalize, zone, k)
    results = []
    for name in isa.supported():
        before = isa.selected()
        isa.select(name)
        try:
            results.append(profile(x, y, length, normalize, zone, k))
        finally:
            isa.select(before)
    distances, places = results[0]
    np.testing.assert_allclose(distances, wanted, atol=2e-7 if normalize else 1e-13)
    known = np.flatnonzero(places >= 0)
    at_places = D[known, places[known]]
    np.testing.assert_allclose(distances[known], at_places, rtol=1e-9, atol=1e-12)
    for other in results[1:]:
        reference.same(distances, other[0])
        reference.same(places, other[1])


@pytest.mark.parametrize("normalize", [True, False])
def test_threads_do_not_count(normalize):
    x = np.random.default_rng(0).normal(size=(3000, 1)).round(1)
    x[200:600] = 0.5
    one, two = (profile(x, x, 50, normalize, 25, 2, n) for n in (1, 3))
    for a, b in zip(one, two, strict=True):
        reference.same(a, b)


@pytest.mark.parametrize("normalize", [True, False])
def test_ties_go_to_the_first_place(normalize):
    x = np.tile(np.array([0.0, 1.0, 3.0, 2.0]), 50)[:, None]
    distances, places = profile(x, x, 8, normalize, 4, 1)
    assert not distances.any()
    at = np.arange(len(places))
    np.testing.assert_array_equal(places, np.where(at < 8, at + 8, at % 4)[: len(places)])


def sizes_of_errors(x, length):
    """Errors of the squared distance of what was chosen, above the least one, and of distances."""
    distances, places = profile(x, x, length, True, length // 2, 1)
    exact = all_distances(x.astype(np.longdouble), x.astype(np.longdouble), length, True)
    at = np.arange(len(exact))
    exact[np.abs(np.subtract.outer(at, at)) <= length // 2] = np.inf
    own = exact[at, places]
    return np.abs(own**2 - exact.min(axis=1) ** 2).max(), np.abs(distances - own).max()


@pytest.mark.skipif(
    np.finfo(np.longdouble).eps == np.finfo(float).eps, reason="needs a type wider than float64"
)
@pytest.mark.parametrize(
    ("unit", "level", "spike"),
    [(1, 1e8, 0), (1e-9, 0, 0), (1e-9, 1, 0), (1, 0, 1e8), (1, 1e8, 1e8), (1e9, -1e15, 0)],
)
def test_errors_are_those_of_two_windows(unit, level, spike):
    rng = np.random.default_rng(3)
    # Windows a period apart are nearly equally far: small errors would choose another one.
    x = np.sin(2 * np.pi * np.arange(900) / 45) + 1e-5 * rng.normal(size=900)
    x = unit * x + level
    x[::200] += spike
    x[450:] += 10 * spike  # a step
    length = 50
    chosen, computed = sizes_of_errors(x[:, None], length)
    assert chosen <= 4 * length**2 * (length + 10) * 2.0**-53
    assert computed <= 1e-9
