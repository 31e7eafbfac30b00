# SPDX-License-Identifier: BSD-3-Clause
"""Files of the UCR archive: on each line a class, then the values of a series."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from d2ke.io import read_objects
from d2ke.objects.packing import pack

SERIES = st.lists(
    st.tuples(st.integers(-3, 10**18 - 1), st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=6)),
    min_size=1,
    max_size=6,
)


@pytest.fixture
def put(tmp_path):
    def write(text, name="X_TRAIN.tsv"):
        path = tmp_path / name
        path.write_bytes(text.encode("utf-8"))
        return path

    return write


@given(SERIES, st.sampled_from([("\t", ".tsv"), (",", ".txt"), ("  ", ".txt"), ("\t", ".txt")]))
def test_series_of_their_lengths(tmp_path_factory, rows, form):
    mark, suffix = form
    longest = max(len(values) for _, values in rows)
    lines = [
        mark.join([str(label), *map(repr, values), *["NaN"] * (longest - len(values))])
        for label, values in rows
    ]
    path = tmp_path_factory.getbasetemp() / f"Random_TEST{suffix}"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    held = read_objects(path)
    assert held.objects == pack([np.array(values) for _, values in rows])
    assert held.labels.tolist() == [label for label, _ in rows]
    assert held.labels.dtype == np.int64
    cut = sum(len(values) < longest for _, values in rows)
    ends = [f"NaN at the end of {cut} series cut>"] * bool(cut)
    assert repr(held).endswith(
        ", ".join(["; labels from the first field", *ends]).rstrip(">") + ">"
    )


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff1\t0.5\t1.5\r\n\r\n-1\t2\t3\r\n",
        "1.0\t0.5\t1.5\n-1.0\t2\t3",
        "   1.0000000e+00 \t 5e-1\t 1.5 \n  -1.0000000e+00\t2\t3\n",
    ],
)
def test_other_writings(put, text):
    for name in ("X_TRAIN.tsv", "x_test.TSV", "a.txt", "Gun_Point_TRAIN"):
        objects, labels = read_objects(put(text, name))
        assert objects == pack([[0.5, 1.5], [2.0, 3.0]])
        assert (labels.tolist(), labels.dtype) == ([1, -1], np.int64)


BAD = [
    ("", "holds no series"),
    ("1\n", "line 1: 0 values after the class instead of 1;"),
    ("1\t2\t3\n1\tNaN\t3\n", "line 2, field 1: a value is missing inside the series ('NaN')"),
    ("1\t2\t3\n1\tNaN\tnan\n", "line 2: the series has no values, only NaN"),
    ("1\t2\t3\n1\tinf\t3\n", "line 2, field 1: the value is 'inf'; every value must be finite"),
    ("1\t2\t3\n1\tx\t3\n", "line 2, field 1: the value is 'x', not a number"),
    ("1\t2\t3\n1\t0,5\t3\n", "line 2, field 1: the value is '0,5', not a number; a decimal comma"),
    ("1\t2\n1\t9007199254740993\n", "is '9007199254740993', a whole number that float64 cannot"),
    ("1\t2\t3\n1.0\t2\t3\n", "(first fields) must be whole numbers in one form, got '1'"),
    ("0.5\t2\t3\n1.5\t2\t3\n", "line 1, field 0: the class is 0.5, not an integer below 2**53"),
    ("1\t2\t3\nNaN\t2\t3\n", "line 2, field 0: the label 'NaN' stands among numbers"),
]


@pytest.mark.parametrize(("text", "message"), BAD)
def test_bad_files(put, text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read_objects(put(text, "X_TRAIN.txt"))
    if "\t" in text:
        with pytest.raises(ValueError, match=re.escape(message)):
            read_objects(put(text))


@pytest.mark.parametrize(
    "text", ["0\t1\t2\n0\t5\t6\n", "2\t0.5\t2\n1\t5\t6\n", "1\t2\t2\n1\t5\t6\n"]
)
def test_numbers_without_a_header_are_refused_unless_they_are_said_to_be_series(put, text):
    with pytest.raises(ValueError, match=r"if each row is a series, say so \(series\)"):
        read_objects(put(text, "a.tsv"))
    assert len(read_objects(put(text)).objects) == 2
    objects, labels = read_objects(put("2\t0.5\t2\n1\t5\t6\n2\t1\t1\n", "a.tsv"), series=True)
    assert (len(objects), labels.tolist()) == (3, [2, 1, 2])


def test_tables_stay_tables(put):
    table = "1\t2\t0\nx\tab\t0.5\ny\tcd\t1.5\n"
    with pytest.raises(ValueError, match="labels must name one of the columns"):
        read_objects(put(table), labels="label")
    held = read_objects(put(table), objects="2", labels="1")
    assert (list(held.objects), held.columns.unused) == (["ab", "cd"], ("0",))
    objects, labels = read_objects(put("sequence\tlabel\nab\t1\ncd\t2\n"))
    assert (list(objects), labels.tolist()) == (["ab", "cd"], [1, 2])
