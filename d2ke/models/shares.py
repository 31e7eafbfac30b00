# SPDX-License-Identifier: BSD-3-Clause
"""Shares of families of blocks in the kernel, chosen by left-out squared error.

The kernel of a model is K = sum_f s_f K_f over families f of blocks. Each K_f comes from the
standardised features of its blocks and has the mean 1 on its diagonal; the shares s_f are not
negative and sum to 1. So K is positive definite, whatever the shares. Features are divided by the
deviations of `d2ke._base.rounding`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any

import numpy as np

from d2ke._base.blas import square
from d2ke._base.rounding import PLAIN, feature_deviations, least_deviations
from d2ke.embedding.scaling import moments
from d2ke.learners.ridge import Ridge, RidgeSums, ridge_of_gram
from d2ke.models.blocks import FittedFeatures, per_feature
from d2ke.models.labels import Labels
from d2ke.models.left_out import COSTS

SHARES = (0.0, 0.2, 0.5, 0.8, 0.95, 0.98)
_PRIOR = 10  # pseudo-observations toward the first family
_ROWS = 1024  # training objects that choose shares
_FAMILIES = 4  # with more, fewer objects choose, in about the same time
_COLUMNS = 256  # classes whose errors are summed


def deviation_groups(blocks: Sequence[FittedFeatures]) -> np.ndarray:
    """Return the group of each feature for `least_deviations`: one for each block and kind."""
    groups, first = [], PLAIN + 1
    for block in blocks:
        kinds = np.arange(first, first + block.kinds) if block.kinds else np.array([PLAIN])
        groups.append(np.repeat(kinds, block.R // len(kinds)))
        first += block.kinds
    return np.concatenate(groups)


def choose_shares(
    Z: np.ndarray,
    blocks: Sequence[FittedFeatures],
    labels: Labels,
    entropy: Any,
    n_threads: int | None = None,
) -> dict[str, float]:
    """Choose the share of each family, and C, by leave-one-out squared error.

    Greedy search: start with all weight on the first family, then try every share in `SHARES` for
    each further family while scaling the earlier ones down. Because small samples select noisily,
    the log error is penalised by 10 / n times the shares outside the first family.

    Parameters
    ----------
    Z : ndarray of float32, shape (n, R)
        Features of training objects.
    blocks : sequence of FittedFeatures
        The blocks of these features.
    labels : Labels
        Labels of the n objects.
    entropy : int
        Seed of the sample of at most 1,024 objects that choose; fewer for more than four families.
    n_threads : int, optional
        Threads for products.

    Returns
    -------
    dict of str to float
        The share of each family.
    """
    families = per_feature(blocks, "family")
    names = list(dict.fromkeys(families.tolist()))
    if len(names) == 1:
        return {names[0]: 1.0}
    powers = per_feature(blocks, "sd_power")
    rng = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(_ROWS,)))
    size = int(_ROWS * min(1.0, (_FAMILIES - 1) / (len(names) - 1)) ** (1 / 3))
    if len(Z) > size:
        rows = np.sort(rng.choice(len(Z), size, replace=False, shuffle=False))
        Z, labels = Z[rows], labels[rows]
    if labels.groups is not None and (labels.groups == labels.groups[0]).all():
        labels = replace(labels, groups=None)
    T = labels.dense_columns()
    if T.shape[1] > _COLUMNS:
        T = T[:, rng.choice(T.shape[1], _COLUMNS, replace=False)]
    columns = [np.flatnonzero(families == name) for name in names]
    groups = deviation_groups(blocks)
    mean, deviation, largest = moments(Z)
    floors = least_deviations(deviation, largest, groups)
    unit = feature_deviations(deviation, largest, floors, Z.dtype) ** powers
    for of_family in columns:
        trace = ((deviation[of_family] / unit[of_family]) ** 2).sum() or 1.0
        unit[of_family] *= np.sqrt(trace)
    if Z.shape[1] < len(Z):
        model = _of_columns(Z, columns, mean, unit, T, labels, n_threads)
    else:
        scaled = ((Z[:, of_family] - mean[of_family]) / unit[of_family] for of_family in columns)
        stack = np.stack([_gram(values, labels.weights, n_threads) for values in scaled])

        def model(shares: np.ndarray) -> tuple[Ridge, np.ndarray]:
            return ridge_of_gram(np.tensordot(shares, stack, 1), T, labels.weights)

    shares = np.zeros(len(names))
    shares[0] = 1.0
    best = np.log(_error(*model(shares), T, labels)), shares
    for family in range(1, len(names)):
        candidates = [best]
        for share in SHARES[1:]:
            candidate = best[1] * (1 - share)
            candidate[family] = share
            error = _error(*model(candidate), T, labels)
            candidates.append((np.log(error) + _PRIOR / len(Z) * (1 - candidate[0]), candidate))
        best = min(candidates, key=itemgetter(0))
    return dict(zip(names, best[1].tolist(), strict=True))


def _of_columns(
    Z: np.ndarray,
    families: Sequence[np.ndarray],
    mean: np.ndarray,
    unit: np.ndarray,
    T: np.ndarray,
    labels: Labels,
    n_threads: int | None,
) -> Callable[[np.ndarray], tuple[Ridge, np.ndarray]]:
    """Return a function that decomposes the kernel of shares, for fewer features than rows."""
    sums = RidgeSums.empty(mean, unit, T.mean(axis=0))
    sums.add(Z, T, n_threads, labels.weights)

    def model(shares: np.ndarray) -> tuple[Ridge, np.ndarray]:
        scaled = unit.copy()
        for of_family, share in zip(families, shares, strict=True):
            scaled[of_family] = scaled[of_family] / np.sqrt(share) if share else np.inf
        ridge = Ridge.of(sums, scaled)
        return ridge, ridge.coordinates(Z, n_threads)

    return model


def _gram(values: np.ndarray, weights: np.ndarray | None, n_threads: int | None) -> np.ndarray:
    """Return the kernel of scaled features."""
    if weights is not None:
        values -= weights @ values / weights.sum()
    return square(values.T.__getitem__, len(values), n_threads)


def _error(ridge: Ridge, P: np.ndarray, T: np.ndarray, labels: Labels) -> float:
    """Return the least mean squared error of left-out predictions over all C."""
    errors = np.empty((len(T), len(COSTS)))
    for rows in labels.left_out_chunks():
        decision = labels[rows].left_out(ridge, P[rows], T[rows], COSTS)
        errors[rows] = ((decision - T[rows, None]) ** 2).sum(axis=2)
    means = np.average(errors, axis=0, weights=labels.weights)
    return max(float(means.min()), np.finfo(float).tiny)
