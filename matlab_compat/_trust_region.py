# SPDX-License-Identifier: BSD-3-Clause
"""LIBLINEAR's trust region method of ``-s 2``, which it had before version 2.40."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from d2ke._ext import trust_region
from d2ke.learners.linear_model import one_vs_rest_signs, winners


def trust_region_classifier(
    y: np.ndarray, Z: np.ndarray, C: float, tolerance: float
) -> Callable[[np.ndarray], np.ndarray]:
    """Train on float64 features; return the function that predicts the labels of others.

    Sums are taken in the order of the elements, so that the result does not depend on the BLAS.
    """
    classes, codes = np.unique(y, return_inverse=True)
    Z = np.ascontiguousarray(Z)
    fitted = []
    for signs in one_vs_rest_signs(codes, len(classes)).T.copy():
        positive = np.count_nonzero(signs > 0)
        rarer = min(positive, len(signs) - positive)
        fitted.append(trust_region.fit(Z, signs, C, tolerance * rarer / len(signs)))
    weights = np.array(fitted)

    def predict(rows: np.ndarray) -> np.ndarray:
        return classes[winners(np.einsum("ij,kj->ik", rows, weights))]

    return predict
