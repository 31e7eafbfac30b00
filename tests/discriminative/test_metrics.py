# SPDX-License-Identifier: BSD-3-Clause
"""Measures of agreement against scikit-learn."""

from itertools import permutations

import numpy as np
import pytest
from discriminative_cases import SEEDS
from hypothesis import given
from hypothesis import strategies as st

import d2ke


@given(SEEDS, st.integers(1, 5), st.integers(1, 5))
def test_measures_as_scikit_learn(seed, a, b):
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(seed)
    y, labels = rng.integers(0, a, 30), rng.integers(0, b, 30)
    assert d2ke.discriminative.normalized_mutual_information(y, labels) == pytest.approx(
        metrics.normalized_mutual_info_score(y, labels), abs=1e-10
    )
    most = max(
        sum(np.sum((y == i) & (labels == j)) for i, j in enumerate(order))
        for order in permutations(range(5))
    )
    assert d2ke.discriminative.clustering_accuracy(y, labels) == pytest.approx(most / 30)
