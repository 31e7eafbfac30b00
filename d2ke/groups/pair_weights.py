# SPDX-License-Identifier: BSD-3-Clause
"""Weights of the columns of records, learned from pairs that are known to match or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

# Chosen by F1 on drawn records: the weights without any pair, and how many pairs outweigh them.
_STEEPNESS = 12.0
_PENALTY = 0.1


@dataclass(frozen=True, eq=False)
class PairWeights:
    """The log-odds that a pair of records does not match: a weighted sum, minus an offset.

    Attributes
    ----------
    columns : sequence of str
        The compared columns.
    distance : ndarray, shape (n_columns,)
        The weight of a column's distance over its radius, >= 0.
    missing : ndarray, shape (n_columns,)
        What a missing entry adds instead, >= 0.
    offset : float
        What is subtracted from the sum.
    """

    columns: Sequence[str]
    distance: NDArray[np.float64]
    missing: NDArray[np.float64]
    offset: float

    def probabilities(self, parts: np.ndarray) -> np.ndarray:
        """Return the probabilities that pairs do not match, from their columns' distances.

        `parts` has a row for each column, and NaN where an entry is missing.
        """
        score = np.full(parts.shape[1], -self.offset)
        for part, weight, missing in zip(parts, self.distance, self.missing, strict=True):
            score += np.where(np.isnan(part), missing, weight * part)
        return expit(score)

    def __str__(self) -> str:
        numbers = zip(self.columns, self.distance, self.missing, strict=True)
        terms = [f"{name} {weight:.3g} (missing {other:.3g})" for name, weight, other in numbers]
        return f"{', '.join(terms)}; offset {self.offset:.3g}"


def learn_weights(columns: Sequence[str], parts: np.ndarray, match: np.ndarray) -> PairWeights:
    """Fit a logistic regression with weights >= 0, so that a larger distance never helps.

    The penalty draws the weights to those of the rule without known pairs, a mean of at most 1.
    Without it, pairs that all are near would teach that all pairs match.
    """
    k = len(columns)
    missing = np.isnan(parts)
    F = np.vstack([np.where(missing, 0.0, parts), missing, np.full(parts.shape[1], -1.0)])
    F *= np.where(match, -1.0, 1.0)
    start = np.append(np.full(2 * k, _STEEPNESS / k), _STEEPNESS)

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        margins, away = weights @ F, weights - start
        value = np.logaddexp(0, -margins).sum() + _PENALTY / 2 * (away @ away)
        return value, _PENALTY * away - F @ expit(-margins)

    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(0, None)] * (2 * k + 1)).x
    return PairWeights(tuple(columns), found[:k], found[k:-1], float(found[-1]))
