# SPDX-License-Identifier: BSD-3-Clause
"""Records of methods on real data; the settings fit the data sets."""

import json
import os
import statistics

import pytest
from experiment_cases import division_of, signs

from papers.datasets import REGISTRY, load
from papers.methods import Division, evaluate
from papers.records import make_record, write_json
from papers.settings import SETTINGS


@pytest.mark.parametrize(
    ("name", "method", "n_train", "n_test", "least"),
    [
        ("splice", "d2ke", 2233, 957, 60),
        ("splice", "rsm", 2233, 957, 60),
        ("splice", "knn", 2233, 957, 70),
        pytest.param("auslan", "d2ke", 1795, 770, 60, marks=pytest.mark.slow),
        pytest.param("auslan", "rsm", 1795, 770, 60, marks=pytest.mark.slow),
    ],
)
def test_real_data(data_dir, small, name, method, n_train, n_test, least):
    division = Division.of(load(name, data_dir), SETTINGS[name], 0, n_threads=2)
    assert (len(division.train), len(division.test)) == (n_train, n_test)
    accuracy = evaluate(method, division).accuracy
    assert least < accuracy <= 100  # percent, of a whole number of test objects
    assert accuracy * n_test / 100 == pytest.approx(round(accuracy * n_test / 100))


def test_record_of_several_divisions():
    each = [evaluate("rsm", division_of(signs(60), seed)) for seed in range(3)]
    record = make_record("auslan", "rsm", range(3), each, 42, 18)
    assert record["accuracies"] == [one.accuracy for one in each]
    assert record["accuracy_mean"] == pytest.approx(statistics.fmean(record["accuracies"]))
    assert record["accuracy_sd"] == pytest.approx(statistics.stdev(record["accuracies"]))
    assert record["parameters"] == [one.parameters for one in each]
    assert (record["seeds"], record["paper"]) == ([0, 1, 2], 88.96)
    assert set(record["seconds_by_stage"]) == set(each[0].seconds)
    assert record["seconds"] == pytest.approx(sum(record["seconds_by_stage"].values()))
    assert make_record("auslan", "rsm", range(1), each[:1], 42, 18)["accuracy_sd"] == 0


def test_a_record_that_cannot_be_written_leaves_the_old_one(tmp_path):
    file = tmp_path / "r.json"
    write_json(file, {"a": 1})
    with pytest.raises(TypeError):
        write_json(file, {"a": object()})
    assert json.loads(file.read_text("utf-8")) == {"a": 1}
    assert os.listdir(tmp_path) == ["r.json"]


def test_settings_fit_the_data_sets():
    for name, setting in SETTINGS.items():
        assert name in REGISTRY
        assert 0 < setting.search_R <= setting.R
        key = "size" if REGISTRY[name].domain == "sets" else "length"
        assert key in setting.omega
        assert all(values for values in setting.omega.values())
