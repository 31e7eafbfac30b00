# SPDX-License-Identifier: BSD-3-Clause
"""Methods on divisions of data sets: nothing of the test part leaks."""

from dataclasses import replace

import numpy as np
import pytest
from experiment_cases import SMALL, division_of, signs, subset

import d2ke
from d2ke.datasets import Dataset
from d2ke.learners.losses import train_classifier
from d2ke.objects.joining import concatenate
from d2ke.objects.packing import pack
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


def test_series_are_drawn_from_noise_or_are_segments():
    division = division_of(signs(60))
    dataset, train = division.dataset, division.train
    parameters = {"length": (2, 9), "sigma": 0.5}
    noise = d2ke.samplers.random_series(30, 2, length=(2, 9), sigma=0.5, seed=4, dtype=np.float32)
    assert sample(dataset, train, parameters, 30, 4) == noise
    assert sample(dataset, train, parameters | {"source": "noise"}, 30, 4) == noise
    segments = d2ke.samplers.segments(30, train, length=(2, 9), scale=0.5, seed=4)
    assert sample(dataset, train, parameters | {"source": "segments"}, 30, 4) == segments
    assert segments != noise
    assert segments.dtype == noise.dtype == np.float32


def test_strings_are_drawn_letter_by_letter_or_from_a_chain(digits):
    division = division_of(digits["digits-str8"])
    dataset, train = division.dataset, division.train
    parameters = {"length": (2, 9)}
    uniform = d2ke.samplers.random_strings(30, dataset.alphabet, length=(2, 9), seed=4)
    assert sample(dataset, train, parameters, 30, 4) == uniform
    assert sample(dataset, train, parameters | {"order": 0}, 30, 4) == uniform
    drawn = [sample(dataset, train, parameters | {"order": order}, 30, 4) for order in (1, 3)]
    for order, found in zip((1, 3), drawn, strict=True):
        assert found == d2ke.samplers.markov_strings(30, train, length=(2, 9), order=order, seed=4)
    assert uniform != drawn[0] != drawn[1] != uniform


def test_sets_are_drawn_from_a_region_or_from_the_data(digits):
    division = division_of(digits["digits-points"])
    dataset, train = division.dataset, division.train
    box = d2ke.samplers.random_sets(
        30,
        2,
        size=(2, 9),
        region="box",
        low=train.values.min(axis=0),
        high=train.values.max(axis=0),
        seed=4,
        dtype=train.dtype,
    )
    assert sample(dataset, train, {"size": (2, 9)}, 30, 4) == box
    points = d2ke.samplers.resampled(30, train, size=(2, 9), seed=4)
    assert sample(dataset, train, {"size": (2, 9), "region": "data"}, 30, 4) == points != box
    descriptors = pack(np.random.default_rng(0).random((4, 17, 16)).astype(np.float32))
    for region in ("sphere", "orthant"):
        expected = d2ke.samplers.random_sets(
            30, 16, size=3, region=region, seed=4, dtype=np.float32
        )
        parameters = {"size": 3, "region": region}
        assert sample(dataset, descriptors, parameters, 30, 4) == expected
    expected = d2ke.samplers.resampled(30, descriptors, size=3, seed=4)
    assert sample(dataset, descriptors, {"size": 3, "region": "data"}, 30, 4) == expected


def test_the_parameters_of_the_sampler_are_left_as_they_are(digits):
    for dataset, parameters in (
        (signs(20), {"source": "segments", "length": (2, 5), "sigma": 1.0}),
        (digits["digits-str8"], {"order": 0, "length": (2, 5)}),
        (digits["digits-points"], {"region": "orthant", "size": (2, 5)}),
    ):
        before = dict(parameters)
        sample(dataset, dataset.objects, parameters, 3, 0)
        assert parameters == before


# ---------------------------------------------------------------- evaluate


@pytest.mark.sample(2)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["digits-str8", "digits-points"])
def test_methods_on_digits(digits, name, method):
    outcome = evaluate(method, division_of(digits[name]), sizes=(4, 16, 64, 65, 4096))
    # 200 of the 1797 digits; ten classes, so chance is 10 %.
    assert 70 < outcome.accuracy <= 100
    assert 60 < outcome.search_accuracy <= 100
    assert all(seconds >= 0 for seconds in outcome.seconds.values())
    stages = {"search", "distances", "features", "model", "prediction"}
    chosen = {
        "d2ke_views": {"R", "C"},
        "knn": {"k"},
        "dsk_rbf": {"gamma", "C"},
        "dsk_nd": {"beta", "C"},
        "gdk_led": {"R", "C", "loss"},
    }
    if method in chosen:
        missing = {
            "d2ke_views": {"search", "distances", "features"},
            "knn": {"features", "model"},
            "gdk_led": set(),
        }.get(method, {"features"})
        assert set(outcome.seconds) == stages - missing
        assert set(outcome.parameters) == chosen[method]
        assert outcome.by_R == outcome.seconds_by_R == {}
        return
    assert set(outcome.seconds) == stages
    sampler = set(SMALL[name].omega) if method == "d2ke" else set()
    assert set(outcome.parameters) == sampler | {"scaling", "gamma", "C", "loss", "R"}
    assert outcome.parameters["R"] == 64
    assert list(outcome.by_R) == list(outcome.seconds_by_R) == [4, 16, 64]
    assert outcome.by_R[64] == outcome.accuracy
    assert outcome.by_R[4] < outcome.by_R[64]
    assert min(outcome.seconds_by_R.values()) > 0
    # Distances, features, model and prediction; the search is not part of it.
    for R, seconds in outcome.seconds_by_R.items():
        assert seconds > outcome.seconds["distances"] * R / 64
    assert outcome.note == ""


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


def test_settings_with_scalings(digits):
    division = division_of(digits["digits-points"])
    setting = replace(division.setting, scalings=("none", "center", "standard"))
    for method in ("d2ke", "rsm"):
        outcome = evaluate(method, replace(division, setting=setting))
        assert outcome.parameters["scaling"] in setting.scalings
        assert outcome.parameters["C"] in setting.costs
        assert outcome.accuracy > 70


@pytest.mark.sample(2)
@pytest.mark.parametrize("method", ["d2ke", "rsm", "gdk_led"])
def test_the_model_has_the_loss_that_was_chosen(digits, method, monkeypatch):
    division = division_of(digits["digits-points"])
    trained = []

    def recorded(y, Z, **options):
        trained.append((len(y), options["loss"], options["C"]))
        return train_classifier(y, Z, **options)

    monkeypatch.setattr(methods, "train_classifier", recorded)
    accuracies = {}
    for losses in (("squared",), ("squared_hinge",), ("squared", "squared_hinge")):
        outcome = evaluate(method, limited(division, losses=losses))
        loss, C = (outcome.parameters[name] for name in ("loss", "C"))
        assert loss in losses
        assert trained == [(140, loss, C)]
        trained.clear()
        # The same setting and loss give the same model, whatever else was allowed.
        assert accuracies.setdefault(str(outcome.parameters), outcome.accuracy) == outcome.accuracy
        assert outcome.accuracy > 70
    assert len(accuracies) == 2


# Both kinds of p(omega) of each domain: made without the data, and from the training part.
FITTED = {
    "signs": {"source": ("noise", "segments"), "length": ((2, 15),), "sigma": (1.0,)},
    "digits-str8": {"order": (0, 2), "length": ((10, 40),)},
    "digits-points": {"region": ("sphere", "data"), "size": ((3, 15),)},
}
FIRST = {"signs": "source", "digits-str8": "order", "digits-points": "region"}


@pytest.mark.parametrize("name", FITTED)
def test_the_search_chooses_among_samplers(digits, name, monkeypatch):
    dataset = signs() if name == "signs" else digits[name]
    key, grid = FIRST[name], FITTED[name]
    # With one loss the best of all settings is chosen.
    division = limited(division_of(dataset, seed=1), omega=grid, losses=("squared",))
    drawn = []

    def recorded(dataset, train, parameters, R, seed):
        drawn.append((parameters[key], R))
        assert train is division.train
        return sample(dataset, train, parameters, R, seed)

    monkeypatch.setattr(methods, "sample", recorded)
    outcome = evaluate("d2ke", division)
    tried = [(value, division.setting.search_R) for value in grid[key]]
    chosen = outcome.parameters[key]
    assert drawn == [*tried, (chosen, division.setting.R)]
    assert {*grid} < set(outcome.parameters)
    # The same as if nothing else had been allowed.
    alone = evaluate("d2ke", limited(division, omega=grid | {key: (chosen,)}))
    assert alone.parameters == outcome.parameters
    assert alone.accuracy == outcome.accuracy
    other = next(value for value in grid[key] if value != chosen)
    another = evaluate("d2ke", limited(division, omega=grid | {key: (other,)}))
    assert another.search_accuracy <= outcome.search_accuracy


@pytest.mark.parametrize("name", FITTED)
def test_samplers_made_from_data_do_not_see_the_test_part(digits, name):
    dataset = signs() if name == "signs" else digits[name]
    grid = FITTED[name] | {FIRST[name]: FITTED[name][FIRST[name]][1:]}
    honest = evaluate("d2ke", limited(division_of(dataset, seed=1), omega=grid))
    blind = evaluate("d2ke", limited(division_of(corrupted(dataset, 1), seed=1), omega=grid))
    assert blind.parameters == honest.parameters
    assert blind.search_accuracy == honest.search_accuracy
    assert blind.accuracy < honest.accuracy - 20


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

    original = methods.search
    monkeypatch.setattr(methods, "search", recorded)
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


def test_rsm_takes_representatives_of_the_training_part(digits, monkeypatch):
    division = division_of(digits["digits-str8"])
    small = replace(division.setting, R=10_000)
    outcome = evaluate("rsm", replace(division, setting=small))
    assert outcome.parameters["R"] == len(division.train)


@pytest.mark.sample(4)
@pytest.mark.parametrize("method", METHODS)
def test_same_result_for_1_and_4_threads(digits, method):
    for dataset in (digits["digits-str8"], signs()):
        # More features than training objects, as in the papers.
        one, four = (division_of(dataset, n_threads=n_threads, seed=1) for n_threads in (1, 4))
        wide = replace(one.setting, R=400)
        a, b = (evaluate(method, replace(part, setting=wide), sizes=(8,)) for part in (one, four))
        assert a.parameters == b.parameters
        assert (a.accuracy, a.search_accuracy) == (b.accuracy, b.search_accuracy)
        assert a.by_R == b.by_R


def test_the_seed_decides(digits):
    first, again, other = (
        evaluate("d2ke", division_of(digits["digits-points"], seed=seed)) for seed in (1, 1, 2)
    )
    assert first.parameters == again.parameters
    assert first.accuracy == again.accuracy
    assert first.search_accuracy == again.search_accuracy
    assert first.search_accuracy != other.search_accuracy


def corrupted(dataset, seed):
    """Replace all test objects and labels by something else, before the division is made."""
    rows, others = dataset.split(seed)
    rng = np.random.default_rng(9)
    position = np.empty(len(dataset.labels), dtype=int)
    position[np.append(rows, others)] = np.arange(len(position))
    if dataset.domain == "strings":
        rubbish = pack(["".join(rng.choice(list("01234567"), 500)) for _ in others])
    else:
        size = (len(others), 5, dataset.objects.dim)
        rubbish = pack(rng.uniform(50, 1e4, size).astype(dataset.objects.dtype))
    objects = concatenate([dataset.objects[rows], rubbish])[position]
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


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore:little or nothing was learned")
def test_permuted_labels_give_chance(digits, method):
    found, searched = [], []
    for seed in range(3):
        dataset = digits["digits-str8"]
        labels = np.random.default_rng(seed).permutation(dataset.labels)
        permuted = Dataset(dataset.name, dataset.objects, labels, dataset.source)
        outcome = evaluate(method, division_of(permuted, seed=seed))
        found.append(outcome.accuracy)
        searched.append(outcome.search_accuracy)
    # Of 3 x 60 test objects 10 % by chance, with a standard deviation of 2.2 %. The search
    # reports the best of many settings, which is a little above chance by itself.
    assert np.mean(found) == pytest.approx(10, abs=6)
    assert np.mean(searched) < 18
