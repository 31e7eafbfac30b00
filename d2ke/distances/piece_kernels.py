# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of strings by the words that they share, gapped or contiguous."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2ke._ext import gapped
from d2ke.distances.masks import GAPPED, Family, Mask
from d2ke.distances.problem import Report
from d2ke.distances.strands import N_DNA, dna_codes, with_complements
from d2ke.distances.string_rows import not_empty
from d2ke.objects.compatibility import common_alphabet
from d2ke.objects.container import Objects, offsets_of


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

    With c_w(x), the number of windows of x whose word by a mask is w, it is

        k(x, y) = s(x, y) / sqrt(s(x, x) s(y, y)),  s(x, y) = sum_masks sum_w sqrt(c_w(x) c_w(y)),

    and 0 where a string is shorter than every mask. `y` None stands for x itself. It needs memory
    for two such arrays and at most 60 bytes for each letter. ``report(done, total)`` follows the
    pairs of all kernels.
    """
    sums, n = Sums(x, y, pieces), len(x)
    for done, masks in enumerate(pieces.masks):
        out = np.zeros((n, n if y is None else len(y)))
        sums.add(masks, 1.0, out, n_threads)
        if report is not None:
            report((done + 1) * out.size, len(pieces.masks) * out.size)
        yield out


def piece_kernel(
    x: Objects,
    y: Objects | None,
    pieces: Pieces,
    weights: Sequence[float],
    n_threads: int,
    report: Report = None,
    y_squares: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return the weighted sum of the kernels of the family, (n, m).

    If y has many more letters than x, the `own_squares` of y save time; the bits stay the same.
    """
    sums, n = Sums(x, y, pieces), len(x)
    out = np.zeros((n, n if y is None else len(y)))
    for done, (masks, weight) in enumerate(zip(pieces.masks, weights, strict=True)):
        squares = None if y_squares is None else y_squares[done]
        sums.add(masks, weight, out, n_threads, squares)
        if report is not None:
            report((done + 1) * out.size, len(pieces.masks) * out.size)
    return out


def own_squares(x: Objects, pieces: Pieces) -> NDArray[np.float64]:
    """Return s(x, x) of each string, a row for each entry of the family; see `piece_kernels`."""
    sums = Sums(x[:1], x, pieces)
    return np.stack([sums.products(masks, 1)[1][1:].copy() for masks in pieces.masks])


class Sums:
    """The sums s of `piece_kernels`, for one list of masks after another."""

    def __init__(self, x: Objects, y: Objects | None, pieces: Pieces):
        sides = (x,) if y is None else (x, y)
        self._strings, self._same = packed_strings(sides, pieces), y is None
        self.n_strings = sum(map(len, sides))
        self._squares = np.empty(self.n_strings)
        self._sums = np.empty((len(x), len(sides[-1])))

    def add(
        self,
        masks: Sequence[Mask],
        weight: float,
        out: NDArray[np.float64],
        n_threads: int,
        y_squares: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Add weight * k(x, y) by some masks to `out`; return weight * k of each string and itself.

        The strings of x come first. Equal strings have the bits that their pair has in `out`.
        """
        n = len(out)
        sums, squares = self.products(masks, n_threads, y_squares)
        scales = np.zeros_like(squares)
        np.divide(1, np.sqrt(squares), out=scales, where=squares > 0)
        y_scales = scales if self._same else scales[n:]
        gapped.add_scaled(sums, scales[:n], y_scales, self._same, weight, out, n_threads)
        return weight * (squares * (scales * scales))

    def products(
        self, masks: Sequence[Mask], n_threads: int, y_squares: NDArray[np.float64] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return s of all pairs, and s of each string with itself; the next call overwrites both.

        If `y_squares` are given, words of y that no x has are dropped before words are sorted.
        """
        sums, squares = self._sums, self._squares
        sums[:], squares[:] = 0, 0
        if y_squares is not None:
            squares[len(sums) :] = y_squares
        for mask in masks:
            gapped.add_products(
                *self._strings, np.array(mask, np.int64), sums, squares, y_squares is not None,
                n_threads,
            )  # fmt: skip
        return sums, squares


class Strings(NamedTuple):
    """Letters less than `n_letters`, end to end; `strands` strings make up a row."""

    codes: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    strands: int
    n_letters: int


def packed_strings(sides: Sequence[Objects], pieces: Pieces) -> Strings:
    """Return the strings of all sides, with their ends and reverse complements if wanted."""
    lengths, strands = np.concatenate([side.lengths for side in sides]), 1
    if pieces.strands == "both":
        codes, n_letters = np.concatenate([dna_codes(side) for side in sides]), N_DNA
        codes, lengths, strands = *with_complements(codes, lengths), 2
    else:
        alphabet, letters = common_alphabet(sides)
        codes, n_letters = np.concatenate(letters), len(alphabet)
    codes = codes.astype(np.uint32, copy=False)
    if pieces.ends:
        ends = np.cumsum(lengths)
        both_ends = np.stack([ends - lengths, ends], axis=1).ravel()
        marks = np.tile(np.arange(n_letters, n_letters + 2, dtype=np.uint32), len(ends))
        codes = np.insert(codes, both_ends, marks)
        lengths, n_letters = lengths + 2, n_letters + 2
    return Strings(not_empty(codes), offsets_of(lengths), strands, n_letters)
