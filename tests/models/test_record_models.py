# SPDX-License-Identifier: BSD-3-Clause
"""Models of records: each column alone says little, all together say nearly all."""

import warnings

import numpy as np
import pytest
from reference import reloaded

import d2ke
from d2ke.models.blocks import Sample, fit_blocks, fit_fixed
from d2ke.models.feature_map import FeatureMap
from d2ke.models.labels import no_labels
from d2ke.models.table_blocks import plain_blocks

N = 200
STEMS = [a + b for a in "bdfgklmnprst" for b in "aeiou"]
ENDINGS = {"north": ("sen", "vik"), "south": ("ino", "ella"), "isles": ("ino", "ella")}


def table(n, seed):
    """Draw people of three regions, on two kinds of walks: six classes.

    Names tell the north from the south and the isles, towns the isles from the south, and the age
    says a little about the walk.
    """
    rng = np.random.default_rng(seed)
    regions, long = rng.choice(list(ENDINGS), n).tolist(), rng.random(n) < 0.5
    data = {"name": [], "walk": [], "age": rng.normal(40 + 10 * long, 12).tolist(), "town": []}
    ports = {"north": 0.5, "south": 0.01, "isles": 0.99}
    for region, is_long in zip(regions, long, strict=True):
        stem = "".join(rng.choice(STEMS, rng.integers(1, 3)))
        data["name"].append(stem + str(rng.choice(ENDINGS[region])))
        steps = np.arange(rng.integers(30, 50))
        walk = np.cumsum(rng.normal(0, 0.3, len(steps)))
        if is_long:
            start = rng.integers(0, len(steps) - 12)
            walk[start : start + 12] += 2.5 * np.sin(1.5 * np.arange(12))
        data["walk"].append(walk)
        data["town"].append("port" if rng.random() < ports[region] else "inland")
    for column in data.values():
        for i in np.flatnonzero(rng.random(n) < 0.02):
            column[i] = None
    data["town"] = d2ke.categories(data["town"])
    return [f"{a} {'long' if b else 'short'}" for a, b in zip(regions, long, strict=True)], data


@pytest.fixture(scope="module")
def trained():
    y, data = table(N, 0)
    return y, data, d2ke.d2ke_train(y, data, R=400)


NEW = table(N, 1)


def test_prediction_and_features(trained):
    model = trained[2]
    predicted, _, decisions = d2ke.d2ke_predict(None, NEW[1], model)
    turned = {name: NEW[1][name] for name in reversed(NEW[1])}
    np.testing.assert_array_equal(d2ke.d2ke_predict(None, turned, model)[2], decisions)
    P = d2ke.d2ke_predict(None, NEW[1], model, probability=True)[2]
    np.testing.assert_allclose(P.sum(axis=1), 1)
    assert d2ke.predict_set(NEW[1], model).shape == P.shape
    p = d2ke.novelty(NEW[1], model)
    assert np.mean(p <= 0.1) < 0.2
    assert model.reference.plain.any()
    assert not model.reference.plain.all()
    row = {name: [value] for name, value in d2ke.pack_records(NEW[1])[3].items()}
    strange = {"name": ["busabusabusabusa"], "walk": [np.resize([9.0, -9.0], 40)]}
    assert d2ke.novelty(row | strange, model)[0] < 0.01
    Z = d2ke.d2ke_transform(NEW[1], model)
    assert Z.shape == (N, model.R)
    assert len(model.feature_names()) == model.R
    # One row at a time gives the same.
    records = d2ke.pack_records(NEW[1])
    for i in (3, 17):
        np.testing.assert_allclose(d2ke.d2ke_transform(records[[i]], model)[0], Z[i], atol=1e-6)
    row = {name: [value] for name, value in records[3].items()}
    assert d2ke.d2ke_predict(None, row, model)[0][0] == predicted[3]
    text = str(model)
    for part in ("name: parts", "walk: windows", "name: anywhere", "of 6 classes", "town"):
        assert part in text


def test_round_trip(trained):
    model = trained[2]
    loaded = reloaded(model)
    assert str(loaded) == str(model)
    np.testing.assert_array_equal(
        d2ke.d2ke_transform(NEW[1], loaded), d2ke.d2ke_transform(NEW[1], model)
    )
    for name, given in model.inputs.items():
        assert loaded.inputs[name].kind == given.kind


def test_plain_columns():
    """Numbers are standardised, categories one feature each; missing ones are at the mean."""
    records = d2ke.pack_records(
        {"x": [1.0, 3.0, None], "c": d2ke.categories(["a", None, "b"]), "s": ["u", "v", "w"]}
    )
    sample = Sample(records, np.arange(3), no_labels(3))
    blocks = fit_fixed(plain_blocks(records), sample, {}, 0)
    fitted, Z = fit_blocks(blocks, sample, 0)
    assert [block.name for block in fitted] == ["x", "c", "x: missing", "c: missing"]
    assert Z[:, 0].tolist() == [-1, 1, 0]
    assert Z[:, 1:3].tolist() == [[1, 0], [0.5, 0.5], [0, 1]]
    assert Z[:, 3].tolist() == [0, 0, 1]
    np.testing.assert_array_equal(FeatureMap(fitted).unscaled(records, 1), Z)


def test_numbers_beyond_straight_lines():
    rng = np.random.default_rng(3)
    age = rng.normal(45, 15, 500)
    words = rng.choice(["aab", "bba"], 500)
    y = np.where(np.abs(age - 45) < 10, words, "x")
    model = d2ke.d2ke_train(y[:300], {"word": words[:300], "age": age[:300]}, R=32)
    assert d2ke.d2ke_predict(y[300:], {"word": words[300:], "age": age[300:]}, model)[1] > 93
    centres = next(block for block in model.blocks if block.name == "age: near").centres
    # Far away, nothing is near.
    far = d2ke.d2ke_transform({"word": ["aab"], "age": [1e9]}, model)
    assert np.isfinite(far).all()
    assert len(centres) == 32


def test_missing_entries_say_something():
    """Where entries are missing may be all that there is to know."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    words = ["".join(rng.choice(list("abcd"), 6)) for _ in y]
    data = {"word": words, "size": [None if one else float(rng.normal()) for one in y]}
    model = d2ke.d2ke_train(y, data, R=64)
    assert d2ke.d2ke_predict(y, data, model)[1] == 100


def test_entries_that_are_all_missing_give_the_mean(trained):
    model = trained[2]
    nothing = {name: [None] for name in model.inputs}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Z = d2ke.d2ke_transform(nothing, model)
    there = np.array([not name.endswith("missing.0") for name in model.feature_names()])
    assert np.abs(Z[0, there]).max() < 0.05


def test_distances_and_blocks_of_columns():
    rng = np.random.default_rng(2)
    data = {"a": ["ab", "ba"] * 20, "b": rng.normal(size=(40, 8)), "c": rng.normal(size=40)}
    y = [0, 1] * 20
    model = d2ke.d2ke_train(y, data, distance={"a": "damerau", "b": ["dtw", "msm"]}, R=80)
    assert {block.describe() for block in model.blocks} <= {
        "damerau_levenshtein",
        "dtw",
        "msm",
        "numbers",
    }
    costs = {"mismatch": 0.5}
    model = d2ke.d2ke_train(y, data, distance={"a": ("weighted_levenshtein", costs)}, R=8)
    assert "weighted_levenshtein (mismatch=0.5)" in {block.describe() for block in model.blocks}
    mine = d2ke.Block("mine", "levenshtein", d2ke.samplers.training_objects, 8, column="a")
    model = d2ke.d2ke_train(y, data, blocks=[mine])
    assert model.blocks[0].name == "mine"
    assert {block.column for block in model.blocks} <= {"a", "c"}


DATA = {"a": ["ab", "ba"] * 6, "x": np.arange(12.0)}


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ({"x": np.arange(12.0)}, {}, "X has no column of objects among its 1"),
        ({**DATA, "z": [1]}, {}, r"X\['z'\] has 1 rows, but X\['a'\] has 12"),
        (DATA, {"distance": {"b": "dtw"}}, "distance names the column 'b'"),
        (DATA, {"distance": {"a": ("levenshtein", 2)}}, r"distance\['a'\] must be a distance or"),
        (DATA, {"distance": {"a": ("levenshtein", {"window": 2})}}, "has no parameter 'window'"),
        ({**DATA, "b": ["x"] * 12}, {"distance": "levenshtein"}, "must say of which column"),
        (DATA, {"window": 3}, r"records have parameters by column: distance=\{'a': "),
        (
            DATA,
            {"blocks": [d2ke.Block("b", "dtw", d2ke.samplers.training_objects, 4)]},
            r"blocks\[0\] sees the column ''; of objects are \['a'\]",
        ),
    ],
)
def test_refused_at_training(data, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        d2ke.d2ke_train([0, 1] * 6, data, **options)


def test_refused_at_prediction(trained):
    model, data = trained[2], NEW[1]
    without = {name: data[name] for name in data if name != "walk"}
    for X, message in [
        (without, "X has no column 'walk'; the model was trained on 'name', 'walk', 'age', 'town'"),
        (data | {"age": ["x"] * N}, r"X\['age'\] holds strings, but .* trained on numbers"),
        (data | {"walk": [[[0.0, 1.0]] * 3] * N}, r"X\['walk'\] has vectors of 2 dimensions"),
        (["x"], "X must be a dict or a frame of the columns 'name'"),
    ]:
        with pytest.raises((TypeError, ValueError), match=message):
            d2ke.d2ke_predict(None, X, model)
    with pytest.warns(UserWarning, match="the columns 'size' are not used"):
        more = d2ke.d2ke_predict(None, data | {"size": [1.0] * N}, model)[2]
    assert (more == d2ke.d2ke_predict(None, data, model)[2]).all()


def test_unseen_categories_and_letters(trained):
    model = trained[2]
    row = {"name": ["Åsa"], "walk": [np.zeros(40)], "age": [30], "town": ["Bonn"]}
    with pytest.warns(UserWarning, match="no training") as caught:
        d2ke.d2ke_predict(None, row, model)
    text = " ".join(str(one.message) for one in caught)
    assert "such as 'Bonn' in X['town'][0]" in text
    assert "in X['name'][0]" in text


def test_explanation(trained):
    model = trained[2]
    records = d2ke.pack_records(NEW[1])
    names = {block.name for block in model.blocks}
    row = np.flatnonzero(~np.any([one.missing for one in records.columns.values()], axis=0))[0]
    why = d2ke.d2ke_explain(records[row], model, limit=20)
    assert set(why.blocks) == names
    assert abs(why.offset + sum(why.blocks.values()) - why.decision) < 1e-9
    assert why.label == d2ke.d2ke_predict(None, records[[row]], model)[0][0]
    assert why.steps.shape == why.series.shape == (len(records[row]["walk"]), 1)
    assert "nan" not in str(why)
    without = records[row] | {"walk": None, "town": None}
    why = d2ke.d2ke_explain(without, model)
    assert why.steps is None
    assert abs(why.offset + sum(why.blocks.values()) - why.decision) < 1e-9
    with pytest.raises(TypeError, match="x must be a record, a dict of its entries, got str"):
        d2ke.d2ke_explain("Ada", model)
    with pytest.raises(ValueError, match=f"x must be one record, got {N}"):
        d2ke.d2ke_explain(records, model)
