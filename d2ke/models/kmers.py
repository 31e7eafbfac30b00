# SPDX-License-Identifier: BSD-3-Clause
"""Features of strings by their k-mers: a kernel with training strings, and scores.

`Kmers` are Nyström features of the kernel of strings that share k-mers. `ScoredKmers`, for many
strings, are the decisions of a sparse ridge on all k-mers that occur.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy import linalg, sparse

from d2ke._base import arrays
from d2ke._base.blas import row_products
from d2ke._base.progress import progress_bar
from d2ke._base.threads import team_size
from d2ke.distances import piece_kernels
from d2ke.distances.gapped_rows import check_strands
from d2ke.distances.masks import CONTIGUOUS, GAPPED
from d2ke.distances.strands import is_dna
from d2ke.learners.ridge import ridge_of_gram
from d2ke.models.blocks import FittedFeatures, Sample, UnfittedBlock, take
from d2ke.models.labels import Labels
from d2ke.models.loo import ALL_CS, loo_decisions
from d2ke.models.views import apply_views, fit_view, mark_ends
from d2ke.objects.container import Objects, as_kind
from d2ke.objects.strings import counted_pieces, select_pieces

# Let c_w(x) be how often the word w occurs in the string x, by one of the masks of l letters. The
# kernel of l letters, and the kernel of strings, with weights v_l, are
#
#     k_l(x, y) = sum_w sqrt(c_w(x) c_w(y)) / sqrt(sum_w c_w(x) sum_w c_w(y))
#     k(x, y)   = sum_l v_l k_l(x, y).
#
# v_l is 1 / (n_l (mean_i k_l(x_i, x_i) - mean_ij k_l(x_i, x_j))) for n_l numbers of letters: each
# kernel varies equally on the training strings; otherwise single letters would weigh least.
#
# The features are a Nystroem approximation. With landmarks omega_1 ... omega_R among the training
# strings, K = (k(omega_i, omega_j)) = L L' (Cholesky factors with pivots) and basis = L^-1,
#
#     features(x) = basis (k(x, omega_1), ..., k(x, omega_R))',
#
# so that features(x)' features(y) = k(x, omega) K^-1 k(omega, y), which is k(x, y) if x or y is a
# landmark. A landmark's residual, the square of its diagonal entry of L, is at least _LEAST of the
# largest.
_LEAST = 1e-6  # of the largest residual: smaller residuals are rounding
_FEATURES = 512  # features in one product
_MOST_BYTES = 1 << 29  # words of landmarks that stay in memory after the first prediction


@dataclass(frozen=True, eq=False)
class FittedKmers(FittedFeatures):
    """Nyström features of the kernel of strings that share k-mers.

    The kernel is the weighted sum of the normalised kernels of k-mers of each number of letters.
    Features of x are its kernel with the landmarks times a basis: their products approximate the
    kernel, and are exact with landmarks.

    Attributes
    ----------
    omega : Objects
        R landmarks, which are training strings.
    basis : ndarray of float64, shape (R, R)
        Lower triangular factor of the kernel with the landmarks; its values are rounded to
        float32, the type in files.
    form : {"contiguous", "gapped"}
        K-mers of 1 to 4 letters with the ends of strings marked, or of 1 to 8 letters with gaps.
    strands : {"one", "both"}
        Whether k-mers of the reverse complement count too.
    letter_weights : ndarray of float64
        Weight of the kernel of each number of letters.
    complements_pay : bool
        Whether left-out errors were clearly lower with both strands than with one.
    sources : ndarray of int64, shape (R,)
        Rows of the landmarks among the training objects.
    """

    omega: Objects
    basis: np.ndarray = field(repr=False)
    form: str
    strands: str
    letter_weights: np.ndarray = field(repr=False)
    complements_pay: bool = False

    prior: ClassVar[float] = 7.0  # few training strings do not determine kernel weights

    @property
    def R(self) -> int:
        """Number of features."""
        return len(self.omega)

    @property
    def self_kernel(self) -> float:
        """The kernel of a string with itself, unless it is shorter than the k-mers."""
        return float(self.letter_weights.sum())

    def check(self, n_channels: int) -> None:
        """Refuse inconsistent arrays of a file."""
        arrays.check_array("basis", self.basis, np.float64, (self.R, self.R))
        arrays.check_array(
            "letter_weights", self.letter_weights, np.float64, (len(self.words.masks),)
        )
        if as_kind(self.omega, "strings") is None or not self.R:
            raise ValueError(f"the landmarks of {self.name} are not strings")
        check_strands("omega", self.omega, self.strands)

    @property
    def words(self) -> piece_kernels.Pieces:
        """The words that count as k-mers."""
        return _words(self.form, self.strands)

    def describe(self) -> str:
        """Return the form of the k-mers."""
        both = ", both strands" * (self.strands == "both")
        hint = " (left-out errors are clearly lower with strands='both')" * self.complements_pay
        return f"{self.form} pieces{both}{hint}"

    def kernel(
        self, X: Objects, n_threads: int | None, progress: bool | None = False
    ) -> np.ndarray:
        """Return the kernel of strings with the landmarks, float64 of shape (n, R)."""
        check_strands("X", X, self.strands)
        weights, team = self.letter_weights.tolist(), team_size(n_threads)
        with progress_bar(progress, "pieces") as report:
            return piece_kernels.piece_kernel(
                X, self._landmark_words, self.words, weights, team, report
            )

    @cached_property
    def _landmark_words(self) -> piece_kernels.WordLists:
        return piece_kernels.WordLists(self.omega, self.words, _MOST_BYTES)

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def features(
        self, X: Any, n_threads: int | None = None, rows: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the features of strings."""
        return self.from_kernel(self.kernel(X, n_threads), n_threads)

    def from_kernel(self, K: np.ndarray, n_threads: int | None) -> np.ndarray:
        """Return the features of strings from their kernel with the landmarks."""
        F = np.empty(K.shape, np.float32)
        for begin in range(0, self.R, _FEATURES):
            end = min(begin + _FEATURES, self.R)
            F[:, begin:end] = row_products(K[:, :end], self.basis[begin:end, :end], n_threads)
        return F

    def landmark_kernel(self, z: np.ndarray) -> np.ndarray:
        """Return the kernel with the landmarks for features z of a string, or a difference."""
        result: np.ndarray = linalg.solve_triangular(self.basis, z, lower=True, check_finite=False)
        return result

    def as_new(self, F: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the features of training strings as if they were not landmarks.

        They lose the component orthogonal to the features of all other landmarks, unless an equal
        string would be the landmark instead.
        """
        _, indices, landmarks = np.intersect1d(rows, self.sources, return_indices=True)
        landmark_rows = F[indices]
        products = np.delete(F, indices, axis=0) @ landmark_rows.T
        norms = (landmark_rows**2).sum(axis=1)
        # Rounded products of equal strings may be lower than the norm by a factor of 1 - 1e-4.
        alone = products.max(axis=0, initial=0) < (1 - 1e-4) * norms
        indices, columns = indices[alone], self.basis[:, landmarks[alone]].astype(np.float32)
        F = F.copy()
        F[indices] -= (columns / (columns**2).sum(axis=0)).T
        return F

    def landmark_weights(self, weights: np.ndarray) -> np.ndarray:
        """Return weights of the kernel with the landmarks from weights of features."""
        result: np.ndarray = self.basis.T @ weights
        return result


@dataclass(frozen=True, eq=False)
class Kmers(UnfittedBlock):
    """A block of features of strings by their k-mers, before it is fitted.

    Attributes
    ----------
    R : int
        Number of landmarks, at most.
    form, strands
        As in `FittedKmers`.
    """

    R: int
    form: str = "gapped"
    strands: str = "one"
    name: str = "pieces"
    family: str = "pieces"
    column: str = ""

    members: ClassVar[tuple[str, ...]] = ()

    def resized(self, R: int) -> Kmers:
        """Return the block with at most R landmarks."""
        return replace(self, R=R)

    def fit(self, sample: Sample, seed: Any) -> FittedKmers | None:
        """Draw landmarks from a sample; weight the kernels of each number of letters."""
        return self.fit_features(sample, seed)[0]

    def fit_features(self, sample: Sample, seed: Any) -> tuple[FittedKmers | None, np.ndarray]:
        """Return the fitted block, and the features of the sample."""
        X, indices = sample.objects, np.arange(len(sample.rows))
        check_strands("X", X, self.strands)
        if len(indices) > self.R:
            rng = np.random.default_rng(seed)
            indices = np.sort(rng.choice(indices, self.R, replace=False))
        landmarks, n_threads = take(X, indices), team_size(sample.n_threads)
        K, weights = _weighted(landmarks, _words(self.form, self.strands), n_threads)
        order, basis = _basis(K)
        if not len(order):
            return None, np.empty((len(sample.rows), 0), np.float32)
        fitted = FittedKmers(
            landmarks[order], basis, self.form, self.strands, weights,
            self._complements_pay(sample, indices, K),
            name=self.name, family=self.family, column=self.column, sd_power=0.0,
            sources=sample.rows[indices[order]],
        )  # fmt: skip
        K_sample = np.empty((len(sample.rows), len(order)))
        K_sample[indices] = K[:, order]
        new = np.setdiff1d(np.arange(len(sample.rows)), indices, assume_unique=True)
        if len(new):
            K_sample[new] = fitted.kernel(take(X, new), sample.n_threads, sample.progress)
        return fitted, fitted.from_kernel(K_sample, sample.n_threads)

    def _complements_pay(self, sample: Sample, indices: np.ndarray, K: np.ndarray) -> bool:
        """Return whether left-out errors of DNA are clearly lower with both strands.

        K is the kernel of the objects `indices` of the sample with one strand. A difference is
        clear if it is above twice its standard error.
        """
        labels = sample.labels
        if not labels.task.k or self.strands == "both" or not is_dna(sample.objects):
            return False
        subset = np.linspace(0, len(indices), min(len(indices), 512), False).astype(np.int64)
        rows, n_threads = indices[subset], team_size(sample.n_threads)
        K_both = _weighted(take(sample.objects, rows), _words(self.form, "both"), n_threads)[0]
        errors = _squared_errors(K[np.ix_(subset, subset)], labels[rows])
        gain = errors - _squared_errors(K_both, labels[rows])
        return bool(gain.mean() > 2 * gain.std() / np.sqrt(len(gain)))


def _weighted(
    X: Objects, words: piece_kernels.Pieces, n_threads: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the weighted sum of the kernels of each number of letters, and their weights v_l."""
    K, weights = np.zeros((len(X), len(X))), []
    for K_l in piece_kernels.piece_kernels(X, None, words, n_threads):
        varies = float(K_l.diagonal().mean() - K_l.mean())
        weights.append(1 / (varies * len(words.masks)) if varies > _LEAST else 0.0)
        K += weights[-1] * K_l
    return K, np.array(weights)


def _squared_errors(K: np.ndarray, labels: Labels) -> np.ndarray:
    """Return the squared errors of left-out rows, for the C with the least mean error."""
    K = K - K.mean(axis=0)
    ridge, P = ridge_of_gram(K - K.mean(axis=1)[:, None], labels.targets(), labels.weights)
    errors = np.empty((len(K), len(ALL_CS)))
    for rows, some_Cs, T, decisions in loo_decisions(ridge, P, labels, ALL_CS):
        errors[rows, some_Cs] = ((decisions - T[:, None]) ** 2).sum(axis=2)
    best: np.ndarray = errors[:, errors.mean(axis=0).argmin()]
    return best


def _words(form: str, strands: str) -> piece_kernels.Pieces:
    masks = {"contiguous": CONTIGUOUS, "gapped": GAPPED}[form]
    return piece_kernels.Pieces(masks, form == "contiguous", strands)


def _basis(K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the independent rows of a kernel, and the basis of their features.

    Cholesky factors with pivots take a tenth of the time of eigenvectors.
    """
    largest = float(K.diagonal().max())
    if not largest > 0:
        return np.empty(0, np.int64), np.empty((0, 0))
    factor, pivots, rank, _ = linalg.lapack.dpstrf(K, tol=_LEAST * largest, lower=1)
    order = pivots[:rank].astype(np.int64) - 1
    lower = np.tril(factor[:rank, :rank])
    inverse, _ = linalg.lapack.dtrtri(lower, lower=1)
    return order, np.ascontiguousarray(inverse.astype(np.float32), np.float64)


# Let c_iw be how often the k-mer w occurs in string i. A score is the decision of a ridge on sparse
# features S_iw, of either form:
#
#     occurrences, of 1 to 6 letters:  S_iw = unit_w [c_iw > 0],    unit_w = deviation_w^(-1/4)
#     counts, of 1 to 4 letters:       S_iw = unit_w sqrt(c_iw) / |(unit_v sqrt(c_iv))_v|
#
# with the standard deviation of [c_iw > 0] in the first. In the second, unit_w depends on the
# number of letters only, and makes the k-mers of each number of letters vary equally: this is
# nearly the kernel of `Kmers` with all n strings as landmarks, without its n^2 entries. Counts are
# more accurate for short strings, occurrences for long ones.
#
# The ridge of strings with weights roots_i^2 (0 outside of a subset), and targets T with the
# weighted mean `mean`, is
#
#     A = (S - 1 centre') / spread,    spread^2 = mean_i |S_i - centre|^2,    D = diag(roots),
#     (D A A' D + I / (2 C)) a = D (T - mean),    weights = A' D a / spread.
#
# Conjugate gradients need products with S only.
ROWS = 1 << 17  # training strings that the scores are fitted to
_LETTERS = 1 << 21  # in all of these strings
_KMERS = 1 << 18
_SCORE_CS = tuple(10.0 ** (np.arange(-2, 7) / 2))
_TOLERANCE = 0.01  # of conjugate gradients: residual over target


@dataclass(frozen=True, eq=False)
class KmerScores(FittedFeatures):
    """Scores of strings, one for each class, from the k-mers that occur in them.

    A score is the decision of a ridge on sparse features, one for each k-mer that at least two
    training strings have. The ridge is solved by conjugate gradients. A training string is scored
    by a ridge without its fold, one of five, so that the model does not rely on scores that have
    seen the label.

    Attributes
    ----------
    form : {"counts", "occurrences"}
        Roots of the counts of k-mers of 1 to 4 letters, normalised; or whether k-mers of 1 to 6
        letters occur.
    omega : Objects
        P k-mers with marks of ends, by length. The prefixes of a k-mer are among them.
    marks : mapping of str to letter
        Arguments of `mark_ends`.
    units : ndarray of float32, shape (P,)
        unit_w of the formula.
    weights : ndarray of float32, shape (P, R)
        Weights of the features of k-mers for each score.
    offset : ndarray of float64, shape (R,)
        The score of a string without k-mers.
    deviation : ndarray of float32, shape (P,)
        Standard deviation of the feature of each k-mer.
    rows : ndarray of int64, shape (m,)
        The training strings that the scores are fitted to, sorted.
    hidden : ndarray of float32, shape (m, R)
        Scores of these strings without their folds.
    """

    form: str
    omega: Objects
    marks: Mapping[str, Any]
    units: np.ndarray = field(repr=False)
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
        """Return the scores of strings; training strings are scored without their folds."""
        scores = (self.kmer_features(X) @ self.weights + self.offset).astype(np.float32)
        if rows is not None:
            indices = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
            is_training_row = self.rows[indices] == rows
            scores[is_training_row] = self.hidden[indices[is_training_row]]
        return scores

    def kmer_features(self, X: Objects) -> Any:
        """Return the features of strings, sparse, float32 of shape (n, P)."""
        counts = _counts(mark_ends(X, **self.marks), self.omega, self._levels)
        return _features(counts, self.form, self.units)

    @cached_property
    def _levels(self) -> list[np.ndarray]:
        return _levels(self.omega)


@dataclass(frozen=True, eq=False)
class ScoredKmers(UnfittedBlock):
    """The block of `KmerScores` before it is fitted.

    Attributes
    ----------
    R : int
        Number of scores: targets of the ridge.
    form : {"counts", "occurrences"}
        See `KmerScores`.
    """

    R: int
    form: str = "occurrences"

    family: ClassVar[str] = "pieces"
    column: ClassVar[str] = ""
    supervised: ClassVar[bool] = True
    sample_size: ClassVar[int] = ROWS

    @property
    def name(self) -> str:
        """For reports."""
        return "pieces" if self.form == "occurrences" else "short pieces"

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
            subset = np.sort(order[: max(2, np.count_nonzero(within))])
            X, labels, rows = X[subset], labels[subset], rows[subset]
        marks: Any = fit_view(mark_ends, X)
        marked = apply_views((marks,), X)
        count, start, length = counted_pieces(marked, 6 if self.form == "occurrences" else 4)
        minimum = 2
        if np.count_nonzero(count >= minimum) > _KMERS:
            minimum = int(np.partition(count, -_KMERS)[-_KMERS]) + 1
        frequent = np.flatnonzero(count >= minimum)
        omega = select_pieces(marked, start[frequent], length[frequent])
        counts = _counts(marked, omega, _levels(omega))
        units = np.zeros(len(frequent))
        if self.form == "occurrences":
            p = count[frequent] / len(X)
            np.power(p * (1 - p), -1 / 8, out=units, where=p < 1)
        else:
            variance = _moments(np.sqrt(counts))[1] ** 2
            total = np.bincount(omega.lengths, variance)[omega.lengths]
            np.power(total, -1 / 2, out=units, where=total > 0)
        units = units.astype(np.float32)
        S = _features(counts, self.form, units)
        centre, deviation = _moments(S)
        spread = np.sqrt((deviation**2).sum())
        if not spread > 0:
            return None
        S.data /= np.float32(spread)
        ridge = _SparseRidge(S, (centre / spread).astype(np.float32), labels, rng)
        weights, scores = ridge.fit()
        return KmerScores(
            self.form, omega, marks.keywords, units, (weights / spread).astype(np.float32),
            ridge.mean - ridge.centre @ weights, deviation.astype(np.float32), rows,
            hidden=scores.astype(np.float32), name=self.name, family=self.family,
        )  # fmt: skip


def _features(counts: Any, form: str, units: np.ndarray) -> Any:
    """Return the features S_iw of strings from counts of k-mers, sparse."""
    S = counts.copy()
    S.data = np.sqrt(S.data) if form == "counts" else np.ones_like(S.data)
    S.data *= units[S.indices]
    if form == "counts":
        norms = np.sqrt(np.add.reduceat(np.append(S.data**2, 0), S.indptr[:-1]))
        norms[norms == 0] = 1
        S.data /= np.repeat(norms, np.diff(S.indptr))
    return S


def _moments(S: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard deviation of the columns of a sparse matrix."""
    values = S.data.astype(np.float64)  # squares rounded to float32 would differ from the mean's
    sums = [np.bincount(S.indices, values**power, S.shape[1]) for power in (1, 2)]
    mean, squares = np.array(sums) / S.shape[0]
    deviation = np.sqrt(np.maximum(squares - mean**2, 0))
    deviation[deviation < 1e-6 * mean] = 0  # rounding
    return mean, deviation


class _SparseRidge:
    """A ridge on centred sparse rows, by conjugate gradients, for several subsets of the rows."""

    def __init__(self, S: Any, centre: np.ndarray, labels: Labels, rng: np.random.Generator):
        self.S, self.centre = S, centre
        self.T, self.weights = labels.dense_targets(), labels.row_weights
        self.mean = self.weights @ self.T / self.weights.sum()
        codes = np.arange(len(self.T)) if labels.groups is None else labels.groups
        distinct, codes = np.unique(codes, return_inverse=True)
        n_folds = min(5, len(distinct))
        self.folds = (rng.permutation(len(distinct)) % n_folds)[codes]
        self.outside = self.folds[:, None] != np.arange(n_folds)

    def fit(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the weights, shape (P, k), and the scores of each row without its fold, (n, k).

        C has the least squared error. Each solution starts from the previous one.
        """
        # For many strings, one fold chooses C.
        held_out = self.outside if len(self.T) <= 4096 else self.outside[:, :1]
        best: tuple[float, float, np.ndarray, np.ndarray] | None = None
        start = None
        for C in _SCORE_CS:
            weights, start = self.solve(C, held_out, start)
            scores = self._scores(weights, held_out)
            rows = ~held_out.all(axis=1)
            errors = ((scores - self.T)[rows] ** 2).sum(axis=1)
            error = float(np.average(errors, weights=self.weights[rows]))
            if best is not None and error > best[0]:
                break
            best = error, C, scores, start
        assert best is not None
        _, C, scores, start = best
        every, k = np.ones((len(self.T), 1), bool), self.T.shape[1]
        final, start = self.solve(C, every, start[:, :k])
        if held_out.shape != self.outside.shape:
            outside = self.outside[:, 1:]
            weights, _ = self.solve(C, outside, np.tile(start, outside.shape[1]))
            in_first = ~self.outside[:, 0]
            scores = np.where(in_first[:, None], scores, self._scores(weights, outside))
        return final, scores

    def _scores(self, weights: np.ndarray, subsets: np.ndarray) -> np.ndarray:
        """Return the scores of rows outside one of the subsets by the model of the subset."""
        k = self.T.shape[1]
        # A fold that is rich in a class has a lower mean outside of it, which would reveal the
        # labels to a second model. So all scores have the mean of all rows.
        scores = np.tile(self.mean, (len(self.T), 1))
        for i, is_outside in enumerate(~subsets.T):
            w = weights[:, i * k : (i + 1) * k]
            scores[is_outside] += self.S[is_outside] @ w - self.centre @ w
        return scores

    def solve(
        self, C: float, subsets: np.ndarray, start: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Solve the models of s subsets of rows, shape (n, s), from a nearby solution.

        Return the weights, shape (P, s k), and the solution, shape (n, s k).
        """
        k, S, centre = self.T.shape[1], self.S, self.centre
        w = self.weights[:, None] * subsets
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
        direction, norms, tiny = r.copy(), (r**2).sum(axis=0), np.finfo(np.float32).tiny
        for _ in range(100):
            if (norms <= goal).all():
                break
            product = image(direction)
            step = norms / np.maximum((direction * product).sum(axis=0), tiny)
            a += step * direction
            r -= step * product
            before, norms = norms, (r**2).sum(axis=0)
            direction *= norms / np.maximum(before, tiny)
            direction += r
        weights: np.ndarray = scale * kmer_weights(a).astype(np.float64)
        return weights, a


def _levels(kmers: Objects) -> list[np.ndarray]:
    """Return the codes of the k-mers of each length: rank of the prefix * base + last letter."""
    lengths, base = kmers.lengths, len(kmers.alphabet)
    ranks, levels = np.zeros(len(kmers), np.int64), []
    for length in range(1, int(lengths.max(initial=0)) + 1):
        longer = np.flatnonzero(lengths >= length)
        codes = ranks[longer] * base + kmers.values[kmers.offsets[longer] + length - 1]
        levels.append(codes[lengths[longer] == length])
        ranks[longer] = np.searchsorted(levels[-1], codes)
    return levels


def _counts(X: Objects, kmers: Objects, levels: Sequence[np.ndarray]) -> Any:
    """Return the counts of k-mers in strings with the same kind of letters, sparse, float32."""
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
    ones = (np.ones(len(rows), np.float32), (rows, columns))
    return sparse.csr_array(ones, shape=(len(X), len(kmers)))  # sums duplicate entries
