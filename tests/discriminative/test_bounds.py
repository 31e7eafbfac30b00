# SPDX-License-Identifier: BSD-3-Clause
"""Bounds of the error against their formulas."""

from itertools import combinations

import numpy as np
import pytest
from discriminative_cases import SEEDS, blobs, case, scores_by_definition
from hypothesis import given
from hypothesis import strategies as st

import d2ke
from d2ke.discriminative import (
    SimilarityMachine,
    density_error_bound,
    gaussian_gram,
    kernel_risk_bound,
    kernel_similarity_bound,
    similarity_machine_bound,
    similarity_risk_bound,
)


@given(SEEDS, st.floats(1.0, 5.0))
def test_eq_7_bounds_the_loss(seed, margin):
    K, _, y, alpha, _ = case(seed)
    scores = scores_by_definition(K, y, alpha, 3)
    losses, bounds = [], []
    for i in range(len(K)):
        other = max(scores[i][k] for k in range(3) if k != y[i])
        losses.append(min(1, max(0, 1 - (scores[i][y[i]] - other) / margin)))
        bounds.append(1 - (scores[i][y[i]] - (sum(scores[i]) - scores[i][y[i]])) / margin)
    difference = kernel_similarity_bound(K, y, alpha, margin=margin) - kernel_risk_bound(
        K, y, alpha, margin=margin
    )
    assert difference == pytest.approx(np.mean(bounds) - np.mean(losses), abs=1e-10)
    assert difference >= -1e-12
    n = len(K)
    total = sum((alpha[i] + alpha[j]) * K[i, j] for i in range(n) for j in range(n))
    cut = sum(2 * (alpha[i] + alpha[j]) * K[i, j] for i, j in combinations(range(n), 2)
              if y[i] != y[j])  # fmt: skip
    by_similarity = 1 - total / (2 * n * margin) + cut / (n * margin)
    assert np.mean(bounds) == pytest.approx(by_similarity, abs=1e-10)


def test_eq_7_is_an_equality_for_two_classes_with_margins_and_not_otherwise():
    X, y = blobs(c=2)
    K, alpha = gaussian_gram(X, h=1.0), np.full(60, 1 / 60)
    assert kernel_similarity_bound(K, y, alpha) == pytest.approx(
        kernel_risk_bound(K, y, alpha), abs=1e-12
    )
    y[0] = 1 - y[0]  # misclassified: a negative margin
    assert kernel_similarity_bound(K, y, alpha) > kernel_risk_bound(K, y, alpha) + 1e-3


def test_risk_bounds_by_their_formula():
    K, S, y, alpha, _ = case(5, n=12)
    n, c, margin, delta = 12, 3, 0.7, 0.1
    tail = np.sqrt(np.log(4 / delta) / (2 * n))

    def loss(M):
        scores = scores_by_definition(M, y, alpha, c)
        margins = [scores[i][y[i]] - max(scores[i][k] for k in range(c) if k != y[i])
                   for i in range(n)]  # fmt: skip
        return np.mean([min(1, max(0, 1 - m / margin)) for m in margins])

    def norm(M):
        return np.sqrt(sum(alpha[i] * alpha[j] * M[i, j] for i in range(n) for j in range(n)
                           if y[i] == y[j]))  # fmt: skip

    B = norm(K)
    expected = loss(K) + 8 * 5 * 3 * B / (margin * np.sqrt(n))
    expected += (8 * np.sqrt(2) * B * 3 * 5 / margin + 1) * tail
    assert kernel_risk_bound(K, y, alpha, margin=margin, delta=delta) == pytest.approx(expected)
    # Theorem 3, eq. (20).
    positive, negative = d2ke.psd_split(S)
    B = norm(positive) + norm(negative)
    R = np.sqrt(max(np.diag(positive).max(), np.diag(negative).max()))
    expected = loss(S) + 8 * 5 * 3 * R * B / (margin * np.sqrt(n))
    expected += (16 * 15 * R**2 * B / margin + 1) * tail
    found = similarity_risk_bound(S, y, alpha, margin=margin, delta=delta)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("c", [2, 3])
def test_similarity_machine_bound_by_its_formula(c):
    _, S, y, _, _ = case(7, n=14, c=c)
    n, margin, delta = 14, 0.6, 0.2
    model = d2ke.similarity_machine_fit(S, y, C=2.0)
    values, Q = np.linalg.eigh(S)
    parts = [(Q * np.maximum(sign * values, 0)) @ Q.T for sign in (1, -1)]
    R = np.sqrt(max(part[i, i] for part in parts for i in range(n)))
    expected = []
    for column, positive in enumerate([1] if c == 2 else range(c)):
        a, b = model.coef[:, column], model.bias[column]
        B = sum(np.sqrt(sum(a[i] * a[j] * part[i, j] for i in range(n) for j in range(n)))
                for part in parts)  # fmt: skip
        losses = []
        for i in range(n):
            f = sum(S[i, j] * a[j] for j in range(n)) + b
            losses.append(min(1, max(0, 1 - (f if y[i] == positive else -f) / margin)))
        expected.append(np.mean(losses) + 2 * (R * B + abs(b)) / (margin * np.sqrt(n))
                        + np.sqrt(np.log(1 / delta) / (2 * n)))  # fmt: skip
    found = similarity_machine_bound(model, S, y, margin=margin, delta=delta)
    assert found == pytest.approx(expected)
    # In another unit of the similarities, with the machine of equal predictions, it is the same.
    model = SimilarityMachine(model.classes, model.coef / 100, model.bias)
    again = similarity_machine_bound(model, 100 * S, y, margin=margin, delta=delta)
    assert again == pytest.approx(expected)


@given(SEEDS, st.floats(0.3, 2.0), st.integers(1, 3))
def test_theorem_2_by_its_formula(seed, h, d):
    rng = np.random.default_rng(seed)
    n, delta = 7, 0.1
    X, alpha = rng.normal(size=(n, d)), rng.dirichlet(np.ones(n))
    y = rng.permutation(np.r_[0, 1, rng.integers(0, 2, n - 2)])
    s = 1 - 2 * y

    def density(i, j, width):
        return np.exp(-((X[i] - X[j]) ** 2).sum() / (2 * width**2)) / (2 * np.pi * width**2) ** (
            d / 2
        )

    square = sum(alpha[i] * alpha[j] * s[i] * s[j] * density(i, j, np.sqrt(2) * h)
                 for i in range(n) for j in range(n))  # fmt: skip
    overlap = sum(alpha[i] * s[i] * s[j] * density(i, j, h)
                  for i in range(n) for j in range(n) if i != j)  # fmt: skip
    eps = density(0, 0, h) * np.sqrt(2 * np.log(2 * n / delta) / (n - 1))
    wanted = square - 2 * overlap / (n - 1) + 2 * eps
    assert density_error_bound(X, y, alpha, h=h, delta=delta) == pytest.approx(wanted, abs=1e-10)
