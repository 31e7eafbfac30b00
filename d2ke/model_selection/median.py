# SPDX-License-Identifier: BSD-3-Clause
"""The exact median of numbers that are read by blocks."""

from __future__ import annotations

import numpy as np

from d2ke.io.rows import RowSource

_RUN_VALUES = 1 << 18
_BITS = 16  # of a number that one pass determines


def median(values: RowSource) -> float:
    """Return what `numpy.median` gives for numbers >= 0.

    The bits of numbers >= 0 sort as the numbers do. Each pass counts the next 16 bits of the
    numbers that begin like the median.
    """
    count = len(values) * values.shape[1]
    whole = np.dtype(f"u{values.dtype.itemsize}")
    ranks, starts = [(count - 1) // 2, count // 2], [0, 0]
    for shift in range(8 * whole.itemsize - _BITS, -1, -_BITS):
        counts = {start: np.zeros(1 << _BITS, dtype=np.int64) for start in starts}
        step = max(1, _RUN_VALUES // values.shape[1])
        for low in range(0, len(values), step):
            block = np.abs(values[low : low + step], order="C")  # no -0.0
            bits = block.view(whole).ravel() >> whole.type(shift)
            heads, tails = bits >> whole.type(_BITS), bits & whole.type((1 << _BITS) - 1)
            for start, histogram in counts.items():
                following = tails[heads == start].astype(np.int64)
                histogram += np.bincount(following, minlength=1 << _BITS)
        for side, start in enumerate(starts):
            until = np.cumsum(counts[start])
            digit = int(np.searchsorted(until, ranks[side], side="right"))
            ranks[side] -= int(until[digit] - counts[start][digit])
            starts[side] = start << _BITS | digit
    middle = np.array(starts[count % 2 :], dtype=whole).view(values.dtype)
    return float(middle.mean())
