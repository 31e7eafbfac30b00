# SPDX-License-Identifier: BSD-3-Clause
"""Objects that live in a file: rows of them are packed when they are read."""

from __future__ import annotations

from typing import Any

import numpy as np

from d2ke.objects.container import Objects


class StoredObjects:
    """Base class of objects that may be larger than memory, such as `d2ke.io.ParquetObjects`.

    Attributes
    ----------
    kind, dim, letters, alphabet, lengths, ids, channel_names
        As those of `Objects`.
    """

    kind: str
    dim: int
    letters: str | None
    alphabet: Any
    lengths: np.ndarray
    ids: np.ndarray | None = None
    channel_names: tuple[str, ...] | None = None

    def __len__(self) -> int:
        raise NotImplementedError

    def span(self, start: int, stop: int) -> Objects:
        """Return consecutive objects, packed."""
        raise NotImplementedError

    def __getitem__(self, rows: np.ndarray) -> Objects:
        """Return the objects of some rows, in rising order, packed."""
        raise NotImplementedError
