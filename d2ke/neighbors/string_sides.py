# SPDX-License-Identifier: BSD-3-Clause
"""Strings sorted for a search: by length, and by the letters that they have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from d2ke._ext import near_strings
from d2ke.distances.string_rows import codes_of, not_empty
from d2ke.objects.container import Objects, offsets_of

_GROUPS = 16  # of letters


class Side(NamedTuple):
    """Strings sorted by length and letters; names[i] is the user's position of string i."""

    strings: near_strings.Strings
    names: np.ndarray


@dataclass
class Trial:
    """Seconds of searches of few strings, each with an index or without.

    Attributes
    ----------
    seconds : float
        Of all searches without.
    scanned, searched : list of float
        For a string, without: the last ones; with: the first ones.
    pays : bool
        Whether the index is the faster one, as far as is known.
    """

    seconds: float = 0.0
    scanned: list[float] = field(default_factory=list)
    searched: list[float] = field(default_factory=list)
    pays: bool = True


class Columns:
    """The strings Y of many searches, sorted once.

    Attributes
    ----------
    side : Side
        Y, whose most frequent letter has the code 0.
    pieces : dict of int to near_strings.Index
        Indexes of Y by their number of pieces, which searches add.
    """

    def __init__(self, y: Objects):
        n_letters = len(y.alphabet)
        counts = np.bincount(y.values, minlength=n_letters)
        self._alphabet = y.alphabet
        self._ranks = np.argsort(np.argsort(-counts, kind="stable")).astype(np.uint32)
        # One more letter stands for the letters of X that Y lacks.
        self._ranks = np.append(self._ranks, np.uint32(n_letters))
        self.side, self._group_ranks = _sorted(self._ranks[y.values], y, n_letters + 1)
        self.pieces: dict[int, near_strings.Index] = {}
        self._trials: dict[int, Trial] = {}
        self._shown = np.empty(0), self.side.names

    def trial(self, pieces: int) -> Trial:
        """Return the times of searches of few strings, for an index of this number of pieces."""
        return self._trials.setdefault(pieces, Trial())

    def arrays(self) -> dict[str, np.ndarray]:
        """Return what `from_arrays` takes."""
        arrays = {
            "alphabet": self._alphabet, "ranks": self._ranks, "group_ranks": self._group_ranks,
            "names": self.side.names, **self.side.strings.arrays(),
        }  # fmt: skip
        for count, pieces in list(self.pieces.items()):  # searches in other threads add some
            named = pieces.arrays().items()
            arrays |= {f"pieces/{count}/{name}": array for name, array in named}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> Columns:
        """Return the columns with these arrays."""
        columns = cls.__new__(cls)
        columns._alphabet, columns._ranks = arrays["alphabet"], arrays["ranks"]
        columns._group_ranks = arrays["group_ranks"]
        strings = near_strings.Strings.from_arrays(len(columns._ranks), arrays)
        columns.side, columns.pieces, columns._trials = Side(strings, arrays["names"]), {}, {}
        columns._shown = np.empty(0), columns.side.names
        for name in arrays:
            kind, _, rest = name.partition("/")
            if kind == "pieces" and rest.endswith("/slots"):
                count = int(rest.partition("/")[0])
                fields = {
                    key: arrays[f"pieces/{count}/{key}"] for key in ("slots", "filter", "items")
                }
                columns.pieces[count] = near_strings.Index.from_arrays(count, fields)
        return columns

    def shown_names(self, hidden: np.ndarray) -> np.ndarray:
        """Return the positions of the strings, -1 for hidden ones; kept for the next search."""
        mask, names = self._shown
        if mask is not hidden:
            names = np.where(hidden[self.side.names], -1, self.side.names)
            self._shown = hidden, names
        return names

    def rows(self, x: Objects) -> Side:
        """Return strings X sorted, in the letters of Y."""
        ranks = self._ranks[codes_of(x.alphabet, self._alphabet)]
        strings = self.side.strings
        if len(x) == 1:
            longest = max(strings.longest, len(x.values))
            codes = not_empty(ranks[x.values])
            string = near_strings.Strings(codes, x.offsets, strings.n_letters, longest, True)
            return Side(string, np.zeros(1, np.int64))
        return _sorted(ranks[x.values], x, strings.n_letters, strings.longest, self._group_ranks)[0]


def _sorted(
    codes: np.ndarray,
    objects: Objects,
    n_letters: int,
    longest: int = 0,
    group_ranks: np.ndarray | None = None,
) -> tuple[Side, np.ndarray]:
    """Sort strings by length, then by their groups of letters.

    `group_ranks`: the order of the groups, returned too; by default, groups of about half of the
    strings come first. `longest`: the length of the longest string on the other side.
    """
    lengths = objects.lengths
    groups = np.append(1 << (codes % _GROUPS).astype(np.int64), 0)
    present = np.bitwise_or.reduceat(groups, objects.offsets[:-1])
    bits = present[:, None] >> np.arange(_GROUPS) & 1
    if group_ranks is None:
        group_ranks = np.argsort(np.argsort(-np.abs(bits.mean(axis=0) - 0.5), kind="stable"))
    order = np.lexsort(((bits << group_ranks).sum(axis=1), lengths))
    lengths = lengths[order]
    offsets = offsets_of(lengths)
    moves = np.repeat(objects.offsets[:-1][order] - offsets[:-1], lengths)
    codes = not_empty(codes[np.arange(offsets[-1]) + moves])
    longest = max(longest, int(lengths[-1]))
    return Side(near_strings.Strings(codes, offsets, n_letters, longest), order), group_ranks
