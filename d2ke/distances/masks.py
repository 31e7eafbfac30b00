# SPDX-License-Identifier: BSD-3-Clause
"""Masks: which letters of a window of a string make up a word, and which are wildcards.

A mask is the tuple of its informative positions, from 0: (0, 1, 3) reads the words
"gat", "ata", "ttc", "taa" from the windows of four letters of "gattaca". A family holds some masks
for each number k of informative letters.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

Mask: TypeAlias = tuple[int, ...]
Family: TypeAlias = tuple[tuple[Mask, ...], ...]


def _gapped() -> Family:
    """Draw the masks of k = 1 to 8 letters: a contiguous one, then random ones up to eight.

    A random mask has 0 to 4 wildcards, each number with the same probability. Its first and its
    last position are informative, and so are k - 2 random ones between them. Two letters have five
    different masks. `RandomState` promises that its numbers never change.
    """
    random = np.random.RandomState(0)
    family = []
    for k in range(1, 9):
        masks = {tuple(range(k)): None}
        n_masks = {1: 1, 2: 5}.get(k, 8)
        while len(masks) < n_masks:
            last = k - 1 + random.randint(5)
            inner = random.permutation(np.arange(1, last))[: k - 2]
            masks[(0, *sorted(inner.tolist()), last)] = None
        family.append(tuple(masks))
    return tuple(family)


GAPPED = _gapped()
CONTIGUOUS = tuple((tuple(range(k)),) for k in range(1, 5))  # for short strings
