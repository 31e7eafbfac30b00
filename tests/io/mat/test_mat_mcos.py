# SPDX-License-Identifier: BSD-3-Clause
"""MATLAB's string, datetime, table and other classes, in files made by the documented layout."""

import mcos_files
import numpy as np
import pytest

from d2ke.io import Unreadable, load_mat, whos_mat

US = "datetime64[us]"


@pytest.fixture(params=["5", "7.3"])
def path(request, tmp_path):
    mcos_files.WRITERS[request.param](tmp_path / "a.mat", *mcos_files.sample())
    return tmp_path / "a.mat"


def test_strings(path):
    data = load_mat(path, ["text", "texts"])
    assert data["text"] == "one"
    assert data["texts"].tolist() == [["a", None], ["é😀", ""]]


def test_times(path):
    data = load_mat(path, ["time", "zoned", "span"])
    assert data["time"].dtype == US
    assert data["time"].shape == (1, 2)
    assert data["time"][0, 0] == np.datetime64("2017-07-14T02:40:00.000500")
    assert np.isnat(data["time"][0, 1])
    assert data["zoned"].tolist() == [[np.datetime64("2017-07-14T02:40:00.000001").item()]]
    assert data["span"].dtype == "timedelta64[us]"
    assert data["span"].astype(int).tolist() == [[1_500_000], [250]]


def test_categories(path):
    kinds = load_mat(path, "kinds")["kinds"]
    assert kinds["codes"].tolist() == [[1, -1, 0]]
    assert kinds["categories"] == ["low", "high"]
    assert kinds["ordered"] is True


def test_tables(path):
    data = load_mat(path)
    table = data["table"]
    assert list(table) == ["Row", "A", "B"]
    assert table["Row"].tolist() == [["r1"], ["r2"]]
    assert table["A"].tolist() == [[1], [2]]
    assert table["B"].tolist() == [["x"], ["y"]]
    assert data["plain"] == {}
    assert list(data["listed"]) == ["Time", "v"]
    assert data["listed"]["Time"].astype(int).tolist() == [[0], [1000], [5000]]
    times = ["2017-07-14T02:40:00", "2017-07-14T02:40:02", "2017-07-14T02:40:04"]
    assert data["regular"]["Time"].ravel().tolist() == np.array(times, US).tolist()
    assert data["monthly"].reason == "a timetable with steps of calendar months or days"
    assert data["rate"]["Time"].astype(int).ravel().tolist() == [0, 1000, 2000]
    squeezed = load_mat(path, squeeze=True)
    assert squeezed["table"]["A"].tolist() == [1, 2]
    assert squeezed["rate"]["Time"].shape == (3,)
    assert squeezed["zoned"] == np.datetime64("2017-07-14T02:40:00.000001")


def test_enumerations_and_other_classes(path):
    data = load_mat(path)
    assert data["colours"].tolist() == [["red", "blue", "blue"]]
    assert data["colour"] == "blue"
    assert data["own"] == Unreadable("own", "pkg.Own", "an object of a class")
    assert data["month"] == Unreadable("month", "calendarDuration", "an object of a class")
    assert ("own", (1, 1), "pkg.Own") in whos_mat(path)


def test_objects_without_their_properties(tmp_path):
    objects, variables = mcos_files.sample()
    objects.objects = objects.objects[:3]
    mcos_files.write_v5(tmp_path / "a.mat", objects, variables)
    data = load_mat(tmp_path / "a.mat")
    assert data["text"] == "one"
    assert data["time"].reason.startswith("damaged: an object that does not fit its class")
    content = (tmp_path / "a.mat").read_bytes()
    (tmp_path / "a.mat").write_bytes(content[:116] + bytes(8) + content[124:])
    text = load_mat(tmp_path / "a.mat", "text")["text"]
    assert text.matlab_class == "string"
    assert text.reason == "an object of a class, whose properties are not in the file"


def test_objects_that_contain_themselves(tmp_path):
    objects = mcos_files.Objects()
    link = mcos_files.Link([mcos_files.REFERENCE, 2, 1, 1, 1, 1])
    dimensions = {"DimensionNames": ["Row", "Variables"]}
    objects.add("table", data=[link], varnames=["k"], rownames=[], props=dimensions)
    for version, write in mcos_files.WRITERS.items():
        write(tmp_path / f"{version}.mat", objects, {"t": ("table", link)})
        read = load_mat(tmp_path / f"{version}.mat")["t"]
        assert read["k"].reason == "an object that contains itself"
