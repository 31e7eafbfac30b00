# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of strings by the words that they share, gapped or contiguous."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from d2ke._ext import gapped
from d2ke.distances.masks import GAPPED, Family, Mask
from d2ke.distances.problem import Report
from d2ke.distances.strands import N_DNA, dna_codes, with_complements
from d2ke.distances.string_rows import codes_of, not_empty
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
    sums, n = Sums(x, y, pieces, n_threads), len(x)
    for entry in range(len(pieces.masks)):
        out = np.zeros((n, n if y is None else len(y)))
        sums.add(entry, 1.0, out)
        if report is not None:
            report((entry + 1) * out.size, len(pieces.masks) * out.size)
        yield out


def piece_kernel(
    x: Objects,
    y: Objects | WordLists | None,
    pieces: Pieces,
    weights: Sequence[float],
    n_threads: int,
    report: Report = None,
) -> NDArray[np.float64]:
    """Return the weighted sum of the kernels of the family, (n, m).

    `WordLists` of y save time if there are several x; the bits are the same.
    """
    sums = Sums(x, y, pieces, n_threads)
    out = np.zeros((len(x), len(x) if y is None else len(y)))
    for entry, weight in enumerate(weights):
        sums.add(entry, weight, out)
        if report is not None:
            report((entry + 1) * out.size, len(pieces.masks) * out.size)
    return out


Stages: TypeAlias = tuple[NDArray[np.uint64], NDArray[np.int64]]  # see `gapped.RowWords`
NO_LETTER = 2**32 - 1


class Strings(NamedTuple):
    """Letters, end to end; `strands` strings make up a row. Words exclude `NO_LETTER`."""

    codes: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    strands: int
    n_letters: int

    def words(
        self, mask: Mask, stages: Stages, squares: NDArray[np.float64] | None, n_threads: int
    ) -> gapped.RowWords:
        """Return the words of each row, in order; add each row's product with itself to squares."""
        return gapped.RowWords(*self, np.array(mask, np.int64), *stages, squares, n_threads)

    def stages(self, mask: Mask, n_threads: int) -> Stages:
        """Return how `words` encodes words of these and other strings as numbers below 2**64.

        If a word is too long, its first letters are replaced by their index among the first letters
        of all words, and so on.
        """
        prefixes, stages, n_words = [np.zeros(1, np.uint64)], np.empty((0, 3), np.int64), 1
        for j in range(len(mask)):
            if n_words * self.n_letters > 2**64:
                encoding = np.concatenate(prefixes), stages
                first = self.words(mask[:j], encoding, None, n_threads).lists()[0]
                begin = len(encoding[0])
                stages = np.append(stages, [[j, begin, begin + len(first)]], axis=0)
                prefixes.append(first)
                n_words = len(first)
            n_words *= self.n_letters
        return np.concatenate(prefixes), stages


class Lists(NamedTuple):
    """Which strings have each word of a mask; see `gapped.RowWords.lists`."""

    words: NDArray[np.uint64]
    starts: NDArray[np.int64]
    cells: NDArray[np.uint32]
    roots: NDArray[np.float64]


class WordLists:
    """Strings whose words are sorted once, for products with many other strings.

    Lists of masks are kept up to `most_bytes`, masks of few letters first; they take four bytes
    for each word that a string has. Lists of all other masks are recomputed in each call.
    """

    def __init__(self, y: Objects, pieces: Pieces, most_bytes: int, n_threads: int = 1):
        self.alphabet, self._strings = y.alphabet, packed_strings((y,), pieces)
        self.squares = np.zeros((len(pieces.masks), len(y)))
        self._cached: dict[Mask, tuple[Stages, Lists]] = {}
        for masks, squares in zip(pieces.masks, self.squares, strict=True):
            for mask in masks:
                stages, lists = self._lists(mask, squares, n_threads)
                most_bytes -= sum(array.nbytes for array in (*lists, *stages))
                if most_bytes >= 0:
                    self._cached[mask] = stages, lists

    def __len__(self) -> int:
        return self.squares.shape[1]

    def lists(self, mask: Mask, n_threads: int) -> tuple[Stages, Lists]:
        """Return the lists of a mask, and the stages that its words have."""
        return self._cached[mask] if mask in self._cached else self._lists(mask, None, n_threads)

    def _lists(
        self, mask: Mask, squares: NDArray[np.float64] | None, n_threads: int
    ) -> tuple[Stages, Lists]:
        stages = self._strings.stages(mask, n_threads)
        return stages, Lists(*self._strings.words(mask, stages, squares, n_threads).lists())


class Sums:
    """The sums s of `piece_kernels`, for one entry of the family after another."""

    def __init__(self, x: Objects, y: Objects | WordLists | None, pieces: Pieces, n_threads: int):
        n, m = len(x), len(x) if y is None else len(y)
        self._masks, self._n_threads, self._y = pieces.masks, n_threads, y
        self._x = packed_strings((x,), pieces)
        if y is not None:
            # Words with letters that y lacks count only for products of x with itself.
            self._x_in_y = packed_strings((x,), pieces, y.alphabet)
            self._all_in_y = NO_LETTER not in self._x_in_y.codes
        if isinstance(y, Objects):
            self._y_strings = packed_strings((y,), pieces)
        self.n_strings = n if y is None else n + m
        self._squares, self._sums = np.empty(self.n_strings), np.empty((n, m))

    def add(self, entry: int, weight: float, out: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add weight * k(x, y) of an entry to `out`; return weight * k of each string and itself.

        The strings of x come first. Equal strings have the bits that their pair has in `out`.
        """
        n, symmetric = len(out), self._y is None
        sums, squares = self._products(entry)
        scales = np.zeros_like(squares)
        np.divide(1, np.sqrt(squares), out=scales, where=squares > 0)
        y_scales = scales if symmetric else scales[n:]
        gapped.add_scaled(sums, scales[:n], y_scales, symmetric, weight, out, self._n_threads)
        return weight * (squares * (scales * scales))

    def _products(self, entry: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return s of all pairs, and of each string with itself; the next call overwrites both."""
        sums, y, n_threads = self._sums, self._y, self._n_threads
        sums[:], self._squares[:] = 0, 0
        x_squares, y_squares = np.split(self._squares, [len(sums)])
        if isinstance(y, WordLists):
            y_squares[:] = y.squares[entry]
        for mask in self._masks[entry]:
            if y is None:
                x_words = self._x.words(mask, self._x.stages(mask, n_threads), x_squares, n_threads)
                x_words.add_products(*x_words.lists(), sums, True, n_threads)
                continue
            if isinstance(y, WordLists):
                stages, lists = y.lists(mask, n_threads)
            else:
                stages = self._y_strings.stages(mask, n_threads)
                y_words = self._y_strings.words(mask, stages, y_squares, n_threads)
                lists = Lists(*y_words.lists())
            all_in_y = self._all_in_y and not len(stages[1])
            if not all_in_y:
                self._x.words(mask, self._x.stages(mask, n_threads), x_squares, n_threads)
            squares = x_squares if all_in_y else None
            x_words = self._x_in_y.words(mask, stages, squares, n_threads)
            x_words.add_products(*lists, sums, False, n_threads)
        if y is None:
            np.fill_diagonal(sums, x_squares)
        return sums, self._squares


def packed_strings(
    sides: Sequence[Objects], pieces: Pieces, alphabet: NDArray[np.integer] | None = None
) -> Strings:
    """Return the strings of all sides, with their ends and reverse complements if wanted.

    Letters are indices into the alphabet, by default the alphabet of all sides.
    """
    lengths, strands = np.concatenate([side.lengths for side in sides]), 1
    if pieces.strands == "both":
        codes, n_letters = np.concatenate([dna_codes(side) for side in sides]), N_DNA
        codes, lengths, strands = *with_complements(codes, lengths), 2
    elif alphabet is None:
        merged, letters = common_alphabet(sides)
        codes, n_letters = np.concatenate(letters), len(merged)
    else:
        codes = np.concatenate([codes_of(s.alphabet, alphabet)[s.values] for s in sides])
        n_letters = len(alphabet)
        codes[codes == n_letters] = NO_LETTER
    codes = codes.astype(np.uint32, copy=False)
    if pieces.ends:
        ends = np.cumsum(lengths)
        both_ends = np.stack([ends - lengths, ends], axis=1).ravel()
        marks = np.tile(np.arange(n_letters, n_letters + 2, dtype=np.uint32), len(ends))
        codes = np.insert(codes, both_ends, marks)
        lengths, n_letters = lengths + 2, n_letters + 2
    return Strings(not_empty(codes), offsets_of(lengths), strands, n_letters)
