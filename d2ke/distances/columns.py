# SPDX-License-Identifier: BSD-3-Clause
"""A distance to fixed columns, which are prepared once for rows of many calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from d2ke._ext.pairwise import PairwiseKernel
from d2ke.distances.pairs import check_pairs
from d2ke.distances.problem import CompiledPairs, PairBlock, PairwiseProblem
from d2ke.distances.registry import BY_NAME, check_parameters
from d2ke.objects.container import Objects


class Columns:
    """The distances of rows to columns that stay the same from call to call.

    For few rows, preparing the columns takes longer than their distances. Distances with `columns`
    in the registry keep the prepared columns; others prepare them in each call. The results have
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
        self._with_rows: Callable[[Objects], Any] | None = None
        if isinstance(y, Objects) and len(y) and isinstance(distance, str):
            row = BY_NAME[distance]
            self._shortest = row.shortest
            if row.columns is not None and y.kind == row.kind:
                self._with_rows = row.columns(y, **check_parameters(row, parameters))

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
        compiled = self._compiled(x)
        if compiled is None:
            pairs = check_pairs(x, self.y, self.distance, self.parameters)
            pairs.compiled().run(out, n_threads, report)
            return
        compiled.run(out, n_threads, False, report)

    def prepared(self, pairs: PairwiseProblem) -> PairwiseProblem:
        """Return the pairs of any rows and these columns, without preparing the columns again.

        Blocks of some of the columns are prepared as before.
        """
        if self._with_rows is None:
            return pairs

        def compile_(block: PairBlock) -> CompiledPairs:
            use_columns = block.y is self.y and not block.same
            kernel = self._compiled(block.x) if use_columns else None
            # Bags are compiled as distances of y to x, not as a kernel of single pairs.
            is_kernel = isinstance(kernel, PairwiseKernel)
            return CompiledPairs(kernel, block) if is_kernel else pairs.compile(block)

        return replace(pairs, compile=compile_)

    def _compiled(self, x: Any) -> Any:
        """Return the compiled form of rows x, or None if they need other columns."""
        y = self.y
        if (
            self._with_rows is None
            or not isinstance(x, Objects)
            or not x.values.size
            or (x.kind, x.letters, x.dim) != (y.kind, y.letters, y.dim)
            or x.channel_names != y.channel_names
            or x.lengths.min() < self._shortest
        ):
            return None
        return self._with_rows(x)
