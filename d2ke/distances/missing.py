# SPDX-License-Identifier: BSD-3-Clause
"""Series with vectors that are missing, as DTW-AROW compares them (Yurtman et al. 2023)."""

from __future__ import annotations

from typing import Any

import numpy as np

from d2ke._base.checks import choice
from d2ke.objects.container import Objects


def missing_values(name: str, value: Any) -> bool:
    """Return whether vectors may be missing."""
    return choice(name, value, ["error", "arow"]) == "arow"


def check_observed(name: str, objects: Objects) -> None:
    """Refuse a series of which every vector is missing."""
    observed = _counts(~np.isnan(objects.values).any(axis=1), objects.offsets)
    nothing = np.flatnonzero(observed == 0)
    if nothing.size:
        raise ValueError(
            f"every vector of {name}[{nothing[0]}] is missing (has a nan); 'dtw' needs one at least"
        )


def observed_of(values: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the values and how many vectors of each series are not missing.

    A vector without one of its channels is missing: all of its channels are NaN then.
    """
    missing = np.isnan(values).any(axis=1)
    if values.shape[1] > 1:
        values = values.copy()
        values[missing] = np.nan
    return values, _counts(~missing, offsets)


def _counts(observed: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return how many vectors of each series are there; none is empty."""
    return np.add.reduceat(observed.astype(np.int64), offsets[:-1])
