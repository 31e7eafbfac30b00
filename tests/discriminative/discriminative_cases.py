# SPDX-License-Identifier: BSD-3-Clause
"""Discriminative similarity: data, and the paper's equations by plain loops."""

from itertools import combinations

import numpy as np
from hypothesis import strategies as st

import d2ke

SEEDS = st.integers(0, 10**6)


def case(seed, n=9, c=3):
    """Return a Gram matrix, an indefinite similarity, labels of c classes, weights and lambda."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 2)
    S = rng.normal(size=(n, n))
    y = rng.permutation(np.r_[np.arange(c), rng.integers(0, c, n - c)])
    alpha = rng.dirichlet(np.ones(n))
    return K, S + S.T, y, alpha, float(rng.uniform(0.1, 2 * n))


def blobs(n=60, c=3, seed=0, spread=0.3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % c
    angles = 2 * np.pi * y / c
    return np.c_[3 * np.cos(angles), 3 * np.sin(angles)] + spread * rng.normal(size=(n, 2)), y


def scores_by_definition(K, y, alpha, c):
    """Eq. (1)."""
    n = len(K)
    return [[sum(alpha[j] * K[i, j] for j in range(n) if y[j] == k) for k in range(c)]
            for i in range(n)]  # fmt: skip


def similarity_by_definition(K, alpha, lam, quadratic=None):
    """Eq. (10); with a second matrix in the quadratic term, that of section 5."""
    Q = K if quadratic is None else quadratic
    n = len(K)
    return np.array(
        [[2 * (alpha[i] + alpha[j]) * K[i, j] - 2 * lam * alpha[i] * alpha[j] * Q[i, j]
          for j in range(n)] for i in range(n)]
    )  # fmt: skip


def objective_8(K, y, alpha, lam, quadratic=None):
    """Cut less similarity and, as the penalty, the classes' own quadratic forms."""
    Q = K if quadratic is None else quadratic
    n = len(K)
    cut = sum(2 * (alpha[i] + alpha[j]) * K[i, j] for i, j in combinations(range(n), 2)
              if y[i] != y[j])  # fmt: skip
    total = sum((alpha[i] + alpha[j]) / 2 * K[i, j] for i in range(n) for j in range(n))
    penalty = sum(alpha[i] * alpha[j] * Q[i, j] for i in range(n) for j in range(n)
                  if y[i] == y[j])  # fmt: skip
    return cut - total + lam * penalty


def objective_9(K, y, alpha, lam, quadratic=None):
    """The same by discriminative similarity."""
    Q = K if quadratic is None else quadratic
    n = len(K)
    S = similarity_by_definition(K, alpha, lam, quadratic)
    cut = sum(S[i, j] for i, j in combinations(range(n), 2) if y[i] != y[j])
    total = sum((alpha[i] + alpha[j]) / 2 * K[i, j] for i in range(n) for j in range(n))
    return cut - total + lam * sum(alpha[i] * alpha[j] * Q[i, j]
                                   for i in range(n) for j in range(n))  # fmt: skip


def objective_24(K, Y, alpha, lam, s, quadratic=None):
    Q = K if quadratic is None else quadratic
    n = len(K)
    S = similarity_by_definition(K, alpha, lam, quadratic)
    trace = sum(S[i, j] * ((Y[i] - Y[j]) ** 2).sum() / 2 for i in range(n) for j in range(n))
    total = sum((alpha[i] + alpha[j]) / 2 * K[i, j] for i in range(n) for j in range(n))
    return s * trace - total + lam * sum(alpha[i] * alpha[j] * Q[i, j]
                                         for i in range(n) for j in range(n))  # fmt: skip


GOOD = d2ke.discriminative.gaussian_gram(blobs(12)[0], h=1.0)
ASYMMETRIC, WITH_NAN, EMPTY_ROW = GOOD.copy(), GOOD.copy(), GOOD.copy()
ASYMMETRIC[0, 1] += 0.1
WITH_NAN[2, 3] = np.nan
EMPTY_ROW[4] = EMPTY_ROW[:, 4] = 0
Y12 = np.arange(12) % 3
MARKED = np.where(np.arange(12) < 3, Y12, -1)
