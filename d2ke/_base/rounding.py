# SPDX-License-Identifier: BSD-3-Clause
"""Tests for values that are constant or zero up to rounding, and the divisors of features."""

from __future__ import annotations

from typing import Any

import numpy as np

_VARIES = 1e-6  # deviation of a feature of distances that varies, at least, over its largest value
PLAIN = -1  # the group of features that are not of distances


def rank_rounding(dtype: Any) -> float:
    """Return the part of the largest eigenvalue of a product below which others are rounding."""
    return {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 3e-7}[np.dtype(dtype)]


def constant(deviation: Any, largest: Any, dtype: Any) -> Any:
    """Return which columns are constant up to rounding, given their largest absolute values.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke._base.rounding import constant
    >>> constant(np.array([1e-9, 1e-6]), 1.0, np.float32).tolist()
    [True, False]
    """
    return deviation <= 4 * np.finfo(dtype).eps * largest


def plain_deviations(deviation: np.ndarray, largest: np.ndarray, dtype: Any) -> np.ndarray:
    """Return deviations to divide by: 1 for a column that is constant up to rounding."""
    return np.where(constant(deviation, largest, dtype), 1.0, deviation)


def least_deviations(deviation: np.ndarray, largest: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Return a lower limit of the divisor of each feature of distances.

    It is a tenth of the median deviation of the features of its group that vary by more than 1e-6
    of their largest value; 1 if none does. Without this limit, a feature that is constant in
    training up to rounding would be millions of deviations away in other objects.

    Parameters
    ----------
    deviation, largest : ndarray of float64, shape (R,)
        Standard deviation and largest absolute value of each feature.
    groups : ndarray of int64, shape (R,)
        The group of each feature: one for each block and kind of distance; `PLAIN` for features
        that are not of distances, which have no limit.

    Returns
    -------
    ndarray of float64, shape (R,)
        0 for features that are not of distances.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke._base.rounding import least_deviations
    >>> least_deviations(np.array([1.0, 3.0, 1e-9]), np.ones(3), np.zeros(3, int)).tolist()
    [0.2, 0.2, 0.2]
    """
    floors = np.zeros(len(deviation))
    varies = deviation > _VARIES * largest
    for group in np.unique(groups[groups != PLAIN]):
        in_group = groups == group
        varied = deviation[in_group & varies]
        floors[in_group] = 0.1 * np.median(varied) if len(varied) else 1.0
    return floors


def feature_deviations(
    deviation: np.ndarray, largest: np.ndarray, floors: np.ndarray, dtype: Any
) -> np.ndarray:
    """Return the divisors of features: their deviations, but not below the floors.

    Features of distances have a floor above 0, see `least_deviations`; all others are divided by
    their `plain_deviations`.
    """
    plain = plain_deviations(deviation, largest, dtype)
    return np.where(floors > 0, np.maximum(deviation, floors), plain)


def varying(deviation: np.ndarray, largest: np.ndarray, floors: np.ndarray, dtype: Any) -> Any:
    """Return which features vary by more than rounding; `floors` as for `feature_deviations`."""
    return np.where(floors > 0, deviation > _VARIES * largest, ~constant(deviation, largest, dtype))
