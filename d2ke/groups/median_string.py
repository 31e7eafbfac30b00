# SPDX-License-Identifier: BSD-3-Clause
"""Candidates for the median of strings: all single edits of a string."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from d2ke.objects.container import Objects, from_owned

EDITS = ("levenshtein", "osa", "damerau_levenshtein", "indel", "weighted_levenshtein")
_LETTERS = 1 << 18  # of the candidates at a time
_PAIRS = 1 << 22  # of these and the objects


def edited_strings(center: Objects, n_objects: int) -> Iterator[Objects]:
    """Yield all strings one deletion, insertion or substitution away, a few positions at a time.

    The letters are those of the alphabet, which is common to the center and to all strings.
    """
    code, n_letters = center.values, len(center.alphabet)
    length, letters = len(code), np.arange(n_letters, dtype=code.dtype)
    edits = 2 * n_letters + 1
    step = max(1, min(_LETTERS // (edits * (length + 1)), _PAIRS // (edits * n_objects)))
    for first in range(0, length + 1, step):
        insertions = np.arange(first, min(first + step, length + 1))
        inside = insertions[insertions < length]
        blocks = [_edited(code, insertions, letters, 0)]
        if len(inside):
            blocks += [_edited(code, inside, letters, 1), _edited(code, inside, letters[:0], 1)]
        lengths = np.concatenate([np.full(len(block), block.shape[1]) for block in blocks])
        offsets = np.append(0, np.cumsum(lengths))
        values = np.concatenate([block.ravel() for block in blocks])
        yield from_owned("strings", values, offsets, center.alphabet, center.letters)


def _edited(
    code: np.ndarray, positions: np.ndarray, letters: np.ndarray, n_deleted: int
) -> np.ndarray:
    """Delete `n_deleted` letters (0 or 1) at each position, and insert each of `letters` there."""
    n_inserted = min(len(letters), 1)
    rest = np.arange(len(code) - n_deleted)
    source = rest + n_deleted * (rest >= positions[:, None])
    out = np.empty((len(positions), max(len(letters), 1), len(rest) + n_inserted), code.dtype)
    target = rest + n_inserted * (rest >= positions[:, None])
    for k, position in enumerate(positions):
        out[k][:, target[k]] = code[source[k]]
        if n_inserted:
            out[k][:, position] = letters
    return out.reshape(out.shape[0] * out.shape[1], out.shape[2])
