# SPDX-License-Identifier: BSD-3-Clause
"""A distance to fixed columns, which are prepared once for rows that come in many calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from d2ke.distances.pairs import check_pairs
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
        y, compiled = self.y, None
        if (
            self._with_rows is not None
            and isinstance(x, Objects)
            and x.values.size
            and (x.kind, x.letters, x.dim) == (y.kind, y.letters, y.dim)
            and x.channel_names == y.channel_names
            and x.lengths.min() >= self._shortest
        ):
            compiled = self._with_rows(x)
        if compiled is None:
            pairs = check_pairs(x, y, self.distance, self.parameters)
            pairs.compiled().run(out, n_threads, report)
            return
        compiled.run(out, n_threads, False, report)
