# SPDX-License-Identifier: BSD-3-Clause
"""Odd files: each gives what is written in it, or an error that says where and why."""

import math
import re

import h5py
import numpy as np
import pytest

from d2ke.cli.main import main
from d2ke.io import ParquetObjects, read_objects, read_ts, save_mat
from d2ke.models.persistence import load_model
from d2ke.models.predict import d2ke_predict
from d2ke.models.train import d2ke_train
from d2ke.objects.packing import pack

STRINGS = ["AC", "GGT", "TA"]


def table(labels, mark=",", head="sequence,label"):
    """Return a table of three strings with these labels."""
    rows = [f"{word}{mark}{label}" for word, label in zip(STRINGS, labels, strict=True)]
    return "\n".join([head.replace(",", mark), *rows]) + "\n"


LAST = r"\|(.*)$"  # the last field of headers


def fasta(labels):
    return "".join(f">s|{label}\n{word}\n" for word, label in zip(STRINGS, labels, strict=True))


# ---------------------------------------------------------------- labels of text

LABELS = [
    (["1", "-2", "0"], [1, -2, 0]),
    (["1.5", "2", "-0.25"], [1.5, 2.0, -0.25]),
    (["1.0", "2.0", "3.5"], [1.0, 2.0, 3.5]),
    (["1.10", "2.50", "-0.00"], [1.1, 2.5, -0.0]),
    (["1e-05", "1.5e+20", "3"], [1e-05, 1.5e20, 3.0]),
    ([".5", "-.25", "1"], [0.5, -0.25, 1.0]),
    *(
        (text, text)
        for text in (
            ["1.1", "1.10", "1.2"],
            ["1.0", "1", "2"],
            ["1E2", "100", "7"],
            ["1E2", "200", "7"],
            ["1e2", "2e3", "7"],
            ["01", "2", "3"],
            ["+1", "-1", "+1"],
            ["-0", "0", "1"],
            ["0x10", "1", "2"],
            ["1_000", "2", "3"],
            ["\u0661", "2", "3"],
            ["NA", "US", "DE"],
            ["None", "some", "all"],
            ["True", "false", "True"],
            ["9007199254740993", "0.5", "1"],
            ["12345678901234567890", "1", "2"],
            ["1-2", "3-4", "5-6"],
        )
    ),
]


@pytest.mark.parametrize("form", [table, fasta])
@pytest.mark.parametrize(("labels", "wanted"), LABELS)
def test_labels(tmp_path, form, labels, wanted):
    file = tmp_path / ("a.csv" if form is table else "a.fasta")
    file.write_text(form(labels), encoding="utf-8")
    objects, found = read_objects(file, labels=None if form is table else LAST)
    assert list(objects) == STRINGS
    assert found.tolist() == wanted
    assert found.dtype.kind == np.array(wanted).dtype.kind


@pytest.mark.parametrize(
    "word", ["nan", "NaN", "NA", "#N/A", "<NA>", "null", "?", "-", "inf", "-Inf"]
)
@pytest.mark.parametrize("form", [table, fasta])
def test_what_is_no_number_among_numbers(tmp_path, form, word):
    file = tmp_path / ("a.csv" if form is table else "a.fasta")
    file.write_text(form(["1.5", word, "2"]), "utf-8")
    place = "line 3, column 'label'" if form is table else "line 3"
    with pytest.raises(ValueError, match=re.escape(f"{file}, {place}: the label {word!r}")):
        read_objects(file, labels=None if form is table else LAST)


# ---------------------------------------------------------------- tables

ONE_SERIES = "0,1,2,3\n1,4,5,6\n2,7,8,9\n"
LONG = "id,time,x,y,z\np,0,1,2,3\np,1,4,5,6\nq,0,7,8,9\n"
READ = {  # text, options, objects, labels
    "commas.tsv": (table("aba"), {}, STRINGS, list("aba")),
    "tabs.csv": (table("aba", "\t"), {}, STRINGS, list("aba")),
    "pipes.csv": (table("aba", "|"), {}, STRINGS, list("aba")),
    "semicolons.tsv": (table("aba", ";"), {}, STRINGS, list("aba")),
    "both.tsv": ("text\tlabel,b\na,b\tx,1\n", {"labels": "label,b"}, ["a,b"], ["x,1"]),
    "trailing.csv": ("sequence,label,,,\nAC,a,,,\nGT,b,,,\n", {}, ["AC", "GT"], ["a", "b"]),
    "sep.csv": ("sep=;\nsequence;label\nAC;a\nGT;b\n", {}, ["AC", "GT"], ["a", "b"]),
    "table.txt": (table("aba", "\t"), {}, STRINGS, list("aba")),
    "words.txt": ("apple\nred cherry\n", {}, ["apple", "red cherry"], None),
    "quoted.csv": ('"a;b",label\n"u;v",x\n"w",y\n', {}, ["u;v", "w"], ["x", "y"]),
    "later.csv": ("sequence,label\na;b,x\nc|d,y\n", {}, ["a;b", "c|d"], ["x", "y"]),
    "blank.csv": ("\n\n" + table("aba"), {}, STRINGS, list("aba")),
    "carriage.csv": (table("aba").replace("\n", "\r\n"), {}, STRINGS, list("aba")),
    "mark.csv": ("\ufeff" + table("aba"), {}, STRINGS, list("aba")),
    "index.csv": (",sequence,label\n0,AC,a\n1,GT,b\n", {}, ["AC", "GT"], ["a", "b"]),
    "index2.csv": (",label,word\n0,a,AC\n1,b,GT\n", {}, ["AC", "GT"], ["a", "b"]),
    "one.csv": ("sequence\nAC\nGT\n", {}, ["AC", "GT"], None),
    "lines.csv": ('sequence,label\n"A\nC","x\r\ny"\nG,z\n', {}, ["A\nC", "G"], ["x\r\ny", "z"]),
    "marks.csv": ('sequence,label\n"A,""C""",x\n', {}, ['A,"C"'], ["x"]),
    "named.csv": ("AC\nGT\nAC\n", {"objects": "AC"}, ["GT", "AC"], None),
    "digits.csv": ("x,y\n01,a\n10,b\n", {"objects": "x"}, ["01", "10"], ["a", "b"]),
    "twice.csv": ("text,n\nlabel,a\ntext,b\n", {"objects": "text"}, ["label", "text"], None),
    "axes.csv": (LONG, {}, [[[1, 2, 3], [4, 5, 6]], [[7, 8, 9]]], None),
    "stamp.csv": ("id,timestamp,v\np,1,2\np,0,1\n", {}, [[[1], [2]]], None),
    "plane.csv": ("id,time,x,y\np,0,1,2\np,1,3,4\n", {}, [[[1, 2], [3, 4]]], None),
    "plane2.csv": ("id,x,y\np,1,2\np,3,2\n", {"labels": "y"}, [[[1], [3]]], [2]),
    "frame.csv": (",id,v\n0,p,1\n1,p,2\n", {}, [[[1], [2]]], None),
}  # fmt: skip
SERIES = " has numbers, not strings), and labels must name that of labels, if there is one; for"
HEADER = "the first line may be a header or the first object, as it has"
REFUSED = {
    "axes.csv": ("time,x,y,z\n" + ONE_SERIES, "one of 'time', 'x', 'y', 'z' ('x'" + SERIES),
    "plane.csv": ("time,x,y\n0,1,2\n1,3,4\n", "one of 'time', 'x', 'y' ('x'" + SERIES),
    "plane2.csv": ("timestamp,x,y,label\n0,1,2,a\n1,3,4,b\n", "'x', 'y' ('x'" + SERIES),
    "stamp.csv": ("timestamp,x,y,z\n" + ONE_SERIES, SERIES),
    "gap.csv": ("time,x,y,z\n0,,1,2\n1,3,4,5\n", SERIES),
    "nan.csv": ("t,x,y,z,label\n0,nan,1,2,a\n1,3,4,5,a\n", SERIES),
    "comma.csv": ("time;x;y;z\n0;1,5;2;3\n1;2,5;3;4\n", SERIES),
    "value.csv": ("value,label\n1,a\n2,b\n", SERIES),
    "other.csv": ("when,ax,ay\n0,1,2\n", "for series, ids must name the column that says which"),
    "comma2.csv": (table(["1,5", "2,25", "3"], ";"), "line 2, column 'label': the label '1,5' h"),
    "text4.csv": ("id,v,activity\np,1,run\np,2,run\nq,3,walk\n", "no numbers in 'activity'"),
    "comma3.csv": ("id;v\np;1\np;1,5\n", "line 3, column 'v': the value is '1,5', not a number; a"),
    "large.csv": ("id,v\np,1\np,1152921504606846977\n", "line 3, column 'v': the value is '1152"),
    "headless.csv": ("p,0.5\np,1.5\nq,2\n", f"{HEADER} 'p'; put a line of names before it"),
    "headless3.csv": ("AC\nGT\n", f"{HEADER} 'AC'"),
    "headless4.csv": ("x,AC\ny,GT\nx,TT\n", f"{HEADER} 'x'"),
    "comment.csv": ("# of 2020, a\nsequence,label\nAC,a\n", f"{HEADER} 'a'"),
    "utf16.csv": ("\ufeffsequence,label\nAC,a\n", "line 1 is not UTF-8 text"),
    "numbered.csv": ("0,label\nAC,a\n", f"{HEADER} '0'"),
    "either.csv": ("text;b,label\nu;v,x\n", "the delimiter may be comma or semicolon, each cuts"),
    "neither.csv": ("text;label,b\nu\nv;y;z,1\n", "comma or semicolon, neither cuts"),
    "again.csv": ("sequence,label,label\nAC,a,b\n", "names the column 'label' twice"),
    "lines.csv": ('sequence,label\n"A\nC",x\nG\n', "line 4: 1 fields, but the header has 2"),
    "data.csv": ("0.0,0.0,1.5\n0.0,2,3\n", "names the column '0.0' twice; if it is data, put a"),
    "nameless.csv": ("a,,\nx,1,2\n", "has no names of the columns 2, 3, which have entries"),
    "comma4.csv": ('id,v\na,"1,500"\na,2\n', "write a point if the comma is a decimal one, and no"),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_tables_that_are_read(tmp_path, name):
    text, options, wanted, classes = READ[name]
    (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    objects, labels = read_objects(tmp_path / name, **options)
    found = [item if isinstance(item, str) else item.tolist() for item in objects]
    assert found == wanted
    assert (labels if labels is None else labels.tolist()) == classes


@pytest.mark.parametrize("name", REFUSED)
def test_tables_that_are_refused(tmp_path, name):
    text, problem = REFUSED[name]
    (tmp_path / name).write_text(text, encoding="utf-16-le" if name == "utf16.csv" else "utf-8")
    with pytest.raises(ValueError, match=re.escape(problem)) as error:
        read_objects(tmp_path / name)
    assert str(tmp_path / name) in str(error.value)


# ---------------------------------------------------------------- other formats


def test_classes_of_ts(tmp_path):
    file = tmp_path / "a.ts"
    file.write_text("@classLabel true 1 1.0 01\n@data\n1,2:1\n3:1.0\n4:01\n", "utf-8")
    assert read_objects(file)[1].tolist() == read_ts(file)[1].tolist() == ["1", "1.0", "01"]


@pytest.mark.parametrize("name", ["mask", "id", "ids", "sample_weight", "length", "fold"])
@pytest.mark.parametrize("ending", ["npz", "h5", "mat"])
def test_arrays_that_are_no_labels(tmp_path, name, ending):
    file = tmp_path / f"a.{ending}"
    held = {"X": np.arange(12.0).reshape(3, 4), name: np.array([1, 0, 1])}
    if ending == "npz":
        np.savez(file, **held)
    elif ending == "mat":
        save_mat(file, held)
    else:
        with h5py.File(file, "w") as store:
            store.update(held)
    objects, labels = read_objects(file)
    assert (len(objects), labels) == (3, None)
    assert read_objects(file, labels=name)[1].tolist() == [1, 0, 1]


def test_lines_of_blanks_take_linear_time(tmp_path):
    blanks = " " * 2_000_000
    file = tmp_path / "a.fa"
    file.write_text(f">a{blanks}b|x\nAC{blanks}\n{blanks}\n>b |x{blanks}\nGT\n", "utf-8")
    objects, labels = read_objects(file)
    assert (list(objects), labels.tolist()) == (["AC", "GT"], ["x", "x"])
    file.write_text(f">a|x\nAC\n>b{blanks}c\nGT\n", "utf-8")
    assert read_objects(file).labels is None


# ---------------------------------------------------------------- what the command says


def test_the_command_says_what_it_chose(tmp_path, capsys):
    lines = "".join(f"{i},{'ab' * (i % 2 + 1)},1.{i % 2}0,z\n" for i in range(20))
    file, model = tmp_path / "a.csv", tmp_path / "m.h5"
    file.write_text("number,sequence,label,other\n" + lines.replace("1.10", "1.1"), "utf-8")
    assert main(["train", str(file), "--out", str(model), "--R", "8"]) == 0
    columns = "objects from 'sequence'; labels from 'label'; not used: 'number', 'other'"
    assert f"lengths 2 to 4; labels of 2 different values; {columns}\n" in capsys.readouterr().out
    assert columns in repr(read_objects(file))
    assert columns in str(load_model(model))
    assert main(["predict", str(model), str(file), "--out", str(tmp_path / "o.csv")]) == 0
    assert f"m.h5: {columns}\n" in capsys.readouterr().out


def test_numbers_in_several_forms(tmp_path, capsys):
    kinds = ("ab,1\n", "abab,2.0\n", "ababab,03\n")
    text = "".join(kinds[i % 3] for i in range(36))
    (tmp_path / "a.csv").write_text("sequence,label\n" + text, "utf-8")
    objects, labels = read_objects(tmp_path / "a.csv")
    with pytest.warns(UserWarning, match=r"several forms \('03', '1', .*task='regression'"):
        assert len(d2ke_train(labels, objects, R=16).classes) == 3
    assert len(d2ke_train(labels, objects, R=16, task="classification").classes) == 3
    model = d2ke_train(labels, objects, R=16, task="regression")
    assert model.classes is None
    assert d2ke_predict(labels, objects, model)[1] > 0.9
    with pytest.raises(TypeError, match=r"y must hold numbers .*; y\[1\]: the value is 'b', not"):
        d2ke_train(["1", "b"], ["ab", "ba"], task="regression")
    words = [str(tmp_path / "a.csv"), "--out", str(tmp_path / "m.h5"), "--R", "16"]
    assert main(["train", *words]) == 0
    assert (
        capsys.readouterr().out.count("warning: y holds numbers that are written in several") == 1
    )
    assert main(["train", *words, "--task", "regression"]) == 0
    out = capsys.readouterr().out
    assert "warning" not in out
    assert "cross-validated R^2" in out
    words = [str(tmp_path / "m.h5"), str(tmp_path / "a.csv"), "--out", str(tmp_path / "o.csv")]
    assert main(["predict", *words]) == 0
    assert "R^2 " in capsys.readouterr().out


# ---------------------------------------------------------------- objects in memory

LARGE = 2**60 + 1
LIBRARIES = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}


@pytest.mark.parametrize("library", LIBRARIES)
def test_data_frames(library):
    of = getattr(pytest.importorskip(library), LIBRARIES[library])
    with pytest.raises(ValueError, match=f"items.1. has {LARGE}, which float64 cannot hold"):
        pack([[[1.0, 2.0]], of({"x": [LARGE], "y": [0.5]})], channels_first=False)
    frames = [of({"x": [1.0, 2.0], "y": [3.0, 4.0]}), of({"y": [3.0, 4.0], "x": [1.0, 2.0]})]
    packed = pack(frames, channels_first=False)
    assert packed[1].tolist() == [[1.0, 3.0], [2.0, 4.0]]


@pytest.mark.parametrize(
    ("item", "problem"),
    [
        (bytearray(b"ACGT"), "is a bytearray; bytes"),
        ([LARGE, 1], "has integers beyond 2"),
        ([LARGE, 0.5], f"has {LARGE}, which float64 cannot hold"),
        ([[LARGE, 0.5]], f"has {LARGE}, which float64 cannot hold"),
    ],
)
def test_items_that_would_change(item, problem):
    with pytest.raises((ValueError, TypeError), match=f"items.1. {problem}"):
        pack([[1.0, 2.0], item], channels_first=False)
    assert pack([[2**60, 0.5]])[0].tolist() == [[2.0**60], [0.5]]


LONG_FRAME = {"id": ["q", "p", "q"], "time": [1, 5, 0], "x": [1.0, 2.0, 3.0], "y": [1, 2, 3]}
BY_TIME = {"ids": "id", "time": "time"}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    ("changes", "options", "problem"),
    [
        ({}, BY_TIME, [[[3, 3], [1, 1]], [[2, 2]]]),
        ({}, {"ids": "id"}, [[[1, 1, 1], [0, 3, 3]], [[5, 2, 2]]]),
        ({}, {}, "; of a frame of series, pack(df, ids=, time=)"),
        ({}, {"time": "time"}, "time is for the series of a data frame, with ids"),
        ({}, {"ids": "z"}, "ids must name one of the columns ['id', 'time', 'x', 'y'], got 'z'"),
        ({"id": ["q", None, "p"]}, BY_TIME, "items['id'][1] is missing; it must name a series"),
        ({"time": [1.0, None, 0.0]}, BY_TIME, "items['time'][1] is missing; every row of a series"),
        ({"time": ["1", "5", "10"]}, BY_TIME, "items['time'] holds strings or lists; numbers"),
        ({"time": [1, 5, 1]}, BY_TIME, "items['time'][2]: the series 'q' has the time 1 twice"),
        ({"y": ["a", "b", "c"]}, BY_TIME, ".sort_values('time').groupby('id')['y'].agg(list)"),
        (
            {"y": [1, LARGE, 2]},
            BY_TIME,
            f"items['y'][1] is {LARGE}, a whole number that float64 cannot hold",
        ),
        ({"x": [1.0, None, 2.0]}, BY_TIME, "items['x'][1] is missing; every value must be"),
    ],
)
def test_long_frames(library, changes, options, problem):
    of = getattr(pytest.importorskip(library), LIBRARIES[library])
    frame = of({**LONG_FRAME, **changes})
    if isinstance(problem, list):
        assert [item.tolist() for item in pack(frame, **options)] == problem
        return
    with pytest.raises((ValueError, TypeError), match=re.escape(problem)):
        pack(frame, **options)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    ("frame", "wanted", "classes"),
    [
        ({"sequence": ["AC", "GT"], "label": ["a", "b"]}, ["AC", "GT"], ["a", "b"]),
        ({**LONG_FRAME, "label": [1.5, 2, 1.5]}, [[[3, 3], [1, 1]], [[2, 2]]], [1.5, 2.0]),
        ({**LONG_FRAME, "label": ["a", "b", "c"]}, "the data frame, row 2, column 'label': ", None),
        (
            {"sequence": ["AC", "GT"], "label": ["a", None]},
            "row 1, column 'label': the label",
            None,
        ),
        ({"sequence": ["AC", "GT"], "label": [1.5, math.inf]}, "row 1, column 'label'", None),
        ({"time": [1, 2], "x": [1.0, 2.0], "y": [1, 2], "z": [1, 2]}, SERIES, None),
        ({**LONG_FRAME, "x": [1.0, None, 2.0]}, "row 1, column 'x': the value is missing", None),
        ({"x": [[1.0, 2.0], [3.0]], "y": ["a", "b"]}, [[[1.0], [2.0]], [[3.0]]], ["a", "b"]),
        ({"x": [1.0, 3.0]}, "'x' ('x' has numbers, not strings)", None),
    ],
)
def test_frames_are_read_as_tables(library, tmp_path, frame, wanted, classes):
    feather = pytest.importorskip("pyarrow.feather")
    made = getattr(pytest.importorskip(library), LIBRARIES[library])(frame)
    if classes is None:
        with pytest.raises(ValueError, match=re.escape(wanted)):
            read_objects(made)
        return
    feather.write_feather(pytest.importorskip("pyarrow").table(frame), tmp_path / "a.feather")
    for source in (made, tmp_path / "a.feather"):
        objects, labels = read_objects(source)
        assert [one if isinstance(one, str) else one.tolist() for one in objects] == wanted
        assert labels.tolist() == classes


def test_long_parquet(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    frame = pytest.importorskip("pyarrow").table(LONG_FRAME).drop_columns(["y"])
    pq.write_table(frame, tmp_path / "a.parquet")
    for options in ({}, {"ids": "id"}):
        assert read_objects(tmp_path / "a.parquet", **options)[0].lengths.tolist() == [2, 1]
    with pytest.raises(ValueError, match="is a long table of series, of which 'id' repeats"):
        ParquetObjects(tmp_path / "a.parquet")
    (tmp_path / "b.feather").write_bytes(b"something else")
    with pytest.raises(ValueError, match=r"b\.feather is not a"):
        read_objects(tmp_path / "b.feather")
