# SPDX-License-Identifier: BSD-3-Clause
"""ARFF and FASTA files: what is written is read, and every bad line is named."""

import os
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import d2ke
from d2ke.io import read_objects

HEAD = "@relation 'a relation'\n% a comment\n\n"
RELATIONAL = HEAD + (
    "@attribute 'the series' relational\n  @ATTRIBUTE t0 NUMERIC\n  @attribute 't 1' real\n"
    "@end 'the series'\n@attribute class {up,'far down'}\n@DATA\n"
)


@pytest.fixture
def put(tmp_path):
    def write(text, name="a.arff"):
        path = tmp_path / name
        path.write_text(text, "utf-8")
        return path

    return write


def quoted(text):
    escapes = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t"}
    for plain, escape in escapes.items():
        text = text.replace(plain, escape)
    return f"'{text}'"


NUMBERS = st.floats(-1e9, 1e9)
LETTERS = st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"])
NAMES = st.text(LETTERS, min_size=1, max_size=6)


@given(
    st.lists(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=4), min_size=1, max_size=4),
    st.sampled_from([True, False]),
)
@pytest.mark.filterwarnings("ignore:every item")
def test_relational(tmp_path_factory, items, channels_first):
    path = tmp_path_factory.getbasetemp() / "relational.arff"
    if channels_first:  # as many in each item
        items = [item[: min(map(len, items))] for item in items]
    rows = [quoted("\n".join(",".join(map(repr, row)) for row in item)) for item in items]
    classes = ["up", "'far down'"]
    path.write_text(
        RELATIONAL + "".join(f"{r},{classes[i % 2]}\n" for i, r in enumerate(rows)), "utf-8"
    )
    objects, labels = read_objects(path, channels_first=channels_first)
    wanted = [np.array(item).T if channels_first else np.array(item) for item in items]
    assert objects == d2ke.pack(wanted, channels_first=False)
    assert labels.tolist() == [["up", "far down"][i % 2] for i in range(len(items))]


@given(st.lists(st.tuples(st.text(LETTERS, max_size=3), NAMES), min_size=1, max_size=4))
def test_strings(tmp_path_factory, rows):
    path = tmp_path_factory.getbasetemp() / "strings.arff"
    values = ",".join(quoted(name) for name in sorted({name for _, name in rows}))
    lines = [f"{quoted(text + chr(10) + chr(9))} , {quoted(name)}" for text, name in rows]
    head = HEAD + f"@attribute s string\n@attribute 'it''s' {{{values}}}\n@data\n"
    path.write_text("\n".join([head.replace("'it''s'", '"it\'s"'), *lines]), encoding="utf-8")
    objects, labels = read_objects(path)
    assert list(objects) == [text + "\n\t" for text, _ in rows]
    if labels.dtype.kind == "U":
        assert labels.tolist() == [name for _, name in rows]


def test_numeric(put):
    path = put(HEAD + "@attribute a real\n@attribute b integer\n@attribute y {1,2}\n@data\n"
               "1.5,2,1\n 3 , -4e0 ,2\n")  # fmt: skip
    objects, labels = read_objects(path)
    assert objects == d2ke.pack([[1.5, 2.0], [3.0, -4.0]])
    assert labels.tolist() == ["1", "2"]
    objects, labels = read_objects(put(HEAD + "@attribute a real\n@attribute b real\n@data\n1,2\n"))
    assert (objects.lengths.tolist(), labels) == ([2], None)


A = HEAD + "@attribute a numeric\n"
AB = A + "@attribute b real\n"
S = HEAD + "@attribute s string\n@attribute y {p,q}\n@data\n"
N = HEAD + "@attribute s string\n@attribute y numeric\n@data\n"
READ = [
    (AB + "@attribute c {1,2}\n@data\n1.5,2,2\n 3 , -4e0 ,1\n", [[1.5, 2], [3, -4]], ["2", "1"]),
    (AB + "@attribute class {01,1.0}\n@data\n1,2,1.0\n", [[1, 2]], ["1.0"]),
    (AB + "@attribute class numeric\n@data\n1,2,0.5\n", [[1, 2]], [0.5]),
    (AB + "@attribute Target integer\n@data\n1,2,5\n", [[1, 2]], [5]),
    (AB + "@attribute y real\n@attribute z real\n@data\n1,2,3,4\n", [[1, 2, 3, 4]], None),
    (AB + "@attribute y numeric\n@attribute c {a}\n@data\n1,2,3,a\n", [[1, 2, 3]], ["a"]),
    (N + "ab,0.5\nc,1\n", ["ab", "c"], [0.5, 1.0]),
    (N + "ab,1e300\nc,1\n", ["ab", "c"], [1e300, 1.0]),
    (S + "'a,} \\'b',p\nc , q\n", ["a,} 'b", "c"], ["p", "q"]),
]


@pytest.mark.parametrize(("text", "items", "classes"), READ)
def test_which_attribute_is_the_class(put, text, items, classes):
    objects, labels = read_objects(put(text))
    assert objects == d2ke.pack(items)
    if classes is None:
        assert labels is None
    else:
        assert (labels.tolist(), labels.dtype.kind) == (classes, np.array(classes).dtype.kind)


BAD = [
    ("", "has no line @data"),
    ("@data\n1\n", "line 1: '@data' is not a line of a header"),
    (A + "@attribute a real\n", "line 5: the attribute 'a' is declared twice"),
    (A + "@attribute b date yyyy\n", "line 5: the attribute 'b' is 'date yyyy'; numeric, real"),
    (A + "@attribute b {p,,q}\n", "line 5: the value at position 1 is empty"),
    (A + "@data\n", "holds no objects"),
    (A + "@data 1\n", "line 5: '@data 1' has more than @data, which ends a header"),
    (A + "@data\nx\n", "line 6, attribute 'a': the value is 'x', not a number"),
    (A + "@data\nnan\n", "line 6, attribute 'a': the value is 'nan'"),
    (A + "@data\n1,2\n", "line 6: 2 values, but there are 1 attributes"),
    (A + "@data\n1,{5}\n", "position 1 is not understood: '{5}'; sparse rows and weights of rows"),
    (A + "@attribute s string\n@data\n", "one string, or numbers only; it has a (numeric), s (str"),
    (S + "ab,r\n", "line 7: 'y' is 'r', not one of p, q"),
    (S + "ab,?\n", "line 7: 'y' is missing ('?')"),
    (S + "'ab,p\n", 'line 7: the value at position 0 is not understood: "\'ab,p"'),
    (S.replace("@data", "@attribute z {1}\n@data"), "labels must name one of the attributes y, z"),
    (
        S.replace("{p,q}", "{p}\n@attribute class real") + "a,p,1\n",
        "one of the attributes y, cl",
    ),
    (RELATIONAL + "'1,2',up\n", "channels_first must say what a row of the relational attribute"),
]


@pytest.mark.parametrize(("text", "message"), BAD)
def test_bad_arff(put, text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read_objects(put(text))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("'1,2\\n3',up\n", "line 9, row 1 of 'the series': 1 values, not 2"),
        ("'1,2\\n3,?',up\n", "line 9, row 1 of 'the series': the value at position 1 is missing"),
    ],
)
def test_bad_relations(put, rows, message):
    text = RELATIONAL.replace("% a comment\n\n", "")
    with pytest.raises(ValueError, match=re.escape(message.replace("line 9", "line 8"))):
        read_objects(put(text + rows), channels_first=True)


def test_arguments_of_arff(put):
    path = put(A + "@data\n1\n")
    with pytest.raises(ValueError, match="channels_first is for relational attributes"):
        read_objects(path, channels_first=True)
    with pytest.raises(ValueError, match="has no attribute 'z'; it has 'a'"):
        read_objects(path, labels="z")
    with pytest.raises(TypeError, match=r"objects has no meaning for a \.arff file"):
        read_objects(path, objects="a")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
@pytest.mark.parametrize("name", ["a.ts", "a.arff", "a.fa", "a.csv", "a.npz"])
def test_pipes_are_refused(tmp_path, name):
    os.mkfifo(tmp_path / name)
    with pytest.raises(OSError, match="is not a regular file but a pipe"):
        read_objects(tmp_path / name)
