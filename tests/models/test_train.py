# SPDX-License-Identifier: BSD-3-Clause
"""One trained model: strings, series, sets, functions; classes and numbers; wrong input."""

import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from reference import reloaded

import d2ke
from d2ke.models.feature_map import FeatureMap
from d2ke.models.kernel_weights import deviation_groups
from d2ke.models.labels import Labels
from d2ke.models.tasks import Classes
from d2ke.models.train import better_by_hinge
from d2ke.samplers import noise, resampled, segments, training_objects


def strings(n, rng):
    y = rng.integers(0, 3, n)
    motifs = ["GATTACA", "CCCGGG", "TATATA"]
    X = []
    for label in y:
        x = "".join(rng.choice(list("ACGT"), rng.integers(20, 40)))
        at = rng.integers(0, len(x))
        X.append(x[:at] + motifs[label] + x[at:])
    return np.array(["x", "y", "z"])[y], X


def series(n, rng):
    y = rng.integers(0, 2, n)
    X = []
    for label in y:
        t = np.arange(rng.integers(20, 40))
        wave = np.sin(t / (2 + 2 * label))[:, None] * [1.0, -2.0]
        X.append(wave + 0.2 * rng.normal(size=wave.shape))
    return y, X


def sets(n, rng):
    y = rng.integers(0, 2, n)
    return y, [rng.normal(size=(rng.integers(3, 12), 3)) * [1, 1 + 2 * label, 1] for label in y]


KINDS = {
    "strings": (strings, {}),
    "series": (series, {}),
    "courses": (series, {"distance": "dtw"}),
    "sets": (sets, {"distance": "mhd"}),
}


@pytest.fixture(scope="module", params=KINDS)
def case(request):
    make, options = KINDS[request.param]
    rng = np.random.default_rng(0)
    y, X = make(90, rng)
    y_test, X_test = make(60, rng)
    model = d2ke.d2ke_train(y, X, R=300, **options)
    return model, y, X, y_test, X_test, options


def test_predictions(case):
    model, _, _, y_test, X_test, _ = case
    labels, accuracy, decisions = d2ke.d2ke_predict(y_test, X_test, model)
    assert accuracy == 100 * np.mean(labels == y_test) > 80
    k = len(model.classes)
    assert decisions.shape == (60, k if k > 2 else 1)
    assert abs(model.accuracy - accuracy) < 12
    assert model.R == sum(block.R for block in model.blocks) <= 300
    assert model.confusion.sum() == 90
    assert np.trace(model.confusion) == round(0.9 * model.accuracy)
    again, nothing, _ = d2ke.d2ke_predict(None, X_test, model)
    assert (again == labels).all()
    assert np.isnan(nothing)


def test_blocks_of_rows_and_threads_change_nothing_but_rounding(case, monkeypatch):
    model, _, _, _, X_test, _ = case
    whole = d2ke.d2ke_predict(None, X_test, model)[2]
    monkeypatch.setattr("d2ke.models.feature_map._BLOCK", 1)
    few = d2ke.d2ke_predict(None, X_test, model, n_threads=1)[2]
    np.testing.assert_allclose(few, whole, rtol=1e-4, atol=1e-5)


def test_transform_is_what_the_linear_model_sees(case):
    model, _, X, _, X_test, _ = case
    Z = d2ke.d2ke_transform(X_test, model)
    assert Z.shape == (60, model.R)
    assert len(model.feature_names()) == model.R
    decisions = d2ke.predict(None, Z, model.linear)[2]
    np.testing.assert_allclose(decisions, d2ke.d2ke_predict(None, X_test, model)[2], atol=1e-6)
    F = model.features(model.check_objects(X), None, np.arange(model.n_train)) * np.sqrt(model.R)
    np.testing.assert_allclose(F.mean(axis=0), 0, atol=1e-4)
    raw = FeatureMap(model.blocks).unscaled(model.check_objects(X), 1, np.arange(model.n_train))
    deviation, parts, first = raw.std(axis=0, dtype=np.float64), deviation_groups(model.blocks), 0
    varies = deviation > 1e-6 * raw.max(axis=0)
    for block in model.blocks:  # columns of a block have one deviation, if they vary enough
        columns = np.arange(first, first + block.R)
        divisor = np.where(deviation[columns] > 0, deviation[columns], 1.0)
        for part in set(parts[columns]) - {-1}:
            least = 0.1 * np.median(deviation[varies & (parts == part)])
            divisor = np.where(parts[columns] == part, np.maximum(divisor, least), divisor)
        wanted = deviation[columns] / divisor**block.sd_power
        ratio = F[:, columns].std(axis=0)[wanted > 0] / wanted[wanted > 0]
        np.testing.assert_allclose(ratio, ratio.max(), rtol=2e-3)
        first += block.R


def test_a_seed_gives_a_model(case):
    model, y, X, _, X_test, options = case
    again = d2ke.d2ke_train(y, X, R=300, n_threads=1, **options)
    for one, other in zip(model.blocks, again.blocks, strict=True):
        assert one.omega == other.omega
        assert np.array_equal(getattr(one, "gamma", 0), getattr(other, "gamma", 0))
    decisions = [d2ke.d2ke_predict(None, X_test, m)[2] for m in (model, again)]
    np.testing.assert_allclose(*decisions, rtol=1e-4, atol=1e-5)
    other = d2ke.d2ke_train(y, X, R=300, seed=1, **options)
    assert other.blocks[0].omega != model.blocks[0].omega


def test_features_by_their_definition(case):
    model, _, X, _, _, _ = case
    block = model.blocks[-1]
    if block.family:
        pytest.skip("the kernel of several families is tested with the shares")
    seen = d2ke.pack(X)
    for view in block.views:
        seen = view(seen)
    sides = (block.omega, seen) if block.from_omega else (seen, block.omega)
    D = d2ke.distance_matrix(*sides, block.distance, **block.parameters)
    D = D.T if block.from_omega else D
    np.testing.assert_allclose(block.gamma, 1 / np.median(D, axis=0), rtol=1e-6)
    Z = d2ke.d2ke_transform(X, model)[:, -block.R :]
    F = np.exp(-D * block.gamma)
    fitted, sources = F.copy(), block.sources
    for j, i in enumerate(sources):  # objects that are random objects have other features there
        assert D[i, j] == 0
        others = np.delete(F[:, j], i)
        raised = others.mean() + others.std() * len(sources) / (2 * np.sqrt(len(F)))
        fitted[i, j] = max(others.max(), min(1, raised))
    sd = fitted.std(axis=0)
    want = (F - fitted.mean(axis=0)) / np.where(sd > 1e-7, sd, np.inf) / np.sqrt(model.R)
    np.testing.assert_allclose(Z[:, sd > 1e-4], want[:, sd > 1e-4], atol=2e-3 / np.sqrt(model.R))


def test_explanation_adds_up(case):
    model, _, X, _, _, _ = case
    decisions = d2ke.d2ke_predict(None, X[:3], model)[2]
    for i in range(3):
        why = d2ke.d2ke_explain(X[i], model, limit=5)
        column = 0 if decisions.shape[1] == 1 else model.classes.tolist().index(why.label)
        assert abs(abs(decisions[i, column]) - abs(why.decision)) < 1e-5
        assert abs(why.offset + sum(why.blocks.values()) - why.decision) < 1e-9
        assert len(why.omegas) == 5
        shares = [one["share"] for one in why.omegas]
        assert shares == sorted(shares, reverse=True)
        assert str(why.label) in str(why)
    places = [one["training_object"] for one in why.omegas]
    assert all(place is None or 0 <= place < 90 for place in places)


def test_regression():
    rng = np.random.default_rng(0)
    slopes = rng.uniform(0.5, 2.0, 80)
    X = [slope * np.linspace(0, 1, rng.integers(10, 20)) for slope in slopes]
    model = d2ke.d2ke_train(slopes[:60], X[:60], R=200)
    predicted, accuracy, decisions = d2ke.d2ke_predict(slopes[60:], X[60:], model)
    assert accuracy > 0.95
    assert model.accuracy > 0.95
    assert model.classes is None
    assert (predicted == decisions[:, 0]).all()
    assert "R^2" in str(model)
    whole = d2ke.d2ke_train(np.round(20 * slopes), X, R=50, task="regression")
    assert whole.classes is None
    assert "decision" not in str(d2ke.d2ke_explain(X[0], model).label)


def test_the_squared_hinge_loss_is_taken_where_it_is_better():
    # The squared loss draws the threshold towards points that lie far behind it.
    rng = np.random.default_rng(0)
    level = np.concatenate([rng.uniform(-1, 1, 1200), rng.uniform(8, 9, 400)])
    codes = (level > 0.2).astype(np.int64)
    Z = rng.permutation(np.column_stack([level, codes]))
    target = Labels(Classes(np.arange(2)), Z[:, 1].astype(np.int64))
    better = better_by_hinge(Z[:, :1], target, 10.0, 1)
    linear, confusion = better["linear"], better["confusion"]
    assert linear.solver == 2
    assert better["C"] < 10
    assert confusion.sum() == 320  # every fifth
    assert better["calibration"].decisions.shape == (320, 1)
    assert (better["calibration"].values == Z[::5, 1]).all()
    assert better["accuracy"] == 100 * np.trace(confusion) / 320 > 95
    assert 0 <= better["accuracy_error"] < 2
    # Where both are as good it is not taken.
    assert better_by_hinge(codes[:, None] - 0.5, replace(target, values=codes), 10.0, 1) == {}
    # A model with it goes to a file and back.
    block = d2ke.Block("points", "dtw", training_objects, 1)
    X = [[float(value)] for value in level[:1200]]
    model = d2ke.d2ke_train(codes[:1200], X, blocks=[block])
    model = replace(model, linear=linear)
    assert reloaded(model).linear.solver == 2


@pytest.mark.parametrize("distance", ["msm", "erp", "twe", "edr", "lcss", "wdtw", "frechet"])
def test_elastic_distances_have_the_recipe_of_series(distance):
    y, X = series(40, np.random.default_rng(0))
    model = d2ke.d2ke_train(y, X, distance=distance, R=60)
    assert {block.distance for block in model.blocks} == {distance}
    assert "training differences" in [block.name for block in model.blocks]


def test_tracks_of_places_are_seen_as_they_are():
    rng = np.random.default_rng(0)
    y = np.repeat(["north", "south"], 20)
    starts = np.where(y == "north", 60.0, -40.0)
    X = [np.c_[a + rng.normal(size=9), rng.uniform(-170, 170, 9)] for a in starts]
    model = d2ke.d2ke_train(y, X, distance="dtw", ground="haversine", R=20)
    assert all(block.views == () for block in model.blocks)
    assert model.accuracy > 90


@pytest.mark.parametrize(
    ("distance", "params", "message"),
    [
        ([], {}, "distance is an empty list"),
        (["dtw", 3], {}, r"distance\[1\] must be a name or a function, got 3"),
        (["dtw", "msm"], {"window": 3}, r"no common parameters \(window\)"),
    ],
)
def test_wrong_lists_of_distances(distance, params, message):
    y, X = series(10, np.random.default_rng(0))
    with pytest.raises((TypeError, ValueError), match=message):
        d2ke.d2ke_train(y, X, distance=distance, **params)


def test_blocks_of_the_users():
    rng = np.random.default_rng(0)
    y, X = series(40, rng)
    own = [
        d2ke.Block("noise", "dtw", noise, 20, (d2ke.views.standardize,), {"window": 5}),
        d2ke.Block("first half", "dtw", segments, 20, (partial(d2ke.views.part, stop=0.5),)),
        d2ke.Block("set", "chamfer", resampled, 20),
        d2ke.Block("all", "mhd", training_objects, 99),
    ]
    model = d2ke.d2ke_train(y, X, blocks=own)
    assert [block.R for block in model.blocks] == [20, 20, 20, 40]
    assert sorted(model.blocks[-1].sources) == list(range(40))
    assert d2ke.d2ke_predict(y, X, model)[1] > 90
    with pytest.raises(TypeError, match="of their own"):
        d2ke.d2ke_train(y, X, blocks=own, R=3)


def test_nothing_learned_is_said():
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("ab"), 12)) for _ in range(200)]
    with pytest.warns(UserWarning, match="nothing was learned"):
        d2ke.d2ke_train(rng.integers(0, 2, 200), X, R=40)


def test_an_empty_string_and_objects_that_are_all_equal():
    with pytest.warns(UserWarning, match="nothing was learned"):
        model = d2ke.d2ke_train([0, 1] * 4, ["", ""] * 4, R=20)
    with (
        pytest.warns(UserWarning, match="1 of 2 strings have letters"),
        pytest.warns(UserWarning, match=r"X\[0\] is an empty string, one of 1; .* get"),
    ):
        assert np.isfinite(d2ke.d2ke_predict(None, ["", "a"], model)[2]).all()
    with pytest.warns(UserWarning, match="nothing was learned"):
        d2ke.d2ke_train([0, 1] * 4, [[1.0, 1.0]] * 8, R=20)


WRONG = {
    "one class": (lambda y, X, m: d2ke.d2ke_train(["a"] * len(X), X), ValueError, "one class only"),
    "mixed labels": (
        lambda y, X, m: d2ke.d2ke_train([1, "a"] * (len(X) // 2), X), TypeError, r"y\[0\]"),
    "one value": (lambda y, X, m: d2ke.d2ke_train([1.0] * len(X), X, task="regression"),
                  ValueError, "one value only"),
    "strings to dtw": (lambda y, X, m: d2ke.d2ke_train(y, X, distance="dtw"), TypeError,
                       "'dtw' is for series, but X holds strings"),
    "parameter": (lambda y, X, m: d2ke.d2ke_train(y, X, window=3), TypeError, "window"),
    "X empty": (lambda y, X, m: d2ke.d2ke_train([], []), (ValueError, TypeError), "empty"),
    "an empty series": (lambda y, X, m: d2ke.d2ke_train([0, 1], [[1.0], []]), ValueError,
                        r"X\[1\] is empty"),
    "unseen letter": (lambda y, X, m: d2ke.d2ke_predict(
                        None, ["ACGT", "ACNT"], m, unseen_letters="refuse"),
                      ValueError, r"X\[1\] has the letter 'N'"),
    "other kind": (lambda y, X, m: d2ke.d2ke_predict(None, [[1.0]], m), TypeError,
                   "X holds series, but the model was trained on strings"),
    "bytes": (lambda y, X, m: d2ke.d2ke_predict(None, [b"ACGT"], m), TypeError, "strings of bytes"),
    "y of numbers": (lambda y, X, m: d2ke.d2ke_predict([1], ["ACGT"], m), TypeError, "y holds"),
}  # fmt: skip


@pytest.fixture(scope="module")
def of_strings():
    y, X = strings(40, np.random.default_rng(0))
    return y, X, d2ke.d2ke_train(y, X, R=60)


@pytest.mark.parametrize("name", WRONG)
def test_wrong_input_is_named(name, of_strings):
    call, kind, message = WRONG[name]
    with pytest.raises(kind, match=message):
        call(*of_strings)


def test_several_objects_are_not_explained(of_strings):
    _, X, model = of_strings
    series = [np.arange(9.0) + i % 2 for i in range(20)]
    sets = [np.arange(18.0).reshape(9, 2) + i % 2 for i in range(20)]
    tokens = [["up", "up", "down"], ["down", "down", "up"]] * 9
    cases = [(model, X, X[0])]
    for objects, options in (series, {}), (sets, {"distance": "mhd"}), (tokens, {}):
        labels = np.arange(len(objects)) % 2
        trained = d2ke.d2ke_train(labels, objects, R=20, **options)
        cases.append((trained, objects, objects[0]))
    for trained, objects, one in cases:
        for several in (objects, objects[:1], d2ke.pack(objects)):
            with pytest.raises(ValueError, match=r"x must be one object, got .*; take X\[i\]"):
                d2ke.d2ke_explain(several, trained)
        d2ke.d2ke_explain(one, trained)


@pytest.mark.parametrize("distance", ["dtw", "mhd", lambda x, y: np.abs(x - y).sum()])
def test_objects_far_from_all_random_objects_are_counted(distance):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = list(rng.random((40, 12, 2)) + y[:, None, None])
    model = d2ke.d2ke_train(y, X, R=60, distance=distance)
    d2ke.d2ke_predict(y, X, model)
    mixed = [X[0], 1e9 * X[1], 1e4 * X[2]]
    with pytest.warns(UserWarning, match=r"^2 of 3 objects .* same prediction") as caught:
        decisions = d2ke.d2ke_predict(None, mixed, model)[2]
    assert [one.filename for one in caught] == [__file__]
    np.testing.assert_allclose(decisions[1], decisions[2], rtol=1e-3)
    with pytest.warns(UserWarning, match=r"^1 of 1 objects"):
        d2ke.d2ke_transform(mixed[1:2], model)


def test_unseen_letters_are_counted(of_strings):
    model = of_strings[2]
    X = ["ACGT", "ACNTN", "A", "N"]
    with pytest.warns(UserWarning, match=r"^2 of 4 strings .* such as 'N' in X\[1\]") as caught:
        labels = d2ke.d2ke_predict(None, X, model)[0]
    assert [one.filename for one in caught] == [__file__]
    assert set(labels) <= set(model.classes)
    with pytest.warns(UserWarning, match=r"^1 of 1 strings"):
        d2ke.d2ke_transform(["N"], model)
    with pytest.warns(UserWarning, match=r"^1 of 1 strings"):
        d2ke.d2ke_explain("N", model)


STRINGS = ["abab", "aabb", "ababab", "aaabbb"] * 5


@pytest.mark.parametrize("y", [[0.5, 1e308] * 10, [0.0, 5e-324] * 10])
def test_targets_whose_squares_float64_does_not_hold(y):
    with pytest.raises(ValueError, match="float64 does not hold the squares"):
        d2ke.d2ke_train(y, STRINGS, R=8)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"sampler": lambda R, X, seed: 3}, "sampler of block 'a' must return Objects or a list"),
        ({"views": (lambda X: 3,)}, "the view '<lambda>' must return as many Objects .* int"),
        ({"views": d2ke.views.difference}, "views of block 'a' must be a tuple"),
        ({"members": None}, "members of block 'a' must be a tuple of strings, got None"),
        ({"members": "b"}, "members of block 'a' must be a tuple of strings, got 'b'"),
        ({"members": ("b", "")}, "members of block 'a' must be a tuple of strings"),
        ({"parameters": 3}, "parameters of block 'a' must be a dict, got 3"),
    ],
)
def test_functions_of_blocks_that_return_something_else(change, problem):
    def train():
        block = replace(d2ke.Block("a", "levenshtein", segments, 8), **change)
        return d2ke.d2ke_train([0, 1] * 10, STRINGS, blocks=[block])

    with pytest.raises(TypeError, match=problem):
        train()


@pytest.mark.parametrize(
    ("key", "value", "range_"),
    [
        ("R", 0, "at least 1, got 0"),
        ("gamma_scale", 0.0, "a positive finite number, got 0.0"),
        ("sd_power", -0.5, "a finite number >= 0, got -0.5"),
    ],
)
def test_numbers_of_a_block_out_of_range(key, value, range_):
    with pytest.raises(d2ke.ArgumentError, match=f"{key} of block 'a' must be {range_}"):
        d2ke.Block("a", "levenshtein", segments, **{"R": 8, key: value})


def test_explain_blocks_of_one_name():
    block = d2ke.Block("a", "levenshtein", segments, 8)
    model = d2ke.d2ke_train([0, 1] * 10, STRINGS, blocks=[block, block])
    why = d2ke.d2ke_explain("ababa", model)
    assert why.offset + sum(why.blocks.values()) == pytest.approx(why.decision, abs=1e-9)


def test_explain_names_its_argument():
    model = d2ke.d2ke_train([0, 1] * 10, STRINGS, R=8)
    with pytest.raises(TypeError, match=r"x\[0\] is None"):
        d2ke.d2ke_explain(None, model)


def test_a_sampler_that_draws_too_many_objects():
    block = d2ke.Block("a", "levenshtein", lambda R, X, seed: X[: R + 1], 8)
    with pytest.raises(ValueError, match="sampler of block 'a' drew 9 objects where R is 8"):
        d2ke.d2ke_train([0, 1] * 10, STRINGS, blocks=[block])
    fewer = replace(block, sampler=lambda R, X, seed: X[: R - 1])
    assert d2ke.d2ke_train([0, 1] * 10, STRINGS, blocks=[fewer]).R == 7


def rare_series(rng):
    """Two kinds of waves that are hard to tell apart; every tenth is of the second kind."""
    y = (np.arange(120) % 10 == 0).astype(int)
    waves = [np.sin(np.arange(30) / (2 + 0.2 * label)) for label in y]
    return y, [wave + 1.2 * rng.normal(size=30) for wave in waves]


def test_balanced_classes_count_the_same():
    y, X = rare_series(np.random.default_rng(0))
    train = partial(d2ke.d2ke_train, y, X, R=64, distance="dtw")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of models that learned nothing
        plain = train()
        balanced = train(class_weight="balanced")
        same = train(sample_weight=np.where(y == 1, 9.0, 1.0))
        named = train(class_weight={1: 9})
        extreme = train(class_weight={0: 1e-300, 1: 1e300})
    assert plain.largest_class == 90
    assert balanced.largest_class == pytest.approx(50)
    np.testing.assert_allclose(same.linear.weights, balanced.linear.weights, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(named.linear.weights, same.linear.weights, rtol=1e-9, atol=1e-12)
    found = [d2ke.d2ke_predict(None, X, model)[0].sum() for model in (plain, balanced)]
    assert found[1] > found[0] + 5
    assert np.isfinite(extreme.linear.weights).all()
    hits = balanced.confusion.diagonal() / balanced.confusion.sum(axis=1)
    assert balanced.accuracy == pytest.approx(100 * hits.mean())


@pytest.mark.parametrize("R", [16, 64])
def test_objects_of_weight_0_are_left_out(R):
    rng = np.random.default_rng(1)
    y, X = series(40, rng)
    weights = np.where(np.arange(40) % 4 == 0, 0.0, 2.5)
    rows = np.flatnonzero(weights)
    train = partial(d2ke.d2ke_train, R=R, distance="dtw")
    fewer = train(y[rows], [X[i] for i in rows])
    model = train(y, X, sample_weight=weights)
    assert model.n_train == 30
    assert model.C == fewer.C
    np.testing.assert_allclose(model.linear.weights, fewer.linear.weights, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(model.accuracy, fewer.accuracy)
    np.testing.assert_allclose(model.accuracy_error, fewer.accuracy_error)
    numbers = train(y + 0.5 * rng.random(40), X, task="regression", sample_weight=weights + 1)
    assert numbers.accuracy > 0


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"class_weight": "even"}, "class_weight must be 'balanced' or a dict .*'even'"),
        ({"class_weight": "balanced", "task": "regression"}, "class_weight is for classes"),
        ({"sample_weight": [1.0]}, r"sample_weight has the shape \(1,\); X has 12 objects"),
        ({"sample_weight": [1.0] * 11 + [-1]}, r"sample_weight\[11\] must be finite.*-1"),
        ({"sample_weight": [0] * 12}, "sample_weight is zero for all objects"),
        ({"sample_weight": ["a"] * 12}, "sample_weight must hold numbers"),
        ({"sample_weight": [1] + [0, 1] * 5 + [1]}, None),
    ],
)
def test_wrong_weights(weights, message):
    y, X = np.arange(12) % 2, ["ab" * (i + 1) for i in range(12)]
    with pytest.raises((TypeError, ValueError), match=message):
        d2ke.d2ke_train(1 - y if message else np.arange(12) == 1, X, R=8, **weights)


def people(rng, n_people=12, each=8):
    """Strings of people: each has a motif of their own, and half of them are of class 1."""
    groups = np.repeat(np.arange(n_people), each)
    own = ["".join(rng.choice(list("ACGT"), 8)) for _ in range(n_people)]
    y = rng.integers(0, 2, n_people)[groups]
    X = ["".join(rng.choice(list("ACGT"), 12)) + 2 * own[group] for group in groups]
    return y, X, groups


@pytest.mark.parametrize("R", [32, 256])
@pytest.mark.filterwarnings("ignore:.*nothing was learned")
def test_groups_are_left_out_together(R):
    y, X, groups = people(np.random.default_rng(0))
    train = partial(d2ke.d2ke_train, y, X, R=R, distance="levenshtein")
    apart, together = train(groups="none"), train(groups=[f"person {g}" for g in groups])
    assert apart.accuracy > together.accuracy + 15
    assert together.accuracy_error > apart.accuracy_error
    alone = train(groups=np.arange(len(y)))
    assert alone.C == apart.C
    assert alone.accuracy == pytest.approx(apart.accuracy)
    np.testing.assert_allclose(
        alone.calibration.decisions, apart.calibration.decisions, rtol=1e-4, atol=1e-5
    )
    weights = np.where(groups == 3, 0, 1 + groups % 2)
    model = train(groups=groups, sample_weight=weights)
    assert model.n_train == 88


def test_groups_need_features_in_memory(monkeypatch):
    y, X, groups = people(np.random.default_rng(0))
    monkeypatch.setattr("d2ke.models.data.MAX_KEPT", 0)
    monkeypatch.setattr("d2ke.models.train.sample_rows", lambda n, *_: np.arange(64))
    with pytest.raises(ValueError, match=r"groups needs all features in memory.*96 objects"):
        d2ke.d2ke_train(y, X, R=8, distance="levenshtein", groups=groups)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["a"] * 12, "groups has one group only, .*'a'"),
        ("person", "groups must be a group for each object, or 'none'; got 'person'"),
    ],
)
def test_wrong_groups(groups, message):
    y, X = np.arange(12) % 2, ["ab" * (i + 1) for i in range(12)]
    with pytest.raises((TypeError, ValueError), match=message):
        d2ke.d2ke_train(y, X, R=8, groups=groups)
