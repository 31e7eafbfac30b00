# SPDX-License-Identifier: BSD-3-Clause
from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import examples
from tree_cases import walks, words

import d2ke
from d2ke.distances.registry import check_parameters, find_distance
from d2ke.groups.series_average import SeriesAverage

SERIES = [
    *((name, {}) for name in
      ("dtw", "msm", "erp", "twe", "edr", "lcss", "adtw", "wdtw", "frechet", "ddtw")),
    ("dtw", {"window": 2}),
    ("dtw", {"ground": "sqeuclidean", "window": "rws"}),
    ("dtw", {"ground": "manhattan"}),
    ("msm", {"independent": False}),
]  # fmt: skip
STRINGS = ["levenshtein", "osa", "damerau_levenshtein", "indel", "weighted_levenshtein"]
seeds = st.integers(0, 2**32 - 1)
vectors = partial(d2ke.pack, channels_first=False)


@pytest.mark.parametrize(("distance", "params"), SERIES)
@settings(max_examples=examples(30), deadline=None)
@given(seed=seeds, n=st.integers(1, 9), dim=st.integers(1, 3), weighted=st.booleans())
def test_no_worse_than_the_medoid(distance, params, seed, n, dim, weighted):
    rng = np.random.default_rng(seed)
    X = vectors([rng.standard_normal((rng.integers(1, 12), dim)).cumsum(axis=0) for _ in range(n)])
    weights = rng.integers(0, 4, n) + (np.arange(n) == 0) if weighted else np.ones(n)
    found = d2ke.barycenter(X, distance=distance, weights=weights, **params)
    sums = weights @ d2ke.distance_matrix(X, distance=distance, **params)
    assert found.inertia <= sums.min() * (1 + 1e-12)
    assert found.inertia == pytest.approx(weights @ found.distances)
    column = d2ke.distance_matrix(X, vectors([found.center]), distance=distance, **params)[:, 0]
    assert found.distances == pytest.approx(column)
    again = d2ke.barycenter(X, distance=distance, weights=weights, n_threads=2, **params)
    assert np.array_equal(again.center, found.center)


@pytest.mark.parametrize(("distance", "params"), SERIES)
@settings(max_examples=10, deadline=None)
@given(seed=seeds, n=st.integers(1, 5))
def test_equal_series_are_their_average(distance, params, seed, n):
    (x,) = walks(np.random.default_rng(seed), 1)
    found = d2ke.barycenter([x] * n, distance=distance, **params)
    assert np.array_equal(found.center, x)
    assert found.inertia == 0


def naive_average(X, center, params):
    """Return the means of the vectors that `align` puts on each one of the center."""
    sums, counts = np.zeros_like(center), np.zeros(len(center))
    for x in X:
        for i, j in d2ke.align(x, center, **params).pairs:
            if i >= 0 and j >= 0:
                sums[j] += x[i]
                counts[j] += 1
    stays = counts == 0
    return np.where(stays[:, None], center, sums / np.maximum(counts, 1)[:, None])


@pytest.mark.parametrize(("distance", "params"), SERIES)
@settings(max_examples=examples(40), deadline=None)
@given(seed=seeds, n=st.integers(1, 30), dim=st.integers(2, 3), m=st.integers(1, 20))
def test_a_step_leads_to_the_means_of_what_is_aligned(distance, params, seed, n, dim, m):
    rng = np.random.default_rng(seed)
    # In one channel some alignments cost the same, up to rounding.
    dim = 1 if distance == "msm" and not params else dim
    *X, center = (
        rng.standard_normal((length, dim)).cumsum(axis=0) for length in [*rng.integers(1, 20, n), m]
    )
    parameters = check_parameters(find_distance(distance), params)
    average = SeriesAverage(distance, vectors(X), np.ones(n), 1, parameters)
    found = next(average.candidates(vectors([center])))[0]
    wanted = naive_average(X, center, {"distance": distance, **params})
    assert found == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("n", [20, 1101])
def test_squares_fall_to_the_mean_of_single_vectors(n):
    X = np.random.default_rng(0).standard_normal((n, 1, 3))
    found = d2ke.barycenter(vectors(list(X)), distance="dtw", ground="sqeuclidean")
    assert found.center == pytest.approx(X.mean(axis=0))


def test_distances_fall_to_the_geometric_median():
    from scipy.optimize import minimize

    X = np.random.default_rng(1).standard_normal((30, 1, 2)) ** 3
    found = d2ke.barycenter(vectors(list(X)), distance="dtw", tol=1e-9, max_iter=500)
    least = minimize(lambda c: np.linalg.norm(X[:, 0] - c, axis=1).sum(), X[0, 0]).fun
    assert found.inertia == pytest.approx(least, rel=1e-3)


@pytest.mark.parametrize("distance", STRINGS)
@settings(max_examples=examples(30), deadline=None)
@given(
    X=st.lists(st.text("ab", max_size=4), min_size=1, max_size=6),
    weighted=st.booleans(),
)
def test_medians_beside_all_strings(distance, X, weighted):
    weights = np.arange(len(X)) % 3 + 1 if weighted else np.ones(len(X))
    found = d2ke.barycenter(X, distance=distance, weights=weights, tol=0)
    letters = sorted(set("".join(X)))
    everything = ["".join(word) for n in range(6) for word in product(letters, repeat=n)]
    exact = (weights @ d2ke.distance_matrix(X, everything, distance=distance)).min()
    of_set = (weights @ d2ke.distance_matrix(X, distance=distance)).min()
    assert exact <= found.inertia <= of_set
    center = found.center
    edits = {center[:i] + c + center[j:] for i in range(len(center) + 1) for j in (i, i + 1)
             for c in (*letters, "")}  # fmt: skip
    sums = weights @ d2ke.distance_matrix(X, sorted(edits), distance=distance)
    assert found.inertia <= sums.min()
    assert found.inertia == weights @ found.distances


def test_medians_of_long_strings_are_searched_piece_by_piece(monkeypatch):
    X = words(np.random.default_rng(0), 30)
    whole = d2ke.barycenter(X, tol=0)
    monkeypatch.setattr("d2ke.groups.median_string._PAIRS", 1)
    assert d2ke.barycenter(X, tol=0).inertia <= 1.1 * whole.inertia


def test_a_start_with_other_letters():
    found = d2ke.barycenter([b"abc", b"abd"], initial=b"xyz")
    assert found.center in (b"abc", b"abd", b"ab")
    assert found.inertia <= 2


def test_many_objects_start_from_a_sample(monkeypatch):
    monkeypatch.setattr("d2ke.groups.barycenter._SAMPLE", 20)
    X = words(np.random.default_rng(0), 200)
    assert d2ke.barycenter(X, seed=1).center == d2ke.barycenter(X, seed=1, n_threads=1).center
