# SPDX-License-Identifier: BSD-3-Clause
"""Strings sorted for a search: by length, and by the letters that they have."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from d2ke._ext import near_strings
from d2ke.distances.problem import PairwiseProblem
from d2ke.distances.string_rows import common_letters, not_empty
from d2ke.objects.container import Objects, offsets_of


class Side(NamedTuple):
    """Strings sorted by length and letters; names[i] is the user's position of string i."""

    strings: near_strings.Strings
    names: np.ndarray


def sorted_sides(pairs: PairwiseProblem) -> tuple[Side, Side]:
    """Return X and Y sorted; the same side twice where Y is X."""
    sides = [pairs.x] if pairs.y is pairs.x else [pairs.x, pairs.y]
    x_codes, _, y_codes, _, n_letters = common_letters(sides[0], sides[-1])
    letters = (x_codes, y_codes)
    longest = max(int(side.lengths.max()) for side in sides)
    counts = sum(np.bincount(codes, minlength=n_letters) for codes in letters)
    ranks = np.argsort(np.argsort(-counts, kind="stable")).astype(np.uint32)
    made = [
        _side(ranks[codes], side, n_letters, longest)
        for codes, side in zip(letters, sides, strict=False)
    ]
    return made[0], made[-1]


def _side(codes: np.ndarray, objects: Objects, n_letters: int, longest: int) -> Side:
    """Sort strings by length, and those of one length by the letters that they have.

    Letters that about half of the strings have come first.
    """
    n_groups = 16  # of letters
    groups = np.append(1 << (codes % n_groups).astype(np.int64), 0)
    present = np.bitwise_or.reduceat(groups, objects.offsets[:-1])
    bits = present[:, None] >> np.arange(n_groups) & 1
    rank = np.argsort(np.argsort(-np.abs(bits.mean(axis=0) - 0.5), kind="stable"))
    order = np.lexsort(((bits << rank).sum(axis=1), objects.lengths))
    lengths = objects.lengths[order]
    offsets = offsets_of(lengths)
    moves = np.repeat(objects.offsets[:-1][order] - offsets[:-1], lengths)
    codes = not_empty(codes[np.arange(offsets[-1]) + moves])
    return Side(near_strings.Strings(codes, offsets, n_letters, longest), order)
