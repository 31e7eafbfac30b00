# SPDX-License-Identifier: BSD-3-Clause
"""Features of strings by the k-mers that they share with training strings (Nyström)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy import linalg

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
from d2ke.models.loo import COSTS, loo_decisions
from d2ke.objects.container import Objects, of_kind

# Let c_w(x) be how often the word w occurs in the string x, by one of the masks of l letters. The
# kernel of l letters, and the kernel of strings, with weights v_l, are
#
#     k_l(x, y) = sum_w sqrt(c_w(x) c_w(y)) / sqrt(sum_w c_w(x) sum_w c_w(y))
#     k(x, y)   = sum_l v_l k_l(x, y).
#
# v_l is 1 / (n_l (mean_i k_l(x_i, x_i) - mean_ij k_l(x_i, x_j))) for n_l numbers of letters: each
# kernel varies equally on the training strings; single letters would else count least.
#
# The features are those of Nystroem. With landmarks omega_1 ... omega_R among the training strings,
# K = (k(omega_i, omega_j)) = L L' (Cholesky factors with pivots) and basis = L^-1,
#
#     features(x) = basis (k(x, omega_1), ..., k(x, omega_R))',
#
# so that features(x)' features(y) = k(x, omega) K^-1 k(omega, y), which is k(x, y) if x or y is a
# landmark. Strings whose residual, the square of a diagonal entry of L, is below _LEAST of the
# largest are no landmarks.
_LEAST = 1e-6  # of the largest residual: training strings below it add nothing but rounding
_FEATURES = 512  # whose products are computed at once
_FORMS = {"contiguous": CONTIGUOUS, "gapped": GAPPED}


@dataclass(frozen=True, eq=False)
class FittedKmers(FittedFeatures):
    """Nyström features of the kernel of strings that share k-mers.

    The kernel is the weighted sum of the normalised kernels of k-mers of each number of letters.
    Features of x are its kernel with the landmarks times a basis: their products are the kernel,
    exactly so of landmarks.

    Attributes
    ----------
    omega : Objects
        R landmarks, which are training strings.
    basis : ndarray of float32, shape (R, R)
        What the kernel with the landmarks is multiplied with, lower triangular.
    form : {"contiguous", "gapped"}
        K-mers of 1 to 4 letters with the ends of strings marked, or of 1 to 8 letters with gaps.
    strands : {"one", "both"}
        Whether k-mers of the reverse complement count too.
    kernel_weights : ndarray of float64
        Of the kernel of each number of letters.
    complements_pay : bool
        Whether left-out errors were clearly lower with both strands than with the one given.
    sources : ndarray of int64, shape (R,)
        The training objects that the landmarks are.
    """

    omega: Objects
    basis: np.ndarray = field(repr=False)
    form: str
    strands: str
    kernel_weights: np.ndarray = field(repr=False)
    complements_pay: bool = False

    prior: ClassVar[float] = 7.0  # few training strings say too little about shares

    @property
    def R(self) -> int:
        """Number of features."""
        return len(self.omega)

    @property
    def self_kernel(self) -> float:
        """The kernel of a string with itself, if it is not shorter than the k-mers."""
        return float(self.kernel_weights.sum())

    def check(self) -> None:
        """Refuse parts that do not fit together."""
        arrays.check_array("basis", self.basis, np.float32, (self.R, self.R))
        arrays.check_array(
            "kernel_weights", self.kernel_weights, np.float64, (len(self.words.masks),)
        )
        if of_kind(self.omega, "strings") is None or not self.R:
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
        weights, team = self.kernel_weights.tolist(), team_size(n_threads)
        with progress_bar(progress, "pieces") as report:
            return piece_kernels.piece_kernel(
                X, self.omega, self.words, weights, team, report, self._squares
            )

    @cached_property
    def _squares(self) -> np.ndarray:
        return piece_kernels.own_squares(self.omega, self.words)

    def features(
        self, X: Any, n_threads: int | None = None, rows: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the features of strings."""
        return self.from_kernel(self.kernel(X, n_threads), n_threads)

    def from_kernel(self, K: np.ndarray, n_threads: int | None) -> np.ndarray:
        """Return the features of strings with this kernel."""
        F = np.empty(K.shape, np.float32)
        for begin in range(0, self.R, _FEATURES):
            end = min(begin + _FEATURES, self.R)
            lower = self.basis[begin:end, :end].astype(np.float64)
            F[:, begin:end] = row_products(K[:, :end], lower, n_threads)
        return F

    def landmark_kernel(self, z: np.ndarray) -> np.ndarray:
        """Return the kernel of a string, or of differences of strings, with these features."""
        result: np.ndarray = linalg.solve_triangular(self.basis.astype(np.float64), z, lower=True)
        return result

    def as_new(self, F: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the features of training strings as if they were not landmarks.

        They lose what is orthogonal to the features of all other landmarks, unless an equal string
        would be the landmark in their place.
        """
        _, indices, landmarks = np.intersect1d(rows, self.sources, return_indices=True)
        landmark_rows = F[indices]
        others = np.delete(F, indices, axis=0) @ landmark_rows.T
        squares = (landmark_rows**2).sum(axis=1)
        # Products are rounded: equal strings have 1e-4 of the kernel with itself less.
        alone = others.max(axis=0, initial=0) < (1 - 1e-4) * squares
        indices, columns = indices[alone], self.basis[:, landmarks[alone]]
        F = F.copy()
        F[indices] -= (columns / (columns**2).sum(axis=0)).T
        return F

    def landmark_weights(self, weights: np.ndarray) -> np.ndarray:
        """Return the weights of the kernel with landmarks for weights of features."""
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
        Those of `FittedKmers`.
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
        """Draw landmarks from a sample, and weigh the kernels of each number of letters."""
        return self.fit_features(sample, seed)[0]

    def fit_features(self, sample: Sample, seed: Any) -> tuple[FittedKmers | None, np.ndarray]:
        """Fit the block; return the features of the sample too."""
        X, indices = sample.objects, np.arange(len(sample.rows))
        check_strands("X", X, self.strands)
        if len(indices) > self.R:
            rng = np.random.default_rng(seed)
            indices = np.sort(rng.choice(indices, self.R, replace=False))
        landmarks, n_threads = take(X, indices), team_size(sample.n_threads)
        K, weights = _weighed(landmarks, _words(self.form, self.strands), n_threads)
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
        others = np.setdiff1d(np.arange(len(sample.rows)), indices, assume_unique=True)
        if len(others):
            K_sample[others] = fitted.kernel(take(X, others), sample.n_threads, sample.progress)
        return fitted, fitted.from_kernel(K_sample, sample.n_threads)

    def _complements_pay(self, sample: Sample, indices: np.ndarray, K: np.ndarray) -> bool:
        """Return whether left-out errors of DNA are clearly lower with both strands.

        The kernel of these objects of the sample is known. A difference is clear if it is twice as
        large as its standard error.
        """
        labels = sample.labels
        if not labels.task.k or self.strands == "both" or not is_dna(sample.objects):
            return False
        chosen = np.linspace(0, len(indices), min(len(indices), 1024), False).astype(np.int64)
        rows, n_threads = indices[chosen], team_size(sample.n_threads)
        both = _weighed(take(sample.objects, rows), _words(self.form, "both"), n_threads)[0]
        one = K[chosen[:, None], chosen]
        lower = _left_out_squares(one, labels[rows]) - _left_out_squares(both, labels[rows])
        return bool(lower.mean() > 2 * lower.std() / np.sqrt(len(lower)))


def _weighed(
    X: Objects, words: piece_kernels.Pieces, n_threads: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the sum of the kernels of each number of letters, and their weights.

    Kernels count alike if they vary alike: else single letters would count least.
    """
    K, weights = np.zeros((len(X), len(X))), []
    for K_l in piece_kernels.piece_kernels(X, None, words, n_threads):
        varies = float(K_l.diagonal().mean() - K_l.mean())
        weights.append(1 / (varies * len(words.masks)) if varies > _LEAST else 0.0)
        K += weights[-1] * K_l
    return K, np.array(weights)


def _left_out_squares(K: np.ndarray, labels: Labels) -> np.ndarray:
    """Return the squared errors of left-out rows, for the C with the least of them."""
    K = K - K.mean(axis=0)
    ridge, P = ridge_of_gram(K - K.mean(axis=1)[:, None], labels.columns(), labels.weights)
    squares = np.empty((len(K), len(COSTS)))
    for rows, costs, T, decisions in loo_decisions(ridge, P, labels, COSTS):
        squares[rows, costs] = ((decisions - T[:, None]) ** 2).sum(axis=2)
    best: np.ndarray = squares[:, squares.mean(axis=0).argmin()]
    return best


def _words(form: str, strands: str) -> piece_kernels.Pieces:
    return piece_kernels.Pieces(_FORMS[form], form == "contiguous", strands)


def _basis(K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows of a kernel are independent, and the basis of their features.

    By Cholesky factors with pivots, which take a tenth of the time of eigenvectors.
    """
    largest = float(K.diagonal().max())
    if not largest > 0:
        return np.empty(0, np.int64), np.empty((0, 0), np.float32)
    factor, pivots, rank, _ = linalg.lapack.dpstrf(K, tol=_LEAST * largest, lower=1)
    order = pivots[:rank].astype(np.int64) - 1
    lower = np.tril(factor[:rank, :rank])
    inverse, _ = linalg.lapack.dtrtri(lower, lower=1)
    return order, np.ascontiguousarray(inverse, np.float32)
