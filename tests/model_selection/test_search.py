# SPDX-License-Identifier: BSD-3-Clause
"""`search`: planted optima, equal ways to the same result, chance, errors."""

from functools import partial

import numpy as np
import pytest
from threadpoolctl import threadpool_info

import d2ke
from d2ke.embedding.scaling import SCALINGS
from d2ke.learners.losses import LOSSES
from d2ke.model_selection import omegas
from d2ke.model_selection.methods import METHODS
from d2ke.model_selection.search import search

# ---------------------------------------------------------------- search: planted optima


def ring(n, seed, flipped=0.0):
    """Sets of one point each, on a ring in 6 sectors of alternating class."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, n)
    labels = np.array(["even", "odd"])[(angle // (np.pi / 3)).astype(int) % 2]
    wrong = rng.random(n) < flipped
    labels[wrong] = np.where(labels[wrong] == "odd", "even", "odd")
    points = np.column_stack([np.cos(angle), np.sin(angle)])
    return d2ke.pack([point[None] for point in points], channels_first=False), labels


def points(R, *, seed, where="near"):
    """Draw points around the ring, or far from it."""
    low, high = {"near": (-1.5, 1.5), "far": (40.0, 40.2)}[where]
    return d2ke.samplers.random_sets(R, 2, size=1, region="box", low=low, high=high, seed=seed)


euclidean = {"distance": "hausdorff"}  # of sets of one point each
SQUARED = {"loss": ["squared"]}


def test_d2ke_with_a_planted_optimum():
    X, y = ring(150, 0)
    grid = {"where": ["far", "near", "far"], "R": [2, 60], "gamma_scale": [1000.0, 1.0]}
    grid["C"] = [1e-8, 10.0]
    found = search(y, X, sampler=points, grid=grid | SQUARED, **euclidean)
    D = d2ke.distance_matrix(X, points(60, seed=0), "hausdorff")
    assert found.parameters == {
        "where": "near",
        "R": 60,
        "scaling": "standard",
        "gamma": 1 / np.median(D),
        "C": 10.0,
        "loss": "squared",
    }
    assert found.accuracy > 90
    assert len(found.tried) == 3 * 2 * 2 * 2
    # By default the hinge is tried where it can pay: 150 objects are too few for 60 features.
    assert search(y, X, sampler=points, grid=grid, **euclidean) == found
    both = search(y, X, sampler=points, grid=grid | {"loss": LOSSES}, **euclidean)
    assert both.tried[:24] == found.tried
    hinge = found.parameters | {"loss": "squared_hinge"}
    assert [setting for setting, _ in both.tried[24:]] == [hinge | {"C": 1e-8}, hinge]
    assert both.parameters in (found.parameters, hinge)
    assert both.accuracy == max(accuracy for _, accuracy in both.tried)


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
    scalings = ["center", "standard"][::order]
    found = search(
        y,
        X,
        distance=lambda x, position: x[position],
        sampler=lambda R, seed: range(R),
        grid={"R": [80], "scaling": scalings, "gamma": [0.1], "C": [1.0]} | SQUARED,
    )
    assert found.parameters["scaling"] == best
    first, second = (accuracy for _, accuracy in found.tried)
    assert abs(first - second) > 5


def test_rsm_with_a_planted_optimum():
    X, y = ring(120, 1)
    grid = {"R": [2, 60], "gamma_scale": [1000.0, 3.0], "C": [1e-8, 10.0]}
    found = search(y, X, "rsm", grid=grid, **euclidean)
    assert (found.parameters["R"], found.parameters["C"]) == (60, 10.0)
    omega = d2ke.samplers.training_objects(60, X, seed=0)[0]
    median = np.median(d2ke.distance_matrix(X, omega, "hausdorff"))
    assert found.parameters["gamma"] == pytest.approx(3 / median)
    assert found.accuracy > 90
    assert list(found.parameters) == ["R", "scaling", "gamma", "C", "loss"]


def test_knn_with_a_planted_optimum():
    X, y = ring(150, 2, flipped=0.2)
    found = search(y, X, "knn", grid={"k": [100, 1, 9]}, **euclidean)
    assert found.parameters == {"k": 9}
    assert found.accuracy > 70


def test_dsk_rbf_with_a_planted_optimum():
    X, y = ring(150, 3)
    keep = (y == "odd") | (np.arange(150) % 3 == 0)  # the rarer class is missed if C is tiny
    X, y = X[np.flatnonzero(keep)], y[keep]
    found = search(y, X, "dsk_rbf", grid={"gamma": [1e-3, 9.0, 1e5], "C": [1e-5, 10]}, **euclidean)
    assert found.parameters == {"gamma": 9.0, "C": 10.0}
    assert found.accuracy > 90


def test_dsk_nd_with_a_planted_optimum():
    """The power 2 gives a linear classifier of the points, the power 1 does not."""
    X, y = ring(150, 4)
    found = search(y, X, "dsk_nd", grid={"beta": [2, 1], "C": [1e-5, 10.0]}, **euclidean)
    assert found.parameters == {"beta": 1.0, "C": 10.0}
    assert found.accuracy > 85


def test_gdk_led_with_a_planted_optimum():
    """The classes differ in the direction of the least deviation."""
    rng = np.random.default_rng(5)
    y = np.arange(80) % 2
    x = rng.standard_normal((80, 3)) * [100.0, 10.0, 0.1] + np.outer(y, [0, 0, 1.0])
    X = d2ke.pack([point[None] for point in x], channels_first=False)
    grid = {"R": [1, 2, 3], "C": [1e-9, 100.0]}
    for losses in (["squared"], ["squared_hinge"]):
        found = search(y, X, "gdk_led", grid=grid | {"loss": losses}, **euclidean)
        assert found.parameters == {"R": 3, "C": 100.0, "loss": losses[0]}
        assert found.accuracy > 95
        leading = [] if losses == ["squared"] else [3, 3]
        assert [setting["R"] for setting, _ in found.tried] == [1, 1, 2, 2, 3, 3, *leading]


# ---------------------------------------------------------------- search: ways that agree

SMALL_GRIDS = {
    "d2ke": {"where": ["near", "far"], "R": [8, 20], "gamma_scale": [1.0, 3.0], "C": [1.0, 10.0]},
    "rsm": {"R": [20], "scaling": SCALINGS, "gamma_scale": [1.0], "C": [1.0, 100.0]},
    "knn": {"k": [1, 3, 5]},
    "dsk_rbf": {"gamma_scale": [1.0, 10.0], "C": [1.0, 10.0]},
    "dsk_nd": {"beta": [1.0, 2.0], "C_scale": [1.0, 10.0]},
    "gdk_led": {"R": [1, 2], "C_scale": [1.0, 10.0]},
}
LINEAR = ["d2ke", "rsm", "gdk_led"]
for name in LINEAR:
    SMALL_GRIDS[name] |= SQUARED
BY_GRAM = ["knn", "dsk_rbf", "dsk_nd", "gdk_led"]


def small_search(method, *, n=48, seed=0, **options):
    X, y = ring(n, 7)
    if method == "d2ke":
        options.setdefault("sampler", points)
    return search(
        options.pop("y", y),
        options.pop("X", X),
        method,
        **{"grid": SMALL_GRIDS[method], "n_folds": 4, "seed": seed, "n_threads": 1}
        | euclidean
        | options,
    )


def grid_of(method, losses):
    """Return the small grid, of linear methods with these losses."""
    return SMALL_GRIDS[method] | ({"loss": losses} if method in LINEAR else {})


@pytest.mark.parametrize("method", METHODS)
def test_search_gives_the_same_on_any_number_of_threads(method):
    grid = grid_of(method, LOSSES)
    first, *others = (
        small_search(method, grid=grid, n_threads=n_threads) for n_threads in (1, 3, None)
    )
    assert all(other == first for other in others)


@pytest.mark.parametrize("method", METHODS)
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
    Y = {"d2ke": points(20, seed=0), "rsm": d2ke.samplers.training_objects(20, X, seed=0)[0]}.get(
        method
    )
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


@pytest.mark.parametrize("method", ["d2ke", "rsm", "gdk_led"])
@pytest.mark.parametrize("values", [{"gamma": [0.7, 2.0]}, {"gamma_scale": [0.7, 2.0]}])
def test_fewer_features_are_those_of_a_search_for_them_alone(method, values):
    sizes = [5, 20]
    values = values | {"scaling": ["center", "standard"]}
    if method == "gdk_led":
        values, sizes = {}, [1, 2]

    def tried(R):
        return small_search(method, grid=values | SQUARED | {"R": R, "C": [1.0, 10.0]}).tried

    both = tried(sizes)
    for R in sizes:
        assert tuple(one for one in both if one[0]["R"] == R) == tried([R])


@pytest.mark.parametrize("method", METHODS)
def test_the_chosen_setting_was_tried(method):
    found = small_search(method, grid=grid_of(method, LOSSES))
    assert (found.parameters, found.accuracy) in found.tried
    assert found.accuracy == max(accuracy for _, accuracy in found.tried)
    losses = {setting.get("loss") for setting, _ in found.tried}
    assert losses == (set(LOSSES) if method in LINEAR else {None})


@pytest.mark.parametrize(("method", "R"), [("d2ke", 12), ("rsm", 12), ("gdk_led", 2)])
def test_by_default_the_hinge_is_tried_where_it_can_pay(method, R):
    grid = {name: values for name, values in SMALL_GRIDS[method].items() if name != "loss"}
    grid["R"] = [R]
    for n, tried in ((4 * R, True), (4 * R - 1, False)):
        X, y = ring(n, 0)
        losses = LOSSES if tried else ["squared"]
        found = small_search(method, X=X, y=y, grid=grid)
        assert found == small_search(method, X=X, y=y, grid=grid | {"loss": losses})
        assert {setting["loss"] for setting, _ in found.tried} == set(losses)


@pytest.mark.parametrize("method", METHODS)
def test_labels_of_any_type(method):
    X, y = ring(48, 7)
    found = small_search(method)
    for labels in ((y == "odd").astype(int), (y == "odd") * 2.5 - 1, y == "odd", y.tolist()):
        assert small_search(method, X=X, y=labels) == found


@pytest.mark.parametrize("method", METHODS)
def test_permuted_labels_are_searched_to_no_avail(method):
    found = []
    for seed in range(3):
        X, y = ring(150, seed)
        y = np.random.default_rng(seed).permutation(y)
        grid = {name: SMALL_GRIDS[method][name][-1:] for name in SMALL_GRIDS[method]}
        options = {"sampler": points} if method == "d2ke" else {}
        found.append(search(y, X, method, grid=grid, seed=seed, **options, **euclidean).accuracy)
    # 450 tosses: the standard deviation of their mean is 2.4 %.
    assert np.mean(found) == pytest.approx(50, abs=8)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [2, 5, 13])
def test_defaults_suit_small_training_parts(method, n):
    X, y = ring(40, 8)
    chosen = np.append(
        np.flatnonzero(y == "odd")[: n // 2], np.flatnonzero(y == "even")[: n - n // 2]
    )
    options = {"sampler": points} if method == "d2ke" else {}
    found = search(y[chosen], X[chosen], method, n_folds=2, **options, **euclidean)
    for name, most in (("k", n - -(-n // 2)), ("R", 512 if method == "d2ke" else n)):
        assert all(1 <= setting.get(name, 1) <= most for setting, _ in found.tried)


def test_strings_with_the_samplers_of_the_package():
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("ab" if i % 2 else "bc"), 12)) for i in range(40)]
    options = {
        "distance": "levenshtein",
        "sampler": partial(d2ke.samplers.random_strings, alphabet="abc"),
        "grid": {"length": [(2, 5), (8, 14)], "R": [64], "C": [1.0, 100.0]},
        "n_folds": 5,
    }
    found = search([i % 2 for i in range(40)], words, **options)
    assert found.accuracy > 90
    assert list(found.parameters) == ["length", "R", "scaling", "gamma", "C", "loss"]
    assert search(np.arange(40) % 2, d2ke.pack(words), **options) == found
    ranges = [[2, 5], [8, 14]]
    for lengths in (ranges, np.array(ranges)):
        options["grid"] |= {"length": lengths, "R": np.array([64])}
        assert search(np.arange(40) % 2, words, **options) == found


@pytest.mark.parametrize("method", METHODS)
def test_python_distances_of_anything(method):
    rng = np.random.default_rng(1)
    people = [{"age": float(age)} for age in rng.integers(1, 90, 40)]
    y = [one["age"] > 45 for one in people]
    options = {}
    if method == "d2ke":
        options["sampler"] = lambda R, seed: [{"age": a} for a in np.linspace(0, 100, R)]
    found = search(
        y,
        people,
        method,
        distance=lambda a, b, unit: abs(a["age"] - b["age"]) / unit,
        grid={"R": [10], "C": [10.0]} if method in ("d2ke", "rsm") else None,
        unit=10.0,
        n_folds=4,
        **options,
    )
    assert found.accuracy > 85
    assert "lambda" in found.info["distance"]
    assert found.info["distance_parameters"] == {"unit": 10.0}


def test_parameters_of_the_distance():
    rng = np.random.default_rng(2)
    X = [rng.standard_normal(rng.integers(10, 20)).cumsum() for _ in range(30)]
    y = np.arange(30) % 2
    within = d2ke.distance_matrix(X, None, "dtw", window=2)
    assert search(y, X, "knn", distance="dtw", window=2) == search(
        y, X, "knn", distance="dtw", within=within
    )


def test_what_is_recorded():
    info = small_search("d2ke").info
    assert (info["method"], info["distance"]) == ("d2ke", "hausdorff")
    assert (info["n"], info["n_folds"], info["seed"]) == (48, 4, 0)
    assert info["seconds"] > 0
    assert info["distance_parameters"] == {}


@pytest.mark.parametrize("method", METHODS)
def test_the_grid_is_recorded_with_what_it_left_out(method):
    values = {"scaling": ("standard",)} if method == "d2ke" else {}
    values |= {name: tuple(values) for name, values in SMALL_GRIDS[method].items()}
    assert small_search(method).info["grid"] == values
    name = "k" if method == "knn" else "C"
    recorded = small_search(method, grid={name: [1]}).info["grid"]
    expected = {**METHODS[method].grid, name: (1,)}
    expected.pop("C_scale", None)
    if "R" in expected:  # not every default suits a small training part
        assert max(recorded["R"]) <= max(expected.pop("R"))
        del recorded["R"]
    assert recorded == expected


@pytest.mark.parametrize("method", METHODS)
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


def drawn(R, seed, **_):
    """Draw points of three dimensions, one too many."""
    return d2ke.samplers.random_sets(R, 3, size=1, seed=seed)


# Beside what the table of tests/base/test_bad_input.py has for `search`.
BAD = [
    (3, {"grid": None}, TypeError, "method must be a string"),
    ("rsm", {"y": [["a", "b"]] * 48}, ValueError, "y must be one-dimensional"),
    # a range or two values
    ("d2ke", {"grid": {"length": (1, 10)}}, ValueError, r"\[\(1, 10\)\] for the range, \[1, 10\]"),
    ("d2ke", {"grid": {"size": (3, 5)}}, ValueError, "one range, or two values"),
    ("knn", {"n_folds": 49}, ValueError, "n_folds must be between 2 and 48, got 49"),
    # distance
    ("knn", {"distance": "levenshtein"}, TypeError, "is for strings, but X holds series"),
    ("rsm", {"n_fold": 3}, TypeError, r"'n_fold' .*mean n_folds=\?"),
    ("knn", {"n_fold": 3, "within": broken(0.5)}, TypeError, r"'n_fold' .*mean n_folds=\?"),
    # sampler
    ("d2ke", {"sampler": [[1.0]]}, TypeError, "sampler must be a function"),
    ("d2ke", {"sampler": lambda R: 0}, ValueError, "sampler.*unexpected keyword.*'seed'"),
    ("d2ke", {"sampler": lambda R, seed, **_: points(3, seed=0)}, ValueError, "sampler drew 3"),
    ("d2ke", {"sampler": lambda R, seed, **_: ["x"] * R}, TypeError,
     r"sampler draws strings, but X holds series; .*partial\(d2ke\.samplers\.resampled, X=X\)"),
    ("d2ke", {"sampler": None}, TypeError, r"needs a sampler .*partial\(d2ke\.samplers\.resampled"),
    ("d2ke", {"sampler": None, "distance": "dtw"}, TypeError, r"samplers\.random_series, X=X"),
    ("d2ke", {"sampler": None, "X": ["a", "b"] * 24, "distance": "osa"}, TypeError,
     r"d2ke\.samplers\.markov_strings, X=X"),
    ("d2ke", {"sampler": drawn}, ValueError,
     r"X has vectors of 2 dimensions \(channels\) but sampler has 3"),
    ("d2ke", {"grid": {"gama": [1.0]}}, ValueError, "'gama'.*gamma.*goes to the sampler"),
    ("d2ke", {"sampler": partial(d2ke.samplers.random_sets, dim=2), "grid": {}}, ValueError,
     "sampler.*missing.*'size'"),
    # names in grid
    ("rsm", {"grid": {"gama": [1]}}, ValueError, "grid has 'gama', unknown for method 'rsm'; k"),
    ("knn", {"grid": {"C": [1.0]}}, ValueError, "grid has 'C', unknown for.*known: k"),
    *((method, {"grid": {name: [1]}}, ValueError, f"'{name}'") for method, name in (
        ("d2ke", "C_scale"), ("rsm", "C_scale"), ("rsm", "R_scale"), ("dsk_rbf", "C_scale"),
        ("dsk_rbf", "beta"), ("dsk_nd", "gamma"), ("gdk_led", "scaling"), ("dsk_nd", "loss"),
        ("dsk_rbf", "loss"), ("knn", "loss"))),
    *((method, {"grid": {name: [1.0], other: [1.0]}}, ValueError, "grid has both")
      for method, name, other in (
        ("d2ke", "gamma", "gamma_scale"), ("rsm", "gamma_scale", "gamma"),
        ("dsk_rbf", "gamma", "gamma_scale"), ("dsk_nd", "C_scale", "C"),
        ("gdk_led", "C", "C_scale"))),
    # values in grid
    ("rsm", {"grid": {"C": np.array([])}}, ValueError, r"grid\['C'\] has no values"),
    ("rsm", {"grid": {"C": np.array(3.0)}}, TypeError, r"grid\['C'\] must be a sequence"),
    ("gdk_led", {"grid": {"loss": [2]}}, TypeError, r"grid\['loss'\]\[0\] must be a string"),
    ("d2ke", {"grid": {"C": ["1"]}}, TypeError, r"grid\['C'\]\[0\] must be a positive"),
    *((method, {"grid": {name: [*good, bad]}}, ValueError, rf"'{name}'\]\[{len(good)}\] must be")
      for method, name, good, bad in (
        ("rsm", "scaling", ["center"], "x"),
        *((one, "loss", ["squared"], "hinge") for one in LINEAR),
        ("rsm", "C", [1.0], -1.0), ("d2ke", "C", [], 0.0), ("d2ke", "gamma", [1], np.nan),
        ("rsm", "gamma_scale", [], -1), ("dsk_rbf", "gamma", [], -1), ("dsk_rbf", "C", [], np.inf),
        ("dsk_nd", "beta", [], 0), ("dsk_nd", "C_scale", [], 0), ("gdk_led", "C_scale", [], -3),
        ("gdk_led", "R", [], 0))),
    ("gdk_led", {"grid": {"R": [49]}}, ValueError, "R must be between 1 and 48, got 49"),
    ("rsm", {"grid": {"R": [8, 49]}}, ValueError, "R must be between 1 and 48, got 49"),
    ("d2ke", {"grid": {"R": [8.0]}}, TypeError, r"grid\['R'\]\[0\] must be an integer, got 8.0"),
    ("knn", {"grid": {"k": [37]}}, ValueError, "k must be between 1 and 36, got 37"),
    # within
    *((method, {"within": broken(np.nan)}, ValueError, r"within has nan at position \(3, 5\)")
      for method in BY_GRAM),
    ("dsk_nd", {"within": [1.0, 2.0]}, ValueError, "within must be two-dimensional"),
    ("knn", {"within": np.full((48, 48), "x")}, TypeError, "within must hold real numbers"),
    ("gdk_led", {"within": broken(np.inf)}, ValueError, r"within has inf at position \(3, 5\)"),
    ("dsk_nd", {"within": broken(np.inf)}, ValueError, r"within has inf at position \(3, 5\)"),
    ("gdk_led", {"within": broken(0.5)}, ValueError, "must be symmetric"),
    ("dsk_rbf", {"within": infinite(broken(0.5))}, ValueError,
     "median of the distances is inf.*gamma_scale"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "options", "error", "message"), BAD)
def test_bad_arguments(method, options, error, message):
    grid = {"grid": SMALL_GRIDS.get(method)}
    with pytest.raises(error, match=message):
        small_search(method, **grid | options) if method in METHODS else search(
            *ring(48, 7)[::-1], method, distance="hausdorff"
        )


def test_any_parameter_of_a_distance_can_be_kept(tmp_path):
    def shifted(x, y, by, unit):
        return by.real + abs(len(x) - len(y)) / unit

    found = search(
        [0, 1, 0, 1],
        ["ab", "abc", "a", "abcd"],
        "knn",
        distance=shifted,
        grid={"k": [1]},
        n_folds=2,
        by=1 + 0j,
        unit=2,
    )
    found.save(tmp_path / "search.json")
    kept = d2ke.load_search(tmp_path / "search.json").info["distance_parameters"]
    assert kept == {"by": "(1+0j)", "unit": 2}


def test_arguments_are_checked_before_any_distance(monkeypatch):
    def fail(*arguments, **options):
        pytest.fail("work has begun")

    monkeypatch.setattr(omegas, "fill_array", fail)
    for method in METHODS:
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


@pytest.mark.parametrize("method", METHODS)
def test_a_class_of_one_object(method):
    """Left out, it is unknown to the others, which is no error."""
    X, y = ring(48, 7)
    y = np.array(["common"] * 47 + ["rare"])
    found = small_search(method, X=X, y=y)
    assert found.accuracy == pytest.approx(100 * 47 / 48)
