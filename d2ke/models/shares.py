# SPDX-License-Identifier: BSD-3-Clause
"""Shares of families of blocks in the kernel, chosen by left-out squared error.

The kernel of a model is K = sum_f s_f K_f over families f of blocks. Each K_f comes from the
standardised features of its blocks and has the mean 1 on its diagonal; the shares s_f are not
negative and sum to 1. So K is positive definite, whatever the shares. Features are divided by the
deviations of `d2ke._base.rounding`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any

import numpy as np

from d2ke._base.blas import square
from d2ke._base.rounding import PLAIN, feature_deviations, least_deviations
from d2ke.embedding.scaling import moments
from d2ke.learners.ridge import Ridge, RidgeSums, ridge_of_gram
from d2ke.models.blocks import AnyFitted, FittedBlock
from d2ke.models.targets import Target
from d2ke.models.windows import Windows

SHARES = (0.0, 0.2, 0.5, 0.8, 0.95, 0.98)
_PRIOR = 10  # objects that speak for the first family
COSTS = tuple(10.0 ** (np.arange(-2, 13) / 2))
_ROWS = 1024  # training objects that choose shares
_FAMILIES = 4  # of more, fewer objects choose, in about the same time
_COLUMNS = 256  # classes whose errors are summed


def parts_of(blocks: Sequence[AnyFitted]) -> np.ndarray:
    """Return the part of each feature, as `least_deviations` has them: by block and kind."""
    parts: list[np.ndarray] = []
    for block in blocks:
        first = max((int(part[-1]) for part in parts), default=PLAIN) + 1
        if isinstance(block, FittedBlock):
            n_kinds = len(block.omega.kinds) if isinstance(block.omega, Windows) else 1
            parts.append(np.repeat(first + np.arange(n_kinds), block.R // n_kinds))
        else:  # near numbers have the features of a distance
            near = getattr(block, "kind", "") == "near numbers"
            parts.append(np.full(block.R, first if near else PLAIN))
    return np.concatenate(parts)


def choose_shares(
    Z: np.ndarray,
    families: Mapping[str, np.ndarray],
    powers: np.ndarray,
    parts: np.ndarray,
    target: Target,
    entropy: Any,
    n_threads: int | None = None,
) -> dict[str, float]:
    """Choose the shares of families, and with them C, by the least left-out squared error.

    The first family begins with all of the kernel. Each other one in turn is given each of
    `SHARES`, while those before it keep their proportions. Few objects choose badly, so that the
    logarithm of the error has 10 / n times the shares of the other families added to it.

    Parameters
    ----------
    Z : ndarray of float32, shape (n, R)
        Features of training objects.
    families : mapping of str to ndarray of int64
        The columns of each family.
    powers : ndarray of float64, shape (R,)
        Each feature is divided by its deviation to this power.
    parts : ndarray of int64, shape (R,)
        The part of each feature, see `parts_of`.
    target : Target
        Labels of the n objects.
    entropy : int
        Seed of the sample of at most 1,024 objects that choose; of more than four families, fewer.
    n_threads : int, optional
        Threads for products.

    Returns
    -------
    dict of str to float
        The share of each family.
    """
    names = list(families)
    if len(names) == 1:
        return {names[0]: 1.0}
    rng = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(_ROWS,)))
    size = int(_ROWS * min(1.0, (_FAMILIES - 1) / (len(names) - 1)) ** (1 / 3))
    if len(Z) > size:
        rows = np.sort(rng.choice(len(Z), size, replace=False, shuffle=False))
        Z, target = Z[rows], target[rows]
    if target.groups is not None and (target.groups == target.groups[0]).all():
        target = replace(target, groups=None)
    T = target.columns(np.float64)
    T = T if target.classes is None else T.toarray()
    if T.shape[1] > _COLUMNS:
        T = T[:, rng.choice(T.shape[1], _COLUMNS, replace=False)]
    columns = list(families.values())
    mean, deviation, largest = moments(Z)
    least = least_deviations(deviation, largest, parts)
    unit = feature_deviations(deviation, largest, least, Z.dtype) ** powers
    for own in columns:
        trace = ((deviation[own] / unit[own]) ** 2).sum() or 1.0
        unit[own] *= np.sqrt(trace)
    if Z.shape[1] < len(Z):
        model = _of_columns(Z, columns, mean, unit, T, target, n_threads)
    else:
        scaled = ((Z[:, own] - mean[own]) / unit[own] for own in columns)
        stack = np.stack([_gram(values, target.weights, n_threads) for values in scaled])

        def model(shares: np.ndarray) -> tuple[Ridge, np.ndarray]:
            return ridge_of_gram(np.tensordot(shares, stack, 1), T, target.weights)

    shares = np.zeros(len(names))
    shares[0] = 1.0
    best = np.log(_error(*model(shares), T, target)), shares
    for family in range(1, len(names)):
        tried = [best]
        for share in SHARES[1:]:
            some = best[1] * (1 - share)
            some[family] = share
            error = _error(*model(some), T, target)
            tried.append((np.log(error) + _PRIOR / len(Z) * (1 - some[0]), some))
        best = min(tried, key=itemgetter(0))
    return dict(zip(names, best[1].tolist(), strict=True))


def _of_columns(
    Z: np.ndarray,
    families: Sequence[np.ndarray],
    mean: np.ndarray,
    unit: np.ndarray,
    T: np.ndarray,
    target: Target,
    n_threads: int | None,
) -> Callable[[np.ndarray], tuple[Ridge, np.ndarray]]:
    """Return what decomposes the kernel of shares, where there are fewer features than rows."""
    sums = RidgeSums.empty(mean, unit, T.mean(axis=0))
    sums.add(Z, T, n_threads, target.weights)

    def model(shares: np.ndarray) -> tuple[Ridge, np.ndarray]:
        scaled = unit.copy()
        for own, share in zip(families, shares, strict=True):
            scaled[own] = scaled[own] / np.sqrt(share) if share else np.inf
        ridge = Ridge.of(sums, scaled)
        return ridge, ridge.coordinates(Z, n_threads)

    return model


def _gram(values: np.ndarray, weights: np.ndarray | None, n_threads: int | None) -> np.ndarray:
    """Return the kernel of scaled features."""
    if weights is not None:
        values -= weights @ values / weights.sum()
    return square(values.T.__getitem__, len(values), n_threads)


def _error(ridge: Ridge, P: np.ndarray, T: np.ndarray, target: Target) -> float:
    """Return the least mean squared error of left-out predictions over all C."""
    errors = np.empty((len(T), len(COSTS)))
    for rows in target.left_out_parts():
        decision = target[rows].left_out(ridge, P[rows], T[rows], COSTS)
        errors[rows] = ((decision - T[rows, None]) ** 2).sum(axis=2)
    means = np.average(errors, axis=0, weights=target.weights)
    return max(float(means.min()), np.finfo(float).tiny)
