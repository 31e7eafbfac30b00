# SPDX-License-Identifier: BSD-3-Clause
"""Numbers and letters in the forms in which Objects keep them."""

from __future__ import annotations

import numpy as np

from d2ke.objects.container import code_dtype, refuse_value

LARGEST_EXACT_INTEGER = 2**53
_RUN = 1 << 22  # numbers or letters that are looked at in one go
_SMALL_TABLE = 2**16  # letters whose range is at most this are counted, not sorted


def is_exact(array: np.ndarray) -> bool:
    """Return whether float64 holds all of these integers."""
    return not array.size or (
        int(array.min()) >= -LARGEST_EXACT_INTEGER and int(array.max()) <= LARGEST_EXACT_INTEGER
    )


def as_floats(array: np.ndarray) -> np.ndarray:
    """Return numbers as float32 or float64; these two types are not copied."""
    if array.dtype in (np.float32, np.float64):
        return array
    return array.astype(np.float32 if array.dtype == np.float16 else np.float64)


def check_values(values: np.ndarray, offsets: np.ndarray, missing: bool, name: str) -> np.ndarray:
    """Return packed vectors of finite numbers, and, if values may be `missing`, of one NaN."""
    wrong = np.isinf if missing else _not_finite
    step = max(1, _RUN // values.shape[1])
    for low in range(0, len(values), step):
        if wrong(values[low : low + step]).any():
            refuse_value(values, offsets, wrong(values), name)
    if missing and np.isnan(values).any():
        values = values if values.flags.writeable else values.copy()
        values[np.isnan(values)] = np.nan  # of one bit pattern, as digests compare
    return values


def _not_finite(values: np.ndarray) -> np.ndarray:
    return ~np.isfinite(values)


def indexed(symbols: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the different symbols in order, and each symbol's index among them."""
    least = int(symbols.min(initial=0))
    span = int(symbols.max(initial=0)) - least + 1
    if span > max(_SMALL_TABLE, len(symbols)):
        alphabet, codes = np.unique(symbols, return_inverse=True)
        return alphabet.astype(np.int64), codes.astype(code_dtype(len(alphabet)))
    runs = [slice(low, low + _RUN) for low in range(0, len(symbols), _RUN)]
    seen = np.zeros(span, dtype=bool)
    for run in runs:
        seen[symbols[run] - least] = True
    alphabet = np.flatnonzero(seen) + least
    index = np.zeros(span, dtype=code_dtype(len(alphabet)))
    index[alphabet - least] = np.arange(len(alphabet))
    codes = np.empty_like(index, shape=len(symbols))
    for run in runs:
        np.take(index, symbols[run] - least, out=codes[run])
    return alphabet, codes
