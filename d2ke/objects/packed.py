# SPDX-License-Identifier: BSD-3-Clause
"""The result of every reader: the fields of `Objects`, before they are checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Packed(NamedTuple):
    """Arrays that a reader made, or those of `Objects`: the arguments of `from_owned`.

    `missing` is True if NaN may be among the values, for missing entries; `ids` are names of the
    objects, `channel_names` those of the channels of vectors.
    """

    kind: str
    values: NDArray[Any]
    offsets: NDArray[np.int64]
    alphabet: NDArray[Any] | None = None
    letters: str | None = None
    weights: NDArray[np.float64] | None = None
    missing: bool = False
    ids: NDArray[Any] | None = None
    channel_names: tuple[str, ...] | None = None


def offsets_of(lengths: Sequence[int] | NDArray[Any]) -> NDArray[np.int64]:
    """Return where items of these lengths begin and end in one buffer, int64."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    if len(lengths):
        np.add.accumulate(lengths, dtype=np.int64, out=offsets[1:])
    return offsets


def code_dtype(n_letters: int) -> type[np.unsignedinteger[Any]]:
    """Return the smallest type of indices of so many letters."""
    return np.uint8 if n_letters <= 2**8 else np.uint16 if n_letters <= 2**16 else np.uint32
