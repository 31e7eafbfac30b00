# SPDX-License-Identifier: BSD-3-Clause
"""The choice of parameters: closed forms against loops that refit, planted optima, chance."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from threadpoolctl import threadpool_limits

from d2ke import select
from d2ke.embed import d2ke_features
from d2ke.scaling import Scaling
from d2ke.select import (
    Search,
    cross_validate,
    search_features,
    search_gram,
    search_neighbors,
    search_vectors,
    stratified_folds,
    with_bias,
)

COSTS = (0.01, 0.1, 1.0, 10.0, 1000.0)


@pytest.fixture(autouse=True, scope="module")
def one_blas_thread():
    """The problems are tiny: threads of the BLAS would only slow them down."""
    with threadpool_limits(limits=1, user_api="blas"):
        yield


def refit(F, codes, C, folds):
    """Ridge scores of every row from a fit to the rows of the other folds."""
    targets = np.where(codes[:, None] == np.arange(codes.max() + 1), 1.0, -1.0)
    scores = np.empty(targets.shape)
    for fold in np.unique(folds):
        out = folds == fold
        A = F[~out]
        w = np.linalg.solve(A.T @ A + np.eye(F.shape[1]) / (2 * C), A.T @ targets[~out])
        scores[out] = F[out] @ w
    return scores


def problem(n, R, n_classes, seed, strength=0.5):
    rng = np.random.default_rng(seed)
    codes = np.append(np.arange(n_classes), rng.integers(n_classes, size=n - n_classes))
    F = rng.standard_normal((n, R))
    F[np.arange(n), codes % R] += strength * np.sqrt(R)
    F -= F.mean(axis=0)
    return with_bias(F / np.sqrt(R)), codes


# ---------------------------------------------------------------- cross_validate


@settings(max_examples=150)
@given(
    st.integers(8, 40),
    st.integers(1, 60),
    st.integers(2, 5),
    st.integers(2, 8),
    st.integers(0, 10**6),
)
def test_closed_form_against_refitting(n, R, n_classes, n_folds, seed):
    F, codes = problem(n, R, n_classes, seed)
    folds = stratified_folds(codes, n_folds, seed=seed)
    found = cross_validate(F, codes, COSTS, folds)
    for C, accuracy in zip(COSTS, found, strict=True):
        scores = refit(F, codes, C, folds)
        top = np.sort(scores, axis=1)
        assert (top[:, -1] - top[:, -2]).min() > 1e-10  # no decision hangs on rounding
        assert accuracy == pytest.approx(100 * np.mean(scores.argmax(axis=1) == codes), abs=1e-10)


@pytest.mark.parametrize(("n", "R"), [(40, 9), (40, 39), (40, 40), (40, 120), (12, 500)])
@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_scores_of_left_out_rows_to_ten_digits(n, R, n_classes, monkeypatch):
    """The accuracies only count; here the scores behind them are looked at."""
    F, codes = problem(n, R, n_classes, seed=n * R + n_classes)
    folds = stratified_folds(codes, 5, seed=1)
    solved = []
    solve = np.linalg.solve

    def recorded(*arguments):
        solved.append(solve(*arguments))
        return solved[-1]

    monkeypatch.setattr(select.np.linalg, "solve", recorded)
    cross_validate(F, codes, COSTS, folds)
    monkeypatch.undo()
    targets = np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0)
    for C in COSTS:
        scores = refit(F, codes, C, folds)
        for fold in range(5):
            rows = np.flatnonzero(folds == fold)
            np.testing.assert_allclose(
                targets[rows] - solved.pop(0), scores[rows], rtol=1e-10, atol=1e-10
            )
    assert not solved


@pytest.mark.parametrize("R", [3, 50])
def test_leave_one_out(R):
    F, codes = problem(20, R, 3, seed=4)
    folds = np.arange(20)
    expected = [100 * np.mean(refit(F, codes, C, folds).argmax(axis=1) == codes) for C in COSTS]
    assert cross_validate(F, codes, COSTS, folds) == pytest.approx(expected, abs=1e-10)


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
    found = cross_validate(with_bias(np.zeros((40, R))), codes, [0.1, 1.0, 1000.0], folds)
    assert max(found) <= 25.0


def test_with_bias():
    np.testing.assert_array_equal(with_bias(np.array([[2.0], [3.0]])), [[2, 1], [3, 1]])


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


@pytest.mark.parametrize("n_folds", [0, 1, 7])
def test_number_of_folds(n_folds):
    with pytest.raises(ValueError, match=f"n_folds must be between 2 and 6, got {n_folds}"):
        stratified_folds(np.arange(6) % 2, n_folds, seed=0)
    with pytest.raises(ValueError, match="n_folds must be between 2 and 6"):
        search_features(
            [({}, np.ones((6, 2)))],
            np.arange(6) % 2,
            gammas=[1.0],
            costs=[1.0],
            n_folds=n_folds,
        )


# ---------------------------------------------------------------- search_features


def planted(n, seed):
    """Points on a ring, in 6 sectors of alternating class; distances to random points."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, n)
    codes = (angle // (np.pi / 3)).astype(int) % 2
    points = np.column_stack([np.cos(angle), np.sin(angle)])
    good = rng.uniform(-1.5, 1.5, (60, 2))
    bad = rng.uniform(-0.1, 0.1, (60, 2)) + np.array([40.0, 0.0])

    def distances(omega):
        return np.linalg.norm(points[:, None] - omega, axis=2)

    return distances(good), distances(bad), codes


def test_planted_optimum_is_found():
    good, bad, codes = planted(150, seed=0)
    search = search_features(
        [({"where": "far"}, bad), ({"where": "near"}, good), ({"where": "far"}, bad)],
        codes,
        gammas=[1000.0, 1.0],
        costs=[1e-8, 10.0, 1000.0],
    )
    assert search.parameters["where"] == "near"
    assert search.parameters["gamma"] == pytest.approx(1 / np.median(good))
    assert search.parameters["C"] in (10.0, 1000.0)
    assert search.accuracy > 90
    assert search.accuracy == max(accuracy for _, accuracy in search.tried)


def test_every_setting_is_tried_in_order():
    good, bad, codes = planted(60, seed=1)
    gammas, costs = [0.5, 2.0, 1.0], [3.0, 1.0]
    search = search_features(
        [({"a": 1}, good), ({"a": 2}, bad)], codes, gammas=gammas, costs=costs, n_folds=4, seed=8
    )
    folds = stratified_folds(codes, 4, seed=8)
    expected = []
    for a, D in ((1, good), (2, bad)):
        for relative in gammas:
            gamma = relative / float(np.median(D))
            Z = d2ke_features(D, gamma)
            F = with_bias(Scaling.fit(Z).apply(Z))
            for C in costs:
                accuracy = cross_validate(F, codes, [C], folds)[0]
                expected.append(({"a": a, "gamma": gamma, "C": C}, accuracy))
    assert list(search.tried) == expected


def test_the_earlier_of_equals():
    tried = [({"k": 1}, 50.0), ({"k": 2}, 70.0), ({"k": 3}, 70.0)]
    assert Search.best_of(tried) == Search({"k": 2}, 70.0, tuple(tried))


def test_candidates_are_taken_one_at_a_time():
    """A distance matrix may be large; the next one is made when this one is done."""
    good, _, codes = planted(40, seed=2)
    alive = []

    def candidates():
        for a in range(3):
            alive.append(a)
            yield {"a": a}, good.copy()

    search_features(candidates(), codes, gammas=[1.0], costs=[1.0])
    assert alive == [0, 1, 2]


def test_same_result_on_any_number_of_threads():
    good, bad, codes = planted(80, seed=3)
    searches = [
        search_features(
            [({"a": 1}, good), ({"a": 2}, bad)],
            codes,
            gammas=[0.3, 1.0, 3.0, 9.0],
            costs=COSTS,
            seed=5,
            n_threads=n_threads,
        )
        for n_threads in (1, 2, 4, None)
    ]
    assert all(search == searches[0] for search in searches)


def test_threads_end_with_the_search():
    good, _, codes = planted(40, seed=4)
    before = threading.active_count()
    search_features([({}, good)], codes, gammas=[1.0, 2.0], costs=[1.0], n_threads=2)
    assert threading.active_count() == before


def test_all_distances_equal_to_zero():
    codes = np.arange(20) % 2
    search = search_features([({}, np.zeros((20, 3)))], codes, gammas=[1.0], costs=[1.0])
    assert search.parameters["gamma"] == 1.0


def test_errors_inside_the_threads_come_out():
    D = np.ones((20, 3))
    D[4, 1] = np.nan
    with pytest.raises(ValueError, match=r"nan|gamma"):
        search_features([({}, D)], np.arange(20) % 2, gammas=[1.0], costs=[1.0])
    D[4, 1] = -1
    with pytest.raises(ValueError, match=r"D\[4, 1\] is -1"):
        search_features([({}, D)], np.arange(20) % 2, gammas=[1.0], costs=[1.0])


def test_no_candidates():
    with pytest.raises(ValueError, match="candidates"):
        search_features([], np.arange(20) % 2, gammas=[1.0], costs=[1.0])


def test_permuted_labels_give_chance():
    accuracies = []
    for seed in range(12):
        good, _, codes = planted(150, seed)
        codes = np.random.default_rng(seed).permutation(codes)
        search = search_features([({}, good)], codes, gammas=[1.0], costs=[1.0], seed=seed)
        accuracies.append(search.accuracy)
    # 1800 tosses: the standard deviation of their mean is 1.2 %.
    assert np.mean(accuracies) == pytest.approx(50, abs=5)


# ---------------------------------------------------------------- search_neighbors


def leave_one_out(D, y, k):
    right = 0
    for i in range(len(D)):
        nearest = sorted((j for j in range(len(D)) if j != i), key=lambda j: (D[i, j], j))[:k]
        labels = [y[j] for j in nearest]
        most = max(labels.count(label) for label in labels)
        right += next(label for label in labels if labels.count(label) == most) == y[i]
    return 100 * right / len(D)


@pytest.mark.parametrize("distances", [[0.0, 0.5, 1.0, 2.0], [0.0, 1.0, np.inf], [np.inf]])
@given(data=st.data())
def test_neighbors_against_a_loop(distances, data):
    n = data.draw(st.integers(2, 9))
    D = data.draw(arrays(np.float64, (n, n), elements=st.sampled_from(distances)))
    y = np.array(data.draw(st.lists(st.sampled_from(["x", "a", "m"]), min_size=n, max_size=n)))
    ks = list(range(1, n))
    search = search_neighbors(D, y, ks)
    expected = [leave_one_out(D, y.tolist(), k) for k in ks]
    assert [parameters for parameters, _ in search.tried] == [{"k": k} for k in ks]
    assert [accuracy for _, accuracy in search.tried] == pytest.approx(expected)
    assert search.parameters == {"k": ks[int(np.argmax(expected))]}
    assert search.accuracy == pytest.approx(max(expected))


def test_neighbors_leave_the_distances_as_they_are():
    D = np.random.default_rng(0).random((6, 6))
    before = D.copy()
    search_neighbors(D, np.arange(6) % 2, [1, 2])
    np.testing.assert_array_equal(D, before)


@pytest.mark.parametrize("k", [0, 3, 4])
def test_neighbors_range_of_k(k):
    D = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0)))
    with pytest.raises(ValueError, match="k must be"):
        search_neighbors(D, np.array(list("aab")), [k])


def test_neighbors_of_permuted_labels_give_chance():
    rng = np.random.default_rng(0)
    x = np.repeat([0.0, 10.0], 200) + rng.standard_normal(400)
    D = np.abs(x[:, None] - x)
    y = np.repeat([0, 1], 200)
    assert search_neighbors(D, y, [5]).accuracy == 100
    assert search_neighbors(D, rng.permutation(y), [5]).accuracy == pytest.approx(50, abs=10)


# ---------------------------------------------------------------- search_vectors, search_gram


def two_moons(n, seed):
    """Make two half circles that no line divides, in shuffled order."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(n) % 2)
    angle = rng.uniform(0, np.pi, n)
    x = np.column_stack([np.cos(angle), np.sin(angle)]) * np.where(codes, -1, 1)[:, None]
    x[codes == 1] += [1.0, 0.5]
    return x + 0.05 * rng.standard_normal(x.shape), codes


def test_vectors_with_a_planted_optimum():
    x, codes = two_moons(80, 0)
    D = np.linalg.norm(x[:, None] - x, axis=2)
    candidates = [({"width": w}, np.exp(-((D / w) ** 2))) for w in (1e-3, 0.5, 1e3)]
    found = search_vectors(candidates, codes, costs=COSTS)
    assert found.parameters["width"] == 0.5
    assert found.accuracy > 97
    assert len(found.tried) == 3 * len(COSTS)


def test_gram_with_a_planted_optimum():
    x, codes = two_moons(80, 1)
    D = np.linalg.norm(x[:, None] - x, axis=2)
    candidates = [({"gamma": gamma}, np.exp(-gamma * D**2)) for gamma in (1e-4, 4.0, 1e4)]
    found = search_gram(candidates, codes, costs=(1.0, 100.0))
    assert found.parameters["gamma"] == 4.0
    assert found.accuracy > 97
    assert found.tried == search_gram(candidates, codes, costs=(1.0, 100.0), n_threads=1).tried


def test_gram_counts_what_refitted_machines_get_right():
    from sklearn.svm import SVC

    x, codes = two_moons(45, 2)
    K = x @ x.T
    folds = stratified_folds(codes, 5, seed=3)
    right = 0
    for fold in range(5):
        kept, out = folds != fold, folds == fold
        model = SVC(C=2.0, kernel="precomputed").fit(K[np.ix_(kept, kept)], codes[kept])
        right += (model.predict(K[np.ix_(out, kept)]) == codes[out]).sum()
    found = search_gram([({}, K)], codes, costs=[2.0], n_folds=5, seed=3)
    assert found.accuracy == pytest.approx(100 * right / 45)
