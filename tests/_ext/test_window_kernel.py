# SPDX-License-Identifier: BSD-3-Clause
"""The kernel of windows beside the definition."""

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

from d2ke._ext import isa
from d2ke._ext.windows import Windows, window_distances


@pytest.fixture(params=isa.supported(), scope="module", autouse=True)
def instruction_set(request):
    before = isa.selected()
    isa.select(request.param)
    yield
    isa.select(before)


class Problem:
    """Random series and windows in groups, and the arguments of the kernel."""

    def __init__(self, rng, lengths_x, lengths, sizes, dim=1, normalize=True, values=None):
        self.normalize = normalize
        self.X = [rng.normal(size=(dim, T)).astype(np.float32) for T in lengths_x]
        if values is not None:
            self.X = [values(rng, x).astype(np.float32) for x in self.X]
        self.dilations = rng.choice([1, 2, 5, 19], len(lengths))
        self.channels = [rng.permutation(dim)[: rng.integers(1, dim + 1)] for _ in lengths]
        self.windows, self.group = [], []
        for g, (length, size) in enumerate(zip(lengths, sizes, strict=True)):
            for _ in range(size):
                w = rng.normal(size=(len(self.channels[g]), length))
                if values is not None:
                    w = values(rng, w)
                if normalize:
                    w = reference.normalized(w, 1e-4)
                self.windows.append(w.astype(np.float32))
                self.group.append(g)
        W = len(self.windows)
        self.places = rng.random(W).astype(np.float32)
        self.thresholds = (2 * rng.random(W)).astype(np.float32)
        self.radius = float(rng.choice([0, 0.05, 0.3]))
        self.limits = rng.choice([1e-4, 1e-3], (dim, len(self.X))).astype(np.float32)
        self.arguments = (
            np.ascontiguousarray(np.concatenate(self.X, axis=1)),
            np.cumsum([0, *lengths_x], dtype=np.int64),
            self.limits,
            np.concatenate([w.ravel() for w in self.windows]),
            np.cumsum([0, *sizes], dtype=np.int64),
            np.array(lengths, np.int64),
            self.dilations,
            np.cumsum([0, *(len(c) for c in self.channels)], dtype=np.int64),
            np.concatenate(self.channels),
        )

    def distances(self, n_threads=1, runs=True):
        return window_distances(
            *self.arguments, self.places, self.radius, self.thresholds, self.normalize, n_threads,
            runs,
        )  # fmt: skip

    def check(self, rtol=1e-5, atol=3e-6):
        found, W = self.distances(), len(self.windows)
        assert found.shape == (len(self.X), 4 * W)
        reference.same(self.distances(runs=False), found[:, : 3 * W])
        for i, x in enumerate(self.X):
            for w, g in enumerate(self.group):
                taken = x[self.channels[g]], self.windows[w], self.dilations[g], self.normalize
                taken = *taken, self.limits[self.channels[g], i]
                place, threshold = self.places[w], self.thresholds[w]
                least, near, *_ = reference.window_distances(*taken, place, self.radius, threshold)
                np.testing.assert_allclose(found[i, w], least, rtol, atol)
                np.testing.assert_allclose(found[i, W + w], near, rtol, atol)
                profile = reference.window_profile(*taken)
                slack = 2 * rtol * threshold + atol
                more, less = (profile <= threshold + sign * slack for sign in (1, -1))
                assert np.mean(~more) - 1e-6 <= found[i, 2 * W + w] <= np.mean(~less) + 1e-6
                run = round((1 - float(found[i, 3 * W + w])) ** 2 * len(profile))
                assert reference.longest_run(less) <= run <= reference.longest_run(more)


LENGTHS = [1, 2, 7, 9, 11, 33, 300]


@settings(max_examples=reference.examples(40), deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    lengths_x=st.lists(st.integers(1, 1600), min_size=1, max_size=4),
    changes=st.sampled_from([0.3, 0.02, 0.001]),
    lengths=st.lists(st.sampled_from([1, 2]), min_size=1, max_size=3),
    size=st.integers(1, 10),
)
def test_longest_runs_are_exact(seed, lengths_x, changes, lengths, size):
    """Whole numbers that stay for a while, whose distances are thresholds."""

    def values(rng, x):
        return (rng.random(x.shape) < changes).cumsum(axis=1) % 3

    rng = np.random.default_rng(seed)
    problem = Problem(rng, lengths_x, lengths, [size] * len(lengths), 2, False, values)
    problem.thresholds = rng.choice([0, 0.5, 1, 2], len(problem.windows)).astype(np.float32)
    found, W = problem.distances(), len(problem.windows)
    reference.same(problem.distances(3), found)
    for i, x in enumerate(problem.X):
        for w, g in enumerate(problem.group):
            *_, share, run = reference.window_distances(
                x[problem.channels[g]], problem.windows[w], problem.dilations[g], False, 0,
                problem.places[w], problem.radius, problem.thresholds[w],
            )  # fmt: skip
            assert found[i, 2 * W + w] == np.float32(share)
            assert found[i, 3 * W + w] == np.float32(run)


@settings(max_examples=reference.examples(60), deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    lengths_x=st.lists(st.sampled_from([1, 2, 8, 31, 64, 65, 200, 1100]), min_size=1, max_size=3),
    lengths=st.lists(st.sampled_from(LENGTHS), min_size=1, max_size=3),
    size=st.sampled_from([1, 2, 4, 5, 8, 9, 17]),
    dim=st.sampled_from([1, 2, 3]),
    normalize=st.booleans(),
)
def test_definition(seed, lengths_x, lengths, size, dim, normalize):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, size + 1, len(lengths))
    Problem(rng, lengths_x, lengths, sizes, dim, normalize).check()


def level(rng, x):
    """A level of 1e6, then noise of 0.01."""
    half = x.shape[1] // 2
    return np.concatenate([1e6 + 0 * x[:, :half], 0.01 * x[:, half:]], axis=1)


def steps(rng, x):
    """Steps of one unit in the last place around 2^20."""
    return 2.0**20 + 2.0**-3 * np.round(x)


def runs(rng, x):
    """Constant for a while, then not."""
    return np.where(np.arange(x.shape[1]) // 40 % 2, 3.7, x)


def spikes(rng, x):
    """Numbers of up to 1e18 among small ones."""
    return np.where(rng.random(x.shape) < 0.02, 1e18 * np.sign(x), x)


@pytest.mark.parametrize("values", [level, steps, runs, spikes])
@pytest.mark.parametrize("normalize", [True, False])
def test_values_that_cancel_or_overflow(values, normalize):
    rng = np.random.default_rng(3)
    Problem(rng, [40, 700], [9, 30], [9, 3], 2, normalize, values).check()


def test_subnormals_count_as_zeros():
    rng = np.random.default_rng(0)
    small = Problem(rng, [50], [9], [8], values=lambda rng, x: 1e-40 * x)
    assert set(small.distances()[0, :16]) <= {0.0}
    raw = Problem(rng, [50], [9], [8], normalize=False, values=lambda rng, x: 1e-40 * x)
    assert set(raw.distances()[0, :16]) == {0.0}


def test_a_window_of_the_series_is_found_at_its_place():
    rng = np.random.default_rng(1)
    problem = Problem(rng, [400], [9], [8], normalize=False)
    x, step = problem.X[0][0], int(problem.dilations[0])
    problem.arguments[3][:] = np.concatenate([x[p : p + 9 * step : step] for p in range(100, 108)])
    profile = Windows(*problem.arguments, False).profile(0, 50, 200)
    assert profile.argmin(axis=1).tolist() == list(range(50, 58))
    np.testing.assert_array_equal(problem.distances()[0, :8], 0)
    np.testing.assert_array_equal(profile.min(axis=1), 0)


def test_bits_depend_neither_on_threads_nor_on_other_windows_and_series():
    rng = np.random.default_rng(5)
    problem = Problem(rng, [3, 90, 700, 701, 64], [9, 11, 200], [8, 13, 3], 3)
    found = problem.distances()
    reference.same(problem.distances(4), found)
    values, offsets, limits, windows, _, lengths, dilations, channel_offsets, channels = (
        problem.arguments
    )
    at, W = 0, len(problem.windows)
    for w, g in enumerate(problem.group):
        size = problem.windows[w].size
        for i in range(len(problem.X)):
            one = window_distances(
                np.ascontiguousarray(values[:, offsets[i] : offsets[i + 1]]),
                np.array([0, offsets[i + 1] - offsets[i]]),
                np.ascontiguousarray(limits[:, i : i + 1]),
                windows[at : at + size],
                np.array([0, 1]),
                lengths[g : g + 1],
                dilations[g : g + 1],
                np.array([0, len(problem.channels[g])]),
                problem.channels[g],
                problem.places[w : w + 1],
                problem.radius,
                problem.thresholds[w : w + 1],
                True,
                1,
                True,
            )
            reference.same(one[0], found[i, [w, W + w, 2 * W + w, 3 * W + w]])
        at += size
    assert at == windows.size
    assert channel_offsets[-1] == channels.size


def test_only_the_nearest_place_is_near_without_a_radius():
    rng = np.random.default_rng(2)
    problem = Problem(rng, [300], [9], [8], normalize=False)
    problem.radius = 0.0
    n = 300 - 8 * int(problem.dilations[0])
    profile = Windows(*problem.arguments, False).profile(0, 0, n)
    nearest = np.round(problem.places.astype(np.float64) * (n - 1)).astype(int)
    np.testing.assert_allclose(
        problem.distances()[0, 8:16], np.sqrt(profile[np.arange(8), nearest]), rtol=1e-6
    )


def test_a_sample_has_places_of_each_windows_series():
    rng = np.random.default_rng(4)
    problem = Problem(rng, [700, 3, 90], [9, 11, 2], [8, 13, 3], 2)
    windows = Windows(*problem.arguments, True)
    series = rng.integers(3, size=24)
    chances = rng.random((24, 50), np.float32)
    found = windows.sample(series, chances.copy())
    for w, (i, g) in enumerate(zip(series, problem.group, strict=True)):
        span = (problem.windows[w].shape[1] - 1) * problem.dilations[g]
        n = max(1, problem.X[i].shape[1] - span)
        profile = windows.profile(i, 0, n)[w].astype(np.float32)
        np.testing.assert_array_equal(found[w], profile[(chances[w].astype(float) * n).astype(int)])


def test_windows_are_prepared_once_for_several_collections_of_series():
    rng = np.random.default_rng(8)
    problem = Problem(rng, [30, 90], [9, 11], [8, 5], 2)
    other = Problem(rng, [300, 4, 50], [9, 11], [8, 5], 2)
    rest = problem.places, problem.thresholds, problem.radius, True, 1
    windows = Windows(*problem.arguments, True)
    for series in (other.arguments[:3], problem.arguments[:3]):
        wanted = Windows(*series, *problem.arguments[3:], True).rows(*rest)
        reference.same(windows.of_series(*series).rows(*rest), wanted)
