# SPDX-License-Identifier: BSD-3-Clause
"""The choice of parameters: planted optima, equal ways to the same result, chance, errors."""

import threading
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from threadpoolctl import threadpool_info, threadpool_limits

import d2ke
from d2ke import select
from d2ke.crossval import cross_validate, cross_validate_hinge, stratified_folds, with_bias
from d2ke.embed import d2ke_features
from d2ke.scaling import SCALINGS, Scaling
from d2ke.search_result import load_search
from d2ke.select import (
    GRIDS,
    search,
    search_features,
    search_gram,
    search_neighbors,
    search_vectors,
)

COSTS = (0.01, 0.1, 1.0, 10.0, 1000.0)


@pytest.fixture(autouse=True, scope="module")
def one_blas_thread():
    """The problems are tiny: threads of the BLAS would only slow them down."""
    with threadpool_limits(limits=1, user_api="blas"):
        yield


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
    found = search_features(
        [({"where": "far"}, bad), ({"where": "near"}, good), ({"where": "far"}, bad)],
        codes,
        gammas=[1000.0, 1.0],
        costs=[1e-8, 10.0, 1000.0],
    )
    assert found.parameters["where"] == "near"
    assert found.parameters["gamma"] == pytest.approx(1 / np.median(good))
    assert found.parameters["C"] in (10.0, 1000.0)
    assert found.accuracy > 90
    assert found.accuracy == max(accuracy for _, accuracy in found.tried)


def test_every_setting_is_tried_in_order():
    good, bad, codes = planted(60, seed=1)
    gammas, costs = [0.5, 2.0, 1.0], [3.0, 1.0]
    found = search_features(
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
                setting = {"a": a, "R": 60, "scaling": "standard", "gamma": gamma, "C": C}
                expected.append((setting, accuracy))
    assert list(found.tried) == expected


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
    assert all(one == searches[0] for one in searches)


def test_threads_end_with_the_search():
    good, _, codes = planted(40, seed=4)
    before = threading.active_count()
    search_features([({}, good)], codes, gammas=[1.0, 2.0], costs=[1.0], n_threads=2)
    assert threading.active_count() == before


def test_all_distances_equal_to_zero():
    codes = np.arange(20) % 2
    found = search_features([({}, np.zeros((20, 3)))], codes, gammas=[1.0], costs=[1.0])
    assert found.parameters["gamma"] == 1.0


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
        found = search_features([({}, good)], codes, gammas=[1.0], costs=[1.0], seed=seed)
        accuracies.append(found.accuracy)
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
    found = search_neighbors(D, y, ks)
    expected = [leave_one_out(D, y.tolist(), k) for k in ks]
    assert [parameters for parameters, _ in found.tried] == [{"k": k} for k in ks]
    assert [accuracy for _, accuracy in found.tried] == pytest.approx(expected)
    assert found.parameters == {"k": ks[int(np.argmax(expected))]}
    assert found.accuracy == pytest.approx(max(expected))


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


def test_neighbors_with_folds_against_a_loop():
    rng = np.random.default_rng(2)
    D, y = rng.random((23, 23)), np.array(list("abc"))[rng.integers(3, size=23)]
    folds = stratified_folds(np.unique(y, return_inverse=True)[1], 4, seed=6)
    found = search_neighbors(D, y, [1, 4, 17], n_folds=4, seed=6)
    for setting, accuracy in found.tried:
        right = 0
        for fold in range(4):
            out, kept = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            labels = d2ke.knn_predict(D[np.ix_(out, kept)], y[kept], setting["k"])
            right += (labels == y[out]).sum()
        assert accuracy == pytest.approx(100 * right / 23)
    with pytest.raises(ValueError, match="k must be between 1 and 17, got 18"):
        search_neighbors(D, y, [18], n_folds=4, seed=6)


# ---------------------------------------------------------------- the parts' new arguments


def test_sizes_and_scalings_are_tried_in_order():
    good, _, codes = planted(50, seed=5)
    found = search_features(
        [({}, good)],
        codes,
        gammas=[0.5, 1.0],
        costs=[1.0],
        relative=False,
        sizes=[40, 7],
        scalings=SCALINGS,
        n_folds=5,
    )
    folds = stratified_folds(codes, 5, seed=0)
    expected = []
    for R in (40, 7):
        for scaling in SCALINGS:
            for gamma in (0.5, 1.0):
                Z = d2ke_features(good[:, :R], gamma)
                F = with_bias(Scaling.fit(Z, scaling).apply(Z))
                setting = {"R": R, "scaling": scaling, "gamma": gamma, "C": 1.0}
                expected.append((setting, cross_validate(F, codes, [1.0], folds)[0]))
    assert list(found.tried) == expected


@pytest.mark.parametrize("costs", [(10.0, 0.1, 1.0, 0.01, 100.0, 1000.0), (5.0,)])
def test_refinement_is_that_of_the_leading_setting(costs):
    good, bad, codes = planted(70, seed=6)
    candidates = [({"a": 1}, bad), ({"a": 2}, good)]
    options = {"gammas": [0.3, 1.0], "costs": costs, "n_folds": 3, "seed": 3, "n_threads": 1}
    found = search_features(candidates, codes, refine=True, **options)
    plain = search_features(candidates, codes, **options)
    assert plain.refined == ()
    assert found.tried == plain.tried
    leader = plain.parameters
    place = sorted(costs).index(leader["C"])
    nearby = sorted(costs)[max(0, place - 2) : place + 3]
    Z = d2ke_features(good, leader["gamma"])
    folds = stratified_folds(codes, 3, seed=3)
    accuracies = cross_validate_hinge(Scaling.fit(Z).apply(Z), codes, nearby, folds, n_threads=1)
    expected = [(leader | {"C": C}, one) for C, one in zip(nearby, accuracies, strict=True)]
    assert list(found.refined) == expected
    assert found.accuracy == max(accuracies)
    assert (found.parameters, found.accuracy) in expected


def test_refinement_of_vectors():
    x, codes = two_moons(60, 3)
    candidates = [({"power": 1}, x), ({"power": 3}, np.hstack([x, x**2, x**3]))]
    found = search_vectors(candidates, codes, costs=COSTS, n_folds=3, refine=True)
    plain = search_vectors(candidates, codes, costs=COSTS, n_folds=3)
    assert found.tried == plain.tried
    nearby = [setting["C"] for setting, _ in found.refined]
    assert plain.parameters["C"] in nearby
    assert nearby == sorted(nearby)
    F = dict(enumerate(candidates))[plain.parameters["power"] // 2][1]
    folds = stratified_folds(codes, 3, seed=0)
    expected = cross_validate_hinge(F, codes, nearby, folds, n_threads=1)
    assert [accuracy for _, accuracy in found.refined] == expected


# ---------------------------------------------------------------- search: planted optima


def ring(n, seed, flipped=0.0):
    """Sets of one point each, on a ring in 6 sectors of alternating class."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, n)
    labels = np.array(["even", "odd"])[(angle // (np.pi / 3)).astype(int) % 2]
    wrong = rng.random(n) < flipped
    labels[wrong] = np.where(labels[wrong] == "odd", "even", "odd")
    points = np.column_stack([np.cos(angle), np.sin(angle)])
    return d2ke.pack([point[None] for point in points]), labels


def points(R, *, seed, where="near"):
    """Draw points around the ring, or far from it."""
    low, high = {"near": (-1.5, 1.5), "far": (40.0, 40.2)}[where]
    return d2ke.random_sets(R, 2, size=1, region="box", low=low, high=high, seed=seed)


euclidean = {"distance": "hausdorff"}  # of sets of one point each


def test_d2ke_with_a_planted_optimum():
    X, y = ring(150, 0)
    grid = {
        "where": ["far", "near", "far"],
        "R": [2, 60],
        "gamma_scale": [1000.0, 1.0],
        "C": [1e-8, 10.0],
    }
    found = search(X, y, sampler=points, grid=grid, **euclidean)
    D = d2ke.distance_matrix(X, points(60, seed=0), "hausdorff")
    assert found.parameters == {
        "where": "near",
        "R": 60,
        "scaling": "standard",
        "gamma": 1 / np.median(D),
        "C": 10.0,
    }
    assert found.accuracy > 90
    assert len(found.tried) == 3 * 2 * 2 * 2
    again = search(X, y, sampler=points, grid=grid, refine=False, **euclidean)
    assert again.tried == found.tried
    assert again.parameters == found.parameters


@pytest.mark.parametrize(
    ("told", "noise", "best"), [(0.01, 1.0, "standard"), (1.0, 1e-4, "center")]
)
@pytest.mark.parametrize("order", [1, -1])
def test_d2ke_chooses_the_scaling(told, noise, best, order):
    """One feature tells the classes apart; the others are noise, of larger or smaller range."""
    rng = np.random.default_rng(3)
    y = rng.permutation(np.arange(60) % 2)
    X = noise * rng.random((60, 80))
    X[:, 0] = told * (y + 0.4 * rng.random(60))
    found = search(
        X,
        y,
        distance=lambda x, position: x[position],
        sampler=lambda R, seed: range(R),
        grid={"R": [80], "scaling": ["center", "standard"][::order], "gamma": [0.1], "C": [1.0]},
        refine=False,
    )
    assert found.parameters["scaling"] == best
    first, second = (accuracy for _, accuracy in found.tried)
    assert abs(first - second) > 5


def test_rsm_with_a_planted_optimum():
    X, y = ring(120, 1)
    grid = {"R": [2, 60], "gamma_scale": [1000.0, 3.0], "C": [1e-8, 10.0]}
    found = search(X, y, "rsm", grid=grid, **euclidean)
    assert (found.parameters["R"], found.parameters["C"]) == (60, 10.0)
    omega = d2ke.representatives(X, 60, seed=0)
    median = np.median(d2ke.distance_matrix(X, omega, "hausdorff"))
    assert found.parameters["gamma"] == pytest.approx(3 / median)
    assert found.accuracy > 90


def test_knn_with_a_planted_optimum():
    X, y = ring(150, 2, flipped=0.2)
    found = search(X, y, "knn", grid={"k": [100, 1, 9]}, **euclidean)
    assert found.parameters == {"k": 9}
    assert found.accuracy > 70


def test_dsk_rbf_with_a_planted_optimum():
    X, y = ring(150, 3)
    keep = (y == "odd") | (np.arange(150) % 3 == 0)  # the rarer class is missed if C is tiny
    X, y = X[np.flatnonzero(keep)], y[keep]
    found = search(X, y, "dsk_rbf", grid={"gamma": [1e-3, 9.0, 1e5], "C": [1e-5, 10]}, **euclidean)
    assert found.parameters == {"gamma": 9.0, "C": 10.0}
    assert found.accuracy > 90


def test_dsk_nd_with_a_planted_optimum():
    """The power 2 gives a linear classifier of the points, the power 1 does not."""
    X, y = ring(150, 4)
    found = search(X, y, "dsk_nd", grid={"beta": [2, 1], "C": [1e-5, 10.0]}, **euclidean)
    assert found.parameters == {"beta": 1.0, "C": 10.0}
    assert found.accuracy > 85


def test_gdk_led_with_a_planted_optimum():
    """The classes differ in the direction of the least deviation."""
    rng = np.random.default_rng(5)
    y = np.arange(80) % 2
    x = rng.standard_normal((80, 3)) * [100.0, 10.0, 0.1] + np.outer(y, [0, 0, 1.0])
    X = d2ke.pack([point[None] for point in x])
    found = search(X, y, "gdk_led", grid={"R": [1, 2, 3], "C": [1e-9, 100.0]}, **euclidean)
    assert found.parameters == {"R": 3, "C": 100.0}
    assert found.accuracy > 95
    assert [setting["R"] for setting, _ in found.tried] == [1, 1, 2, 2, 3, 3]


# ---------------------------------------------------------------- search: ways that agree

SMALL_GRIDS = {
    "d2ke": {"where": ["near", "far"], "R": [8, 20], "gamma_scale": [1.0, 3.0], "C": [1.0, 10.0]},
    "rsm": {"R": [20], "scaling": SCALINGS, "gamma_scale": [1.0], "C": [1.0, 100.0]},
    "knn": {"k": [1, 3, 5]},
    "dsk_rbf": {"gamma_scale": [1.0, 10.0], "C": [1.0, 10.0]},
    "dsk_nd": {"beta": [1.0, 2.0], "C_scale": [1.0, 10.0]},
    "gdk_led": {"R": [1, 2], "C_scale": [1.0, 10.0]},
}
BY_GRAM = ["knn", "dsk_rbf", "dsk_nd", "gdk_led"]


def small_search(method, *, n=48, seed=0, **options):
    X, y = ring(n, 7)
    if method == "d2ke":
        options.setdefault("sampler", points)
    return search(
        options.pop("X", X),
        options.pop("y", y),
        method,
        **{"grid": SMALL_GRIDS[method], "n_folds": 4, "seed": seed, "refine": False, "n_threads": 1}
        | euclidean
        | options,
    )


@pytest.mark.parametrize("method", GRIDS)
def test_search_gives_the_same_on_any_number_of_threads(method):
    first, *others = (
        small_search(method, n_threads=n_threads, refine=True) for n_threads in (1, 3, None)
    )
    assert all(other == first for other in others)


@pytest.mark.parametrize("method", GRIDS)
def test_the_seed_decides(method):
    assert small_search(method, seed=1) == small_search(method, seed=1)
    found = [small_search(method, seed=seed).tried for seed in range(3)]
    assert any(one != found[0] for one in found)


@pytest.mark.parametrize("method", BY_GRAM)
def test_known_distances_give_the_same(method):
    within = d2ke.distance_matrix(ring(48, 7)[0], None, "hausdorff")
    found = small_search(method)
    before = within.copy()
    for known in (within, within.tolist()):
        assert small_search(method, within=known) == found
    np.testing.assert_array_equal(within, before)
    assert small_search(method, within=within, X=None) == found


@pytest.mark.parametrize("method", ["d2ke", "rsm", "dsk_rbf"])
def test_relative_and_absolute_gamma_agree(method):
    grid = SMALL_GRIDS[method] | {"gamma_scale": [0.5, 2.0]}
    if method == "d2ke":
        grid |= {"where": ["near"]}
    if method != "dsk_rbf":
        grid |= {"R": [20]}
    relative = small_search(method, grid=grid)
    gammas = sorted({setting["gamma"] for setting, _ in relative.tried})
    assert len(gammas) == 2
    del grid["gamma_scale"]
    assert small_search(method, grid=grid | {"gamma": gammas}) == relative
    X = ring(48, 7)[0]
    Y = {"d2ke": points(20, seed=0), "rsm": d2ke.representatives(X, 20, seed=0)}.get(method)
    median = np.median(d2ke.distance_matrix(X, Y, "hausdorff"))
    unit = median**2 if method == "dsk_rbf" else median
    assert gammas == pytest.approx([0.5 / unit, 2 / unit])


@pytest.mark.parametrize("method", ["dsk_nd", "gdk_led"])
def test_relative_and_absolute_cost_agree(method):
    part = {"dsk_nd": {"beta": [1.5]}, "gdk_led": {"R": [1, 2]}}[method]
    relative = small_search(method, grid=part | {"C_scale": [1.0, 30.0]})
    costs = sorted({setting["C"] for setting, _ in relative.tried})
    assert len(costs) == 2
    assert small_search(method, grid=part | {"C": costs}) == relative
    within = d2ke.distance_matrix(ring(48, 7)[0], None, "hausdorff")
    units = {
        "dsk_nd": np.median(within) ** 1.5,
        "gdk_led": np.mean(np.sum(d2ke.gdk_led(within, 2).Z ** 2, axis=1)),
    }
    assert costs == pytest.approx([1 / units[method], 30 / units[method]])


@pytest.mark.parametrize("values", [{"gamma": [0.7, 2.0]}, {"gamma_scale": [0.7, 2.0]}])
@pytest.mark.parametrize("method", ["d2ke", "rsm"])
def test_fewer_features_are_those_of_a_search_for_them_alone(method, values):
    def tried(sizes):
        grid = {"R": sizes, "scaling": ["center", "standard"], "C": [1.0, 10.0]} | values
        return small_search(method, grid=grid).tried

    both = tried([5, 20])
    for R in (5, 20):
        assert tuple(one for one in both if one[0]["R"] == R) == tried([R])


def test_fewer_dimensions_are_those_of_a_search_for_them_alone():
    both = small_search("gdk_led", grid={"R": [1, 2], "C": [1.0, 10.0]}).tried
    for R in (1, 2):
        alone = small_search("gdk_led", grid={"R": [R], "C": [1.0, 10.0]}).tried
        assert tuple(one for one in both if one[0]["R"] == R) == alone


@pytest.mark.parametrize("method", GRIDS)
def test_the_chosen_setting_was_tried(method):
    found = small_search(method, refine=True)
    assert (found.parameters, found.accuracy) in (found.refined or found.tried)
    assert found.parameters in [setting for setting, _ in found.tried]
    assert bool(found.refined) == (method in ("d2ke", "rsm", "gdk_led"))
    assert small_search(method).refined == ()


@pytest.mark.parametrize("method", GRIDS)
def test_labels_of_any_type(method):
    X, y = ring(48, 7)
    found = small_search(method)
    for labels in ((y == "odd").astype(int), (y == "odd") * 2.5 - 1, y == "odd", y.tolist()):
        assert small_search(method, X=X, y=labels) == found


@pytest.mark.parametrize("method", GRIDS)
def test_permuted_labels_are_searched_to_no_avail(method):
    found = []
    for seed in range(3):
        X, y = ring(150, seed)
        y = np.random.default_rng(seed).permutation(y)
        grid = {name: SMALL_GRIDS[method][name][-1:] for name in SMALL_GRIDS[method]}
        options = {"sampler": points} if method == "d2ke" else {}
        options |= euclidean | {"refine": False}
        found.append(search(X, y, method, grid=grid, seed=seed, **options).accuracy)
    # 450 tosses: the standard deviation of their mean is 2.4 %.
    assert np.mean(found) == pytest.approx(50, abs=8)


@pytest.mark.parametrize("method", GRIDS)
@pytest.mark.parametrize("n", [2, 5, 13])
def test_defaults_suit_small_training_parts(method, n):
    X, y = ring(40, 8)
    chosen = np.append(
        np.flatnonzero(y == "odd")[: n // 2], np.flatnonzero(y == "even")[: n - n // 2]
    )
    options = {"sampler": points} if method == "d2ke" else {}
    found = search(X[chosen], y[chosen], method, n_folds=2, **options, **euclidean)
    for name, most in (("k", n - -(-n // 2)), ("R", 512 if method == "d2ke" else n)):
        assert all(1 <= setting.get(name, 1) <= most for setting, _ in found.tried)


def test_strings_with_the_samplers_of_the_package():
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("ab" if i % 2 else "bc"), 12)) for i in range(40)]
    options = {
        "distance": "levenshtein",
        "sampler": partial(d2ke.random_strings, alphabet="abc"),
        "grid": {"length": [(2, 5), (8, 14)], "R": [64], "C": [1.0, 100.0]},
        "n_folds": 5,
    }
    found = search(words, [i % 2 for i in range(40)], **options)
    assert found.accuracy > 90
    assert list(found.parameters) == ["length", "R", "scaling", "gamma", "C"]
    assert search(d2ke.pack(words), np.arange(40) % 2, **options) == found
    ranges = [[2, 5], [8, 14]]
    for lengths in (ranges, np.array(ranges)):
        options["grid"] |= {"length": lengths, "R": np.array([64])}
        assert search(words, np.arange(40) % 2, **options) == found


@pytest.mark.parametrize("method", GRIDS)
def test_python_distances_of_anything(method):
    rng = np.random.default_rng(1)
    people = [{"age": float(age)} for age in rng.integers(1, 90, 40)]
    y = [one["age"] > 45 for one in people]
    options = {}
    if method == "d2ke":
        options["sampler"] = lambda R, seed: [{"age": a} for a in np.linspace(0, 100, R)]
    found = search(
        people,
        y,
        method,
        distance=lambda a, b, unit: abs(a["age"] - b["age"]) / unit,
        grid={"R": [10], "C": [10.0]} if method in ("d2ke", "rsm") else None,
        unit=10.0,
        n_folds=4,
        **options,
    )
    assert found.accuracy > 85
    assert "lambda" in found.info["distance"]


def test_parameters_of_the_distance():
    rng = np.random.default_rng(2)
    X = [rng.standard_normal(rng.integers(10, 20)).cumsum() for _ in range(30)]
    y = np.arange(30) % 2
    within = d2ke.distance_matrix(X, None, "dtw", window=2)
    assert search(X, y, "knn", distance="dtw", window=2) == search(
        X, y, "knn", distance="dtw", within=within
    )


def test_result_is_saved_and_loaded(tmp_path):
    grid = {"where": np.array(["near", "far"]), "R": np.array([8]), "C": np.logspace(-1, 2, 4)}
    found = small_search("d2ke", grid=grid)
    for name in ("s.json", "s.h5"):
        found.save(tmp_path / name)
        loaded = load_search(tmp_path / name)
        assert loaded == found
        assert loaded.info == found.info
    assert found.info["method"] == "d2ke"
    assert (found.info["n"], found.info["n_folds"], found.info["seed"]) == (48, 4, 0)
    assert found.info["distance"] == "hausdorff"
    assert found.info["seconds"] > 0


@pytest.mark.parametrize("method", GRIDS)
def test_search_leaves_the_threads_of_the_blas_as_they_were(method):
    before = [(one["filepath"], one["num_threads"]) for one in threadpool_info()]
    small_search(method)
    with pytest.raises(ValueError, match=r"grid\['[kC]'\]\[0\]"):
        small_search(method, grid={"k" if method == "knn" else "C": [-1]})
    assert [(one["filepath"], one["num_threads"]) for one in threadpool_info()] == before


# ---------------------------------------------------------------- search: errors


def infinite(D):
    D = D.copy()
    D[:, :30] = D[:30] = np.inf
    return D


def broken(value, i=3, j=5):
    within = d2ke.distance_matrix(ring(48, 7)[0], None, "hausdorff")
    within[i, j] = value
    return within


BAD = [
    ("svm", {"grid": None}, ValueError, "method must be one of d2ke, rsm, knn, .*; got 'svm'"),
    (3, {"grid": None}, TypeError, "method must be a string"),
    # y
    ("knn", {"y": ["a"] * 48}, ValueError, "y holds one class only, 'a'"),
    ("knn", {"y": []}, ValueError, "y is empty"),
    ("knn", {"y": ["a", "b"] * 20}, ValueError, "y has 40 labels, but X has 48 objects"),
    ("d2ke", {"y": ["a", "b"] * 20}, ValueError, "y has 40 labels, but X has 48 objects"),
    ("rsm", {"y": [["a", "b"]] * 48}, ValueError, "y must be one-dimensional"),
    ("knn", {"y": [0.0, np.nan] * 24}, ValueError, r"y\[1\] is nan"),
    # n_folds, seed, n_threads
    *(
        ("knn", {"n_folds": n}, ValueError, f"n_folds must be between 2 and 48, got {n}")
        for n in (-1, 0, 1, 49)
    ),
    ("d2ke", {"n_folds": 2.5}, TypeError, "n_folds must be an integer, got 2.5"),
    ("d2ke", {"seed": -1}, ValueError, "seed must be at least 0, got -1"),
    ("knn", {"seed": None}, TypeError, "seed must be an integer, got None"),
    ("d2ke", {"n_threads": 0}, ValueError, "n_threads must be at least 1, got 0"),
    ("dsk_rbf", {"n_threads": -2}, ValueError, "n_threads must be at least 1, got -2"),
    # distance
    ("knn", {"distance": "euclid"}, ValueError, "distance must be one of .*; got 'euclid'"),
    ("d2ke", {"distance": None}, TypeError, "distance must be one of"),
    ("knn", {"distance": "levenshtein"}, TypeError, "X holds vectors.*strings"),
    ("rsm", {"n_fold": 3}, TypeError, "'hausdorff' has no parameter 'n_fold'"),
    ("knn", {"n_fold": 3, "within": broken(0.5)}, TypeError, "has no parameter 'n_fold'"),
    # sampler
    ("d2ke", {"sampler": None}, TypeError, "method 'd2ke' needs a sampler"),
    ("d2ke", {"sampler": [[1.0]]}, TypeError, "sampler must be a function"),
    ("d2ke", {"sampler": lambda R: 0}, ValueError, "sampler.*unexpected keyword.*'seed'"),
    ("d2ke", {"sampler": lambda R, seed, **_: points(3, seed=0)}, ValueError, "sampler drew 3"),
    ("d2ke", {"sampler": lambda R, seed, **_: ["x"] * R}, TypeError, "but sampler holds strings"),
    (
        "d2ke",
        {"sampler": lambda R, seed, **_: d2ke.random_sets(R, 3, size=1, seed=seed)},
        ValueError,
        r"X has vectors of 2 dimensions \(channels\) but sampler has 3",
    ),
    ("d2ke", {"grid": {"gama": [1.0]}}, ValueError, "'gama'.*gamma.*goes to the sampler"),
    ("d2ke", {"grid": {"C_scale": [1.0]}}, ValueError, "'C_scale'"),
    (
        "d2ke",
        {"sampler": partial(d2ke.random_sets, dim=2), "grid": {}},
        ValueError,
        "sampler.*missing.*'size'",
    ),
    # names in grid
    ("rsm", {"grid": {"gama": [1]}}, ValueError, "grid has 'gama', unknown for method 'rsm'; k"),
    ("rsm", {"grid": {"C_scale": [1]}}, ValueError, "grid has 'C_scale', unknown for"),
    ("rsm", {"grid": {"R_scale": [1]}}, ValueError, "grid has 'R_scale', unknown for"),
    ("knn", {"grid": {"C": [1.0]}}, ValueError, "grid has 'C', unknown for.*known: k"),
    ("knn", {"grid": {"k_scale": [1]}}, ValueError, "grid has 'k_scale', unknown"),
    ("dsk_rbf", {"grid": {"C_scale": [1]}}, ValueError, "grid has 'C_scale', unknown"),
    ("dsk_rbf", {"grid": {"beta": [1]}}, ValueError, "grid has 'beta', unknown"),
    ("dsk_nd", {"grid": {"gamma": [1]}}, ValueError, "grid has 'gamma', unknown"),
    ("gdk_led", {"grid": {"scaling": ["none"]}}, ValueError, "grid has 'scaling', unknown"),
    *(
        (method, {"grid": {name: [1.0], other: [1.0]}}, ValueError, "grid has both")
        for method, name, other in (
            ("d2ke", "gamma", "gamma_scale"),
            ("rsm", "gamma_scale", "gamma"),
            ("dsk_rbf", "gamma", "gamma_scale"),
            ("dsk_nd", "C_scale", "C"),
            ("gdk_led", "C", "C_scale"),
        )
    ),
    # values in grid
    ("knn", {"grid": [1, 2]}, TypeError, r"grid must be a mapping .*got \[1, 2\]"),
    ("knn", {"grid": "k"}, TypeError, "grid must be a mapping"),
    ("knn", {"grid": {"k": []}}, ValueError, r"grid\['k'\] has no values"),
    ("rsm", {"grid": {"C": np.array([])}}, ValueError, r"grid\['C'\] has no values"),
    ("knn", {"grid": {"k": 3}}, TypeError, r"grid\['k'\] must be a sequence .*got 3"),
    ("rsm", {"grid": {"C": np.array(3.0)}}, TypeError, r"grid\['C'\] must be a sequence"),
    ("rsm", {"grid": {"scaling": "none"}}, TypeError, r"grid\['scaling'\] must be a sequence"),
    ("d2ke", {"grid": {"where": "near"}}, TypeError, r"grid\['where'\] must be a sequence"),
    ("rsm", {"grid": {"C": (c for c in (1, 2))}}, TypeError, r"grid\['C'\] must be a sequence"),
    ("rsm", {"grid": {"scaling": ["center", "x"]}}, ValueError, r"grid\['scaling'\]\[1\] must b"),
    ("rsm", {"grid": {"C": [1.0, -1.0]}}, ValueError, r"grid\['C'\]\[1\] must be a positive"),
    ("d2ke", {"grid": {"C": [0.0]}}, ValueError, r"grid\['C'\]\[0\] must be a positive"),
    ("d2ke", {"grid": {"C": ["1"]}}, TypeError, r"grid\['C'\]\[0\] must be a positive"),
    ("d2ke", {"grid": {"gamma": [1, np.nan]}}, ValueError, r"grid\['gamma'\]\[1\] must be"),
    ("rsm", {"grid": {"gamma_scale": [-1]}}, ValueError, r"grid\['gamma_scale'\]\[0\] must be"),
    ("dsk_rbf", {"grid": {"gamma": [-1]}}, ValueError, r"grid\['gamma'\]\[0\] must be"),
    ("dsk_rbf", {"grid": {"C": [np.inf]}}, ValueError, r"grid\['C'\]\[0\] must be"),
    ("dsk_nd", {"grid": {"beta": [0]}}, ValueError, r"grid\['beta'\]\[0\] must be"),
    ("dsk_nd", {"grid": {"C_scale": [0]}}, ValueError, r"grid\['C_scale'\]\[0\] must be"),
    ("gdk_led", {"grid": {"C_scale": [-3]}}, ValueError, r"grid\['C_scale'\]\[0\] must be"),
    ("gdk_led", {"grid": {"R": [0]}}, ValueError, r"grid\['R'\]\[0\] must be at least 1, got 0"),
    ("gdk_led", {"grid": {"R": [49]}}, ValueError, "R must be between 1 and 48, got 49"),
    ("rsm", {"grid": {"R": [8, 49]}}, ValueError, "R must be between 1 and 48, got 49"),
    ("d2ke", {"grid": {"R": [8.0]}}, TypeError, r"grid\['R'\]\[0\] must be an integer, got 8.0"),
    ("knn", {"grid": {"k": [0]}}, ValueError, r"grid\['k'\]\[0\] must be at least 1, got 0"),
    ("knn", {"grid": {"k": [37]}}, ValueError, "k must be between 1 and 36, got 37"),
    # within
    ("d2ke", {"within": broken(0.5)}, ValueError, "within has no meaning for method 'd2ke'"),
    ("rsm", {"within": broken(0.5)}, ValueError, "within has no meaning for method 'rsm'"),
    *(
        (method, options, error, message)
        for method in BY_GRAM
        for options, error, message in (
            ({"within": broken(np.nan)}, ValueError, r"within has nan at position \(3, 5\)"),
            ({"within": broken(-1.0)}, ValueError, r"within\[3, 5\] is -1"),
            ({"within": broken(0)[:40]}, ValueError, r"within .*48 .*shape is \(40, 48\)"),
            ({"within": [1.0, 2.0]}, ValueError, "within must be two-dimensional"),
            ({"within": "D"}, ValueError, "within must be two-dimensional"),
            ({"within": np.full((48, 48), "x")}, TypeError, "within must hold real numbers"),
        )
    ),
    ("gdk_led", {"within": broken(np.inf)}, ValueError, r"within has inf at position \(3, 5\)"),
    ("dsk_nd", {"within": broken(np.inf)}, ValueError, r"within has inf at position \(3, 5\)"),
    ("gdk_led", {"within": broken(0.5)}, ValueError, "must be symmetric"),
    (
        "dsk_rbf",
        {"within": infinite(broken(0.5))},
        ValueError,
        "median of the distances is inf.*gamma_scale",
    ),
]


@pytest.mark.parametrize(("method", "options", "error", "message"), BAD)
def test_bad_arguments(method, options, error, message):
    grid = {"grid": SMALL_GRIDS.get(method)}
    with pytest.raises(error, match=message):
        small_search(method, **grid | options) if method in GRIDS else search(
            *ring(48, 7), method, distance="hausdorff"
        )


def test_bad_objects():
    _, y = ring(48, 7)
    X = [np.ones((2, 2)) for _ in range(48)]
    X[3][1, 0] = np.nan
    for method in GRIDS:
        with pytest.raises(ValueError, match=r"X\[3\] has nan"):
            small_search(method, X=X, y=y)


def test_arguments_are_checked_before_any_distance(monkeypatch):
    def fail(*arguments, **options):
        pytest.fail("work has begun")

    monkeypatch.setattr(select, "distance_matrix", fail)
    for method in GRIDS:
        name = "k" if method == "knn" else "C"
        for options in ({"y": ["a", "b"]}, {"n_folds": 1}, {"grid": {name: [-1]}}):
            with pytest.raises(ValueError, match=r"y has|n_folds|grid"):
                small_search(method, **options)


def test_infinite_distances_with_absolute_parameters():
    """What is infinitely far away has a feature and a kernel of 0."""
    within = d2ke.distance_matrix(ring(48, 7)[0], None, "hausdorff")
    within[within > 0.3] = np.inf
    found = small_search("dsk_rbf", within=within, grid={"gamma": [10.0], "C": [10.0]})
    assert found.accuracy > 80
    assert small_search("knn", within=within).accuracy > 80


@pytest.mark.parametrize("method", GRIDS)
def test_a_class_of_one_object(method):
    """Left out, it is unknown to the others, which is no error."""
    X, y = ring(48, 7)
    y = np.array(["common"] * 47 + ["rare"])
    found = small_search(method, X=X, y=y)
    assert found.accuracy == pytest.approx(100 * 47 / 48)
