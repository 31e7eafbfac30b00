# SPDX-License-Identifier: BSD-3-Clause
"""Scores of strings by all k-mers that occur in them: features of a linear model of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from d2ke.models.blocks import FittedFeatures, Sample, UnfittedBlock
from d2ke.models.labels import Labels
from d2ke.models.views import FITTED, mark_ends
from d2ke.objects.container import Objects
from d2ke.objects.strings import counted_pieces, select_pieces

# Let o_iw be 1 if the k-mer w occurs in string i and else 0, with the mean share_w and the standard
# deviation sd_w = sqrt(share_w (1 - share_w)). The features, and the ridge of all or some strings
# that count roots_i^2 (0 outside of the subset), with targets T of the weighted mean `mean`, are
#
#     S_iw = unit_w o_iw,    unit_w = sd_w^(-1/4) / sqrt(sum_w sd_w^(3/2)),
#     A = S - 1 centre',     centre_w = share_w unit_w,    D = diag(roots),
#     (D A A' D + I / (2 C)) a = D (T - mean),    weights = A' D a,
#
# so that centred rows of S have the mean square 1. Conjugate gradients need products with S only.
ROWS = 1 << 17  # training strings that the scores come from
_LETTERS = 1 << 21  # of these together
_KMERS = 1 << 18
_POWER = 0.25  # of the standard deviations that features are divided by
_COSTS = tuple(10.0 ** (np.arange(-2, 7) / 2))
_TOLERANCE, _STEPS = 0.01, 100  # of conjugate gradients: residual over target, iterations
_TINY = np.finfo(np.float32).tiny


@dataclass(frozen=True, eq=False)
class KmerScores(FittedFeatures):
    """Scores of strings, one for each class, from the k-mers that occur in them.

    A score is the decision of a ridge on sparse features, one for each k-mer of 1 to 6 letters that
    at least two training strings have: exp(-gamma d) with the infix distance d and gamma to
    infinity, which is 1 if the k-mer occurs and else 0. Each feature is divided by its standard
    deviation to the power 1/4. The ridge is solved by conjugate gradients. The scores of a training
    string are those of a ridge without its fold of five, so that the model that has them as
    features does not trust them too much.

    Attributes
    ----------
    omega : Objects
        P k-mers with marks of ends, by length. A k-mer without its last letter is one of them.
    marks : mapping of str to letter
        Arguments of `mark_ends`.
    weights : ndarray of float32, shape (P, R)
        What a k-mer adds to each score.
    offset : ndarray of float64, shape (R,)
        The score of a string without k-mers.
    deviation : ndarray of float32, shape (P,)
        Standard deviation of the occurrence of each k-mer.
    rows : ndarray of int64, shape (m,)
        The training strings that the scores come from, sorted.
    hidden : ndarray of float32, shape (m, R)
        Their scores.
    """

    omega: Objects
    marks: Mapping[str, Any]
    weights: np.ndarray = field(repr=False)
    offset: np.ndarray = field(repr=False)
    deviation: np.ndarray = field(repr=False)
    rows: np.ndarray = field(repr=False)

    supervised: ClassVar[bool] = True

    @property
    def R(self) -> int:
        """Number of features."""
        return len(self.offset)

    def describe(self) -> str:
        """Return the number of k-mers."""
        return f"scores of {len(self.omega)} pieces"

    def features(
        self, X: Any, n_threads: int | None = None, rows: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the scores of strings; of training strings those without their folds."""
        scores = (self.occurrences(X) @ self.weights + self.offset).astype(np.float32)
        if rows is not None:
            indices = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
            is_training_row = self.rows[indices] == rows
            scores[is_training_row] = self.hidden[indices[is_training_row]]
        return scores

    def occurrences(self, X: Objects) -> Any:
        """Return which k-mers occur in strings: 1 or 0, sparse, float32 of shape (n, P)."""
        marked = mark_ends(X, **self.marks)
        return _occurrences(marked, self.omega, self._levels)

    @cached_property
    def _levels(self) -> list[np.ndarray]:
        return _levels(self.omega)


@dataclass(frozen=True, eq=False)
class ScoredKmers(UnfittedBlock):
    """The block of `KmerScores` before it is fitted.

    Attributes
    ----------
    R : int
        Number of scores: columns that the ridge fits.
    """

    R: int

    name: ClassVar[str] = "pieces"
    family: ClassVar[str] = "pieces"
    column: ClassVar[str] = ""
    supervised: ClassVar[bool] = True
    own_rows: ClassVar[int] = ROWS

    def resized(self, R: int) -> ScoredKmers:
        """Return itself: the labels fix the number of scores."""
        return self

    def fit(self, sample: Sample, seed: Any) -> KmerScores | None:
        """Fit scores to labelled strings; None if all k-mers occur in every string."""
        X, labels, rows = sample.objects, sample.labels, sample.rows
        rng = np.random.default_rng(np.random.SeedSequence(seed.entropy, spawn_key=(ROWS,)))
        if X.lengths.sum() > _LETTERS:
            order = rng.permutation(len(X))
            within = np.cumsum(X.lengths[order]) <= _LETTERS
            chosen = np.sort(order[: max(2, np.count_nonzero(within))])
            X, labels, rows = X[chosen], labels[chosen], rows[chosen]
        marks = FITTED[mark_ends](X)
        marked = mark_ends(X, **marks)
        count, place, length = counted_pieces(marked, 6)
        minimum = 2
        if np.count_nonzero(count >= minimum) > _KMERS:
            minimum = int(np.partition(count, -_KMERS)[-_KMERS]) + 1
        kept = np.flatnonzero(count >= minimum)
        omega = select_pieces(marked, place[kept], length[kept])
        share = count[kept] / len(X)
        deviation = np.sqrt(share * (1 - share))
        if not deviation.any():
            return None
        unit = np.divide(1, deviation**_POWER, out=np.zeros(len(kept)), where=deviation > 0)
        # Rows have the mean square 1.
        unit /= np.sqrt((deviation ** (2 - 2 * _POWER)).sum())
        S = _occurrences(marked, omega, _levels(omega)) @ sparse.diags(unit.astype(np.float32))
        ridge = _SparseRidge(S.tocsr(), (share * unit).astype(np.float32), labels, rng)
        weights, hidden = ridge.fit()
        return KmerScores(
            omega, marks, (unit[:, None] * weights).astype(np.float32),
            ridge.mean - ridge.centre @ weights, deviation.astype(np.float32), rows,
            hidden=hidden.astype(np.float32), name="pieces", family="pieces",
        )  # fmt: skip


class _SparseRidge:
    """A ridge on centred sparse rows, by conjugate gradients, for several subsets of the rows."""

    def __init__(self, S: Any, centre: np.ndarray, labels: Labels, rng: np.random.Generator):
        self.S, self.centre = S, centre
        self.T, self.weights = labels.dense_columns(), labels.row_weights
        self.mean = self.weights @ self.T / self.weights.sum()
        codes = np.arange(len(self.T)) if labels.groups is None else labels.groups
        distinct, codes = np.unique(codes, return_inverse=True)
        n_folds = min(5, len(distinct))
        self.folds = (rng.permutation(len(distinct)) % n_folds)[codes]
        self.outside = self.folds[:, None] != np.arange(n_folds)

    def fit(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the weights, shape (P, k), and the scores of each row without its fold, (n, k).

        They are of the C of the least squared error. Each solution begins with one that is near.
        """
        # Of many strings, one fold chooses C.
        held_out = self.outside if len(self.T) <= 4096 else self.outside[:, :1]
        best: tuple[float, float, np.ndarray, np.ndarray] | None = None
        start = None
        for C in _COSTS:
            weights, start = self.solve(C, held_out, start)
            scores = self._scores(weights, held_out)
            rows = ~held_out.all(axis=1)
            squares = ((scores - self.T)[rows] ** 2).sum(axis=1)
            error = float(np.average(squares, weights=self.weights[rows]))
            if best is not None and error > best[0]:
                break
            best = error, C, scores, start
        assert best is not None
        _, C, scores, start = best
        every, k = np.ones((len(self.T), 1), bool), self.T.shape[1]
        final, start = self.solve(C, every, start[:, :k])
        if held_out.shape != self.outside.shape:
            others = self.outside[:, 1:]
            weights, _ = self.solve(C, others, np.tile(start, others.shape[1]))
            in_first = ~self.outside[:, 0]
            scores = np.where(in_first[:, None], scores, self._scores(weights, others))
        return final, scores

    def _scores(self, weights: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """Return the scores of rows that are outside one of the subsets by its model."""
        k = self.T.shape[1]
        # A fold with more of a class than the others has a lower mean outside of it, which would
        # reveal the labels to a second model: all scores have the mean of all rows.
        scores = np.tile(self.mean, (len(self.T), 1))
        for subset, rest in enumerate(~chosen.T):
            held = slice(subset * k, (subset + 1) * k)
            scores[rest] += self.S[rest] @ weights[:, held] - self.centre @ weights[:, held]
        return scores

    def solve(
        self, C: float, chosen: np.ndarray, start: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Solve the models of s subsets of rows, shape (n, s), from a nearby solution.

        Return the weights, shape (P, s k), and the solution, shape (n, s k).
        """
        k, S, centre = self.T.shape[1], self.S, self.centre
        w = self.weights[:, None] * chosen
        means = (w.T @ self.T) / w.sum(axis=0)[:, None]
        roots = np.repeat(np.sqrt(w), k, axis=1).astype(np.float32)
        scale = np.sqrt(np.mean((self.T - self.mean) ** 2)) or 1.0
        target = ((np.tile(self.T, len(means)) - means.ravel()) / scale).astype(np.float32) * roots
        goal = _TOLERANCE**2 * (target**2).sum(axis=0)

        def kmer_weights(a: np.ndarray) -> np.ndarray:
            rows = roots * a
            return S.T @ rows - np.outer(centre, rows.sum(axis=0))

        def image(a: np.ndarray) -> np.ndarray:
            u = kmer_weights(a)
            return roots * (S @ u - centre @ u) + np.float32(1 / (2 * C)) * a

        a = np.zeros_like(target) if start is None else start * (roots > 0)
        r = target.copy() if start is None else target - image(a)
        direction, squares = r.copy(), (r**2).sum(axis=0)
        for _ in range(_STEPS):
            if (squares <= goal).all():
                break
            product = image(direction)
            step = squares / np.maximum((direction * product).sum(axis=0), _TINY)
            a += step * direction
            r -= step * product
            before, squares = squares, (r**2).sum(axis=0)
            direction *= squares / np.maximum(before, _TINY)
            direction += r
        weights: np.ndarray = scale * kmer_weights(a).astype(np.float64)
        return weights, a


def _levels(kmers: Objects) -> list[np.ndarray]:
    """Return the codes of the k-mers of each length: rank of the prefix, then the last letter."""
    lengths, base = kmers.lengths, len(kmers.alphabet)
    ranks, levels = np.zeros(len(kmers), np.int64), []
    for length in range(1, int(lengths.max(initial=0)) + 1):
        longer = np.flatnonzero(lengths >= length)
        codes = ranks[longer] * base + kmers.values[kmers.offsets[longer] + length - 1]
        levels.append(codes[lengths[longer] == length])
        ranks[longer] = np.searchsorted(levels[-1], codes)
    return levels


def _occurrences(X: Objects, kmers: Objects, levels: Sequence[np.ndarray]) -> Any:
    """Return which k-mers occur in strings with the same kind of letters, sparse and float32."""
    base = len(kmers.alphabet)
    letters_of_kmers = np.minimum(np.searchsorted(kmers.alphabet, X.alphabet), max(base - 1, 0))
    codes = np.where(kmers.alphabet[letters_of_kmers] == X.alphabet, letters_of_kmers, -1)[X.values]
    owner = np.repeat(np.arange(len(X)), X.lengths)
    left = X.offsets[1:][owner] - np.arange(len(owner))  # letters from here to the string's end
    starts, ranks, first = np.arange(len(owner)), np.zeros(len(owner), np.int64), 0
    by_level = []
    for length, level in enumerate(levels, 1):
        inside = left[starts] >= length
        starts, ranks = starts[inside], ranks[inside]
        letters = codes[starts + length - 1]
        children = ranks * base + letters
        ranks = np.minimum(np.searchsorted(level, children), len(level) - 1)
        is_kmer = (letters >= 0) & (level[ranks] == children)
        starts, ranks = starts[is_kmer], ranks[is_kmer]
        by_level.append((owner[starts], first + ranks))
        first += len(level)
    rows, columns = map(np.concatenate, zip(*by_level, strict=True))
    counts = (np.ones(len(rows), np.float32), (rows, columns))
    result = sparse.csr_array(counts, shape=(len(X), len(kmers)))  # adds up what is there twice
    result.data[:] = 1
    return result
