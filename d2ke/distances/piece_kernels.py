# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of strings by the words that they share, gapped or contiguous."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2ke._ext import gapped
from d2ke.distances.masks import GAPPED, Family
from d2ke.distances.problem import Report
from d2ke.distances.string_rows import common_letters
from d2ke.objects.container import Objects


@dataclass(frozen=True)
class Pieces:
    """Which words of a string count.

    Attributes
    ----------
    masks : tuple of tuples of tuples of int
        A family of masks, such as `masks.GAPPED` or `masks.CONTIGUOUS`: one kernel for each entry.
    ends : bool
        Whether a letter of their own stands before the first and after the last letter.
    strands : {"one", "both"}
        Whether the words of the reverse complement count too; strings of ACGTN only.
    """

    masks: Family = GAPPED
    ends: bool = False
    strands: str = "one"


def piece_kernels(
    x: Objects, y: Objects | None, pieces: Pieces, n_threads: int, report: Report = None
) -> Iterator[NDArray[np.float64]]:
    """Yield the normalised kernel of each entry of the family, a new (n, m) array.

    The memory is that of two such arrays and 40 bytes for each letter of x and y. `y` None stands
    for x itself. ``report(done, total)`` follows the pairs of all kernels.
    """
    raise NotImplementedError


def piece_kernel(
    x: Objects,
    y: Objects | None,
    pieces: Pieces,
    weights: Sequence[float],
    n_threads: int,
    report: Report = None,
) -> NDArray[np.float64]:
    """Return the sum of the kernels of the family with these weights, (n, m)."""
    raise NotImplementedError
