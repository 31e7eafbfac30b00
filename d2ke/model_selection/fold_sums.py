# SPDX-License-Identifier: BSD-3-Clause
"""Cross-validated accuracy of linear classifiers from sums of products over the rows of each fold.

The model without a fold needs only the products of all features with each other and with the
targets, summed over the other folds. One pass over the rows sums them for each fold, a second pass
counts the correct predictions; so the rows may be in a file. Each fold holds R^2 numbers, whatever
the number of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from typing import NamedTuple

import numpy as np

from d2ke._base.blas import product_pool
from d2ke._base.checks import positive_number
from d2ke.embedding.scaling import Scaling
from d2ke.io.rows import RowSource
from d2ke.learners.ridge import Ridge, RidgeSums, class_indicators

_BLOCK_VALUES, _BLOCK_ROWS = 1 << 20, (1024, 8192)
_RUN = 512  # rows that a thread makes at a time
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

    Up to rounding, they equal those of `cross_validate` on the scaled features of each view.

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
    >>> Z = RowSource(np.append(np.arange(-20, -10), np.arange(10, 20))[:, None] / 10)
    >>> codes, folds = np.repeat([0, 1], 10), np.arange(20) % 5
    >>> views = [FeatureView(1), FeatureView(1, "standard")]
    >>> cross_validate_by_products(Z, codes, [10.0], folds, views)
    [[100.0], [100.0]]
    """
    costs = [positive_number("C", C) for C in costs]
    (n, R), n_classes = Z.shape, int(codes.max()) + 1
    T = class_indicators(codes, n_classes)
    names, fold_of = np.unique(folds, return_inverse=True)
    step = int(np.clip(_BLOCK_VALUES // R, *_BLOCK_ROWS))
    blocks = [slice(low, min(low + step, n)) for low in range(0, n, step)]
    # Features that hardly vary would lose most of their digits in products.
    centre = Z[blocks[0]].mean(axis=0, dtype=np.float64)
    sums = [RidgeSums.empty(centre, np.ones(R), np.zeros(T.shape[1])) for _ in names]
    jobs = [(view, fold) for view in range(len(views)) for fold in range(len(names))]
    n_correct = np.zeros((len(views), len(costs)), np.int64)
    with product_pool(n_threads) as pool:
        for rows in blocks:
            values, targets, members = _read(Z, rows, pool), T[rows], _members(fold_of[rows])

            def add(fold: int, own: np.ndarray) -> None:
                sums[fold].add(values[own], targets[own], n_threads=1)  # noqa: B023

            list(pool.map(add, members.keys(), members.values()))
        total = RidgeSums.empty(centre, np.ones(R), np.zeros(T.shape[1]))
        for part in sums:
            total.merge(part)
        units = [_unit(total, view) for view in views]
        models = list(
            pool.map(lambda job: _left_out_models(total, sums[job[1]], units[job[0]], costs), jobs)
        )
        for rows in blocks:
            values, members = _read(Z, rows, pool) - centre, _members(fold_of[rows])

            def count(job: tuple[int, int], model: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
                own = members.get(job[1], np.empty(0, np.intp))  # noqa: B023
                decision = values[own, : views[job[0]].R] @ model[0] + model[1]  # noqa: B023
                decision = decision.reshape(len(own), len(costs), -1)
                return count_correct(decision, codes[rows][own])  # noqa: B023

            for (view, _), right in zip(jobs, pool.map(count, jobs, models), strict=True):
                n_correct[view] += right
    return (100.0 * n_correct / n).tolist()


def count_correct(decision: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return how many rows are classified correctly for each C, from indicators of classes.

    Of two classes only the second one has decision values, shape (m, n_costs, 1).
    """
    # Rounded, so that ties up to rounding go to the first class.
    decision = np.round(decision, 9)
    winners = decision[:, :, 0] > 0.5 if decision.shape[2] == 1 else decision.argmax(axis=2)
    return (winners == codes[:, None]).sum(axis=0)


def _read(Z: RowSource, rows: slice, pool: Executor) -> np.ndarray:
    starts = range(rows.start, rows.stop, _RUN)
    return np.concatenate(list(pool.map(lambda low: Z[low : min(low + _RUN, rows.stop)], starts)))


def _members(fold_of: np.ndarray) -> dict[int, np.ndarray]:
    """Return the positions of each fold's rows."""
    return {int(fold): np.flatnonzero(fold_of == fold) for fold in np.unique(fold_of)}


def _unit(total: RidgeSums, view: FeatureView) -> np.ndarray:
    """Return what a view divides the features by."""
    mean, sd = total.first(view.R).moments()
    scaling = Scaling.of_moments(view.factor * mean, view.factor * sd, view.scaling)
    return scaling.sd * np.sqrt(view.R) / view.factor


def _left_out_models(
    total: RidgeSums, left_out: RidgeSums, unit: np.ndarray, costs: Sequence[float]
) -> tuple[np.ndarray, np.ndarray]:
    """Return weights and offsets, for features less the centre, of the models without a fold.

    Each C and class has a column.
    """
    R = len(unit)
    ridge = Ridge.of(total.first(R).without(left_out.first(R)), unit)
    weights = np.vstack([ridge.weights(C)[0] for C in costs]).T / unit[:, None]
    offsets = np.tile(ridge.target_mean, len(costs))
    return weights, offsets - (ridge.mean - total.centre[:R]) @ weights
