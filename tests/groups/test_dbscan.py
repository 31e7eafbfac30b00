# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import examples
from tree_cases import DRAWN

import d2ke


@pytest.mark.parametrize("name", ["levenshtein", "dtw", "hausdorff ties", "function"])
@settings(max_examples=examples(40), deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 60),
    share=st.floats(0, 0.3),
    min_samples=st.integers(1, 6),
)
def test_labels_are_scikit_learn_s(name, seed, n, share, min_samples):
    cluster = pytest.importorskip("sklearn.cluster")
    draw, options = DRAWN[name]
    X = draw(np.random.default_rng(seed), n)
    D = d2ke.distance_matrix(X, **options)
    eps = float(np.quantile(D, share)) or 0.5
    found = d2ke.dbscan(X, eps, min_samples, **options)
    wanted = cluster.DBSCAN(eps=eps, min_samples=min_samples, metric="precomputed").fit(D)
    assert np.array_equal(found.labels, wanted.labels_)
    assert np.array_equal(np.flatnonzero(found.core), wanted.core_sample_indices_)


def test_equal_objects_are_linked():
    found = d2ke.dbscan(["a", "b", "a", "b", "c"], 0, 2, distance="levenshtein")
    assert found.labels.tolist() == [0, 1, 0, 1, -1]
