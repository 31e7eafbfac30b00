# SPDX-License-Identifier: BSD-3-Clause
"""Rows of a features file, for methods that make several passes."""

from __future__ import annotations

import os
from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np

from d2ke.io.feature_file import FeatureFile, open_features


class StoredRows:
    """Rows of a features file, read on access, if needed transformed by a function.

    All of them are checked once: what is not finite is refused.

    Attributes
    ----------
    shape : tuple of int
        Rows and columns.
    dtype : numpy.dtype
        float32 or float64.
    """

    ndim = 2

    def __init__(self, name: str, file: FeatureFile | str | os.PathLike[str]):
        if not isinstance(file, FeatureFile):
            file = open_features(file)
        self.shape, self.dtype = file.shape, file.dtype
        self._read: Callable[[slice], np.ndarray] = file.__getitem__
        for rows, Z in file.blocks():
            good = np.isfinite(Z)
            if not good.all():
                i, j = np.argwhere(~good)[0]
                raise ValueError(
                    f"{name} has {Z[i, j]} at position ({rows.start + i}, {j}); every value must "
                    "be finite"
                )

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> np.ndarray:
        return self._read(rows)

    def mapped(self, function: Callable[[np.ndarray], np.ndarray]) -> StoredRows:
        """Return rows transformed by a function that keeps their shape and dtype."""
        read, result = self._read, copy(self)
        result._read = lambda rows: function(read(rows))
        return result


def stored(name: str, values: Any) -> Any:
    """Return the rows of a features file, given as a path or open; anything else as it is."""
    if isinstance(values, (str, os.PathLike, FeatureFile)):
        return StoredRows(name, values)
    return values
