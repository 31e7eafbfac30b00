# SPDX-License-Identifier: BSD-3-Clause
"""Word Mover's Embedding by the authors' names, against linear programming and plain loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import examples
from scipy.optimize import linprog

from matlab_compat import wmd_dist, wme_GenFea, wme_GenFea_preproc
from matlab_compat.rand_stream import RandStream


def transport(x, a, y, b):
    """Solve the transportation problem of columns x, y with weights a, b."""
    a, b = a / a.sum(), b / b.sum()
    cost = np.linalg.norm(x[:, :, None] - y[:, None, :], axis=0)
    m, n = cost.shape
    rows = np.kron(np.eye(m), np.ones(n))
    columns = np.kron(np.ones(m), np.eye(n))
    found = linprog(cost.ravel(), A_eq=np.vstack([rows, columns]), b_eq=np.r_[a, b])
    return found.fun


def documents(seed, n, d, most):
    generator = np.random.default_rng(seed)
    X = [generator.standard_normal((d, generator.integers(1, most + 1))) for _ in range(n)]
    return X, [generator.integers(1, 6, x.shape[1]).astype(float)[np.newaxis] for x in X]


@settings(max_examples=examples(15))
@given(st.integers(0, 2**32), st.integers(1, 4))
def test_distances_equal_linear_programming(seed, d):
    X, a = documents(seed, 3, d, 7)
    Y, b = documents(seed + 1, 2, d, 5)
    expected = [
        [transport(x, u[0], y, v[0]) for y, v in zip(Y, b, strict=True)]
        for x, u in zip(X, a, strict=True)
    ]
    K, seconds = wmd_dist(X, a, Y, b, -1)
    np.testing.assert_allclose(K, expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(wmd_dist(X, a, Y, b, 0.7)[0], np.exp(-0.7 * K), rtol=1e-12)
    assert seconds > 0


def test_empty_documents_are_infinitely_far():
    X, a = documents(0, 2, 3, 4)
    X, a = [X[0], np.empty((0, 0)), X[1]], [a[0], np.empty((0, 0)), a[1]]
    for gamma in (-1, 2.0):
        K, _ = wmd_dist(X, a, X, a, gamma)
        assert np.isinf(K[1]).all()
        assert np.isinf(K[:, 1]).all()
        np.testing.assert_array_equal(np.diag(K)[[0, 2]], 0 if gamma == -1 else 1)
    assert np.isinf(wmd_dist(X[1:2], a[1:2], X, a, -1)[0]).all()


def collection(seed=0, n=12, d=5):
    generator = np.random.default_rng(seed)
    vocabulary = generator.standard_normal((d, 30))
    names = [f"word{i}" for i in range(30)]
    X, words, counts = [], [], []
    for _ in range(n):
        chosen = generator.choice(30, generator.integers(2, 8), replace=False)
        X.append(vocabulary[:, chosen])
        words.append([names[i] for i in chosen])
        counts.append(generator.integers(1, 4, len(chosen))[np.newaxis])
    rows = np.vstack([generator.permutation(n) for _ in range(2)]) + 1.0
    return {"X": X, "Y": np.arange(1.0, n + 1)[np.newaxis], "BOW_X": counts, "words": words,
            "TR": rows[:, :8], "TE": rows[:, 8:]}  # fmt: skip


def test_statistics_of_the_documents():
    data = collection()
    low, high, d, nbow, idf, tfidf = wme_GenFea_preproc(data)
    values = np.concatenate([x.ravel() for x in data["X"]])
    assert (low, high, d) == (values.min(), values.max(), 5)
    for i, some in enumerate(data["words"]):
        np.testing.assert_allclose(nbow[i], data["BOW_X"][i][0] / data["BOW_X"][i].sum())
        having = [sum(word in other for other in data["words"]) for word in some]
        np.testing.assert_allclose(idf[i], np.log(1 + 12 / np.array(having)))
        np.testing.assert_allclose(tfidf[i], nbow[i] * idf[i])


@pytest.mark.parametrize("scheme", [1, 2])
@pytest.mark.parametrize("gamma", [-1, 0.5])
def test_features_equal_the_naive_computation(scheme, gamma):
    data = collection()
    low, high, d, nbow, _, tfidf = statistics = wme_GenFea_preproc(data)
    Train, Test, Runtime = wme_GenFea(data, gamma, 6, 2, 4, 2, *statistics, 1, scheme)
    stream, base = RandStream(0), []
    for _ in range(6):
        D = stream.randi([2, 4])
        word = low + (high - low) * stream.rand(d, D)
        base.append(np.column_stack([word[:, j] / np.linalg.norm(word[:, j]) for j in range(D)]))
    weights = nbow if scheme == 1 else tfidf
    for table, name in ((Train, "TR"), (Test, "TE")):
        numbers = data[name][1].astype(int)
        np.testing.assert_array_equal(table[:, 0], numbers)
        expected = np.array([
            [transport(data["X"][i - 1], weights[i - 1], y, np.ones(y.shape[1])) for y in base]
            for i in numbers
        ])  # fmt: skip
        if gamma != -1:
            expected = np.exp(-gamma * expected)
        np.testing.assert_allclose(table[:, 1:], expected / np.sqrt(6), rtol=1e-7)
    assert "user_test_emd_time" in Runtime
