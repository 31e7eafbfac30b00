# SPDX-License-Identifier: BSD-3-Clause
"""The choice of parameters on ready matrices: every setting by hand, and the losses."""

import weakref
from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import d2ke
from d2ke.embedding.features import d2ke_features
from d2ke.embedding.scaling import SCALINGS, Scaling
from d2ke.learners.losses import LOSSES
from d2ke.model_selection import candidates as candidates_module
from d2ke.model_selection import methods
from d2ke.model_selection.cross_validation import cross_validate, cross_validate_hinge
from d2ke.model_selection.folds import SearchProblem, stratified_folds

COSTS = (0.01, 0.1, 1.0, 10.0, 1000.0)


pytestmark = pytest.mark.usefixtures("one_blas_thread")


def of_loss(found, loss):
    return tuple(one for one in found.tried if one[0]["loss"] == loss)


def search_features(candidates, codes, *, n_folds=10, seed=0, n_threads=None, **values):
    problem = SearchProblem(codes, n_folds, seed, n_threads, force_hinge=True)
    if "gamma" not in values:
        values = {"gamma_scale": [1.0]} | values
    values = {"R": [60], "scaling": ["standard"], "loss": LOSSES, "C": [1.0]} | values
    return candidates_module.search_features(candidates, problem, values)


def search_vectors(candidates, codes, *, n_folds=10, **values):
    problem = SearchProblem(codes, n_folds, force_hinge=True)
    return candidates_module.search_vectors(candidates, problem, {"loss": LOSSES} | values)


def search_gram(candidates, codes, *, costs, n_folds=10, seed=0, n_threads=None):
    problem = SearchProblem(codes, n_folds, seed, n_threads)
    return methods.search_gram(candidates, problem, costs)


def search_neighbors(D, y, ks, *, n_folds=None, seed=0):
    """Leave out one object at a time by default."""
    codes = np.unique(y, return_inverse=True)[1]
    problem = SearchProblem(codes, len(codes) if n_folds is None else n_folds, seed)
    return methods.search_neighbors(D, problem, ks)


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


@pytest.mark.parametrize("relative", [True, False])
def test_every_setting_is_tried_in_order(relative):
    good, bad, codes = planted(40, seed=1)
    found = search_features(
        [({"a": 1}, good), ({"a": 2}, bad)],
        codes,
        **{"gamma_scale" if relative else "gamma": [2.0, 0.5]},
        C=[3.0, 1.0],
        R=[40, 7],
        scaling=SCALINGS,
        loss=["squared"],
        n_folds=4,
        seed=8,
    )
    folds = stratified_folds(codes, 4, seed=8)
    expected = []
    for (a, D), R, scaling, g in product([(1, good), (2, bad)], (40, 7), SCALINGS, (2.0, 0.5)):
        gamma = g / float(np.median(D[:, :R])) if relative else g
        Z = d2ke_features(D[:, :R], gamma)
        F = Scaling.fit(Z, scaling).apply(Z)
        for C in (3.0, 1.0):
            setting = {"a": a, "R": R, "scaling": scaling, "gamma": gamma, "C": C}
            accuracy = cross_validate(F, codes, [C], folds)[0]
            expected.append((setting | {"loss": "squared"}, accuracy))
    assert list(found.tried) == expected


def test_candidates_are_taken_one_at_a_time():
    """A distance matrix may be large; the next one is made when this one is done.

    When it is made, the best one so far is held, and no other.
    """
    good, bad, codes = planted(40, seed=2)
    made, alive = [], []

    def copied(D):
        alive.append([i for i, one in enumerate(made) if one() is not None])
        D = D.copy()
        made.append(weakref.ref(D))
        return D

    candidates = (({"a": a}, copied(D)) for a, D in enumerate((good, bad, bad, bad)))
    found = search_features(candidates, codes, gamma_scale=[1.0], C=[1.0])
    assert found.parameters["a"] == 0
    assert alive == [[], [0], [0], [0]]


def test_all_distances_equal_to_zero():
    codes = np.arange(20) % 2
    found = search_features([({}, np.zeros((20, 3)))], codes, R=[3])
    assert found.parameters["gamma"] == 1.0


def test_errors_inside_the_threads_come_out():
    D = np.ones((20, 3))
    D[4, 1] = np.nan
    with pytest.raises(ValueError, match=r"nan|gamma"):
        search_features([({}, D)], np.arange(20) % 2, R=[3])


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
    found = search_neighbors(D, y, ks)
    expected = [leave_one_out(D, y.tolist(), k) for k in ks]
    assert [parameters for parameters, _ in found.tried] == [{"k": k} for k in ks]
    assert [accuracy for _, accuracy in found.tried] == pytest.approx(expected)
    assert found.parameters == {"k": ks[int(np.argmax(expected))]}
    assert found.accuracy == pytest.approx(max(expected))


# ---------------------------------------------------------------- search_vectors, search_gram


def two_moons(n, seed):
    """Make two half circles that no line divides, in shuffled order."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(n) % 2)
    angle = rng.uniform(0, np.pi, n)
    x = np.column_stack([np.cos(angle), np.sin(angle)]) * np.where(codes, -1, 1)[:, None]
    x[codes == 1] += [1.0, 0.5]
    return x + 0.05 * rng.standard_normal(x.shape), codes


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


def test_neighbors_with_folds_against_a_loop():
    rng = np.random.default_rng(2)
    D, y = rng.random((23, 23)), np.array(list("abc"))[rng.integers(3, size=23)]
    folds = stratified_folds(np.unique(y, return_inverse=True)[1], 4, seed=6)
    found = search_neighbors(D, y, [1, 4, 17], n_folds=4, seed=6)
    for setting, accuracy in found.tried:
        right = 0
        for fold in range(4):
            out, kept = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            labels = d2ke.knn_predict(y[kept], D[np.ix_(out, kept)], setting["k"])
            right += (labels == y[out]).sum()
        assert accuracy == pytest.approx(100 * right / 23)
    with pytest.raises(ValueError, match="k must be between 1 and 17, got 18"):
        search_neighbors(D, y, [18], n_folds=4, seed=6)


# ---------------------------------------------------------------- losses


def features_search(costs):
    """Return a search with two gammas, and the scaled features of a setting."""
    good, bad, codes = planted(70, seed=6)
    candidates = [({"a": 1}, bad), ({"a": 2}, good)]
    how = {"gamma_scale": [0.3, 1.0], "C": costs, "n_folds": 3, "seed": 3, "n_threads": 1}

    def scaled(setting):
        assert setting["a"] == 2
        Z = d2ke_features(good, setting["gamma"])
        return Scaling.fit(Z).apply(Z)

    return partial(search_features, candidates, codes, **how), codes, 3, scaled, 4


def vectors_search(costs):
    x, codes = two_moons(60, 3)
    vectors = {1: x, 3: np.hstack([x, x**2, x**3])}
    candidates = [({"power": power}, F) for power, F in vectors.items()]
    search = partial(search_vectors, candidates, codes, C=costs, n_folds=3)
    return search, codes, 0, lambda setting: vectors[setting["power"]], 2


@pytest.mark.parametrize("costs", [(10.0, 0.1, 1.0, 0.01, 100.0, 1000.0), (5.0,)])
@pytest.mark.parametrize("make", [features_search, vectors_search])
def test_the_hinge_is_tried_on_the_leading_setting(make, costs):
    search, codes, seed, features, n_settings = make(costs)
    found, plain = search(), search(loss=["squared"])
    assert of_loss(plain, "squared_hinge") == ()
    assert len(plain.tried) == n_settings * len(costs)
    leader = plain.parameters
    place = sorted(costs).index(leader["C"])
    nearby = sorted(costs)[max(0, place - 1) : place + 2]
    folds = stratified_folds(codes, 3, seed=seed)
    accuracies = cross_validate_hinge(features(leader), codes, nearby, folds, n_threads=1)
    hinge = tuple(
        (leader | {"C": C, "loss": "squared_hinge"}, one)
        for C, one in zip(nearby, accuracies, strict=True)
    )
    assert found.tried == plain.tried + hinge
    assert found.accuracy == max(plain.accuracy, *accuracies)
    assert (found.parameters, found.accuracy) in found.tried
    # The squared loss is not for choice then, though it leads to the setting.
    alone = search(loss=["squared_hinge"])
    assert alone.tried == found.tried
    assert alone.accuracy == max(accuracies)
    assert (alone.parameters, alone.accuracy) in hinge


def test_vectors_are_tried_in_order():
    x, codes = two_moons(60, 3)
    search = partial(search_vectors, [({"a": 1}, x), ({"a": 2}, x**3)], codes, C=COSTS)
    folds = stratified_folds(codes, 3, seed=0)
    assert list(search(loss=["squared"], n_folds=3).tried) == [
        ({"a": a, "C": C, "loss": "squared"}, accuracy)
        for a, F in ((1, x), (2, x**3))
        for C, accuracy in zip(COSTS, cross_validate(F, codes, COSTS, folds), strict=True)
    ]


def search_by(function, losses):
    """Search on a problem where C = 10 leads by the squared loss."""
    good, _, codes = planted(60, seed=9)
    if function is search_vectors:
        return search_vectors([({}, good)], codes, C=[1.0, 10.0], loss=losses, n_folds=3)
    return search_features(
        [({}, good)], codes, gamma_scale=[1.0], C=[1.0, 10.0], loss=losses, n_folds=3
    )


@pytest.mark.parametrize("function", [search_features, search_vectors])
@pytest.mark.parametrize(
    ("hinge", "best"),
    [((0.0, 0.0), "squared"), ((0.0, 100.5), "squared_hinge"), ("equal", "squared")],
)
def test_the_better_loss_is_chosen(function, hinge, best, monkeypatch):
    plain = search_by(function, ["squared"])
    by_hinge = [plain.accuracy] * 2 if hinge == "equal" else list(hinge)
    monkeypatch.setattr(candidates_module, "cross_validate_hinge", lambda *_, **__: by_hinge)
    for losses in (LOSSES, LOSSES[::-1]):
        found = search_by(function, losses)
        assert found.parameters["loss"] == best
        assert found.accuracy == max(plain.accuracy, *by_hinge)
        assert [accuracy for _, accuracy in of_loss(found, "squared_hinge")] == by_hinge
        assert of_loss(found, "squared") == plain.tried
    # With the hinge alone it is chosen, however far behind.
    alone = search_by(function, ["squared_hinge"])
    assert alone.tried == found.tried
    assert alone.parameters["loss"] == "squared_hinge"
    assert alone.accuracy == max(by_hinge)


@pytest.mark.parametrize("function", [search_features, search_vectors])
def test_no_hinge_is_computed_without_need(function, monkeypatch):
    def fail(*arguments, **options):
        pytest.fail("the hinge loss was tried")

    monkeypatch.setattr(candidates_module, "cross_validate_hinge", fail)
    found = search_by(function, ["squared"])
    assert {setting["loss"] for setting, _ in found.tried} == {"squared"}
