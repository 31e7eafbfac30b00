# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest
from tree_cases import walks

import d2ke
from d2ke.groups.kmedoids import faster_pam


def loss(D, medoids):
    return D[:, medoids].min(axis=1).sum()


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
