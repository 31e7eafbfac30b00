# SPDX-License-Identifier: BSD-3-Clause
"""Cross-validated accuracies against loops that refit, and the folds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import examples, ridge

import d2ke
from d2ke.model_selection import cross_validation
from d2ke.model_selection.cross_validation import cross_validate, cross_validate_hinge
from d2ke.model_selection.folds import stratified_folds

COSTS = (0.01, 0.1, 1.0, 10.0, 1000.0)


pytestmark = pytest.mark.usefixtures("one_blas_thread")


def refit(F, codes, C, folds):
    """Ridge scores of every row from a fit to the rows of the other folds."""
    targets = np.where(codes[:, None] == np.arange(codes.max() + 1), 1.0, -1.0)
    scores = np.empty(targets.shape)
    for fold in np.unique(folds):
        out = folds == fold
        weights, offset = ridge(F[~out], targets[~out], C)
        scores[out] = F[out] @ weights + offset
    return scores


def problem(n, R, n_classes, seed, strength=0.5):
    rng = np.random.default_rng(seed)
    codes = np.append(np.arange(n_classes), rng.integers(n_classes, size=n - n_classes))
    F = rng.standard_normal((n, R))
    F[np.arange(n), codes % R] += strength * np.sqrt(R)
    F -= F.mean(axis=0)
    return F / np.sqrt(R), codes


# ---------------------------------------------------------------- cross_validate


@settings(max_examples=examples(80))
@given(
    st.integers(8, 40),
    st.integers(1, 60),
    st.integers(2, 5),
    st.integers(2, 8),
    st.integers(0, 10**6),
)
def test_closed_form_against_refitting(n, R, n_classes, n_folds, seed):
    """Of 8 rows in 8 folds each is left out alone."""
    F, codes = problem(n, R, n_classes, seed)
    folds = stratified_folds(codes, n_folds, seed=seed)
    found = cross_validate(F, codes, COSTS, folds)
    for C, accuracy in zip(COSTS, found, strict=True):
        scores = refit(F, codes, C, folds)
        top = np.sort(scores, axis=1)
        assert (top[:, -1] - top[:, -2]).min() > 1e-10  # no decision hangs on rounding
        assert accuracy == pytest.approx(100 * np.mean(scores.argmax(axis=1) == codes), abs=1e-10)


def test_dependent_and_constant_columns():
    F, codes = problem(30, 4, 3, seed=5)
    F = np.hstack([F, F[:, :2], np.zeros((30, 3)), np.ones((30, 1))])
    folds = stratified_folds(codes, 6, seed=0)
    expected = [100 * np.mean(refit(F, codes, C, folds).argmax(axis=1) == codes) for C in COSTS]
    assert cross_validate(F, codes, COSTS, folds) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("R", [3, 60])
def test_constant_features_tell_nothing(R):
    """All scores are equal; rounding must not let the left-out labels decide."""
    codes = np.arange(40) % 4
    folds = stratified_folds(codes, 10, seed=0)
    found = cross_validate(np.zeros((40, R)), codes, [0.1, 1.0, 1000.0], folds)
    assert max(found) <= 25.0


# ---------------------------------------------------------------- folds


@given(st.lists(st.integers(0, 5), min_size=2, max_size=60), st.data())
def test_stratified_folds(codes, data):
    codes = np.array(codes)
    n_folds = data.draw(st.integers(2, len(codes)))
    folds = stratified_folds(codes, n_folds, seed=data.draw(st.integers(0, 99)))
    assert folds.shape == codes.shape
    for rows in (np.full(len(codes), True), *(codes == code for code in np.unique(codes))):
        sizes = np.bincount(folds[rows], minlength=n_folds)
        assert len(sizes) == n_folds
        assert np.ptp(sizes) <= 1


def test_folds_depend_on_the_seed_only():
    codes = np.arange(50) % 3
    first = stratified_folds(codes, 5, seed=3)
    np.testing.assert_array_equal(stratified_folds(codes, 5, seed=3), first)
    assert (stratified_folds(codes, 5, seed=4) != first).any()
    # Random within a class, not by position.
    assert (np.sort(first[codes == 0]) != first[codes == 0]).any()


# ---------------------------------------------------------------- cross_validate_hinge


def counted_by_refits(F, codes, C, folds, epsilon):
    """Percent of left-out rows that LIBLINEAR's model of the other folds gets right."""
    right = 0
    for fold in np.unique(folds):
        out = folds == fold
        model = d2ke.train(codes[~out], F[~out], f"-s 2 -B 1 -c {C} -e {epsilon} -q")
        right += (d2ke.predict(None, F[out], model)[0] == codes[out]).sum()
    return 100 * right / len(codes)


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize(("n", "R", "n_folds"), [(60, 5, 5), (60, 90, 3), (12, 4, 12)])
def test_hinge_against_refits_of_liblinear(n, R, n_folds, n_classes):
    F, codes = problem(n, R, n_classes, seed=n + R + n_classes, strength=0.3)
    costs = (10.0, 0.01, 1.0)  # not in order
    folds = stratified_folds(codes, n_folds, seed=0)
    found = cross_validate_hinge(F, codes, costs, folds, tolerance=1e-9, n_threads=2)
    expected = [counted_by_refits(F, codes, C, folds, 1e-9) for C in costs]
    assert found == pytest.approx(expected, abs=1e-10)
    if n == 60:  # there is something to learn
        assert max(found) > 100 / n_classes


def test_hinge_at_the_usual_tolerance_is_near():
    F, codes = problem(200, 30, 4, seed=3, strength=0.2)
    costs = (0.1, 10.0, 1000.0)
    folds = stratified_folds(codes, 5, seed=0)
    found = cross_validate_hinge(F, codes, costs, folds)
    exact = cross_validate_hinge(F, codes, costs, folds, tolerance=1e-9)
    assert found == pytest.approx(exact, abs=1.5)  # three rows of 200


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_warm_start_changes_nothing(dtype):
    F, codes = problem(80, 12, 3, seed=4, strength=0.3)
    F = F.astype(dtype)
    folds = stratified_folds(codes, 4, seed=1)
    tolerance = 1e-8 if dtype == np.float64 else 1e-4
    options = {"tolerance": tolerance, "n_threads": 1}
    path = cross_validate_hinge(F, codes, COSTS, folds, **options)
    alone = [cross_validate_hinge(F, codes, [C], folds, **options)[0] for C in COSTS]
    assert path == pytest.approx(alone, abs=1e-10)


def test_hinge_starts_from_the_next_smaller_cost(monkeypatch):
    F, codes = problem(40, 5, 2, seed=5)
    starts = []
    solve = cross_validation.block_newton

    def recorded(Z, signs, C, *, start, **options):
        W, solved = solve(Z, signs, C, start=start, **options)
        starts.append((C[0, 0], start, W))
        return W, solved

    monkeypatch.setattr(cross_validation, "block_newton", recorded)
    folds = stratified_folds(codes, 2, seed=0)
    cross_validate_hinge(F, codes, [10.0, 0.1, 1.0], folds, n_threads=1)
    assert [C for C, _, _ in starts] == [0.1, 1.0, 10.0]
    assert starts[0][1] is None
    assert starts[1][1] is starts[0][2]
    assert starts[2][1] is starts[1][2]


def test_hinge_with_a_class_that_a_fold_holds_alone():
    """The class is unknown to the fold's classifiers, and its row is missed."""
    rng = np.random.default_rng(0)
    codes = np.append(np.arange(30) % 2, 2)
    F = np.eye(3)[codes] + 0.1 * rng.standard_normal((31, 3))
    folds = np.append(np.arange(30) // 2 % 5, 4)
    found = cross_validate_hinge(F, codes, [10.0], folds, tolerance=1e-6)
    assert found == pytest.approx([100 * 30 / 31])
    assert cross_validate(F, codes, [10.0], folds) == pytest.approx([100 * 30 / 31])


@pytest.mark.parametrize("loss", [cross_validate, cross_validate_hinge])
@pytest.mark.parametrize("C", [0.0, -1.0, np.nan, np.inf])
def test_costs_are_positive(loss, C):
    F, codes = problem(20, 3, 2, seed=0)
    folds = stratified_folds(codes, 4, seed=0)
    with pytest.raises(ValueError, match="C must be a positive finite number"):
        loss(F, codes, [1.0, C], folds)
