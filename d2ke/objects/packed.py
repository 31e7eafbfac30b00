# SPDX-License-Identifier: BSD-3-Clause
"""Offsets and indices of packed arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def offsets_of(lengths: Sequence[int] | NDArray[Any]) -> NDArray[np.int64]:
    """Return where items of these lengths begin and end in one buffer, int64."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    if len(lengths):
        np.add.accumulate(lengths, dtype=np.int64, out=offsets[1:])
    return offsets


def code_dtype(n_letters: int) -> type[np.unsignedinteger[Any]]:
    """Return the smallest type of indices of so many letters."""
    return np.uint8 if n_letters <= 2**8 else np.uint16 if n_letters <= 2**16 else np.uint32
