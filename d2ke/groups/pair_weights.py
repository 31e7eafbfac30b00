# SPDX-License-Identifier: BSD-3-Clause
"""The log-odds that two records match, from the distances of their columns (Fellegi, Sunter 1969).

The evidence of a distance is the log ratio of two frequencies: among matches, and among other
pairs. Both are estimated by expectation maximization: each pair counts with its probability of a
match, which follows from the frequencies in turn. All near pairs are candidates, so that the other
pairs are the total minus the matches. Nearness is weaker evidence where many rows are near.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from d2ke._base.results import result
from d2ke.objects.copies import Copies

EDGES = np.array([0, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4.5, np.inf])  # of distances over the radius
N_NEAR = 5  # levels within the radius
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
            f"{name} {row[0]:.1f} (equal), {row[N_NEAR - 1]:.1f} (radius), {row[-1]:.1f} (far)"
            for name, row in zip(self.columns, self.evidence, strict=True)
        ]
        return f"{'; '.join(terms)}; any two rows {self.offset:.1f}"


@dataclass(frozen=True, eq=False)
class Frequencies:
    """How common near entries are, for the log-odds of pairs with new rows.

    `searched` marks the columns whose near pairs are all candidates. `shares` has, for each column,
    the share of non-matches within each level of nearness; `factors` are the coefficients of the
    columns, fitted to known pairs.
    """

    searched: np.ndarray
    shares: np.ndarray
    factors: np.ndarray


@dataclass(frozen=True, eq=False)
class Multiplicities:
    """How many pairs of rows each pair of distinct rows stands for, and its ends.

    `ends` are the distinct rows of both ends, numbered through both tables. The pair puts `near`
    rows near each row of that end. Each distinct row could be near `partners` rows, on average
    `mean_partners`.
    """

    pairs: np.ndarray
    ends: tuple[np.ndarray, np.ndarray]
    near: tuple[np.ndarray, np.ndarray]
    partners: np.ndarray
    mean_partners: float

    @classmethod
    def of(cls, pairs: np.ndarray, x: Copies, y: Copies | None = None) -> Multiplicities:
        """Count the rows of two tables, or of one, that pairs of distinct rows stand for."""
        i, j = pairs.T
        same, y = y is None or y is x, x if y is None else y
        n, m = len(x.numbers), len(y.numbers)
        itself = (i == j) if same else np.zeros(len(i), bool)
        first, last = x.counts[i], y.counts[j]
        number = np.where(itself, first * (first - 1) // 2, first * last).astype(np.float64)
        ends = i, j if same else len(x.firsts) + j
        near = last - itself, np.where(itself, 0, first)
        sides = [len(x.firsts), 0 if same else len(y.firsts)]
        mean = m if same else 2 * n * m / (n + m)
        return cls(number, ends, near, np.repeat([m, n], sides), mean)

    def at(self, indices: np.ndarray) -> Multiplicities:
        """Select some of the pairs."""
        (i, j), (first, last), pairs = self.ends, self.near, self.pairs[indices]
        ends, near = (i[indices], j[indices]), (first[indices], last[indices])
        return replace(self, pairs=pairs, ends=ends, near=near)


def learn_weights(
    columns: Sequence[str],
    distances: np.ndarray,
    searched: np.ndarray,
    sample: np.ndarray,
    total: int,
    counted: Multiplicities,
    labels: tuple[np.ndarray, np.ndarray] | None,
) -> tuple[PairWeights, Frequencies, np.ndarray]:
    """Return the weights, the frequencies and the log-odds of the candidates.

    `searched` marks the columns whose near pairs are all candidates. `sample` has distances by
    column of pairs of rows drawn at random from `total`. `labels` has indices of candidates, and
    whether they match.
    """
    levels, k = levels_of(distances), len(distances)
    number = counted.pairs
    counts = np.stack([np.bincount(row, minlength=_MISSING + 1) for row in levels_of(sample)])
    counts = counts * (total / max(sample.shape[1], 1))
    for column in np.flatnonzero(searched).tolist():
        counts[column, :N_NEAR] = np.bincount(levels[column], number, N_NEAR)[:N_NEAR]
    near, shares = _near_pairs(levels, searched), np.zeros((k, N_NEAR))
    limit = 0.75  # pairs of a smaller mean distance over the radius count as matches first
    if k == 1:  # no other column separates the matches; chance gives the number of non-matches
        counts[0, :N_NEAR] = np.minimum(counts[0, :N_NEAR], _tail(sample[0], total))
        limit = 1.0
    match = _first_guess(distances, limit)
    evidence = np.zeros((k, _MISSING + 1))
    # Prior counts of matches by level. They decide for few rows.
    prior = np.array([2, 1, 1, 0.5, 0.5, 0.1, 0.1, 0.1, 0.1, 0.1, 0])
    for _ in range(100):
        size = (number * match).sum()
        offset = float(np.log((size + 0.5) / (total + 1)))
        for column in range(k):
            matched = np.bincount(levels[column], number * match, _MISSING + 1)
            matches = matched + prior
            distant = matches[N_NEAR:].sum()
            # At most half as many matches are beyond the radius as within.
            matches[N_NEAR:] *= min(1, 0.5 * matches[:N_NEAR].sum() / distant)
            non_matches = counts[column] - matched if k > 1 else counts[column]
            non_matches = np.maximum(non_matches, 0.02 * counts[column])
            non_matches += max(total / (counted.mean_partners * 1000), 0.1)
            non_matches[_MISSING - 1] += 1
            evidence[column, :-1] = _evidence(matches[:-1], non_matches[:-1])
            shares[column] = np.cumsum(non_matches[:N_NEAR]) / non_matches[:-1].sum()
        terms = _terms(levels, near, evidence, shares, match, counted, np.zeros(k))
        odds = offset + terms.sum(axis=0)
        match = expit(odds)
        if abs((number * match).sum() - size) <= 1e-3 * size:
            break
    factors = np.ones(k)
    if labels is not None:
        factors, offset = _calibrate(terms[:, labels[0]], offset, labels[1])
        evidence *= factors[:, None]
        odds = offset + factors @ terms
    weights = PairWeights(tuple(columns), EDGES, evidence[:, :-1], offset)
    return weights, Frequencies(searched, shares, factors), odds


def later_odds(
    weights: PairWeights,
    frequencies: Frequencies,
    distances: np.ndarray,
    counted: Multiplicities,
    old_near: np.ndarray,
) -> np.ndarray:
    """Return the log-odds of pairs with new rows, by the learned weights.

    `old_near` has what `near_counts` returns of the pairs before.
    """
    levels, factors = levels_of(distances), frequencies.factors[:, None]
    near = _near_pairs(levels, frequencies.searched)
    evidence = np.column_stack([weights.evidence, np.zeros(len(levels))])
    odds, match = np.empty(0), _first_guess(distances, 0.75)
    # Evidence has the factors already.
    evidence = np.divide(evidence, factors, out=np.zeros_like(evidence), where=factors > 0)
    for _ in range(100):
        before = match
        terms = _terms(levels, near, evidence, frequencies.shares, match, counted, old_near)
        odds = weights.offset + (factors * terms).sum(axis=0)
        match = expit(odds)
        if np.abs(match - before).max(initial=0) <= 1e-6:
            break
    return odds


def near_counts(
    levels: np.ndarray, odds: np.ndarray, counted: Multiplicities, frequencies: Frequencies
) -> np.ndarray:
    """Return how many rows that do not match are near each row at each level, by column."""
    result = np.zeros((len(levels), len(counted.partners), N_NEAR))
    for column, near in enumerate(_near_pairs(levels, frequencies.searched)):
        if near is not None:
            no_match = expit(-odds[near])
            result[column] = _count_near(levels[column, near], no_match, counted.at(near))
    return result


def levels_of(distances: np.ndarray) -> np.ndarray:
    """Return the levels of distances over the radius; NaN, a missing entry, has one too."""
    levels = np.searchsorted(EDGES, np.nan_to_num(distances)).astype(np.int8)
    levels[np.isnan(distances)] = _MISSING
    return levels


def _near_pairs(levels: np.ndarray, searched: np.ndarray) -> list[np.ndarray | None]:
    """Return the indices of the near pairs of the columns in which they are counted.

    A column that is not searched lacks near pairs; nothing is counted if it is the only one.
    """
    counted = searched & (len(levels) > 1)
    return [
        np.flatnonzero(row < N_NEAR) if is_counted else None
        for row, is_counted in zip(levels, counted, strict=True)
    ]


def _first_guess(distances: np.ndarray, limit: float) -> np.ndarray:
    """Return the first probabilities of matches: pairs whose mean distance is below a limit."""
    means = np.where(np.isnan(distances), 1.0, distances).mean(axis=0)
    return np.where(means <= limit, 0.9, 0.0)


def _terms(
    levels: np.ndarray,
    near: list[np.ndarray | None],
    evidence: np.ndarray,
    shares: np.ndarray,
    match: np.ndarray,
    counted: Multiplicities,
    old_near: np.ndarray,
) -> np.ndarray:
    """Return each column's term of the log-odds: its evidence, less where many rows are near."""
    terms = np.empty(levels.shape)
    for column, indices in enumerate(near):
        terms[column] = evidence[column, levels[column]]
        if indices is not None:
            no_match, pairs = 1 - match[indices], counted.at(indices)
            terms[column, indices] -= _commonness(
                levels[column, indices], no_match, shares[column], pairs, old_near[column]
            )
    return terms


def _tail(sample: np.ndarray, total: float) -> np.ndarray:
    """Return how many pairs are near by chance: an exponential tail fitted to the far pairs."""
    beyond = np.sort(sample[sample > 1])[:200]
    first = beyond[:20]
    edge, size, slope = EDGES[-2], 1, 2.0  # without far pairs
    if len(first):
        edge, size = first[-1], len(first)
        if beyond[-1] > edge:
            slope = np.log(len(beyond) / size) / (beyond[-1] - edge)
    sums = size * total / max(len(sample), 1) * np.exp(-slope * (edge - EDGES[:N_NEAR]))
    return np.diff(sums, prepend=0)


def _evidence(matches: np.ndarray, non_matches: np.ndarray) -> np.ndarray:
    """Return the log ratios of two distributions, made not to increase (isotonic)."""
    ratios = np.log(matches / matches.sum()) - np.log(non_matches / non_matches.sum())
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
    no_match: np.ndarray,
    share: np.ndarray,
    counted: Multiplicities,
    old_near: np.ndarray | float = 0.0,
) -> np.ndarray:
    """Return the logarithm of how many more rows are near than near any row.

    `no_match` has the probabilities that near pairs do not match: matching rows do not make a name
    common. `old_near` has how many rows earlier pairs put near each row.
    """
    counts = (old_near + _count_near(levels, no_match, counted)).cumsum(axis=1)
    result = np.zeros(len(levels))
    prior = 0.1  # neighbours that are counted beside those of a row
    for rows in counted.ends:
        rest = np.maximum(counts[rows, levels] - no_match, 0)
        expected = share[levels] * counted.partners[rows]
        result += np.log((rest + prior) / (expected + prior)) / 2
    return result


def _count_near(levels: np.ndarray, no_match: np.ndarray, counted: Multiplicities) -> np.ndarray:
    """Return how many rows that do not match the pairs put near each row at each level."""
    counts = np.zeros(len(counted.partners) * N_NEAR)
    for rows, number in zip(counted.ends, counted.near, strict=True):
        counts += np.bincount(rows * N_NEAR + levels, number * no_match, len(counts))
    return counts.reshape(-1, N_NEAR)


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
