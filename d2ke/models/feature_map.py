# SPDX-License-Identifier: BSD-3-Clause
"""Features of new objects, and of training rows outside the sample, by fitted blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from d2ke._base.errors import warn
from d2ke._base.progress import stages
from d2ke._base.threads import team_size
from d2ke._ext.pairwise import exp_features
from d2ke.distances.columns import Columns
from d2ke.embedding.scaling import Scaling
from d2ke.models.blocks import FittedFeatures, column_slices, spread
from d2ke.models.distance_blocks import FittedBlock
from d2ke.models.shapelets import Shapelets
from d2ke.models.views import View, apply_views
from d2ke.objects.container import Objects, span_of

_BLOCK = 1 << 26  # bytes that the features of a block of rows take
_FAR = 10  # times the median distance to a random object


class FeatureMap:
    """Scaled features of objects by all blocks, side by side.

    The constructor prepares what depends on the blocks only, so that a call with one object takes
    little longer than its distances.

    Attributes
    ----------
    blocks : tuple of fitted blocks
        The blocks in the order of their features.
    scaling : Scaling
        Means and divisors of all features.
    """

    def __init__(self, blocks: Sequence[FittedFeatures], scaling: Scaling | None = None):
        self.blocks = tuple(blocks)
        self.scaling = scaling or Scaling(np.zeros(0), np.zeros(0))
        self.R = sum(block.R for block in blocks)
        self._plain: list[tuple[FittedFeatures, slice]] = []
        by_column: dict[str, list[tuple[FittedBlock, slice]]] = {}
        for block, columns in column_slices(blocks):
            if isinstance(block, FittedBlock):
                by_column.setdefault(block.column, []).append((block, columns))
            else:
                self._plain.append((block, columns))
        self._shared_views = {name: _SharedViews(members) for name, members in by_column.items()}
        # exp(-gamma d) / sqrt(R) of a block, with gamma = 1 / median
        sizes = [block.R for members in by_column.values() for block, _ in members]
        self._smallest = np.exp(-_FAR) / np.sqrt(max(sizes, default=1))

    def features(self, X: Any, n_threads: int | None, rows: np.ndarray | None = None) -> np.ndarray:
        """Return scaled features of checked objects, float32 of shape (len(X), R).

        With `rows`, X are these training objects, and their features as in training.
        """
        F = self.unscaled(X, n_threads, rows)
        return self.scaling.scale(F, F)

    def by_blocks(
        self, X: Any, n_threads: int | None, progress: bool | None = False
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield slices of checked objects and their scaled features, in bounded memory.

        Finally, warn of objects that are far from all random objects.
        """
        step, n = self.rows_at_once(X), len(X)
        n_far = dict.fromkeys(self._shared_views, 0)
        for first in stages(range(0, n, step), "objects", progress):
            rows = slice(first, min(first + step, n))
            F = self.unscaled(X if step >= n else span_of(X, rows.start, rows.stop), n_threads)
            for name, shared in self._shared_views.items():
                nearest = F[:, shared.columns].max(axis=1)
                n_far[name] += int(np.count_nonzero(nearest < self._smallest))
            yield rows, self.scaling.scale(F, F)
        for name, count in n_far.items():
            if count:
                where = f" of column {name!r}" if name else ""
                warn(
                    f"{count} of {n} objects{where} are more than {_FAR} times as far from every "
                    "random object as training objects usually are, so that all of them get nearly "
                    "the same prediction. Are their values in the units of the training objects?"
                )

    def unscaled(self, X: Any, n_threads: int | None, rows: np.ndarray | None = None) -> np.ndarray:
        """Return features of checked objects before the scaling."""
        F = np.empty((len(X), self.R), np.float32)
        for block, columns in self._plain:
            if not block.column:
                F[:, columns] = block.features(X, n_threads, rows)
                continue
            column, features = X[block.column], np.empty((0, block.R), np.float32)
            if len(column.rows):
                entry_rows = None if rows is None else rows[column.rows]
                features = block.features(column.values, n_threads, entry_rows)
            F[:, columns] = spread(features, column, block.fill)
        for name, shared in self._shared_views.items():
            if not name:
                shared.fill(X, F, n_threads, rows)
                continue
            column = X[name]
            entries = np.empty((len(column.rows), self.R), np.float32)
            if len(entries):
                entry_rows = None if rows is None else rows[column.rows]
                shared.fill(column.values, entries, n_threads, entry_rows)
            for block, columns in shared.members:
                F[:, columns] = spread(entries[:, columns], column, block.fill)
        return F

    def rows_at_once(self, X: Any) -> int:
        """Return the number of rows whose features are computed at a time."""
        per_row = 24 * self.R + 64  # bytes of distances, features and scaled features together
        columns = [X] if isinstance(X, (Objects, list)) else [c.values for c in X.columns.values()]
        for values in columns:
            if isinstance(values, Objects) and len(values):
                longest = int(values.lengths.max()) * max(1, values.dim)
                per_row += 32 + 24 * longest * len(self.blocks)
        return max(16, _BLOCK // per_row)


class _SharedViews:
    """Blocks of distances of the same objects.

    Blocks that begin with the same views compute them once.
    """

    def __init__(self, members: list[tuple[FittedBlock, slice]]):
        self.members = members
        adjacent = all(a.stop == b.start for (_, a), (_, b) in pairwise(members))
        self.columns: Any = slice(members[0][1].start, members[-1][1].stop)
        if not adjacent:
            self.columns = np.r_[tuple(columns for _, columns in members)]
        self.gamma = np.concatenate([block.gamma for block, _ in members])
        # Each view is applied to the result of an earlier view, by its index, or to X, 0.
        self.views: list[tuple[int, View]] = []
        indices: dict[Any, int] = {}
        self.steps: list[tuple[FittedBlock, slice, int, Columns | partial[np.ndarray] | None]] = []
        for block, columns in members:
            index = 0
            for view in block.views:
                key = index, _view_key(view)
                if key not in indices:
                    self.views.append((index, view))
                    indices[key] = len(self.views)
                index = indices[key]
            self.steps.append((block, columns, index, _prepared(block)))

    def fill(self, X: Any, F: np.ndarray, n_threads: int | None, rows: np.ndarray | None) -> None:
        """Write the features of objects to their columns of F."""
        threads, viewed = team_size(n_threads), [X]
        for index, view in self.views:
            viewed.append(apply_views((view,), viewed[index]))
        with np.errstate(over="ignore"):
            for block, columns, index, prepared in self.steps:
                objects = viewed[index]
                if isinstance(prepared, Columns):
                    # One row of F is contiguous.
                    D = F[:, columns] if len(F) == 1 else np.empty((len(F), block.R), np.float32)
                    prepared.fill(objects, D, threads)
                elif prepared is not None:
                    D = prepared(objects, n_threads)
                else:
                    D = block.distances(objects, n_threads)
                if len(F) > 1 or not isinstance(prepared, Columns):
                    F[:, columns] = D
        D = F[:, self.columns]
        if not np.isfinite(D).all():
            for block, _, index, _ in self.steps:
                block.distances(viewed[index], n_threads)  # the error names the block
        np.multiply(D, self.gamma, out=D, casting="same_kind")
        if not isinstance(self.columns, slice):
            F[:, self.columns] = D
        for block, columns in self.members:
            features = F[:, columns]
            exp_features(features, features, 1.0, 1 / np.sqrt(block.R), threads)
            if rows is not None:
                block.put_own(features, rows)


def _prepared(block: FittedBlock) -> Columns | partial[np.ndarray] | None:
    """Return the distances to a block's prepared random objects; None if nothing is prepared."""
    if isinstance(block.omega, Shapelets):
        return partial(block.omega.distances, compiled=block.omega.compiled())
    if block.from_omega:
        return None
    return Columns(block.omega, block.distance, block.parameters)


def _view_key(view: View) -> Any:
    """Return a key of a view, equal for equal functions and arguments."""
    if not isinstance(view, partial) or view.args:
        return id(view)
    arguments = []
    for name, value in sorted(view.keywords.items()):
        if isinstance(value, np.ndarray):
            value = value.dtype.str, value.shape, value.tobytes()
        elif not isinstance(value, (int, float, str, bytes, type(None))):
            return id(view)
        arguments.append((name, type(value), value))
    return view.func, tuple(arguments)
