# SPDX-License-Identifier: BSD-3-Clause
"""Features of training objects that are themselves random objects: their own columns.

The feature of an object at itself is 1 / sqrt(R), which no new object has, so a model must not
learn from it. With the feature of the nearest other object instead, it is *hidden*, and the model
loses the label of the random object, which new objects near it need. So training raises it to
m / (2 sqrt(n)) deviations above the mean of the column, where m is the number of such columns in
the block, but at most to 1 / sqrt(R). If all n objects are random objects, the raised features add
at most a quarter to the kernel of an object with itself, which is 1 on average. If few objects are,
the features stay hidden. A regression of at most 30 objects keeps them as they are: the nearest
others of so few are far away, and features of new objects, many deviations above those of training,
led its predictions far out of the targets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from d2ke.embedding.scaling import moments
from d2ke.models.blocks import FittedFeatures


def own_values(
    features: np.ndarray, rows: np.ndarray, columns: np.ndarray, few: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Put the values of training into the features of objects at the random objects they are.

    Only an object that is one random object of the block is raised: raising those that windows
    are cut from several times lost accuracy.

    Parameters
    ----------
    features : ndarray of float32, shape (n, R)
        The features of a block. The values at `rows` and `columns` are replaced.
    rows, columns : ndarray of int64, shape (m,)
        The objects, and the columns of the random objects that each of them is.
    few : int
        Of at most so many objects, the features are raised to those at the objects themselves.

    Returns
    -------
    hidden, own : ndarray of float32, shape (m,)
        The largest features of other objects, and the values of training.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke.models.own_columns import own_values
    >>> F = np.array([[0.5, 0.25], [0.125, 0.5], [0.375, 0.25], [0.125, 0.25]], np.float32)
    >>> hidden, own = own_values(F, np.array([0, 1]), np.array([0, 1]))
    >>> hidden.tolist(), own.tolist()
    ([0.375, 0.25], [0.375, 0.25])
    """
    n = len(features)
    if n == 1:
        return features[rows, columns], features[rows, columns]
    features[rows, columns] = -np.inf
    hidden = features[:, columns].max(axis=0)
    features[rows, columns] = values = hidden.copy()
    single = np.bincount(rows)[rows] == 1
    if not single.any():
        return hidden, values
    rows, columns, nearest = rows[single], columns[single], hidden[single]
    others = features.take(columns, axis=1)
    mean = (others.sum(axis=0, dtype=np.float64) - nearest) / (n - 1)
    others[rows, np.arange(len(rows))] = mean  # this adds nothing to the squares
    deviation = moments(others)[1] * np.sqrt(n / (n - 1))
    raised = mean + deviation * len(rows) / (2 * np.sqrt(n)) if n > few else np.inf
    largest = 1 / np.sqrt(features.shape[1])
    features[rows, columns] = values[single] = np.maximum(nearest, np.minimum(raised, largest))
    return hidden, values


class OwnColumns(NamedTuple):
    """Features of training objects that training has raised: an object and its own column each.

    Left-out predictions are those of models without these columns, see `Ridge.left_out`.

    Attributes
    ----------
    rows : ndarray of int64, shape (m,)
        Training objects, sorted; one may have several columns.
    columns : ndarray of int64, shape (m,)
        The column of each among all features.
    hidden : ndarray of float32, shape (m,)
        The largest feature of another object in each column.
    """

    rows: np.ndarray
    columns: np.ndarray
    hidden: np.ndarray

    @classmethod
    def of(cls, blocks: Sequence[FittedFeatures]) -> OwnColumns:
        """Return the raised columns of blocks side by side."""
        nothing = np.empty(0, np.int64)
        pieces, first = [cls(nothing, nothing, np.empty(0, np.float32))], 0
        for block in blocks:
            if block.own is not None:
                raised = np.flatnonzero(block.own > block.hidden)
                pieces.append(cls(block.sources[raised], raised + first, block.hidden[raised]))
            first += block.R
        rows, columns, hidden = map(np.concatenate, zip(*pieces, strict=True))
        order = np.argsort(rows, kind="stable")
        return cls(rows[order], columns[order], hidden[order])

    def within(self, rows: np.ndarray) -> OwnColumns:
        """Return the columns of some training objects, which are counted from 0."""
        first, last = (np.searchsorted(self.rows, rows, side) for side in ("left", "right"))
        counts = last - first
        places = np.arange(counts.sum()) + np.repeat(last - np.cumsum(counts), counts)
        return OwnColumns(
            np.repeat(np.arange(len(rows)), counts), self.columns[places], self.hidden[places]
        )

    @contextmanager
    def hidden_in(self, Z: np.ndarray) -> Iterator[None]:
        """Hide the features of these columns in Z for a while: raised, objects look far apart."""
        at_own = self.rows, self.columns
        raised, Z[at_own] = Z[at_own], self.hidden
        try:
            yield
        finally:
            Z[at_own] = raised
