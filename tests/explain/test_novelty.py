# SPDX-License-Identifier: BSD-3-Clause
"""Novelty: p-values of left-out nearest distances, and what a model keeps for them."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import d2ke
from d2ke.models import model as models
from d2ke.models.feature_map import FeatureMap
from d2ke.models.kmers import FittedKmers
from d2ke.models.model import ReferenceObjects


def strings(n, seed, letters="aab"):
    """Strings in which a letter is drawn twice as often, or not."""
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list(letters), rng.integers(8, 16))) for _ in range(n)]


@pytest.fixture(scope="module")
def model():
    X = strings(300, 0) + strings(300, 1, "abb")
    return d2ke.d2ke_train(np.repeat([0, 1], 300), X, R=128, n_threads=1)


def test_p_values_of_objects_like_the_training_objects(model):
    p = d2ke.novelty(strings(500, 2) + strings(500, 3, "abb"), model, n_threads=1)
    assert 0 < p.min() < p.max() <= 1
    for level in (0.05, 0.2, 0.5):
        assert abs(np.mean(p <= level) - level) < 3 * np.sqrt(level / 600) + 0.02


def test_strangers(model):
    far = ["ab" * 20, "b" * 30, "a" * 30]
    assert (d2ke.novelty(far, model, n_threads=1) < 0.01).all()
    with pytest.warns(UserWarning, match="letters that no training string has"):
        assert d2ke.novelty(["xyzxyzxyz"], model)[0] < 0.01


def test_of_the_definition(model):
    X = [*strings(40, 4), "ab" * 20, "b" * 30, "a" * 30, "ba" * 15]
    F = FeatureMap(model.unsupervised_map.blocks).unscaled(d2ke.pack(X), 1)
    kept, new = model.reference.rows.astype(np.float64), model.reference.sums(F).astype(np.float64)
    near = cdist(kept, kept)
    np.fill_diagonal(near, np.inf)
    np.testing.assert_allclose(model.reference.scores, near.min(axis=1), atol=1e-3)
    scores = cdist(new, kept).min(axis=1)[:, None]
    counts = [np.sum(near.min(axis=1) >= scores - shift, axis=1) for shift in (0, 5e-3)]
    p, beyond = d2ke.novelty(X, model, n_threads=1), scores[:, 0] > near.min(axis=1).max()
    assert ((1 + counts[0]) / 601 <= p)[~beyond].all()
    assert (p <= (1 + counts[1]) / 601).all()
    ranks = np.argsort(scores[beyond, 0])
    assert beyond.sum() > 3
    assert (np.diff(p[beyond][ranks]) < 0).all()


def test_sums_keep_distances():
    rng = np.random.default_rng(0)
    sizes = [3000, 1000]
    F = rng.uniform(0.1, 1, (60, 4000)).astype(np.float32) / np.sqrt(4000)
    blocks = [SimpleNamespace(R=R, kinds=1, self_kernel=0.0) for R in sizes]
    kept = ReferenceObjects.of(F, blocks, np.arange(60), 0, 1)
    assert kept.rows.shape == (60, models.COLUMNS)
    far = (-np.log(F) - kept.centre) * np.abs(kept.weights)
    wanted, found = cdist(far, far), cdist(*[kept.rows.astype(np.float64)] * 2)
    others = ~np.eye(60, dtype=bool)
    np.testing.assert_allclose(found[others], wanted[others], rtol=0.2)
    variances = far.var(axis=0)
    assert variances[:3000].sum() == pytest.approx(0.5, rel=0.1)


def test_equal_objects_are_known():
    model = d2ke.d2ke_train([0, 1] * 9, ["aab", "bba"] * 9, R=32)
    np.testing.assert_allclose(model.reference.scores, 0, atol=1e-3)
    p = d2ke.novelty(["aab", "bba", "aba", "bbbbb"], model)
    assert p[:2].tolist() == [1.0, 1.0]
    assert (p[2:] < 1 / 19).all()


def test_any_number_of_rows_at_a_time(model, monkeypatch):
    X = strings(300, 5)
    wanted = d2ke.novelty(X, model, n_threads=1)
    monkeypatch.setattr("d2ke.models.feature_map._BLOCK", 1)
    for n_threads in (1, 2):
        np.testing.assert_allclose(
            d2ke.novelty(X, model, n_threads=n_threads), wanted, atol=2 / 601
        )


def test_strings_in_a_model_of_their_pieces():
    rng = np.random.default_rng(0)

    def words(n):
        syllables = ["ba", "ke", "li", "mo", "nu", "sa", "te", "ri"]
        drawn = [syllables[4 * (i % 2) :] + syllables for i in range(n)]  # half in two ways
        return ["".join(rng.choice(some, rng.integers(2, 6))) for some in drawn]

    X = words(300)
    model = d2ke.d2ke_train(["few", "many"] * 150, X, R=600)
    assert any(isinstance(block, FittedKmers) for block in model.blocks)
    p = d2ke.novelty(words(300), model)
    for level in (0.05, 0.2):
        assert abs(np.mean(p <= level) - level) < 3 * np.sqrt(level / 300) + 0.02
    others = ["".join(rng.choice(list("xyzw"), 8)) for _ in range(50)]
    with pytest.warns(UserWarning, match="letters that no training string has"):
        assert (d2ke.novelty(others, model) < 0.02).all()


def test_landmarks_as_if_they_were_new():
    X = ["".join(x) for x in np.random.default_rng(1).choice(list("abc"), (30, 12))]
    model = d2ke.d2ke_train(["aa" in x for x in X], X, R=60)
    block = next(block for block in model.blocks if isinstance(block, FittedKmers))
    F = block.features(d2ke.pack(X), 1)
    rows = np.arange(30)
    found = block.as_new(F, rows).astype(np.float64)
    for row, others in ((k, np.setdiff1d(block.sources, k)) for k in block.sources[:5].tolist()):
        weights = np.linalg.lstsq(F[others].T.astype(np.float64), F[row], rcond=None)[0]
        np.testing.assert_allclose(found[row], F[others].T @ weights, atol=1e-4)
    rest = np.setdiff1d(rows, block.sources)
    np.testing.assert_array_equal(found[rest], F[rest])
