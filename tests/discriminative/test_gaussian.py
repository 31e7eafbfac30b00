# SPDX-License-Identifier: BSD-3-Clause
"""The Gaussian kernel and its width."""

import numpy as np
import pytest

import d2ke


def test_bandwidth():
    X = np.random.default_rng(0).normal(size=(50, 3))
    D = np.linalg.norm(X[:, None] - X, axis=2)
    half = np.median(D[np.triu_indices(50, 1)]) / 2
    near = np.sort(D, axis=1)[:, 7].mean()
    assert d2ke.discriminative.bandwidth(X) == pytest.approx(min(half, near))
    assert d2ke.discriminative.bandwidth(X, n_neighbors=49) == pytest.approx(half)
    assert d2ke.discriminative.bandwidth(1e3 * X) == pytest.approx(
        1e3 * d2ke.discriminative.bandwidth(X)
    )
    many = np.random.default_rng(0).normal(size=(2500, 2))
    assert 0 < d2ke.discriminative.bandwidth(many) < 0.5
    K = d2ke.discriminative.gaussian_gram(X, many[:, :1] @ np.ones((1, 3)), h=0.8)
    assert K[3, 4] == pytest.approx(np.exp(-((X[3] - many[4, 0]) ** 2).sum() / (2 * 0.64)))
