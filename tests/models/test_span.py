# SPDX-License-Identifier: BSD-3-Clause
"""Ridge regressions of many objects and features: their weights are in the span of some objects."""

import numpy as np
import pytest

import d2ke
from d2ke.learners.ridge import orthonormal
from d2ke.models import blocks, features, inputs, train
from d2ke.models.distance_blocks import Block
from d2ke.samplers import segments

N, M, R = 240, 60, 150


@pytest.fixture(autouse=True)
def few_rows(monkeypatch):
    for module in (features, train):
        monkeypatch.setattr(module, "LARGEST", M)


@pytest.fixture(scope="module")
def labelled():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, N)
    inner = np.array(["GATTACA", "GATGACA", "GTTTACA"])
    ends = [["".join(rng.choice(list("ACGT"), rng.integers(4, 9))) for _ in y] for _ in range(2)]
    return y, [a + inner[k] + b for a, k, b in zip(ends[0], y, ends[1], strict=True)]


def trained(y, X, **options):
    block = Block("segments", "levenshtein", segments, R)
    return d2ke.d2ke_train(y, X, blocks=[block], n_threads=1, **options)


def span_of(model, X, n_sample):
    """Return features of all objects, and of those that the weights are combinations of."""
    Z = model.features(model.check_objects(X), 1, np.arange(N)).astype(np.float64)
    sample = blocks.sample_rows(N, 0)
    assert len(sample) == n_sample
    rng = np.random.default_rng(np.random.SeedSequence(0, spawn_key=(M,)))
    return Z, Z[sample][np.sort(rng.choice(n_sample, M, replace=False))]


def ridge_in_span(Z, T, v, directions, C):
    """Return weights and offset of least |W|^2 / 2 + C sum_i v_i |t_i - W z_i - b|^2."""
    A = np.hstack([Z @ directions.T, np.ones((len(Z), 1))])
    penalty = np.diag([*np.full(len(directions), 1 / (2 * C)), 0.0])
    solved = np.linalg.solve(A.T @ (v[:, None] * A) + penalty, A.T @ (v[:, None] * T))
    return directions.T @ solved[:-1], solved[-1]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_sample", [N, 150])
def test_weights_and_left_out_decisions_by_their_definition(
    labelled, n_sample, weighted, monkeypatch
):
    y, X = labelled
    monkeypatch.setattr(blocks, "SAMPLE", n_sample)
    v = np.random.default_rng(1).uniform(0.5, 2, N) if weighted else np.ones(N)
    model = trained(y, X, sample_weight=v if weighted else None, groups="none")
    Z, rows = span_of(model, X, n_sample)
    # The rows of the sample are centred by its mean, which is in the span of no other rows.
    rows = rows - Z[blocks.sample_rows(N, 0)].mean(axis=0)
    directions = np.linalg.qr(rows.T)[0].T
    T, v = np.eye(3)[y], v / v.mean()  # only ratios of weights matter
    W, b = ridge_in_span(Z, T, v, directions, model.C)
    wanted = Z @ W + b
    found = (d2ke.d2ke_predict(None, X, model)[2] + 1) / 2
    np.testing.assert_allclose(found, wanted, atol=2e-3 * wanted.std())
    right = 0.0
    for i in range(N):
        others = np.arange(N) != i
        W, b = ridge_in_span(Z[others], T[others], v[others], directions, model.C)
        right += v[i] * ((Z[i] @ W + b).argmax() == y[i])
    assert model.accuracy == pytest.approx(100 * right / v.sum(), abs=1)


def test_chunks_change_nothing(labelled, monkeypatch):
    y, X = labelled
    monkeypatch.setattr(blocks, "SAMPLE", 150)
    whole = trained(y, X)
    monkeypatch.setattr("d2ke.models.data.MAX_KEPT", 0)
    monkeypatch.setattr(inputs, "_BLOCK_ROWS", (37, 37))
    parts = trained(y, X)
    assert parts.C == whole.C
    assert parts.accuracy == pytest.approx(whole.accuracy, abs=0.5)
    decisions = [d2ke.d2ke_predict(None, X, model)[2] for model in (whole, parts)]
    np.testing.assert_allclose(*decisions, atol=1e-4)


@pytest.mark.parametrize("rank", [1, 7, 12])
def test_directions_are_orthonormal_and_span_the_rows(rank):
    rng = np.random.default_rng(rank)
    Z = rng.normal(size=(12, rank)) @ rng.normal(size=(rank, 40))
    found = orthonormal(Z).astype(np.float64)
    assert found.shape == (rank, 40)
    np.testing.assert_allclose(found @ found.T, np.eye(rank), atol=1e-4)
    np.testing.assert_allclose(Z @ found.T @ found, Z, atol=1e-3 * np.abs(Z).max())
