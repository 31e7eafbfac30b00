# SPDX-License-Identifier: BSD-3-Clause
"""Scores of strings by the pieces that occur in them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import reloaded
from test_kmers import words

import d2ke
from d2ke.models import features, kmers, recipes
from d2ke.models.blocks import Sample
from d2ke.models.kmers import KmerScores, ScoredKmers
from d2ke.models.labels import read_labels


@pytest.fixture(autouse=True, scope="module")
def of_few_strings():
    """Few strings have scores too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recipes, "_SCORED", (0, 0))
        yield


def fit(y, X, form, **options):
    target = read_labels(y, None).weighted(None, options.pop("weights", None))
    if "groups" in options:
        target = target.grouped(options["groups"])
    sample = Sample(d2ke.pack(X), np.arange(len(X)), target)
    return ScoredKmers(target.task.k, form).fit(sample, np.random.SeedSequence(0)), target


def text_of(block, index):
    begin, end = chr(block.marks["begin"]), chr(block.marks["end"])
    return block.omega[index].replace(begin, "^").replace(end, "$")


def counts_of(pieces, strings):
    """Return how often each piece occurs in each string, with its ends."""
    marked = [f"^{x}$" for x in strings]
    return np.array([
        [sum(x.startswith(piece, i) for i in range(len(x))) for piece in pieces] for x in marked
    ]).reshape(len(marked), len(pieces))  # fmt: skip


def features_by_definition(counts, training_counts, pieces, form):
    """Return the features of strings, given the counts of the training strings too."""
    if form == "occurrences":
        share = (training_counts > 0).mean(axis=0)
        deviation = np.sqrt(share * (1 - share))
        return (counts > 0) * np.where(deviation > 0, np.maximum(deviation, 1e-9) ** -0.25, 0)
    lengths, roots = np.array([len(piece) for piece in pieces]), np.sqrt(training_counts)
    S = np.zeros(counts.shape)
    for length in range(1, 5):
        same = lengths == length
        variance = roots[:, same].var(axis=0).sum()
        if variance > 1e-9:
            S[:, same] = np.sqrt(counts[:, same] / variance)
    return S / np.maximum(np.sqrt((S**2).sum(axis=1, keepdims=True)), 1e-12)


@pytest.mark.parametrize(("form", "longest"), [("counts", 4), ("occurrences", 6)])
@given(
    st.lists(st.text("abc", max_size=7), min_size=2, max_size=8),
    st.lists(st.text("abcd", max_size=9), min_size=1, max_size=4),
)
def test_features_by_their_definition(form, longest, X, new):
    block, _ = fit(np.arange(len(X)) % 2, X, form)
    every = {
        marked[i:j]
        for marked in (f"^{x}$" for x in X)
        for i in range(len(marked))
        for j in range(i + 1, min(i + longest, len(marked)) + 1)
        if sum(marked[i:j] in f"^{other}$" for other in X) >= 2
    }
    if block is None:  # nothing that some have and others do not
        pieces = sorted(every)
        S = features_by_definition(counts_of(pieces, X), counts_of(pieces, X), pieces, form)
        assert np.allclose(S, S[:1])
        return
    pieces = [text_of(block, i) for i in range(len(block.omega))]
    assert sorted(pieces) == sorted(every)
    known = counts_of(pieces, X)
    expected = features_by_definition(counts_of(pieces, new), known, pieces, form)
    np.testing.assert_allclose(
        block.kmer_features(d2ke.pack(new)).toarray(), expected, rtol=1e-5, atol=1e-6
    )
    deviation = features_by_definition(known, known, pieces, form).std(axis=0)
    np.testing.assert_allclose(block.deviation, deviation, rtol=1e-4, atol=1e-5)


def ridge_by_definition(S, T, C, weights):
    """Return weights and the mean of T, for rows that are centred by all rows."""
    A = np.sqrt(weights)[:, None] * S
    mean = weights @ T / weights.sum()
    B = np.sqrt(weights)[:, None] * (T - mean)
    return A.T @ np.linalg.solve(A @ A.T + np.eye(len(A)) / (2 * C), B)


@pytest.mark.parametrize("form", ["counts", "occurrences"])
@pytest.mark.parametrize("options", [{}, {"groups": None}, {"weights": None}])
def test_scores_are_those_of_a_ridge(options, form, monkeypatch):
    monkeypatch.setattr(kmers, "_TOLERANCE", 1e-5)
    monkeypatch.setattr(kmers, "_SCORE_CS", (1.0,))
    y, X = words(60, np.random.default_rng(0))
    rng = np.random.default_rng(1)
    if "groups" in options:
        options = {"groups": rng.integers(0, 20, 60)}
    if "weights" in options:
        options = {"weights": rng.integers(1, 4, 60).astype(float)}
    block, target = fit(y, X, form, **options)
    T = np.eye(3)[y]
    w = np.ones(60) if target.weights is None else target.weights
    S = block.kmer_features(d2ke.pack(X)).toarray().astype(np.float64)
    S -= S.mean(axis=0)
    S /= np.sqrt((S**2).sum(axis=1).mean())
    mean = w @ T / w.sum()
    new = S @ ridge_by_definition(S, T, 1.0, w) + mean
    np.testing.assert_allclose(block.features(d2ke.pack(X), 1), new, atol=1e-3)
    rng = np.random.default_rng(np.random.SeedSequence(0, spawn_key=(kmers.ROWS,)))
    ridge = kmers._SparseRidge(None, None, target, rng)
    assert ridge.outside.shape == (60, 5)
    if target.groups is not None:
        for group in np.unique(target.groups):
            assert len(np.unique(ridge.folds[target.groups == group])) == 1
    for fold in range(5):
        inside = ridge.folds != fold
        U = ridge_by_definition(S[inside], T[inside], 1.0, w[inside])
        np.testing.assert_allclose(
            block.hidden[~inside], S[~inside] @ U + mean, atol=1e-3
        )  # fmt: skip
    rows = np.array([3, 17, 99])
    features = block.features(d2ke.pack([X[3], X[17], "new"]), 1, rows)
    assert (features[:2] == block.hidden[[3, 17]]).all()


@pytest.fixture(scope="module")
def hidden_words():
    """Strings whose class is told by one of twelve syllables, somewhere between other letters."""
    rng = np.random.default_rng(5)
    letters = list("aeioubdgklmnprst")
    syllables = ["".join(rng.choice(letters, 3)) for _ in range(12)]
    y = rng.integers(0, 3, 600)
    ends = [["".join(rng.choice(letters, rng.integers(2, 14))) for _ in y] for _ in range(2)]
    chosen = [syllables[4 * label + rng.integers(0, 4)] for label in y]
    X = ["".join(parts) for parts in zip(ends[0], chosen, ends[1], strict=True)]
    return y, X, d2ke.d2ke_train(y[:300], X[:300], seed=1)


def test_words_are_told_by_pieces_of_them(hidden_words):
    y, X, model = hidden_words
    block = model.blocks[-1]
    assert isinstance(block, KmerScores)
    assert block.kernel_weight >= 0.5
    assert model.R < 1000  # scores leave little to parts, which are 1,536 alone
    assert f"3 x scores of {len(block.omega)} pieces" in str(model)
    assert d2ke.d2ke_predict(y[300:], X[300:], model)[1] > 80
    again = reloaded(model)
    decisions = [d2ke.d2ke_predict(None, X[300:], one)[2] for one in (model, again)]
    assert (decisions[0] == decisions[1]).all()
    for training_object in (None, 5):
        why = d2ke.d2ke_explain(X[5], model, training_object=training_object)
        assert why.offset + sum(why.blocks.values()) == pytest.approx(why.decision, abs=1e-6)
    pieces = [one for one in why.omegas if one["block"] == "pieces"]
    assert pieces
    assert all(one["distance"] == 0 and one["nearer"] for one in pieces)
    found = [one for one in d2ke.explain.discriminative_objects(model) if one.block == "pieces"]
    assert found
    assert all(one.adds > 0 and isinstance(one.object, str) for one in found)


def test_shares_of_pieces_are_the_score():
    y, X = words(200, np.random.default_rng(1))
    model = d2ke.d2ke_train(y, X, blocks=None, R=8)
    block, x = model.blocks[-1], d2ke.pack([X[0]])
    why = d2ke.d2ke_explain(X[0], model, limit=10**6)
    shares = sum(one["share"] for one in why.omegas if one["block"] == "pieces")
    own = slice(model.R - block.R, model.R)
    weights = model.linear.weights[list(model.classes).index(why.label), own]
    score = block.features(x, 1)[0] - block.offset
    scale = model.scaling.divisor[own]
    assert shares == pytest.approx(weights / scale @ score, abs=1e-5)


def test_of_many_strings_a_sample_is_scored(monkeypatch):
    y, X = words(300, np.random.default_rng(3))
    monkeypatch.setattr(kmers, "ROWS", 250)
    monkeypatch.setattr(kmers, "_LETTERS", 1000)
    monkeypatch.setattr(kmers, "_KMERS", 150)
    monkeypatch.setattr(recipes, "_affordable", lambda n: 120)
    monkeypatch.setattr(features, "SAMPLE", 120)
    model = d2ke.d2ke_train(y, X, n_threads=1)
    block = model.blocks[-1]
    assert 75 < len(block.rows) < 200
    assert 50 < len(block.omega) <= 150
    # Besides the scores, parts of a share below a fifth have so much less of 120 features.
    assert 3 + max(9, min(1, 5 * (1 - block.kernel_weight)) * 120) >= model.R
    assert model.accuracy > 90


def test_regressions_and_many_classes():
    _, X = words(150, np.random.default_rng(4))
    model = d2ke.d2ke_train([len(x) + x.count("a") / 7 for x in X], X, R=32)
    assert isinstance(model.blocks[-1], KmerScores)
    assert model.accuracy > 0.5
    y = np.arange(150) % 70
    with pytest.warns(UserWarning, match="nothing was learned"):
        model = d2ke.d2ke_train(y, X, R=32)
    assert not any(isinstance(block, KmerScores) for block in model.blocks)
