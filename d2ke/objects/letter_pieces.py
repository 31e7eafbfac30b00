# SPDX-License-Identifier: BSD-3-Clause
"""Pieces of strings: runs of consecutive letters."""

from __future__ import annotations

import numpy as np

from d2ke.objects.container import Objects, from_owned
from d2ke.objects.packed import offsets_of


def counted_pieces(X: Objects, longest: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count in how many strings each piece of up to `longest` letters is, by length and letters.

    Return the counts, where in the letters of X a piece begins, and its length.
    """
    owner = np.repeat(np.arange(len(X)), X.lengths)
    left = X.offsets[1:][owner] - np.arange(len(owner))  # letters from here to the string's end
    base = int(X.values.max(initial=0)) + 1
    ranks, starts = np.zeros(len(owner), np.int64), np.arange(len(owner))
    counts, places, lengths = [], [], []
    for length in range(1, longest + 1):
        starts = starts[left[starts] >= length]
        # The rank of a piece among those of its length stands for it, so that no code overflows.
        codes = ranks[starts] * base + X.values[starts + length - 1]
        _, firsts, ranks[starts] = np.unique(codes, return_index=True, return_inverse=True)
        pairs = np.sort(ranks[starts] * len(X) + owner[starts])
        distinct = pairs[np.diff(pairs, prepend=-1) > 0] // max(len(X), 1)
        counts.append(np.bincount(distinct, minlength=len(firsts)))
        places.append(starts[firsts])
        lengths.append(np.full(len(firsts), length))
    return np.concatenate(counts), np.concatenate(places), np.concatenate(lengths)


def select_pieces(X: Objects, place: np.ndarray, lengths: np.ndarray) -> Objects:
    """Return pieces of strings by where they begin in the letters of X, and their lengths."""
    offsets = offsets_of(lengths)
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - place, lengths)
    return from_owned(X.kind, X.values[within], offsets, X.alphabet, X.letters)
