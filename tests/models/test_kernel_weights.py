# SPDX-License-Identifier: BSD-3-Clause
"""Shares of families of blocks in the kernel."""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import d2ke
from d2ke._base.blas import ROWS
from d2ke.models import kernel_weights
from d2ke.models.blocks import FeatureBlock
from d2ke.models.feature_map import FeatureMap
from d2ke.models.kernel_weights import (
    FamilyKernels,
    candidate_kernels,
    choose_kernel_weights,
    stacked_weights,
)
from d2ke.models.labels import Labels
from d2ke.models.loo import OwnColumns
from d2ke.models.tasks import Classes
from d2ke.samplers import segments, training_objects


def features(y, noise, rng, R=20):
    """Return features that tell classes, up to noise."""
    signal = rng.normal(size=(y.max() + 1, R))[y]
    return (signal + noise * rng.normal(size=signal.shape)).astype(np.float32)


@dataclass(frozen=True, eq=False)
class Features(FeatureBlock):
    """Columns that stand for features of one kind of distances."""

    size: int
    kinds = 1

    @property
    def R(self):
        return self.size


def of_sizes(first, second, powers=(1.0, 1.0)):
    names, sizes = ("first", "second"), (first, second)
    return [
        Features(size, name=name, family=name, sd_power=power)
        for name, size, power in zip(names, sizes, powers, strict=True)
    ]


def centred(K, weights):
    """Return the kernel of rows that are centred with their weights."""
    mean = weights @ K / weights.sum()
    return K - mean - mean[:, None] + weights @ mean / weights.sum()


def gram(Z, power=1.0):
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0) ** power
    return Z @ Z.T / Z.var(axis=0).sum()


def left_out(K, T, C, weights, groups):
    """Return the decisions of models that were trained without the group of each object."""
    decisions = np.empty(T.shape)
    for group in np.unique(groups):
        out, rest = np.flatnonzero(groups == group), np.flatnonzero(groups != group)
        w = np.zeros(len(K))
        w[rest] = weights[rest]
        kernel = centred(K, w)
        mean = w @ T / w.sum()
        inner = kernel[np.ix_(rest, rest)] + np.diag(1 / (2 * C * w[rest]))
        dual = np.linalg.solve(inner, T[rest] - mean)
        decisions[out] = kernel[np.ix_(out, rest)] @ dual + mean
    return decisions


def best_left_out(K, T, weights, groups):
    """Return the left-out decisions of the C that makes the least squared error."""
    found = [left_out(K, T, 10.0 ** (e / 2), weights, groups) for e in range(-2, 13)]
    return min(found, key=lambda decisions: weights @ ((decisions - T) ** 2).sum(axis=1))


def descended(F, T, weights, prior=None):
    """Return the weights of members by projected gradients, many of them."""
    M, v = len(F), weights @ (T**2).sum(axis=1) / weights.sum()
    roots = np.sqrt(weights)[:, None]
    A, t = np.stack([(f * roots).ravel() for f in F]).T, (T * roots).ravel()
    H = A.T @ A + 5 * v * np.eye(M)
    prior = np.full(M, 1 / M) if prior is None else prior
    a, step = prior, 1 / np.linalg.norm(H, 2)
    for _ in range(3000):
        a = np.maximum(a - step * (A.T @ (A @ a - t) + 5 * v * (a - prior)), 0)
    return a / a.sum()


def chosen(kernels, T, weights, groups):
    """Return the weights of members: of one alone, if it is clearly better than all together."""
    mean = weights @ T / weights.sum()
    F = np.stack([best_left_out(K, T, weights, groups) for K in kernels])
    a = descended(F - mean, T - mean, weights)
    together = best_left_out(np.tensordot(a, np.stack(kernels), 1), T, weights, groups)
    all_together, *alone = ((np.stack([together, *F]) - T) ** 2).sum(axis=2) @ weights
    clearly = all_together - min(alone) > 5 * all_together / weights.sum()
    return np.eye(len(kernels))[np.argmin(alone)] if clearly else a


@given(st.integers(1, 6), st.integers(5, 30), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_weights_are_those_of_descent(M, n, k, seed):
    rng = np.random.default_rng(seed)
    T = rng.normal(size=(n, k))
    F = rng.normal(size=(M, n, k)) * rng.random((M, 1, 1)) + rng.random((M, 1, 1)) * T
    weights = rng.random(n) + 0.1
    T -= weights @ T / weights.sum()
    prior = rng.random(M) + 0.1
    prior /= prior.sum()
    found = stacked_weights(F, T, weights, prior)
    assert (found >= 0).all()
    np.testing.assert_allclose(found, descended(F, T, weights, prior), atol=1e-6)


def test_members_that_predict_nothing_have_their_priors():
    T = np.array([[-1.0], [1.0]] * 9)
    F, prior = np.stack([-T, -2 * T, -3 * T]), np.array([0.7, 0.1, 0.2])
    np.testing.assert_allclose(stacked_weights(F, T, np.ones(18), prior), prior)
    np.testing.assert_allclose(stacked_weights(F, 0 * T, np.ones(18), prior), prior)


def test_priors_of_families_within_columns_of_records():
    class Likely(Features):
        prior: ClassVar[float] = 3.0

    blocks = named("abc", ["x", "x", "y"])
    blocks[1] = Likely(2, name="likely", family="b", column="x")
    assert kernel_weights._priors(blocks).tolist() == [0.5, 1.5, 1]


def choice(Z, blocks, labels, seed):
    return choose_kernel_weights(
        FamilyKernels(Z, blocks, labels.weights), labels, OwnColumns.of([]), seed
    )


CASES = {
    "plain": {},
    "weights": {"weights": np.tile([0.5, 1.0, 1.5], 8)},
    "groups": {"groups": np.arange(24) // 2},
}


@pytest.mark.sample(5)
@pytest.mark.parametrize("R", [20, 8])  # more features than objects, and fewer
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("case", CASES)
def test_the_choice_is_that_of_the_definition(n_classes, R, case):
    rng = np.random.default_rng(n_classes)
    y = rng.permutation(np.arange(24) % n_classes)
    Z = np.hstack([features(y, 2.0, rng, R), features(y, 1.0, rng, R)])
    labels = Labels(Classes(np.arange(n_classes)), y, **CASES[case])
    found = choice(Z, of_sizes(R, R, (1.0, 0.5)), labels, 0).by_family
    T = np.eye(n_classes)[y] if n_classes > 2 else (y == 1)[:, None].astype(float)
    first, second = gram(Z[:, :R].astype(float)), gram(Z[:, R:].astype(float), 0.5)
    weights = CASES[case].get("weights", np.ones(24))
    groups = CASES[case].get("groups", np.arange(24))
    a = chosen([first, second, (first + second) / 2], T, weights, groups)
    expected = {"first": a[0] + a[2] / 2, "second": a[1] + a[2] / 2}
    assert found == pytest.approx(expected, abs=1e-4)


def test_a_member_that_is_clearly_better_is_alone():
    rng = np.random.default_rng(0)
    y = np.arange(600) % 3
    told, noise = features(y, 2.0, rng), features(y, 1e3, rng)
    labels, blocks = Labels(Classes(np.arange(3)), y), of_sizes(20, 20)
    found = choice(np.hstack([told, noise]), blocks, labels, 0).by_family
    assert found == {"first": 1.0, "second": 0.0}


@pytest.mark.parametrize("weights", [None, np.tile([0.5, 2.0, 0.5], 20)])
def test_columns_that_do_not_vary_change_no_choice(weights):
    rng = np.random.default_rng(3)
    y = np.arange(60) % 3
    Z = np.hstack([features(y, 4.0, rng, 9), features(y, 3.0, rng, 9)])
    labels = Labels(Classes(np.arange(3)), y, weights)
    found = choice(Z, of_sizes(9, 9), labels, 0).by_family
    for size in (60, 9):  # so that objects are fewer than features, or not
        constant = np.ones((60, size), np.float32)
        wide = choice(np.hstack([Z, constant]), of_sizes(9, 9 + size), labels, 0)
        assert wide.by_family == pytest.approx(found, abs=1e-6)
        third = [*of_sizes(9, 9), Features(size, name="third", family="third")]
        more = choice(np.hstack([Z, constant]), third, labels, 0).by_family
        assert more == pytest.approx({**found, "third": 0.0}, abs=1e-6)
    nothing = choice(np.ones((60, 18), np.float32), of_sizes(9, 9), labels, 0)
    assert nothing.by_family == {"first": 0.5, "second": 0.5}


def test_a_family_that_is_constant_to_rounding_has_no_share():
    rng = np.random.default_rng(3)
    y = np.arange(60) % 2
    Z = np.hstack([features(y, 3.0, rng, 9), 1 + 1e-8 * rng.integers(0, 9, (60, 9))])
    found = choice(Z.astype(np.float32), of_sizes(9, 9), Labels(Classes(np.arange(2)), y), 0)
    assert found.by_family == {"first": 1.0, "second": 0.0}


def test_all_of_many_columns_count():
    rng = np.random.default_rng(5)
    y = np.arange(24) % 2
    noise = rng.normal(size=(24, ROWS + 50)).astype(np.float32)
    Z = np.hstack([noise[:, :ROWS], features(y, 3.0, rng, ROWS), noise[:, ROWS:]])
    labels = Labels(Classes(np.arange(2)), y)
    shares = choice(Z, of_sizes(2 * ROWS, 50), labels, 0).by_family
    first, second = gram(Z[:, : 2 * ROWS].astype(float)), gram(Z[:, 2 * ROWS :].astype(float))
    weights = np.ones(24)
    T = (y == 1)[:, None].astype(float)
    a = chosen([first, second, (first + second) / 2], T, weights, np.arange(24))
    assert shares["first"] == pytest.approx(a[0] + a[2] / 2, abs=1e-4)
    assert shares["first"] > 0.6


def named(families, columns=None, members=None):
    columns, members = columns or [""] * len(families), members or [()] * len(families)
    return [
        Features(2, name=f"block {i}", family=family, column=column, members=member)
        for i, (family, column, member) in enumerate(zip(families, columns, members, strict=True))
    ]


def test_members():
    def members(*arguments):
        blocks = named(*arguments)
        vary = np.ones(len({block.family for block in blocks}), bool)
        return candidate_kernels(blocks, vary).tolist()

    third = pytest.approx([1 / 3] * 3)
    assert members("abca") == [[1, 0, 0], [0, 1, 0], [0, 0, 1], third]
    both = [("long", "all"), ("all",)]
    assert members("ab", None, both) == [[1, 0], [0.5, 0.5]]
    assert members("abc", None, [*both, ()]) == [[1, 0, 0], [0.5, 0.5, 0], [0, 0, 1], third]
    # Equal names in two columns are two members; each column counts alike in the mean.
    of_columns = members("abc", "xxy", [*both, ("all",)])
    assert of_columns == [[1, 0, 0], [0.5, 0.5, 0], [0, 0, 1], [0.25, 0.25, 0.5]]
    assert candidate_kernels(named("abc"), np.array([True, False, True])).tolist() == [
        [1, 0, 0], [0, 0, 1], [0.5, 0, 0.5],
    ]  # fmt: skip


@pytest.mark.sample(3)
@pytest.mark.parametrize("R", [36, 9])
@pytest.mark.parametrize("options", [{}, {"groups": np.arange(36) // 3}])
def test_folds_take_away_most_of_what_chance_adds(R, options, monkeypatch):
    """Shares and C that the same objects choose find an accuracy in noise."""
    chosen = []
    scores_of_folds = kernel_weights._Stacking.scores_of_folds
    monkeypatch.setattr(
        kernel_weights._Stacking, "scores_of_folds", lambda stacking, *_: chosen.append(stacking)
    )
    right = np.zeros((10, 2))
    for seed in range(10):
        rng = np.random.default_rng(seed)
        rows = options.get("groups", np.arange(36))
        y = rng.permutation(np.arange(rows.max() + 1) % 2)[rows]
        Z = rng.normal(size=(36, 4 * R))[rows].astype(np.float32)
        labels = Labels(Classes(np.arange(2)), y, **options)
        blocks = [Features(R, name=name, family=name) for name in "abcd"]
        assert choice(Z, blocks, labels, seed).score_folds() is None
        scores = scores_of_folds(chosen[-1], rng, np.arange(36))
        assert scores.n == len(scores.calibration_decisions) == 36
        assert (scores.calibration_values == y).all()
        right[seed, 0] = scores.n_correct[0] / 36
        kernel, targets = chosen[-1].choose(np.arange(36)), chosen[-1].T
        found = kernel.decisions[:, kernel.best()]
        middle = targets.mean()
        right[seed, 1] = np.mean((found > middle) == (targets > middle))
    folds, same = right.mean(axis=0)
    assert folds < same
    assert abs(folds - 0.5) < 0.15


def blocks(power=1.0):
    half = partial(d2ke.views.part, stop=0.5)
    return [
        d2ke.Block("whole", "levenshtein", training_objects, 30, family="whole"),
        d2ke.Block("pieces", "levenshtein", segments, 20, sd_power=power, family="pieces"),
        d2ke.Block(
            "first halves", "levenshtein", training_objects, 30, (half,), sd_power=power,
            family="pieces",
        ),
    ]  # fmt: skip


def labelled(n, rng):
    y = rng.integers(0, 2, n)
    X = ["".join(rng.choice(list("abcd"), 12)) for _ in range(n)]
    return y, [x[:4] + "dd" * int(label) + x[4:] for x, label in zip(X, y, strict=True)]


@pytest.mark.parametrize("power", [1.0, 0.5, 0.0])
def test_the_kernel_of_a_model_has_the_shares(power):
    rng = np.random.default_rng(2)
    y, X = labelled(60, rng)
    model = d2ke.d2ke_train(y, X, blocks=blocks(power), seed=3)
    rows = np.arange(60)
    Z = model.features(d2ke.pack(X), 1, rows).astype(float)
    raw = FeatureMap(model.blocks).unscaled(d2ke.pack(X), 1, rows).astype(float)
    edges = np.cumsum([0, *(block.R for block in model.blocks)])
    names = np.array([block.family for block in model.blocks])
    expected = 0
    for name in dict.fromkeys(names):
        parts = [raw[:, edges[i] : edges[i + 1]] for i in np.flatnonzero(names == name)]
        share = next(block.kernel_weight for block in model.blocks if block.family == name)
        part = gram(np.hstack(parts), power if name == "pieces" else 1.0)
        expected = expected + share * part
    np.testing.assert_allclose(Z @ Z.T, expected, atol=1e-4)
    assert sum(
        {block.family: block.kernel_weight for block in model.blocks}.values()
    ) == pytest.approx(1)


def test_a_family_without_a_share_is_left_out():
    rng = np.random.default_rng(4)
    y, X = labelled(200, rng)
    X = [x + "zz" for x in X]
    equal = d2ke.Block(
        "last letters", "levenshtein", training_objects, 40,
        (partial(d2ke.views.part, start=0.9),), family="last letters",
    )  # fmt: skip
    model = d2ke.d2ke_train(y, X, blocks=[*blocks()[:1], equal], seed=0)
    assert model.unused_blocks == ("last letters",)
    assert model.R == model.blocks[0].R == 30
    assert "without a share: last letters" in str(model)


def test_one_family_is_the_whole_kernel():
    rng = np.random.default_rng(5)
    y, X = labelled(40, rng)
    model = d2ke.d2ke_train(y, X, blocks=blocks()[:1], seed=0)
    assert {block.kernel_weight for block in model.blocks} == {1.0}
    assert "shares" not in str(model)
