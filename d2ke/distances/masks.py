# SPDX-License-Identifier: BSD-3-Clause
"""Masks: which letters of a window of a string make up a word, and which are wildcards.

A mask is the tuple of its informative places, the first of them 0: (0, 1, 3) of "gattaca" reads the
words "gat", "ata", "ttc", "taa" from windows of four letters. A family holds, for each number k of
informative letters, some masks.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

Mask: TypeAlias = tuple[int, ...]
Family: TypeAlias = tuple[tuple[Mask, ...], ...]

_SEED = 0
_LARGEST, _MASKS, _WILDCARDS = 8, 8, 4  # letters, masks for each number of them, most wildcards


def _gapped() -> Family:
    """Draw the masks of 1 to 8 letters: a contiguous one, then others at random.

    Their spans are uniform on k ... k + 4, the first and the last place count, and so do k - 2
    others. `RandomState` promises that its numbers never change.
    """
    random = np.random.RandomState(_SEED)
    family = []
    for k in range(1, _LARGEST + 1):
        masks = {tuple(range(k)): None}
        wanted = {1: 1, 2: 1 + _WILDCARDS}.get(k, _MASKS)
        while len(masks) < wanted:
            last = k - 1 + random.randint(_WILDCARDS + 1)
            inner = random.permutation(np.arange(1, last))[: k - 2]
            masks[(0, *sorted(inner.tolist()), last)] = None
        family.append(tuple(masks))
    return tuple(family)


GAPPED = _gapped()
CONTIGUOUS = tuple((tuple(range(k)),) for k in range(1, 5))  # for short strings
