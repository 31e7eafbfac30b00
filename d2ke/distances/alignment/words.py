# SPDX-License-Identifier: BSD-3-Clause
"""The gapped words that two strings share."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2ke.distances.alignment.record import Words
from d2ke.distances.masks import Mask
from d2ke.distances.piece_kernels import Pieces, Strings, packed_strings
from d2ke.distances.problem import PairBlock, PairwiseProblem
from d2ke.distances.strands import COMPLEMENTS


class _Shared(NamedTuple):
    """The shared words of some masks: their first positions, their counts, and their costs."""

    masks: list[Mask]
    positions: NDArray[np.int64]
    counts: NDArray[np.int64]
    costs: NDArray[np.float64]


def align_gapped(problem: PairwiseProblem, strands: str = "one") -> dict[str, Any]:
    """Return the words that both strings have, the longest first, and where each is first."""
    pieces = Pieces(strands=strands)
    strings = packed_strings([problem.x, problem.y], pieces)
    kernels = [_shared(strings, masks, len(pieces.masks)) for masks in reversed(pieces.masks)]
    masks = [mask for shared in kernels for mask in shared.masks]
    positions = np.concatenate([shared.positions for shared in kernels])
    lengths = np.array([len(problem.x.values), len(problem.y.values)])
    is_reversed = positions >= lengths
    pairs = np.where(is_reversed, 2 * lengths - 1 - positions, positions)
    windows = zip(pairs[:, 0].tolist(), is_reversed[:, 0].tolist(), masks, strict=True)
    words = Words(
        [_text(problem.x[0], *window) for window in windows],
        masks,
        np.concatenate([shared.counts for shared in kernels]),
        is_reversed,
    )
    return {
        "value": float(problem.distances(PairBlock(problem.x, problem.y), 1)[0, 0]),
        "pairs": pairs,
        "costs": np.concatenate([shared.costs for shared in kernels]),
        "words": words,
    }


def _shared(strings: Strings, masks: Sequence[Mask], n_kernels: int) -> _Shared:
    """Find the shared words of the masks of one of the kernels.

    A word that x has c_x times and y c_y times adds -2 sqrt(c_x c_y) / (n_kernels sqrt(W_x W_y)) to
    the squared distance, where W_x and W_y are the numbers of all windows. Positions count the
    letters of a string and, after them, the letters of its reverse complement.
    """
    masks_of_words: list[Mask] = []
    positions, counts, n_windows = [], [], np.zeros(2, np.int64)
    for mask in masks:
        words, starts, is_y = _windows(strings, mask)
        sides = [
            np.unique(words[side], return_index=True, return_counts=True) for side in (~is_y, is_y)
        ]
        _, *rows = np.intersect1d(sides[0][0], sides[1][0], True, return_indices=True)
        first = [starts[side][unique[1]] for side, unique in zip((~is_y, is_y), sides, strict=True)]
        order = np.argsort(first[0][rows[0]], kind="stable")
        positions.append(np.stack([at[row[order]] for at, row in zip(first, rows, strict=True)], 1))
        counts.append(
            np.stack([unique[2][row[order]] for unique, row in zip(sides, rows, strict=True)], 1)
        )
        n_windows += [np.count_nonzero(~is_y), np.count_nonzero(is_y)]
        masks_of_words += [mask] * len(order)
    c = np.concatenate(counts)
    norm = np.sqrt(n_windows.prod()) if n_windows.all() else 1.0
    costs = -2 * np.sqrt(c.prod(axis=1)) / (n_kernels * norm)
    return _Shared(masks_of_words, np.concatenate(positions), c, costs)


def _windows(
    strings: Strings, mask: Mask
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Return a number for each window's word, its position in x or y, and whether y has it."""
    codes, offsets, strands, n_letters = strings
    begins = [
        np.arange(begin, max(begin, end - mask[-1])) for begin, end in pairwise(offsets.tolist())
    ]
    starts = np.concatenate(begins)
    words = np.zeros(len(starts), np.int64)
    for step in mask:
        keys = words * n_letters + codes[starts + step]
        words = np.unique(keys, return_inverse=True)[1].reshape(len(starts))
    is_y = starts >= offsets[strands]
    return words, starts - np.where(is_y, offsets[strands], 0), is_y


def _text(item: Any, position: int, is_reversed: bool, mask: Mask) -> str:
    """Return a window's word with a dot for each wildcard; reversed windows are read backwards."""
    shown = ["."] * (mask[-1] + 1)
    for step in mask:
        letter = item[position - step if is_reversed else position + step]
        letter = chr(letter) if isinstance(item, bytes) else str(letter)
        shown[step] = COMPLEMENTS[letter] if is_reversed else letter
    return ("" if isinstance(item, (str, bytes)) else " ").join(shown)
