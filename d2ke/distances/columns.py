# SPDX-License-Identifier: BSD-3-Clause
"""A distance to fixed columns, which are prepared once for rows that come in many calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from d2ke._ext import elastic, strings
from d2ke._ext.pairwise import PairwiseKernel
from d2ke.distances.pairs import check_pairs
from d2ke.distances.registry import BY_NAME, check_parameters
from d2ke.distances.string_rows import not_empty
from d2ke.objects.container import Objects


class Columns:
    """The distances of rows to columns that stay the same from call to call.

    For few rows, preparing the columns takes longer than their distances. Levenshtein's distance
    and DTW keep the prepared columns; other distances prepare them in each call. The results have
    the bits of `distance_matrix`.

    Parameters
    ----------
    y : Objects or list
        The columns.
    distance, parameters
        As for `distance_matrix`, and checked.
    """

    def __init__(self, y: Any, distance: Any, parameters: Mapping[str, Any]):
        self.y, self.distance, self.parameters = y, distance, parameters
        self._shortest = 0
        self._kernel: PairwiseKernel | None = None
        if not (isinstance(y, Objects) and len(y) and isinstance(distance, str)):
            return
        row = BY_NAME[distance]
        checked = check_parameters(row, parameters)
        self._shortest = row.shortest
        if y.kind != row.kind:
            return
        if row.name == "levenshtein" and set(checked) <= {"mode"}:
            side = not_empty(y.values.astype(np.uint32)), y.offsets
            # One letter more stands for letters of rows that no column has.
            n_letters = len(y.alphabet) + 1
            self._kernel = strings.levenshtein(*side, *side, n_letters, False, **checked)
        elif row.name == "dtw" and set(checked) <= {"window"} and not y.missing and y.values.size:
            window = checked.get("window", elastic.NO_WINDOW)
            x, offsets = y.values, y.offsets
            self._kernel = elastic.dtw(x, offsets, x, offsets, window, False, False)

    def fill(self, x: Any, out: np.ndarray, n_threads: int, report: Any = None) -> None:
        """Compute the distances of x to the columns.

        Parameters
        ----------
        x : Objects or list
            The rows.
        out : ndarray of float32 or float64, shape (len(x), len(y))
            C-contiguous array to fill.
        n_threads : int
            The result of `team_size`.
        report : callable, optional
            As for `CompiledPairs.run`.

        Raises
        ------
        TypeError, ValueError
            As `distance_matrix`.
        """
        kernel = self._kernel_for(x)
        if kernel is not None:
            if x.values.size * self.y.values.size < 10_000_000:
                n_threads = 1  # so few pairs of elements take less than a millisecond
            kernel.run(out, n_threads, False, report)
        else:
            pairs = check_pairs(x, self.y, self.distance, self.parameters)
            pairs.compiled().run(out, n_threads, report)

    def _kernel_for(self, x: Any) -> PairwiseKernel | None:
        """Return the kernel for rows like the columns; None for any that need all the checks."""
        y = self.y
        if self._kernel is None or not isinstance(x, Objects) or not x.values.size:
            return None
        same = x.kind == y.kind and x.letters == y.letters and x.dim == y.dim
        if not same or x.channel_names != y.channel_names or x.lengths.min() < self._shortest:
            return None
        if x.has_letters:
            codes = _codes_of(y.alphabet, x.alphabet)[x.values]
            return strings.with_rows(self._kernel, codes, x.offsets)
        if x.dtype != y.dtype or x.missing:
            return None
        return elastic.with_rows(self._kernel, x.values, x.offsets)


def _codes_of(alphabet: np.ndarray, letters: np.ndarray) -> np.ndarray:
    """Return the index of each letter in an alphabet; the alphabet's length if it is absent."""
    n = len(alphabet)
    if not n:
        return np.zeros(len(letters), np.uint32)
    codes = alphabet.searchsorted(letters)
    codes[codes == n] = 0
    return np.where(alphabet[codes] == letters, codes, n).astype(np.uint32)
