# SPDX-License-Identifier: BSD-3-Clause
"""The odds that a pair of records matches, from its columns' distances (Fellegi and Sunter 1969).

The evidence of a distance for a match is the log ratio of its frequencies among matches and among
other pairs. Both are counted, each pair weighted by its probability to match, which follows from
the counts in turn: expectation maximization. All near pairs are candidates, so the counts of others
are the total minus those of the matches. If many rows are near, nearness is weaker evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from d2ke._base.results import result
from d2ke.objects.copies import Copies

EDGES = np.array([0, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4.5, np.inf])  # of distances over the radius
_NEAR = 5  # levels within the radius
_MISSING = len(EDGES)


@result
class PairWeights:
    """Evidence of each column's distance for a match, in log odds.

    Attributes
    ----------
    columns : sequence of str
        The compared columns.
    edges : ndarray, shape (n_levels,)
        The largest distance over the radius of each level.
    evidence : ndarray, shape (n_columns, n_levels)
        Added to the log-odds of a match by a distance of each level; not increasing.
    offset : float
        The log-odds of a match of any two rows.
    """

    columns: Sequence[str]
    edges: NDArray[np.float64]
    evidence: NDArray[np.float64]
    offset: float

    def __str__(self) -> str:
        terms = [
            f"{name} {row[0]:.1f} (equal), {row[_NEAR - 1]:.1f} (radius), {row[-1]:.1f} (far)"
            for name, row in zip(self.columns, self.evidence, strict=True)
        ]
        return f"{'; '.join(terms)}; any two rows {self.offset:.1f}"


@dataclass(frozen=True, eq=False)
class Sample:
    """Pairs of rows drawn at random: distances by column, and the number of all pairs."""

    distances: np.ndarray
    n_pairs: float


@dataclass(frozen=True, eq=False)
class Multiplicities:
    """How many pairs of rows each pair of distinct rows stands for, and its ends.

    `ends` are the distinct rows of both ends, numbered through both tables, and `near` how many
    rows the pair puts near each row of that end. `partners` is how many rows each could be near,
    and `mean_partners` that of all rows.
    """

    pairs: np.ndarray
    ends: tuple[np.ndarray, np.ndarray]
    near: tuple[np.ndarray, np.ndarray]
    partners: np.ndarray
    mean_partners: float

    @classmethod
    def of(cls, pairs: np.ndarray, x: Copies, y: Copies) -> Multiplicities:
        """Count those of pairs of rows of two tables, or of one, where y is x."""
        i, j = pairs.T
        same, (n, m) = y is x, (len(x.numbers), len(y.numbers))
        itself = (i == j) if same else np.zeros(len(i), bool)
        first, last = x.counts[i], y.counts[j]
        number = np.where(itself, first * (first - 1) // 2, first * last).astype(np.float64)
        ends = i, j if same else len(x.firsts) + j
        near = last - itself, np.where(itself, 0, first)
        sides = [len(x.firsts), 0 if same else len(y.firsts)]
        mean = m if same else 2 * n * m / (n + m)
        return cls(number, ends, near, np.repeat([m, n], sides), mean)


def learn_weights(
    columns: Sequence[str],
    distances: np.ndarray,
    searched: np.ndarray,
    sample: Sample,
    counted: Multiplicities,
    labels: tuple[np.ndarray, np.ndarray] | None,
) -> tuple[PairWeights, np.ndarray]:
    """Return the weights and the log-odds of the candidates.

    `searched` marks the columns whose near pairs are all candidates. `labels` has places of
    candidates, and whether they match.
    """
    total, levels, k = sample.n_pairs, _levels(distances), len(distances)
    number = counted.pairs
    drawn = _levels(sample.distances)
    counts = np.stack([np.bincount(row, minlength=_MISSING + 1) for row in drawn])
    counts = counts * (total / max(sample.distances.shape[1], 1))
    for column in np.flatnonzero(searched).tolist():
        counts[column, :_NEAR] = np.bincount(levels[column], number, _NEAR)[:_NEAR]
    near = [
        np.flatnonzero(row < _NEAR) if complete and k > 1 else None
        for row, complete in zip(levels, searched, strict=True)
    ]
    limit = 0.75  # pairs of a smaller mean distance over the radius count as matches first
    if k == 1:  # no other column separates matches from others, which are those expected by chance
        counts[0, :_NEAR] = np.minimum(counts[0, :_NEAR], _tail(sample.distances[0], total))
        limit = 1.0
    means = np.where(np.isnan(distances), 1.0, distances).mean(axis=0)
    match = np.where(means <= limit, 0.9, 0.0)
    evidence, terms = np.zeros((k, _MISSING + 1)), np.empty_like(distances)
    # Prior counts of matches by level. They decide for few rows.
    prior = np.array([2, 1, 1, 0.5, 0.5, 0.1, 0.1, 0.1, 0.1, 0.1, 0])
    for _ in range(100):
        size = (number * match).sum()
        offset = float(np.log((size + 0.5) / (total + 1)))
        for column in range(k):
            matched = np.bincount(levels[column], number * match, _MISSING + 1)
            matches = matched + prior
            distant = matches[_NEAR:].sum()
            # At most half as many matches are beyond the radius as within.
            matches[_NEAR:] *= min(1, 0.5 * matches[:_NEAR].sum() / distant)
            others = counts[column] - matched if k > 1 else counts[column]
            others = np.maximum(others, 0.02 * counts[column])
            others += max(total / (counted.mean_partners * 1000), 0.1)
            others[_MISSING - 1] += 1
            evidence[column, :-1] = _evidence(matches[:-1], others[:-1])
            terms[column] = evidence[column, levels[column]]
            if near[column] is not None:
                share = np.cumsum(others[:_NEAR]) / others[:-1].sum()
                place = near[column]
                ends = [rows[place] for rows in counted.ends]
                more = [rows[place] for rows in counted.near]
                terms[column, place] -= _commonness(
                    levels[column, place], 1 - match[place], share, ends, counted.partners, more
                )
        odds = offset + terms.sum(axis=0)
        match = expit(odds)
        if abs((number * match).sum() - size) <= 1e-3 * size:
            break
    if labels is not None:
        scales, offset = _calibrate(terms[:, labels[0]], offset, labels[1])
        evidence *= scales[:, None]
        odds = offset + scales @ terms
    return PairWeights(tuple(columns), EDGES, evidence[:, :-1], offset), odds


def _levels(distances: np.ndarray) -> np.ndarray:
    levels = np.searchsorted(EDGES, np.nan_to_num(distances)).astype(np.int8)
    levels[np.isnan(distances)] = _MISSING
    return levels


def _tail(sample: np.ndarray, total: float) -> np.ndarray:
    """Return how many pairs are near by chance: an exponential tail fitted to the far pairs."""
    beyond = np.sort(sample[sample > 1])[:200]
    first = beyond[:20]
    edge, size, slope = EDGES[-2], 1, 2.0  # without far pairs
    if len(first):
        edge, size = first[-1], len(first)
        if beyond[-1] > edge:
            slope = np.log(len(beyond) / size) / (beyond[-1] - edge)
    sums = size * total / max(len(sample), 1) * np.exp(-slope * (edge - EDGES[:_NEAR]))
    return np.diff(sums, prepend=0)


def _evidence(matches: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the log ratios of two distributions, made not to increase (isotonic)."""
    ratios = np.log(matches / matches.sum()) - np.log(others / others.sum())
    blocks: list[tuple[float, float, int]] = []  # means, weights and sizes of the pools
    for block in zip(ratios.tolist(), matches.tolist(), [1] * len(ratios), strict=True):
        value, weight, size = block
        while blocks and blocks[-1][0] < value:
            other, more, length = blocks.pop()
            value = (value * weight + other * more) / (weight + more)
            weight, size = weight + more, size + length
        blocks.append((value, weight, size))
    return np.repeat([value for value, _, _ in blocks], [size for _, _, size in blocks])


def _commonness(
    levels: np.ndarray,
    others: np.ndarray,
    share: np.ndarray,
    ends: Sequence[np.ndarray],
    partners: np.ndarray,
    near: Sequence[np.ndarray],
) -> np.ndarray:
    """Return the logarithm of how many more rows are near than near any row.

    `others` has the probabilities that near pairs do not match: rows that match do not make a name
    common. `near` has how many rows a pair puts near a row of each end.
    """
    counts = np.zeros(len(partners) * _NEAR)
    for rows, number in zip(ends, near, strict=True):
        counts += np.bincount(rows * _NEAR + levels, number * others, len(counts))
    counts = counts.reshape(-1, _NEAR).cumsum(axis=1)
    result = np.zeros(len(levels))
    prior = 0.1  # neighbours that are counted beside those of a row
    for rows in ends:
        rest = np.maximum(counts[rows, levels] - others, 0)
        expected = share[levels] * partners[rows]
        result += np.log((rest + prior) / (expected + prior)) / 2
    return result


def _calibrate(terms: np.ndarray, offset: float, match: np.ndarray) -> tuple[np.ndarray, float]:
    """Fit a logistic regression: factors >= 0 of the columns' evidence, and an offset.

    The penalty draws the factors to 1 and the offset to its value without known pairs.
    """
    from scipy.optimize import minimize  # slow to import

    F = np.vstack([terms, np.ones(len(match))]) * np.where(match, 1.0, -1.0)
    start = np.append(np.ones(len(terms)), offset)
    penalties = np.repeat((10.0, 0.1), [len(terms), 1])  # of the factors and of the offset

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        margins, away = weights @ F, weights - start
        value = np.logaddexp(0, -margins).sum() + penalties @ away**2 / 2
        return value, penalties * away - F @ expit(-margins)

    bounds = [(0, None)] * len(terms) + [(None, None)]
    solution = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return solution[:-1], float(solution[-1])
