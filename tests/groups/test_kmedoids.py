# SPDX-License-Identifier: BSD-3-Clause
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import examples
from tree_cases import DRAWN, walks

import d2ke
from d2ke.groups.faster_pam import faster_pam


def loss(D, medoids):
    return D[:, medoids].min(axis=1).sum()


@pytest.mark.parametrize("name", ["levenshtein", "dtw", "hausdorff ties", "function"])
@settings(max_examples=examples(40), deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 40), k=st.integers(1, 6))
def test_no_swap_improves(name, seed, n, k):
    draw, options = DRAWN[name]
    k = min(n, k)
    X = draw(np.random.default_rng(seed), n)
    D = d2ke.distance_matrix(X, **options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = d2ke.kmedoids(X, k, seed=seed, **options)
    count = len(np.unique(found.medoids))
    assert count == len(found.medoids) == k or (count < k and found.loss == 0 and caught)
    assert np.bincount(found.labels, minlength=count).all()
    assert np.array_equal(found.labels, D[:, found.medoids].argmin(axis=1))
    assert np.array_equal(found.distances, D[:, found.medoids].min(axis=1))
    assert found.loss == pytest.approx(loss(D, found.medoids))
    for place in range(count):
        for other in range(n):
            swapped = found.medoids.copy()
            swapped[place] = other
            assert loss(D, swapped) >= found.loss * (1 - 1e-9)


@pytest.mark.parametrize("k", [2, 5, 20])
def test_losses_are_those_of_the_package(k):
    package = pytest.importorskip("kmedoids")
    X = walks(np.random.default_rng(k), 300)
    D = d2ke.distance_matrix(X, distance="dtw")
    first = np.arange(k)
    wanted = package.fasterpam(D, first.astype(np.uint64), n_cpu=1)
    assert loss(D, faster_pam(D, first)) == pytest.approx(wanted.loss)


def test_samples_of_many_objects():
    rng = np.random.default_rng(0)
    X = [walk + 30 * (i % 4) for i, walk in enumerate(walks(rng, 400))]
    whole = d2ke.kmedoids(X, 4, distance="dtw")
    some = d2ke.kmedoids(X, 4, distance="dtw", sample_size=60)
    assert some.loss < 1.1 * whole.loss
    D = d2ke.distance_matrix(X, distance="dtw")
    assert np.array_equal(some.labels, D[:, some.medoids].argmin(axis=1))
    again = d2ke.kmedoids(X, 4, distance="dtw", sample_size=60, n_threads=1)
    assert np.array_equal(again.medoids, some.medoids)
    function = d2ke.kmedoids(range(400), 4, distance=lambda a, b: D[a, b], sample_size=60)
    assert np.array_equal(function.medoids, some.medoids)
