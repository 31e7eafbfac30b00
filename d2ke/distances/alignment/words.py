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
    """The shared words of some masks: where they are first, how often they occur, their costs."""

    masks: list[Mask]
    places: NDArray[np.int64]
    counts: NDArray[np.int64]
    costs: NDArray[np.float64]


def align_gapped(problem: PairwiseProblem, strands: str = "one") -> dict[str, Any]:
    """Return the words that both strings have, the longest first, and where each is first."""
    pieces = Pieces(strands=strands)
    strings = packed_strings([problem.x, problem.y], pieces)
    shared = [_shared(strings, masks, len(pieces.masks)) for masks in reversed(pieces.masks)]
    masks = [mask for of_k in shared for mask in of_k.masks]
    places = np.concatenate([of_k.places for of_k in shared])
    lengths = np.array([len(problem.x.values), len(problem.y.values)])
    is_turned = places >= lengths
    pairs = np.where(is_turned, 2 * lengths - 1 - places, places)
    read = zip(pairs[:, 0].tolist(), is_turned[:, 0].tolist(), masks, strict=True)
    words = Words(
        [_text(problem.x[0], *window) for window in read],
        masks,
        np.concatenate([of_k.counts for of_k in shared]),
        is_turned,
    )
    return {
        "value": float(problem.distances(PairBlock(problem.x, problem.y), 1)[0, 0]),
        "pairs": pairs,
        "costs": np.concatenate([of_k.costs for of_k in shared]),
        "words": words,
    }


def _shared(strings: Strings, masks: Sequence[Mask], n_kernels: int) -> _Shared:
    """Find the shared words of the masks of one kernel of so many.

    A place counts the letters of a string and, after them, those of its reverse complement.
    """
    found: list[Mask] = []
    places, counts, windows = [], [], np.zeros(2, np.int64)
    for mask in masks:
        words, starts, is_y = _windows(strings, mask)
        sides = [
            np.unique(words[of_side], return_index=True, return_counts=True)
            for of_side in (~is_y, is_y)
        ]
        _, *rows = np.intersect1d(sides[0][0], sides[1][0], True, return_indices=True)
        first = [starts[of][side[1]] for of, side in zip((~is_y, is_y), sides, strict=True)]
        order = np.argsort(first[0][rows[0]], kind="stable")
        places.append(np.stack([at[row[order]] for at, row in zip(first, rows, strict=True)], 1))
        counts.append(
            np.stack([side[2][row[order]] for side, row in zip(sides, rows, strict=True)], 1)
        )
        windows += [np.count_nonzero(~is_y), np.count_nonzero(is_y)]
        found += [mask] * len(order)
    together = np.concatenate(counts)
    norms = np.sqrt(windows.prod()) if windows.all() else 1.0
    costs = -2 * np.sqrt(together.prod(axis=1)) / (n_kernels * norms)
    return _Shared(found, np.concatenate(places), together, costs)


def _windows(
    strings: Strings, mask: Mask
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Return a number for the word of each window, its place in x or y, and whether it is of y."""
    codes, offsets, strands, n_letters = strings
    begins = [
        np.arange(begin, max(begin, end - mask[-1])) for begin, end in pairwise(offsets.tolist())
    ]
    starts = np.concatenate(begins)
    words = np.zeros(len(starts), np.int64)
    for place in mask:
        keys = words * n_letters + codes[starts + place]
        words = np.unique(keys, return_inverse=True)[1].reshape(len(starts))
    is_y = starts >= offsets[strands]
    return words, starts - np.where(is_y, offsets[strands], 0), is_y


def _text(item: Any, place: int, is_turned: bool, mask: Mask) -> str:
    """Return the word of a window, with a dot for each wildcard; the window may be read back."""
    shown = ["."] * (mask[-1] + 1)
    for step in mask:
        letter = item[place - step if is_turned else place + step]
        letter = chr(letter) if isinstance(item, bytes) else str(letter)
        shown[step] = COMPLEMENTS[letter] if is_turned else letter
    return ("" if isinstance(item, (str, bytes)) else " ").join(shown)
