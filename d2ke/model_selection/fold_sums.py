# SPDX-License-Identifier: BSD-3-Clause
"""Cross-validated accuracy of linear classifiers from sums of products over the rows of each fold.

What the models without a fold need of the rows are the products of all features with each other
and with the targets, summed over the other folds. One pass over the rows sums them for each fold,
a second one counts what the models get right; so the rows may be in a file. R^2 numbers for each
fold are held, whatever the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from typing import Any, NamedTuple

import numpy as np

from d2ke._base.blas import product_pool
from d2ke._base.checks import positive_number
from d2ke.embedding.scaling import Scaling
from d2ke.io.store.rows import RowSource

# Neither may depend on the number of threads, nor on the memory that there is: the last bits would.
_STRIP = 256  # features whose products with all others are computed at a time
_BLOCK_VALUES, _BLOCK_ROWS = 1 << 20, (1024, 8192)
_RUN = 512  # rows that are made at a time
_AHEAD = 2  # blocks that are made while others are used
# What an eigendecomposition of R features takes in units of R^3 multiplications of matrix products.
_EIGEN = 8


class View(NamedTuple):
    """Features that follow from others.

    Attributes
    ----------
    R : int
        How many of the others, the first ones.
    scaling : str
        Kind of `Scaling`, fitted on all rows.
    factor : float
        What they are multiplied by before.
    """

    R: int
    scaling: str = "none"
    factor: float = 1.0


def fewer_operations(n: int, R: int, n_folds: int, n_classes: int, n_costs: int) -> bool:
    """Whether this way takes fewer operations than `squared_loss.cross_validate`."""
    rank, out = min(n, R), n / n_folds
    blocks = n_costs * n_folds * (out**2 * rank + out**3 / 3)
    by_hat = 2 * n * R * rank + _EIGEN * rank**3 + blocks
    here = n * R**2 / 2 + n_folds * _EIGEN * R**3 + n * R * n_costs * n_classes
    return here < by_hat


def product_bytes(
    R: int, n_folds: int, n_classes: int, n_costs: int, n_views: int, n_threads: int
) -> int:
    """Return about how many bytes `cross_validate_by_products` takes."""
    width = R + 1 + n_classes
    sums = (n_folds + 1) * (R + 1) * width
    blocks = (_AHEAD + 2) * _block_rows(R) * width + 4 * n_threads * _RUN * R
    scores = n_threads * 2 * _block_rows(R) * n_costs * n_classes
    weights = n_views * n_folds * (R + 1) * n_costs * n_classes
    eigenvectors = 6 * n_threads * (R + 1) ** 2
    return 8 * (sums + blocks + scores + weights + eigenvectors)


def cross_validate_by_products(
    Z: RowSource,
    codes: np.ndarray,
    costs: Sequence[float],
    folds: np.ndarray,
    views: Sequence[View],
    *,
    n_threads: int | None = None,
) -> list[list[float]]:
    """Cross-validated accuracies of linear one-vs-rest classifiers with the squared loss.

    They are, to rounding, those of `squared_loss.cross_validate` on the scaled features of each
    view with a column of ones.

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
    views : sequence of View
        The features to try.
    n_threads : int, optional
        Threads; None for all that this process may use. The bits do not depend on it.

    Returns
    -------
    list of list of float
        For each view, percent of rows classified rightly when left out, for each C.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke.io.store.rows import RowSource
    >>> from d2ke.model_selection.fold_sums import View, cross_validate_by_products
    >>> Z = RowSource(np.linspace(-1, 1, 20)[:, None])
    >>> codes, folds = np.repeat([0, 1], 10), np.arange(20) % 5
    >>> cross_validate_by_products(Z, codes, [10.0], folds, [View(1), View(1, "standard")])
    [[100.0], [100.0]]
    """
    ridges = [1 / (2 * positive_number("C", C)) for C in costs]
    rows = _FoldRows(Z, codes, folds)
    with product_pool(n_threads) as pool:
        products = _summed(rows, pool)
        total = products.sum(axis=0)
        left_out = [(view, fold) for view in views for fold in range(rows.n_folds)]
        solved = pool.map(
            lambda one: _model(total, products[one[1]], rows.centre, one[0], ridges), left_out
        )
        models = [(*one, model) for one, model in zip(left_out, solved, strict=True)]
        right = np.zeros((len(views), len(ridges)), dtype=np.int64)
        for block in _ahead(rows.block, rows.slices, pool):
            counts = list(
                pool.map(
                    lambda one, block=block: _count(block, one[1], one[2], one[0].R, len(costs)),
                    models,
                )
            )
            right += np.reshape(counts, (len(views), rows.n_folds, -1)).sum(axis=1)
    return (100.0 * right / len(Z)).tolist()


class _Block(NamedTuple):
    """Some rows, sorted by fold: centred features, a one and the targets; and their classes."""

    values: np.ndarray
    codes: np.ndarray
    edges: np.ndarray

    def of(self, fold: int) -> slice:
        return slice(self.edges[fold], self.edges[fold + 1])


class _FoldRows:
    """Rows by blocks, with their classes and folds.

    Features that hardly vary would lose most of their digits in products, so that some rows' means
    are subtracted first. With b of n rows, these are within sd sqrt(n / b) of the means of all,
    which costs at most a factor n / b of the digits, when products are moved there.
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
    """Give the function's values in turn; the next ones are computed meanwhile."""
    coming = []
    for item in items:
        coming.append(pool.submit(function, item))
        if len(coming) > _AHEAD:
            yield coming.pop(0).result()
    while coming:
        yield coming.pop(0).result()


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
    total: np.ndarray, left_out: np.ndarray, centre: np.ndarray, view: View, ridges: list[float]
) -> tuple[np.ndarray, np.ndarray]:
    """Return weights and offsets, for centred features, of the models without a fold.

    There is a column for each C and class.
    """
    R, one = view.R, len(centre)
    mean, scale = _scaling(total, centre, view)
    shift = mean - centre[:R]
    chosen = [*range(R), *range(one, total.shape[1])]
    kept = total[:R, chosen] - left_out[:R, chosen]
    ends = total[one, one:] - left_out[one, one:]  # rows, and sums of targets
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


def _scaling(total: np.ndarray, centre: np.ndarray, view: View) -> tuple[np.ndarray, np.ndarray]:
    """Return what is subtracted from the features of a view, and what they are multiplied by."""
    R, one = view.R, len(centre)
    n, away = total[one, one], total[:R, one] / total[one, one]
    sd = np.sqrt(np.maximum(total[:R, :R].diagonal() / n - away**2, 0))
    mean = centre[:R] + away
    scaling = Scaling.of_moments(view.factor * mean, view.factor * sd, view.scaling)
    return scaling.mean / view.factor, view.factor / (scaling.sd * np.sqrt(R))


def _count(
    block: _Block, fold: int, model: tuple[np.ndarray, np.ndarray], R: int, n_costs: int
) -> np.ndarray:
    """Return how many of the block's rows in the fold are classified rightly, for each C."""
    weights, offsets = model
    rows = block.of(fold)
    scores = block.values[rows, :R] @ weights + offsets
    scores = scores.reshape(len(scores), n_costs, -1)
    # Rounded, so that what ties but for rounding goes to the first class.
    winners = np.round(scores, 9, out=scores).argmax(axis=2)
    return (winners == block.codes[rows][:, None]).sum(axis=0)
