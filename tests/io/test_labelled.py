# SPDX-License-Identifier: BSD-3-Clause
"""Labelled objects from files: every format has the same, every bad input is named."""

import re

import h5py
import numpy as np
import pytest

from d2ke._base.errors import ArgumentError
from d2ke.io import read_objects, save_features, save_mat
from d2ke.objects.hdf5 import put_objects
from d2ke.objects.packing import pack

SERIES = [np.array([[1.0, 4.0], [2.0, 5.0], [3.0, 6.5]]), np.array([[-1.0, 0.5]])]
STRINGS = ["ACGT", "AAT"]


def put(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


# ---------------------------------------------------------------- formats

TEXTS = {
    "a.csv": 'Name,Label,sequence\nx,a,ACGT\n\n"y,1",b,AAT\n',
    "semicolons.csv": "\ufefflabel;whatever\r\na;ACGT\r\nb;AAT\r\n",
    "a.tsv": "id\tclass\ttext\n1\ta\tACGT\n2\tb\tAAT\n",
    "CAPITALS.TSV": "sequence\tlabel\nACGT\ta\nAAT\tb\n",
    "a.fasta": ">one|2|a\nAC\nGT\n\n>two| b \nAAT",
}
SERIES_TEXTS = {
    "a.ts": "@univariate false\n@classLabel true 7 8\n@data\n1,2,3:4,5,6.5:7\n-1:0.5:8\n",
    "a.csv": "id,time,u,v,y\np,2,2,5,7\nq,0,-1,0.5,8\np,3,3,6.5,7\np,1,1,4,7",
}


def arrays_of(name):
    """Return a function that writes arrays to a file of that ending, and returns its path."""

    def write(folder, **values):
        path = folder / name
        if path.suffix == ".npz":
            np.savez(path, **values)
        elif path.suffix == ".mat":
            save_mat(path, values)
        else:
            with h5py.File(path, "w") as store:
                for key, value in values.items():
                    store[key] = value
        return path

    return write


def strings_mat(folder):
    cell = np.array([["ACGT"], ["AAT"]], dtype=object)
    return arrays_of("s.mat")(folder, genes=cell, y=np.array([["a"], ["b"]], dtype=object))


def strings_npz(folder):
    return arrays_of("s.npz")(folder, X=np.array(STRINGS), y=np.array(["a", "b"]))


def strings_h5(folder):
    return arrays_of("s.h5")(folder, X=STRINGS, labels=np.array([b"a", b"b"]))


def strings_group(folder):
    path = arrays_of("s.hdf5")(folder, labels=np.array([b"a", b"b"]))
    with h5py.File(path, "a") as store:
        put_objects(store.create_group("objects"), pack(STRINGS))
    return path


@pytest.mark.parametrize("make", [*TEXTS, strings_mat, strings_npz, strings_h5, strings_group])
def test_strings(tmp_path, make):
    path = make(tmp_path) if callable(make) else put(tmp_path / make, TEXTS[make])
    pattern = r".*\| ?(.*)$" if path.suffix == ".fasta" else None
    objects, labels = read_objects(path, labels=pattern)
    assert list(objects) == STRINGS
    assert labels.tolist() == ["a", "b"]


def series_mat(folder):
    return arrays_of("s.mat")(folder, X=pack(SERIES), y=[7, 8], n=3.0)


def series_npz(folder):
    values = np.concatenate(SERIES)
    return arrays_of("s.npz")(folder, values=values, offsets=[0, 3, 4], y=np.array([7.0, 8.0]))


def series_h5(folder):
    values = np.concatenate(SERIES)
    arrays = {"values": values, "offsets": [0, 3, 4], "y": [7, 8], "speaker": [1, 1]}
    return arrays_of("s.h5")(folder, **arrays)


@pytest.mark.parametrize("make", [*SERIES_TEXTS, series_mat, series_npz, series_h5])
def test_series(tmp_path, make):
    path = make(tmp_path) if callable(make) else put(tmp_path / make, SERIES_TEXTS[make])
    objects, labels = read_objects(path)
    assert [item.tolist() for item in objects] == [item.tolist() for item in SERIES]
    assert labels.astype(int).tolist() == [7, 8]
    assert labels.dtype.kind in "iU"


def test_named_columns(tmp_path):
    text = "who,when,a,b,group,other\n1,1,5,6,x,z\n1,0,7,8,x,z\n2,0,1,2,y,z\n"
    file = put(tmp_path / "s.csv", text)
    objects, labels = read_objects(file, ids="who", time="when", objects=["b", "a"], labels="group")
    assert [item.tolist() for item in objects] == [[[8, 7], [6, 5]], [[2, 1]]]
    assert labels.tolist() == ["x", "y"]


def test_labels_that_are_not_there(tmp_path):
    for name, text in (
        ("a.csv", "sequence\nAC\n"),
        ("b.csv", "x,y\nAC,\n"),
        ("c.fa", ">one\nAC\n"),
    ):
        objects, labels = read_objects(put(tmp_path / name, text))
        assert (list(objects), labels) == (["AC"], None)


def test_labels_by_regular_expression(tmp_path):
    file = put(tmp_path / "a.fa", ">x family=kin len=3\nAC\n>y family=pho\nGT\n")
    assert read_objects(file, labels=r"family=(\w+)")[1].tolist() == ["kin", "pho"]
    with pytest.raises(ValueError, match="line 3: the header 'y family=pho' has no label by"):
        read_objects(file, labels=r"len=(\d)")
    with pytest.raises(ValueError, match="must have one group"):
        read_objects(file, labels="family")
    with pytest.raises(ValueError, match="is not a regular expression"):
        read_objects(file, labels="(")
    with pytest.raises(TypeError, match=r"labels must be a string, got b'\(a\)'"):
        read_objects(file, labels=b"(a)")


@pytest.mark.parametrize("name", ["a.npz", "a.h5"])
def test_bytes_are_utf_8_text(tmp_path, name):
    words, classes = ["ab", "\u00e9"], ["x", "\u0142"]
    arrays = {"X": np.char.encode(words, "utf-8"), "y": np.char.encode(classes, "utf-8")}
    file = arrays_of(name)(tmp_path, **arrays)
    objects, labels = read_objects(file)
    assert (list(objects), labels.tolist()) == (words, classes)
    arrays_of(name)(tmp_path, **{**arrays, "y": np.array([b"x", b"\xff"])})
    with pytest.raises(ValueError, match=rf"{name}: y has bytes that are not UTF-8 text"):
        read_objects(file)


@pytest.mark.parametrize("name", ["a.npz", "a.h5"])
def test_labels_are_chosen_by_name_as_in_tables(tmp_path, name):
    arrays = {"X": np.eye(2), "target": [0.5, 1.5], "y": [1, 2], "Class": [3, 4]}
    held = read_objects(arrays_of(name)(tmp_path, **arrays))
    assert (held.labels.tolist(), held.columns.labels) == ([3, 4], "Class")
    assert set(held.columns.unused) == {"target", "y"}


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.csv", "x,y\n,1\n", "line 2, column 'x': the string is empty"),
        ("a.csv", "x,y\n", "has no rows after its header"),
        ("a.csv", "", "is empty; a header and rows are needed"),
        ("a.csv", "a,b,y\nAC,GT,1\n", "must name the column of strings, one of 'a', 'b', and"),
        ("a.csv", b"x,y\nAC,1\n\xff,2\n", "line 3 is not UTF-8 text"),
        ("a.csv", 'x,y\n"AC"x,1\n', "line 2: "),
        ("a.csv", "id,v,y\n1,2,a\n1,x,a\n", "line 3, column 'v': the value is 'x', not a number"),
        ("a.csv", "id,v,y\n1,2,a\n1,nan,a\n", "line 3, column 'v': the value is 'nan'; every"),
        ("a.csv", "id,v,y\n1,2,a\n1,3,b\n", "line 3, column 'y': the label is 'b', but 'a' before"),
        ("a.csv", "id,t,v\n1,2,3\n1,2,4\n", "line 3, column 't': the series '1' has the time 2 tw"),
        ("a.csv", "id,t,v\n1,2024-01-02,3\n1,3.1.24,4\n", "line 3, column 't': the value is '3.1"),
        ("a.csv", "id,y\n1,2\n1,2\n", "has no column of values"),
        ("a.fa", "ACGT\n", "line 1: 'ACGT' comes before the first header"),
        ("a.fa", ">x|1\nAC1\n", "line 2: '1' at position 2 is no letter"),
        ("a.fa", ">x|1\n>y|2\nAC\n", "line 1: the sequence 'x|1' has no letters"),
        ("a.fa", "\n", "holds no sequences"),
        ("a.npz", "text", "is not a .npz file"),
        ("a.h5", "text", "is not an HDF5 file"),
        ("a.doc", "text", "must end in .ts, .txt, .csv"),
    ],
)
def test_bad_text(tmp_path, name, text, problem):
    file = put(tmp_path / name, text)
    with pytest.raises(ValueError, match=re.escape(str(file)) + ".*" + re.escape(problem)):
        read_objects(file)


@pytest.mark.parametrize(
    ("values", "options", "problem"),
    [
        ({"y": [1, 2]}, {}, "has no objects: neither"),
        ({"A": ["AC", "G"], "B": ["T", "T"]}, {}, "objects must be one of A, B"),
        ({"X": ["AC", "G"], "y": [1, 2, 3]}, {}, "y has 3 labels, but there are 2 objects"),
        ({"X": ["AC", "G"]}, {"labels": "z"}, "has no variable 'z'; it has 'X'"),
        ({"X": ["AC", "G"]}, {"objects": "z"}, "has no variable 'z'; it has 'X'"),
        ({"values": np.ones((3, 2)), "offsets": [0, 2]}, {}, "offsets must be integers from 0"),
        ({"values": np.ones((3, 2)), "offsets": np.array([0, 3, 2, 3], "u8")}, {}, "offsets must"),
        ({"values": 3.0, "offsets": [0, 3]}, {}, "values must be an array of rows"),
        ({"X": np.ones((2, 3)), "y": [np.nan, 1]}, {}, "y[0] is nan"),
        ({"X": np.array([[1, np.inf], [1, 2]])}, {}, "X[0] has inf at position (1, 0)"),
        ({"X": ["AC", "G"], "y": np.array([1, None])}, {}, "without pickles"),
    ],
)
def test_bad_variables(tmp_path, values, options, problem):
    file = tmp_path / "a.npz"
    np.savez(file, **values)
    with pytest.raises(ValueError, match=re.escape(problem)) as error:
        read_objects(file, **options)
    assert str(file) in str(error.value)


def test_arguments_without_meaning(tmp_path):
    for name, option in (("a.fa", "objects"), ("a.ts", "labels"), ("a.npz", "time")):
        file = put(tmp_path / name, ">x\nAC\n")
        with pytest.raises(TypeError, match=f"{option} has no meaning for a {file.suffix} file"):
            read_objects(file, **{option: "x"})
    with pytest.raises(FileNotFoundError, match=r"there is no file .*none.csv"):
        read_objects(tmp_path / "none.csv")
    save_features(tmp_path / "f.h5", np.ones((2, 3)))
    with pytest.raises(ValueError, match="holds features, not objects"):
        read_objects(tmp_path / "f.h5")
    file = strings_npz(tmp_path)
    with pytest.raises(ValueError, match="objects and labels name the same variable, 'X'"):
        read_objects(file, objects="X", labels="X")
    with pytest.raises(ValueError, match="has no column 'z'"):
        read_objects(put(tmp_path / "a.csv", "x,y\nAC,1\n"), labels="z")


@pytest.mark.parametrize(
    ("options", "error", "problem"),
    [
        ({"objects": "q", "labels": "q"}, ArgumentError, "objects and labels name the same column"),
        ({"ids": "q", "time": "q"}, ArgumentError, "ids and time name the same column, 'q'"),
        ({"objects": 3}, TypeError, "objects must be a string, got 3"),
        ({"objects": [3]}, TypeError, "objects must be a string, got 3"),
        ({"labels": 3}, TypeError, "labels must be a string, got 3"),
    ],
)
def test_names_of_columns_that_cannot_be(tmp_path, options, error, problem):
    path = put(tmp_path / "a.csv", "q,w\n1,2\n1,4\n")
    with pytest.raises(error, match=problem) as caught:
        read_objects(path, **options)
    assert caught.value.argument == next(iter(options))


def test_objects_that_have_the_usual_name_of_labels(tmp_path):
    path = put(tmp_path / "a.csv", "label,q\nab,x\ncd,y\n")
    objects, labels = read_objects(path, objects="label")
    assert list(objects) == ["ab", "cd"]
    assert labels is None


def test_links_and_single_texts_of_hdf5(tmp_path):
    file = tmp_path / "a.h5"
    with h5py.File(file, "w") as store:
        store["title"] = "one text"
        store["X"] = STRINGS
    assert list(read_objects(file, objects="X")[0]) == STRINGS
    with h5py.File(file, "a") as store:
        store["lost"] = h5py.SoftLink("/nowhere")
    with pytest.raises(ValueError, match=r"a\.h5: lost is a link to nothing that can be read"):
        read_objects(file)
