# SPDX-License-Identifier: BSD-3-Clause
"""Methods on divisions of data sets: nothing of the test part leaks."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from experiment_cases import SMALL, division_of, signs, subset

import d2ke
from d2ke.datasets import Dataset
from papers import methods
from papers.methods import METHODS, Division, evaluate
from papers.settings import SETTINGS, quick, sample

pytestmark = pytest.mark.slow  # test_tables runs two methods from end to end


@pytest.fixture(scope="module")
def digits():
    return {name: subset(name) for name in ("digits-str8", "digits-points")}


def test_division_follows_the_rule_of_the_data_set(digits):
    dataset = digits["digits-str8"]
    division = division_of(dataset, seed=3)
    rows, others = dataset.split(3)
    assert len(division.train) == 140
    assert len(division.test) == 60
    np.testing.assert_array_equal(division.y_train, dataset.labels[rows])
    np.testing.assert_array_equal(division.y_test, dataset.labels[others])
    for part, chosen in ((division.train, rows), (division.test, others)):
        for x, i in zip(part, chosen, strict=True):
            np.testing.assert_array_equal(x, dataset.objects[int(i)])


def test_channels_are_scaled_by_the_training_part():
    division = division_of(signs())
    assert division.train.dtype == division.test.dtype == np.float32
    values = division.train.values.astype(np.float64)
    np.testing.assert_allclose(values.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(values.std(axis=0), 1, rtol=1e-5)
    assert np.abs(division.test.values.mean(axis=0, dtype=np.float64)).max() > 1e-5
    plain = Division.of(signs(), replace(SMALL["auslan"], scale_channels=False, single=False), 0)
    assert plain.train.dtype == np.float64
    assert plain.train.values[:, 0].mean() == pytest.approx(7, abs=0.5)


def test_distances_take_the_parameters_of_the_setting():
    division = division_of(signs(20))
    banded = replace(division, setting=replace(division.setting, distance_parameters={"window": 1}))
    expected = d2ke.distance_matrix(division.test, division.train, "dtw", window=1)
    np.testing.assert_array_equal(banded.distances(division.test, division.train), expected)
    assert (division.distances(division.test, division.train) != expected).any()


# p(omega) of each domain: made without the data, and from the training part.
noise = partial(d2ke.samplers.random_series, 30, 2, length=(2, 9), sigma=0.5, dtype=np.float32)
letters = partial(d2ke.samplers.random_strings, 30, "01234567", length=(2, 9))
SAMPLES = [
    ("signs", {}, lambda train, seed: noise(seed=seed)),
    ("signs", {"source": "noise"}, lambda train, seed: noise(seed=seed)),
    ("signs", {"source": "segments"}, lambda train, seed: d2ke.samplers.segments(
        30, train, length=(2, 9), scale=0.5, seed=seed)),
    ("digits-str8", {}, lambda train, seed: letters(seed=seed)),
    ("digits-str8", {"order": 0}, lambda train, seed: letters(seed=seed)),
    ("digits-str8", {"order": 3}, lambda train, seed: d2ke.samplers.markov_strings(
        30, train, length=(2, 9), order=3, seed=seed)),
    ("digits-points", {}, lambda train, seed: d2ke.samplers.random_sets(
        30, 2, size=(2, 9), region="box", low=train.values.min(axis=0),
        high=train.values.max(axis=0), seed=seed, dtype=train.dtype)),
    ("digits-points", {"region": "data"}, lambda train, seed: d2ke.samplers.resampled(
        30, train, size=(2, 9), seed=seed)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "parameters", "expected"), SAMPLES)
def test_random_objects_of_each_domain(digits, name, parameters, expected):
    division = division_of(signs(60) if name == "signs" else digits[name])
    given = {"size" if name == "digits-points" else "length": (2, 9), **parameters}
    given |= {"sigma": 0.5} if name == "signs" else {}
    before = dict(given)
    assert sample(division.dataset, division.train, given, 30, 4) == expected(division.train, 4)
    assert given == before


@pytest.mark.parametrize("region", ["sphere", "orthant"])
def test_random_sets_of_a_high_dimension(digits, region):
    descriptors = d2ke.pack(np.random.default_rng(0).random((4, 17, 16)).astype(np.float32))
    wanted = d2ke.samplers.random_sets(30, 16, size=3, region=region, seed=4, dtype=np.float32)
    drawn = sample(digits["digits-points"], descriptors, {"size": 3, "region": region}, 30, 4)
    assert drawn == wanted


# ---------------------------------------------------------------- evaluate


@pytest.mark.sample(2)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["digits-str8", "digits-points"])
def test_methods_on_digits(digits, name, method):
    outcome = evaluate(method, division_of(digits[name]), sizes=(4, 16, 64, 65, 4096))
    # 200 of the 1797 digits; ten classes, so chance is 10 %.
    assert 70 < outcome.accuracy <= 100
    assert 60 < outcome.search_accuracy <= 100
    stages, chosen = {
        "d2ke_views": ("model prediction", {"R", "C"}),
        "knn": ("search distances prediction", {"k"}),
        "dsk_rbf": ("search distances model prediction", {"gamma", "C"}),
        "dsk_nd": ("search distances model prediction", {"beta", "C"}),
        "gdk_led": ("search distances features model prediction", {"R", "C", "loss"}),
        "d2ke": ("search distances features model prediction", {
            *SMALL[name].omega, "scaling", "gamma", "C", "loss", "R"}),
        "rsm": ("search distances features model prediction", {
            "scaling", "gamma", "C", "loss", "R"}),
    }[method]  # fmt: skip
    assert set(outcome.seconds) == set(stages.split())
    assert set(outcome.parameters) == chosen
    assert outcome.note == ""
    if method not in ("d2ke", "rsm"):
        assert outcome.by_R == outcome.seconds_by_R == {}
        return
    assert outcome.parameters["R"] == 64
    assert list(outcome.by_R) == list(outcome.seconds_by_R) == [4, 16, 64]
    assert outcome.by_R[4] < outcome.by_R[64] == outcome.accuracy
    # Distances, features, model and prediction; the search is not part of it.
    for R, seconds in outcome.seconds_by_R.items():
        assert seconds > outcome.seconds["distances"] * R / 64


def test_distances_are_computed_once_and_charged_to_every_method(digits, monkeypatch):
    division = division_of(digits["digits-points"])
    apart = {
        method: evaluate(method, division_of(digits["digits-points"]))
        for method in ("knn", "dsk_rbf")
    }
    computed = []
    distances = Division.distances

    def counted(self, X, Y):
        computed.append((X, Y))
        return distances(self, X, Y)

    monkeypatch.setattr(Division, "distances", counted)
    together = {method: evaluate(method, division) for method in apart}
    assert len(computed) == 2  # within the training part, and from the test part to it
    for method, outcome in together.items():
        assert outcome.accuracy == apart[method].accuracy
        assert outcome.parameters == apart[method].parameters
        assert outcome.seconds["distances"] == together["knn"].seconds["distances"] > 0


# ---------------------------------------------------------------- what a result depends on


def limited(division, **limits):
    return replace(division, setting=replace(division.setting, **limits))


@pytest.mark.sample(3)
@pytest.mark.parametrize("method", METHODS)
def test_searches_look_at_a_part_of_the_training_objects(digits, method, monkeypatch):
    if method == "d2ke_views":
        pytest.skip("there is no search")
    division = division_of(digits["digits-str8"])
    looked_at = []

    def recorded(X, y, *arguments, within=None, **options):
        looked_at.append((len(X), len(y), None if within is None else within.shape))
        return original(X, y, *arguments, within=within, **options)

    original = d2ke.search
    monkeypatch.setattr(d2ke, "search", recorded)
    outcome = evaluate(method, limited(division, search_n=80))
    within = None if method in ("d2ke", "rsm") else (80, 80)
    assert looked_at == [(80, 80, within)]
    assert outcome.note == "searched with 80 of 140 training objects"
    # The model has all of them.
    assert outcome.accuracy > 65
    assert evaluate(method, limited(division, search_n=140)).note == ""
    assert evaluate(method, limited(division, search_n=10_000)).note == ""


@pytest.mark.sample(3)
@pytest.mark.parametrize("method", METHODS)
def test_methods_that_need_all_distances_may_get_a_part(digits, method, monkeypatch):
    division = division_of(digits["digits-str8"])
    shapes = []

    def recorded(self, X, Y):
        D = original(self, X, Y)
        shapes.append(D.shape)
        return D

    original = Division.distances
    monkeypatch.setattr(Division, "distances", recorded)
    outcome = evaluate(method, limited(division, gram_n=50))
    by_gram = {"dsk_rbf": "trained on", "dsk_nd": "trained on", "gdk_led": "embedded by"}
    if method not in by_gram:
        assert outcome.note == ""
        return
    how = f"{by_gram[method]} 50 of 140 training objects"
    assert outcome.note.startswith(how)
    assert "searched with 50 of 140 training objects" in outcome.note
    assert outcome.accuracy > 50
    expected = [(50, 50), (60, 50)]
    if method == "gdk_led":
        expected = [(50, 50), (90, 50), (60, 50)]
    assert shapes == expected
    assert evaluate(method, limited(division, gram_n=140)).note == ""


@pytest.mark.parametrize("block", [140, 1000, 140 * 7 + 3])
def test_knn_in_blocks(digits, block, monkeypatch):
    division = division_of(digits["digits-str8"])
    whole = evaluate("knn", division)
    monkeypatch.setattr(methods, "_BLOCK", block)
    blocked = evaluate("knn", division)
    assert blocked.parameters == whole.parameters
    assert blocked.accuracy == whole.accuracy
    assert set(blocked.seconds) == set(whole.seconds)


def test_quick_settings_are_not_more_than_the_whole():
    for setting in SETTINGS.values():
        small = quick(setting)
        assert small.R <= setting.R
        assert small.search_R <= min(setting.search_R, small.R)
        assert set(small.gram_gammas) < set(setting.gram_gammas)
        assert set(small.gram_costs) < set(setting.gram_costs)
        assert quick(small).search_n == small.search_n <= small.gram_n
    fewer = replace(SETTINGS["splice"], search_n=10, gram_n=20)
    assert (quick(fewer).search_n, quick(fewer).gram_n) == (10, 20)


def test_knn_by_hand(digits):
    division = division_of(digits["digits-str8"])
    outcome = evaluate("knn", division)
    D = d2ke.distance_matrix(division.test, division.train, "levenshtein")
    labels = d2ke.learners.neighbors.knn_predict(division.y_train, D, outcome.parameters["k"])
    assert outcome.accuracy == pytest.approx(100 * np.mean(labels == division.y_test))


def corrupted(dataset, seed):
    """Replace all test objects and labels by something else, before the division is made."""
    rows, others = dataset.split(seed)
    rng = np.random.default_rng(9)
    position = np.empty(len(dataset.labels), dtype=int)
    position[np.append(rows, others)] = np.arange(len(position))
    if dataset.domain == "strings":
        rubbish = d2ke.pack(["".join(rng.choice(list("01234567"), 500)) for _ in others])
    else:
        size = (len(others), 5, dataset.objects.dim)
        rubbish = d2ke.pack(rng.uniform(50, 1e4, size).astype(dataset.objects.dtype))
    objects = d2ke.concatenate([dataset.objects[rows], rubbish])[position]
    labels = dataset.labels.copy()
    labels[others] = rng.permutation(labels[others])
    return Dataset(dataset.name, objects, labels, dataset.source)


@pytest.mark.filterwarnings("ignore:.*times as far from every random object")
@pytest.mark.sample(4)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["digits-str8", "digits-points", "signs"])
def test_the_search_does_not_see_the_test_part(digits, name, method):
    dataset = signs() if name == "signs" else digits[name]
    honest = evaluate(method, division_of(dataset, seed=1))
    blind = evaluate(method, division_of(corrupted(dataset, 1), seed=1))
    assert blind.parameters == honest.parameters
    assert blind.search_accuracy == honest.search_accuracy
    if (name, method) != ("signs", "dsk_nd"):  # which is hardly better than chance there
        assert blind.accuracy < honest.accuracy - 20
