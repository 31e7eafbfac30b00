# SPDX-License-Identifier: BSD-3-Clause
"""The reader of .ts files."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from d2ke.datasets import read_ts

# ---------------------------------------------------------------- .ts

HEADER = """#a comment
@problemName Two Words
@timeStamps false

@missing false
@univariate false
@dimensions 2
@equalLength false
@classLabel true a b-1
@source someone else
@data
"""


def ts_file(tmp_path, text, name="X_TRAIN.ts"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_ts_small_file(tmp_path):
    text = HEADER + "1,2,3:4,5,6:b-1\n# not data\n\n-1.5e2 , 2: .5,0 : a\n7:8:a"
    for content in (text, text.replace("\n", "\r\n"), "\ufeff" + text):
        path = ts_file(tmp_path, content)
        for argument in (path, str(path)):
            objects, labels, header = read_ts(argument)
            assert [o.tolist() for o in objects] == [
                [[1, 4], [2, 5], [3, 6]],
                [[-150, 0.5], [2, 0]],
                [[7, 8]],
            ]
            assert objects.dtype == np.float64
            assert labels.tolist() == ["b-1", "a", "a"]
            assert header == {
                "problemname": "Two Words",
                "timestamps": False,
                "missing": False,
                "univariate": False,
                "dimensions": 2,
                "equallength": False,
                "classlabel": ("a", "b-1"),
                "source": "someone else",
            }


@pytest.mark.parametrize("twice", ["@univariate true", "@dimensions 3", "@classLabel false"])
def test_ts_entries_that_contradict_each_other(tmp_path, twice):
    head = "@univariate false\n@dimensions 2\n@note one\n@note two\n@classLabel true a\n"
    path = ts_file(tmp_path, f"{head}{twice}\n@data\n1:2:a\n")
    tag = twice.split()[0]
    with pytest.raises(ValueError, match=f"line 6: the header has another {tag} before"):
        read_ts(path)
    assert read_ts(ts_file(tmp_path, f"{head}@dimension 2\n@data\n1:2:a\n"))[2]["note"] == "two"


def test_ts_without_classes_and_with_a_bare_header(tmp_path):
    objects, labels, header = read_ts(ts_file(tmp_path, "@CLASSLABEL FALSE\n@Data\n1,2:3,4\n5:6"))
    assert labels is None
    assert [o.tolist() for o in objects] == [[[1, 3], [2, 4]], [[5, 6]]]
    assert header == {"classlabel": ()}
    # A spelling that occurs, and a class in letters beyond ASCII.
    text = "@dimension 1\n@classLabel true ü 2\n@data\n1,2:ü\n3:2\n"
    objects, labels, header = read_ts(ts_file(tmp_path, text))
    assert labels.tolist() == ["ü", "2"]
    assert header["dimensions"] == 1


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("1,2:3,?:a", ", dimension 1: the value at position 1 is missing ('?')"),
        ("1,NaN:3,4:a", ", dimension 0: the value at position 1 is 'NaN'; every value must be"),
        ("1,x:3,4:a", ", dimension 0: the value at position 1 is 'x', not a number"),
        ("1,2:3,1e999:a", ", dimension 1: the value at position 1 is '1e999'; every value must be"),
        ("1,1_0:3,4:a", ", dimension 0: the value at position 1 is '1_0', not a number"),
        ("1,0x1:3,4:a", ", dimension 0: the value at position 1 is '0x1', not a number"),
        ("\u0661,2:3,4:a", ", dimension 0: the value at position 0 is '\u0661', not a number"),
        ("1,:3,4:a", ", dimension 0: the value at position 1 is '', not a number"),
        ("1,2:3,4,5:a", ", dimension 1: 3 values, but dimension 0 has 2"),
        ("1,2::a", ", dimension 1: the value at position 0 is '', not a number"),
        ("1,2:3,4", ": the class is '3,4', not one of those that @classLabel names: a, b-1"),
        ("1,2:3,4:", ": the class is '', not one of"),
        ("1,2:3,4:A", ": the class is 'A', not one of"),
        ("1,2:a", ": 1 dimensions instead of 2"),
        ("1,2:3,4:5,6:a", ": 3 dimensions instead of 2"),
        ("(0,1):(0,3):a", ", dimension 0: the value at position 0 is '(0', not a number"),
        ("@data", ": the class is '@data', not one of"),
        (b"1:2:\xff", " is not UTF-8 text"),
    ],
)
def test_ts_malformed_line(tmp_path, line, problem):
    line = line if isinstance(line, bytes) else line.encode()
    path = ts_file(tmp_path, HEADER.encode() + b"1:2:a\n" + line + b"\n")
    with pytest.raises(ValueError, match=re.escape(f"{path}, line 13{problem}")):
        read_ts(path)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("@timeStamps false", "@timeStamps true", ", line 3: series with time stamps"),
        ("@missing false", "@missing no", ", line 5: @missing must be true or false, got 'no'"),
        ("@missing false", "@missing", ", line 5: @missing must be true or false, got ''"),
        ("@missing false", "@missing true 1", ", line 5: @missing must be true or false, got 'tr"),
        ("@univariate false", "@univariate true", ", line 12: 2 dimensions instead of 1"),
        ("@dimensions 2", "@dimensions two", ", line 7: @dimensions must have a positive integer"),
        ("@dimensions 2", "@dimensions 0", ", line 7: @dimensions must have a positive integer"),
        ("@dimensions 2", "dimensions 2", ", line 7: 'dimensions 2' is neither a comment (#) nor"),
        ("@dimensions 2", "@dimensions 3", ", line 12: 2 dimensions instead of 3"),
        ("true a b-1", "true", ", line 9: @classLabel must be true and name the classes, or false"),
        ("true a b-1", "false a", ", line 9: @classLabel must be true and name the classes, or"),
        ("true a b-1", "a b-1", ", line 9: @classLabel must be true and name the classes, or"),
        ("@classLabel true a b-1", "# no", ", line 11: the header has no @classLabel"),
        ("@source someone else", "@targetLabel true", ", line 12, the target: the value at"),
        ("@equalLength false", "@equalLength true", ", line 13: the series has 1 time steps, but"),
        (
            "@equalLength false",
            "@equalLength true\n@seriesLength 3",
            ", line 13: the series has 2",
        ),
        ("@data\n", "@data 1\n", ", line 11: '@data 1' has more than @data"),
        ("@data\n", "@dat\n", ", line 12: '1,2:3,4:a' is neither"),
        ("@data\n1,2:3,4:a\n1:2:a\n", "", " has no line @data"),
        ("1,2:3,4:a\n1:2:a\n", "", " holds no series"),
    ],
)
def test_ts_malformed_header(tmp_path, old, new, problem):
    text = HEADER + "1,2:3,4:a\n1:2:a\n"
    assert text.count(old) == 1
    path = ts_file(tmp_path, text.replace(old, new))
    with pytest.raises(ValueError, match=re.escape(f"{path}{problem}")):
        read_ts(path)


def test_ts_published_headers(data_dir):
    objects, labels, header = read_ts(data_dir / "uea" / "BasicMotions" / "BasicMotions_TRAIN.ts")
    assert header["serieslength"] == 100
    assert header["classlabel"] == ("Standing", "Running", "Walking", "Badminton")
    assert labels[0] == "Standing"
    assert objects[0][:3, 0].tolist() == [0.079106, 0.079106, -0.903497]
    assert objects[0][:2, 1].tolist() == [0.394032, 0.394032]


names = st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"], exclude_characters=":"))


@st.composite
def ts_contents(draw):
    n_dimensions = draw(st.integers(1, 4))
    equal = draw(st.booleans())
    length = st.just(draw(st.integers(1, 6))) if equal else st.integers(1, 6)
    numbers = st.floats(allow_nan=False, allow_infinity=False) | st.just(1.7e308)
    series = [
        np.array([[draw(numbers) for _ in range(n_dimensions)] for _ in range(draw(length))])
        for _ in range(draw(st.integers(1, 5)))
    ]
    classes = draw(st.lists(names.filter(bool), min_size=1, max_size=3, unique=True))
    labels = draw(st.none() | st.lists(st.sampled_from(classes), min_size=5, max_size=5))
    return series, labels and labels[: len(series)], classes, equal


@given(ts_contents(), st.data())
def test_ts_round_trip(tmp_path_factory, content, data):
    series, labels, classes, equal = content
    n_dimensions = series[0].shape[1]
    header = [
        f"@classLabel true {' '.join(classes)}" if labels else "@classLabel false",
        f"@equalLength {str(equal).lower()}",
        *data.draw(st.sampled_from([[], [f"@dimensions {n_dimensions}"]])),
        *([f"@seriesLength {len(series[0])}"] if equal and data.draw(st.booleans()) else []),
        *([f"@univariate {str(n_dimensions == 1).lower()}"] if data.draw(st.booleans()) else []),
    ]
    lines = [*data.draw(st.permutations(header)), "@data"]
    for i, one in enumerate(series):
        parts = [",".join(map(repr, column.tolist())) for column in one.T]
        lines.append(":".join([*parts, *([labels[i]] if labels else [])]))
    commented = []
    for line in lines:
        commented += [*data.draw(st.lists(st.sampled_from(["# @data", ""]), max_size=1)), line]
    path = tmp_path_factory.getbasetemp() / "round_trip.ts"
    path.write_bytes("\n".join(commented).encode())
    objects, read, said = read_ts(path)
    assert len(objects) == len(series)
    for got, expected in zip(objects, series, strict=True):
        np.testing.assert_array_equal(got, expected)
    assert (read if read is None else read.tolist()) == labels
    assert said["classlabel"] == (tuple(classes) if labels else ())
    assert said["equallength"] is equal
