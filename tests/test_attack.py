# SPDX-License-Identifier: BSD-3-Clause
"""Odd inputs of many doors, each with the right answer."""

import subprocess
import sys

import numpy as np
import pytest

import d2ke
from d2ke.cli.certainty import certainty
from d2ke.cli.matrix_files import read_matrix
from d2ke.cli.result_files import InputError
from d2ke.models.labels import read_labels
from d2ke.plots.maps import coordinates


@pytest.mark.parametrize("scale", [1.0, 1e5, 1e10])
def test_the_bound_of_the_linear_kernel_distance_bounds_its_error(scale):
    rng = np.random.default_rng(0)
    P, Q = scale * rng.normal(size=(2, 50, 3)) + scale
    exact = sum((sum(map(int, p)) - sum(map(int, q))) ** 2 for p, q in zip(
        P.round().T.tolist(), Q.round().T.tolist(), strict=True))  # fmt: skip
    found = d2ke.kernel_distance(P.round(), Q.round(), kernel="linear")
    assert abs(found.squared - exact) <= found.bound


def test_probabilities_of_several_labels_are_named_so():
    labels = np.array([[1, 0], [0, 1]])
    for word, values in (
        ("probability", [[0.9, 0.2], [0.4, 0.6]]),
        ("decision", [[3, -2], [-4, 6]]),
    ):
        columns = d2ke.frame((labels, np.nan, np.array(values))).columns
        assert [x for x in columns if x.startswith(word)] == [f"{word} 0", f"{word} 1"]


@pytest.mark.filterwarnings("ignore:little or nothing")
def test_a_bar_in_a_class_is_escaped_in_sets():
    names = np.array(["a", "a|b", "c\\"])
    y, X = np.repeat(names, 8), ["x" * 4, "xy" * 3, "yyy"] * 8
    model = d2ke.d2ke_train(y, X, R=32)
    decisions = np.ones((2, 3))
    columns, _ = certainty(model, decisions, np.ones(2), 0.001, None)
    assert columns["set"][0] == r"a|a\|b|c\\"


@pytest.mark.filterwarnings("ignore:little or nothing")
def test_one_string_beside_many_equal_ones(monkeypatch):
    monkeypatch.setattr("d2ke.models.recipes._SCORED", (30, 30))
    for others in ([], ["xyz"], ["xyz", "xxyz"]):
        X = ["abc"] * 60 + others
        model = d2ke.d2ke_train(["a", "b"] * 30 + ["a"] * len(others), X, R=64)
        assert len(d2ke.d2ke_predict(None, X, model)[0]) == len(X)


@pytest.mark.filterwarnings("ignore:little or nothing")
def test_equal_objects_are_drawn_at_one_place():
    np.testing.assert_array_equal(coordinates(None, np.ones((9, 4))), np.zeros((9, 2)))


@pytest.mark.parametrize("ages", [np.arange(20, 54), np.arange(20, 54) * 1.0])
def test_many_whole_numbers_may_be_amounts(ages):
    y = np.tile(ages, 2)
    with pytest.warns(UserWarning, match="34 different whole numbers, from 20.*task='regression'"):
        read_labels(y, None)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("y", [np.arange(34), np.arange(1, 35), [3, 5, 9], ["20", "30"]])
def test_numbers_of_classes_are_no_amounts(y):
    read_labels(y, None)


@pytest.mark.parametrize("first", ["0,1,2", "1,2,3", "1980,1990,2000"])
def test_a_header_of_numbers_in_a_matrix_is_a_question(tmp_path, first):
    path = tmp_path / "m.csv"
    path.write_text(f"{first}\n0.5,1,4\n2.5,7,1\n", "utf-8")
    with pytest.raises(InputError, match="may be a header or a row"):
        read_matrix(path, None)
    path.write_text(f"a,b,c\n{first}\n0.5,1,4\n2.5,7,1\n", "utf-8")
    assert read_matrix(path, None)[0].shape == (3, 3)


def test_an_index_that_was_written_is_no_column_of_a_matrix(tmp_path):
    path, rows = tmp_path / "m.csv", "0,1.5,4\n1,7.5,1\n2,7,1\n3,0,2\n"
    for text in (f",a,b\n{rows}", f",0,1\n{rows}", rows):
        path.write_text(text, "utf-8")
        with pytest.raises(InputError, match=r"the first column (has no name|counts the rows)"):
            read_matrix(path, None)
    path.write_text(f"t,a,b\n{rows}", "utf-8")
    assert read_matrix(path, None)[0].shape == (4, 3)
    path.write_text("0 1 2\n1 0 1\n2 1 0\n".partition("\n")[2], "utf-8")
    assert read_matrix(path, None)[0].shape == (2, 3)


def test_many_columns_are_checked_once(tmp_path):
    path = tmp_path / "wide.csv"
    names = [f"v{i}" for i in range(100_000)]
    path.write_text(",".join([*names, "v7"]) + "\n" + ",".join(["x"] * 100_001) + "\n", "utf-8")
    with pytest.raises(ValueError, match="names the column 'v7' twice"):
        d2ke.io.read_objects(path)
    path.write_text(",".join(names[:200]) + "\n" + ",".join(["x"] * 200) + "\n", "utf-8")
    for options in ({}, {"objects": "w"}, {"ids": "w"}):
        with pytest.raises(ValueError, match=r", \.\.\. and 190 more") as error:
            d2ke.io.read_objects(path, **options)
        assert len(str(error.value)) < 1000


@pytest.mark.skipif(sys.platform == "win32", reason="a pipe of POSIX")
def test_files_are_written_though_the_reader_of_the_output_has_left(tmp_path, monkeypatch):
    (tmp_path / "x.csv").write_text("sequence,label\n" + "aab,a\nbba,b\n" * 10, "utf-8")
    command = [sys.executable, "-m", "d2ke", "train", "x.csv", "--out", "m.h5"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.wait() == 141
    assert (tmp_path / "m.h5").exists()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/dev/full")
def test_a_full_disk_has_its_status(tmp_path):
    (tmp_path / "x.csv").write_text("sequence,label\n" + "aab,a\nbba,b\n" * 10, "utf-8")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "d2ke", "inspect", "x.csv"], cwd=tmp_path, stdout=full,
            stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert (done.returncode, "No space left" in done.stderr) == (1, True)
