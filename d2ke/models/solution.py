# SPDX-License-Identifier: BSD-3-Clause
"""The ridge regression of a model for every C, and its left-out scores.

The weights W of n rows of standardised features z_i and targets t_i minimise
|W|^2 / 2 + C sum_i v_i |t_i - W z_i - b|^2. One eigendecomposition, of the products of features or
of those of rows, whichever are fewer, serves all C.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from d2ke.embedding.scaling import Scaling
from d2ke.learners.ridge import Decomposed, Ridge, RidgeSums, product_type, ridge_of_rows
from d2ke.models.blocks import Sample
from d2ke.models.calibration import rows_to_keep
from d2ke.models.data import Chunk
from d2ke.models.features import Features
from d2ke.models.loo import COSTS, LeftOutScores, NearCopies

_MAX_ROWS_FOR_C = 2048  # that choose C for many classes


class Solution(NamedTuple):
    """The models of every penalty, and the C that are scored.

    P are the coordinates of the sample, if the models are scored by it.
    """

    ridge: Ridge
    scaling: Scaling
    costs: Sequence[float]
    P: np.ndarray | None = None


def sum_products(chunk: Chunk, features: Features) -> RidgeSums:
    """Return the sums of products of the features and labels of a chunk."""
    scales = features.scales
    sums = RidgeSums.empty(scales.mean, scales.unit, features.target_centre, features.dtype)
    for rows, Z in chunk.features(features.blocks, "sums"):
        labels = chunk.labels[rows]
        sums.add(Z, labels.columns(features.dtype), chunk.n_threads, labels.weights)
    return sums


def solve(
    features: Features,
    sums: RidgeSums,
    Z: np.ndarray,
    sample: Sample,
    entropy: Any,
    costs: Sequence[float] | None = None,
) -> Solution:
    """Return the models of every penalty from the sums; Z are the features of the sample.

    Without `costs`, all C are scored; with many classes, where scores of all C would take longer
    than the products of features, only the sample's best.
    """
    scaling, labels = features.scaling(*sums.moments()), sample.labels
    ridge = Ridge.of(sums, scaling.sd * np.sqrt(features.R))
    if costs is None:
        costs = COSTS
        if len(COSTS) * labels.task.k > ridge.basis.shape[0] and labels.groups is None:
            rows = np.arange(len(Z))
            if len(Z) > _MAX_ROWS_FOR_C:
                rng = np.random.default_rng(entropy)
                rows = rng.choice(len(Z), _MAX_ROWS_FOR_C, replace=False)
            P = ridge.coordinates(Z[rows], sample.n_threads)
            columns = features.own_columns.within(sample.rows[rows])
            scores = LeftOutScores.of(ridge, P, labels[rows], COSTS, own_columns=columns)
            costs = [COSTS[scores.best()]]
    return Solution(ridge, scaling, costs)


def solve_sample(
    features: Features, Z: np.ndarray, sample: Sample, entropy: Any, decomposed: Decomposed | None
) -> Solution:
    """Return the models of every penalty from the sample alone, perhaps `decomposed` already."""
    labels = sample.labels
    if len(Z) > features.R:
        features = replace(features, dtype=product_type(*Z.shape))
        chunk = Chunk(sample.objects, labels, 0, sample.n_threads, kept=Z)
        solution = solve(features, sum_products(chunk, features), Z, sample, entropy)
        return solution._replace(P=solution.ridge.coordinates(Z, sample.n_threads))
    unit = features.sd * np.sqrt(features.R)
    ridge, P = ridge_of_rows(
        Z, labels.columns(), unit, sample.n_threads, labels.weights, decomposed
    )
    n_costs = len(COSTS) if len(Z) > labels.task.fewest else np.searchsorted(COSTS, len(Z))
    return Solution(ridge, Scaling(ridge.mean, features.sd), COSTS[:n_costs], P)


def score_sample(
    features: Features, solution: Solution, sample: Sample, entropy: Any
) -> LeftOutScores:
    """Score the left-out predictions of a sample by the models of the sample."""
    assert solution.P is not None
    keep = rows_to_keep(len(solution.P), len(solution.costs) * sample.labels.task.k, entropy)
    columns = features.own_columns.within(sample.rows)
    return LeftOutScores.of(
        solution.ridge, solution.P, sample.labels, solution.costs, keep, columns
    )


def score(
    chunk: Chunk, features: Features, solution: Solution, n: int, entropy: Any
) -> LeftOutScores:
    """Score the left-out predictions of a chunk, of n rows in all."""
    labels, ridge, costs = chunk.labels, solution.ridge, solution.costs
    keep = rows_to_keep(n, len(costs) * labels.task.k, entropy) - chunk.first_row
    slices = chunk.features(features.blocks, "scores")
    if not len(labels):
        slices = iter([(slice(0, 0), np.empty((0, features.R), np.float32))])
    if labels.groups is not None and chunk.kept is not None:
        # Groups may be anywhere, so they are scored together.
        slices = iter([(slice(0, len(labels)), chunk.kept)])
    scores = [
        LeftOutScores.of(
            ridge,
            ridge.coordinates(Z, chunk.n_threads),
            labels[rows],
            costs,
            keep[slice(*np.searchsorted(keep, (rows.start, rows.stop)))] - rows.start,
            features.own_columns.within(np.arange(rows.start, rows.stop) + chunk.first_row),
        )
        for rows, Z in slices
    ]
    return scores[0].merged(*scores[1:])


def near_copies_of(
    features: Features, solution: Solution, sample: Sample, scores: LeftOutScores, Z: np.ndarray
) -> NearCopies | None:
    """Return the near-copies of a sample with features Z, and the accuracy by the other rule.

    Features that are computed from labels depend on the rule that was used, so the other accuracy
    is nan for models with such features.
    """
    if sample.copies is None:
        return None
    codes, decide = sample.copies
    if any(block.supervised for block in features.blocks):
        return NearCopies(sample.rows, codes, decide, np.nan, np.nan)
    ridge, costs = solution.ridge, [solution.costs[scores.best()]]
    columns = features.own_columns.within(sample.rows)
    labels = replace(sample.labels, groups=None if decide else codes)
    P = ridge.coordinates(Z, sample.n_threads) if solution.P is None else solution.P
    other = LeftOutScores.of(ridge, P, labels, costs, own_columns=columns)
    return NearCopies(sample.rows, codes, decide, *other.accuracy(0))
