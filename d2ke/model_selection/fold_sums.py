# SPDX-License-Identifier: BSD-3-Clause
"""Cross-validated accuracy of linear classifiers from sums of products over the rows of each fold.

The model without a fold needs only the products of all features with each other and with the
targets, summed over the other folds. One pass over the rows sums them for each fold, a second pass
counts the correct predictions; so the rows may be in a file. Each fold holds R^2 numbers, whatever
the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
        Threads; None for all that this process may use.

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
    R = Z.shape[1]
    T = class_indicators(codes, int(codes.max()) + 1)
    names, fold_of = np.unique(folds, return_inverse=True)
    n_folds = len(names)
    # Features that hardly vary would lose most of their digits in products.
    centre = Z[: _BLOCK_ROWS[0]].mean(axis=0, dtype=np.float64)
    total, *sums = (
        RidgeSums.empty(centre, np.ones(R), np.zeros(T.shape[1])) for _ in range(n_folds + 1)
    )
    jobs = [(view, fold) for view in range(len(views)) for fold in range(n_folds)]
    n_correct = np.zeros((len(views), len(costs)), np.int64)
    with product_pool(n_threads) as pool:
        for rows, values in _blocks(Z, pool):
            members = [np.flatnonzero(fold_of[rows] == fold) for fold in range(n_folds)]
            added = ((values[own], T[rows][own], 1) for own in members)
            list(pool.map(lambda one, part: one.add(*part), sums, added))
        for one in sums:
            total.merge(one)
        units = [_unit(total, view) for view in views]
        models = list(
            pool.map(lambda job: _left_out_models(total, sums[job[1]], units[job[0]], costs), jobs)
        )
        for rows, values in _blocks(Z, pool):
            members = [np.flatnonzero(fold_of[rows] == fold) for fold in range(n_folds)]
            parts = [(values[own] - centre, codes[rows][own]) for own in members]
            parts_of_jobs = (parts[fold] for _, fold in jobs)
            counts = pool.map(lambda model, part: _count(*part, *model), models, parts_of_jobs)
            for (view, _), right in zip(jobs, counts, strict=True):
                n_correct[view] += right
    return (100.0 * n_correct / len(Z)).tolist()


def count_correct(decision: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return how many rows are classified correctly for each C, from indicators of classes.

    Of two classes only the second one has decision values, shape (m, n_costs, 1).
    """
    # Rounded, so that ties up to rounding go to the first class.
    decision = np.round(decision, 9)
    winners = decision[:, :, 0] > 0.5 if decision.shape[2] == 1 else decision.argmax(axis=2)
    return (winners == codes[:, None]).sum(axis=0)


def _blocks(Z: RowSource, pool: Executor) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield blocks of rows, made by all threads."""
    n, R = Z.shape
    step = int(np.clip(_BLOCK_VALUES // R, *_BLOCK_ROWS))
    for begin in range(0, n, step):
        rows = slice(begin, min(begin + step, n))
        runs = [slice(low, min(low + _RUN, rows.stop)) for low in range(begin, rows.stop, _RUN)]
        yield rows, np.concatenate(list(pool.map(Z.__getitem__, runs)))


def _unit(total: RidgeSums, view: FeatureView) -> np.ndarray:
    """Return what a view divides the features by."""
    mean, sd = total.first(view.R).moments()
    scaling = Scaling.of_moments(view.factor * mean, view.factor * sd, view.scaling)
    return scaling.sd * np.sqrt(view.R) / view.factor


def _left_out_models(
    total: RidgeSums, left_out: RidgeSums, unit: np.ndarray, costs: Sequence[float]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the models without a fold, for features less the centre.

    Weights have a column for each C and class; offsets have the shape (len(costs), k).
    """
    R = len(unit)
    ridge = Ridge.of(total.first(R).without(left_out.first(R)), unit)
    weights = np.vstack([ridge.weights(C)[0] for C in costs]).T / unit[:, None]
    shifts = (ridge.mean - total.centre[:R]) @ weights
    return weights, ridge.target_mean - shifts.reshape(len(costs), -1)


def _count(
    values: np.ndarray, codes: np.ndarray, weights: np.ndarray, offsets: np.ndarray
) -> np.ndarray:
    """Return how many rows of a fold its models classify correctly, for each C."""
    decision = (values[:, : len(weights)] @ weights).reshape(len(values), *offsets.shape)
    return count_correct(decision + offsets, codes)
