# SPDX-License-Identifier: BSD-3-Clause
"""Cross-validated accuracy of linear classifiers from sums of products over the rows of each fold.

The model without a fold needs only the products of all features with each other and with the
targets, summed over the other folds. One pass over the rows sums them for each fold, a second pass
counts the correct predictions; so the rows may be in a file. Each fold holds R^2 numbers, whatever
the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from typing import Any, NamedTuple

import numpy as np

from d2ke._base.blas import product_pool
from d2ke._base.checks import positive_number
from d2ke.embedding.scaling import Scaling
from d2ke.io.rows import RowSource

# Neither may depend on the number of threads or the available memory: the last bits would.
_STRIP = 256  # features whose products with all others are computed at a time
_BLOCK_VALUES, _BLOCK_ROWS = 1 << 20, (1024, 8192)
_RUN = 512  # rows that are made at a time
_AHEAD = 2  # blocks that are made while others are used
# Cost of an eigendecomposition of R features, in units of R^3 multiplications of matrix products.
_EIGEN = 8


class FeatureView(NamedTuple):
    """Features that are the first columns of others, multiplied and scaled.

    Attributes
    ----------
    R : int
        Number of columns.
    scaling : str
        Kind of `Scaling`, fitted on all rows.
    factor : float
        Factor of the columns, applied before the scaling.
    """

    R: int
    scaling: str = "none"
    factor: float = 1.0


def fewer_operations(n: int, R: int, n_folds: int, n_classes: int, n_costs: int) -> bool:
    """Return whether sums of products take fewer operations than blocks of the hat matrix."""
    rank, out = min(n, R), n / n_folds
    blocks = n_costs * n_folds * (out**2 * rank + out**3 / 3)
    by_hat = 2 * n * R * rank + _EIGEN * rank**3 + blocks
    by_products = n * R**2 / 2 + n_folds * _EIGEN * R**3 + n * R * n_costs * n_classes
    return by_products < by_hat


def block_bytes(R: int, n_classes: int, n_costs: int) -> int:
    """Return the bytes of a block of rows, or of their scores if these are more."""
    return 8 * _block_rows(R) * max(R + 1 + n_classes, n_costs * n_classes)


def cross_validate_by_products(
    Z: RowSource,
    codes: np.ndarray,
    costs: Sequence[float],
    folds: np.ndarray,
    views: Sequence[FeatureView],
    *,
    n_threads: int | None = None,
) -> list[list[float]]:
    """Cross-validated accuracies of linear one-vs-rest classifiers with the squared loss.

    Up to rounding, they equal those of `squared_loss.cross_validate` on the scaled features of
    each view with a column of ones.

    Parameters
    ----------
    Z : RowSource, shape (n, R)
        Features, computed with in float64.
    codes : ndarray of int, shape (n,)
        Classes 0, 1, ...
    costs : sequence of float
        Values of C.
    folds : ndarray of int, shape (n,)
        The fold of each row.
    views : sequence of FeatureView
        The features to try.
    n_threads : int, optional
        Threads; None for all that this process may use. The bits do not depend on it.

    Returns
    -------
    list of list of float
        For each view, percent of rows classified correctly when left out, for each C.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke.io.rows import RowSource
    >>> from d2ke.model_selection.fold_sums import FeatureView, cross_validate_by_products
    >>> Z = RowSource(np.linspace(-1, 1, 20)[:, None])
    >>> codes, folds = np.repeat([0, 1], 10), np.arange(20) % 5
    >>> views = [FeatureView(1), FeatureView(1, "standard")]
    >>> cross_validate_by_products(Z, codes, [10.0], folds, views)
    [[100.0], [100.0]]
    """
    ridges = [1 / (2 * positive_number("C", C)) for C in costs]
    rows = _FoldRows(Z, codes, folds)
    with product_pool(n_threads) as pool:
        products = _summed(rows, pool)
        total = products.sum(axis=0)
        left_out = [(view, fold) for view in views for fold in range(rows.n_folds)]
        models = list(
            pool.map(
                lambda job: _model(total, products[job[1]], rows.centre, job[0], ridges), left_out
            )
        )
        n_correct = np.zeros((len(views), len(ridges)), dtype=np.int64)
        for block in _ahead(rows.block, rows.slices, pool):
            jobs = zip(left_out, models, strict=True)
            counts = list(pool.map(lambda job, block=block: _count(block, *job, len(costs)), jobs))
            n_correct += np.reshape(counts, (len(views), rows.n_folds, -1)).sum(axis=1)
    return (100.0 * n_correct / len(Z)).tolist()


class _Block(NamedTuple):
    """Some rows, sorted by fold: centred features, a one and the targets; and their classes."""

    values: np.ndarray
    codes: np.ndarray
    edges: np.ndarray

    def of(self, fold: int) -> slice:
        return slice(self.edges[fold], self.edges[fold + 1])


class _FoldRows:
    """Rows by blocks, with their classes and folds.

    Features that hardly vary would lose most of their digits in products, so the means of the
    first block are subtracted. The means of b of n rows are within sd sqrt(n / b) of those of all
    rows; moving products there loses at most a factor n / b of the digits.
    """

    def __init__(self, Z: RowSource, codes: np.ndarray, folds: np.ndarray):
        self.Z, self.codes = Z, codes
        names, self.fold_of = np.unique(folds, return_inverse=True)
        self.n_folds, self.n_classes = len(names), int(codes.max()) + 1
        step = _block_rows(Z.shape[1])
        self.slices = [slice(low, low + step) for low in range(0, len(Z), step)]
        self.centre = Z[self.slices[0]].mean(axis=0, dtype=np.float64)

    def block(self, rows: slice) -> _Block:
        R, n_classes = self.Z.shape[1], self.n_classes
        order = np.argsort(self.fold_of[rows], kind="stable")
        codes = self.codes[rows][order]
        values = np.empty((len(order), R + 1 + n_classes))
        places = np.argsort(order)
        for low in range(0, len(order), _RUN):
            some = slice(rows.start + low, min(rows.start + low + _RUN, rows.start + len(order)))
            values[places[low : low + _RUN], :R] = self.Z[some] - self.centre
        values[:, R] = 1.0
        values[:, R + 1 :] = np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0)
        edges = np.searchsorted(self.fold_of[rows][order], np.arange(self.n_folds + 1))
        return _Block(values, codes, edges)


def _block_rows(R: int) -> int:
    low, high = _BLOCK_ROWS
    return min(max(low, _BLOCK_VALUES // R), high)


def _ahead(function: Callable[[Any], Any], items: Iterable[Any], pool: Executor) -> Iterator[Any]:
    """Yield the function's values in order, and compute the next ones meanwhile."""
    futures = []
    for item in items:
        futures.append(pool.submit(function, item))
        if len(futures) > _AHEAD:
            yield futures.pop(0).result()
    while futures:
        yield futures.pop(0).result()


def _summed(rows: _FoldRows, pool: Executor) -> np.ndarray:
    """Return products of [features, 1] with [features, 1, targets] for each fold, upper part."""
    height = rows.Z.shape[1] + 1
    products = np.zeros((rows.n_folds, height, height + rows.n_classes))
    jobs = [(fold, low) for low in range(0, height, _STRIP) for fold in range(rows.n_folds)]

    def add(block: _Block, fold: int, low: int) -> None:
        values = block.values[block.of(fold)]
        strip = values[:, low : min(low + _STRIP, height)]
        products[fold, low : low + _STRIP, low:] += strip.T @ values[:, low:]

    for block in _ahead(rows.block, rows.slices, pool):
        list(pool.map(lambda job, block=block: add(block, *job), jobs))
    return products


def _model(
    total: np.ndarray,
    left_out: np.ndarray,
    centre: np.ndarray,
    view: FeatureView,
    ridges: list[float],
) -> tuple[np.ndarray, np.ndarray]:
    """Return weights and offsets, for centred features, of the models without a fold.

    Each C and class has a column.
    """
    R, ones = view.R, len(centre)
    mean, scale = _scaling(total, centre, view)
    shift = mean - centre[:R]
    chosen = [*range(R), *range(ones, total.shape[1])]
    kept = total[:R, chosen] - left_out[:R, chosen]
    ends = total[ones, ones:] - left_out[ones, ones:]  # rows, and sums of targets
    # About the new means, in the new units.
    sums = kept[:, R].copy()
    kept[:, R:] -= np.outer(shift, ends)
    kept[:, :R] -= np.outer(sums, shift)
    kept[:, :R] -= np.outer(shift, kept[:, R])
    kept *= scale[:, None]
    kept[:, :R] *= scale
    products = np.empty((R + 1, R + 1))
    products[:R], products[R, R] = kept[:, : R + 1], ends[0]
    sides = np.vstack([kept[:, R + 1 :], ends[1:]])
    del kept
    squares, V = np.linalg.eigh(products, UPLO="U")
    good = squares > 1e-12 * squares[-1]
    squares, V = squares[good], V[:, good]
    projected = V.T @ sides
    W = np.hstack([V @ (projected / (squares + ridge)[:, None]) for ridge in ridges])
    weights = scale[:, None] * W[:R]
    return weights, W[R] - shift @ weights


def _scaling(
    total: np.ndarray, centre: np.ndarray, view: FeatureView
) -> tuple[np.ndarray, np.ndarray]:
    """Return the means that a view subtracts from its features, and its factors."""
    R, ones = view.R, len(centre)
    n, away = total[ones, ones], total[:R, ones] / total[ones, ones]
    sd = np.sqrt(np.maximum(total[:R, :R].diagonal() / n - away**2, 0))
    mean = centre[:R] + away
    scaling = Scaling.of_moments(view.factor * mean, view.factor * sd, view.scaling)
    return scaling.mean / view.factor, view.factor / (scaling.sd * np.sqrt(R))


def _count(
    block: _Block,
    left_out: tuple[FeatureView, int],
    model: tuple[np.ndarray, np.ndarray],
    n_costs: int,
) -> np.ndarray:
    """Return how many of the block's rows in a fold are classified correctly, for each C."""
    (view, fold), (weights, offsets) = left_out, model
    rows = block.of(fold)
    scores = block.values[rows, : view.R] @ weights + offsets
    scores = scores.reshape(len(scores), n_costs, -1)
    # Rounded, so that ties up to rounding go to the first class.
    winners = np.round(scores, 9, out=scores).argmax(axis=2)
    return (winners == block.codes[rows][:, None]).sum(axis=0)
