# SPDX-License-Identifier: BSD-3-Clause
"""Ridge regression for every penalty against normal equations, and against leaving rows out."""

import numpy as np
import pytest

from d2ke.model_selection.leave_one_out import RidgePath


def by_hand(Z, T, C):
    """Solve for weights and an offset without penalty."""
    A = np.hstack([Z, np.ones((len(Z), 1))])
    penalty = np.eye(A.shape[1]) / (2 * C)
    penalty[-1, -1] = 0
    return np.linalg.solve(A.T @ A + penalty, A.T @ T)


@pytest.mark.parametrize("shape", [(30, 8), (12, 40), (20, 20)])
@pytest.mark.parametrize("C", [0.1, 10.0, 1e3])
def test_path_is_ridge_regression(shape, C):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=shape)
    Z -= Z.mean(axis=0)
    T = rng.normal(size=(shape[0], 3))
    path = RidgePath.of(Z, T, 2)
    weights, offsets = path.weights(C)
    want = by_hand(Z, T, C)
    np.testing.assert_allclose(weights.T, want[:-1], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(offsets, want[-1], atol=1e-9)
    left_out = path.left_out(C)
    for i in range(0, len(Z), 5):
        others = np.arange(len(Z)) != i
        without = by_hand(Z[others], T[others], C)
        np.testing.assert_allclose(left_out[i], Z[i] @ without[:-1] + without[-1], rtol=1e-5,
                                   atol=1e-7)  # fmt: skip


def test_float32_features_are_computed_with_in_float64():
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(60, 7)).astype(np.float32)
    Z -= Z.mean(axis=0)
    T = rng.normal(size=(60, 1))
    got = RidgePath.of(Z, T, 1).weights(5.0)[0]
    want = RidgePath.of(Z.astype(np.float64), T, 1).weights(5.0)[0]
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)
