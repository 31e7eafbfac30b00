# SPDX-License-Identifier: BSD-3-Clause
"""Features files: every bit comes back, other programs read them, and other files are refused."""

import json
import os
import re
import signal
import sys

import h5py
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reference import examples, same
from seals import seal_features_file

import d2ke
from d2ke.io import load_features, open_features, save_features

Z = np.array([[0.5, 0.25, 0.125], [1.0, 0.0, -0.0]])
OMEGA = d2ke.pack(["AC", "", "GATT"])
VECTORS = d2ke.pack([np.arange(4.0).reshape(2, 2), np.ones((1, 2)), np.full((3, 2), 0.1)])
POINTS = [[1.0, -0.0], [2.5], [0.1, 3.0, 7.0]]


@pytest.fixture
def file(tmp_path):
    return tmp_path / "features.h5"


# ---------------------------------------------------------------- round trips


@pytest.mark.parametrize("compression", [None, "gzip"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_bit_comes_back(tmp_path, compression, dtype, order):
    matrix = np.random.default_rng(0).standard_normal((257, 129)).astype(dtype, order=order)
    matrix[3, 4:6] = -0.0, np.inf
    before = matrix.copy()
    save_features(tmp_path / "any name", matrix, compression=compression)
    same(load_features(str(tmp_path / "any name")).Z, before)
    same(matrix, before)
    assert os.listdir(tmp_path) == ["any name"]


@pytest.mark.parametrize(
    "omega",
    [
        ["AC", "", "GATT"],
        d2ke.pack(["é\0", "\ud800😀", "", "more letters"])[:3],  # code points that no UTF-8 has
        d2ke.pack([b"\0\xff", b"", b"a"]),
        d2ke.pack([[2**63 - 1, -(2**63)], [], [0]], kind="strings"),
        VECTORS,
        d2ke.pack([np.float32(x) for x in POINTS]),
        d2ke.pack(POINTS, weights=[[1, 2], [0.5], [3, 0, 1e6]]),
        d2ke.pack([*POINTS[:2], [1.0, np.nan]], missing=True),
    ],
)
def test_objects_come_back(file, omega):
    save_features(file, Z, omega=omega)
    omega = d2ke.pack(omega) if isinstance(omega, list) else omega
    for columns in (slice(0, 3), slice(1, 2)):
        found = load_features(file, columns=columns).omega
        assert found == omega[columns]
        assert repr(found) == repr(omega[columns])  # letters that do not occur as well
        same(found.values, omega[columns].values)


@pytest.mark.parametrize(
    "labels",
    [[3, 1], [0.5, 2.0], ["é", "b"], np.array(["a", "bb"], "U6")]
    + [np.array([1, 2], dtype) for dtype in ("i1", "u2", ">i4", "u8", "f4")],
)
def test_labels_come_back(file, labels):
    save_features(file, Z, labels=labels)
    same(load_features(file).labels, np.array(labels))
    same(load_features(file, rows=slice(1, 2)).labels, np.array(labels)[1:])


TEXTS = st.text(max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=4).map(tuple) | st.dictionaries(TEXTS, inner, max_size=3)
    ),
    max_leaves=6,
)
ODD_TEXTS = ["", "\0", "a\0", "\0a", " a ", "\n", "null", "é\0", "😀"]


@settings(max_examples=examples(100))
@given(st.dictionaries(TEXTS, VALUES, max_size=5))
@example({str(i): text for i, text in enumerate(ODD_TEXTS)})
@example({"all": tuple(ODD_TEXTS), "keys": dict.fromkeys(ODD_TEXTS, 1)})
def test_parameters_come_back(tmp_path, parameters):
    before = repr(parameters)  # which tells 1 from True and 1.0, 0.0 from -0.0, and has the order
    save_features(tmp_path / "x", Z, parameters=parameters)
    assert repr(load_features(tmp_path / "x").parameters) == before == repr(parameters)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (slice(2), slice(0, 2)),
        (slice(-2, None), slice(3, 5)),
        (slice(1, -1), slice(1, 4)),
        (slice(3, 9), slice(3, 5)),
        (slice(0, 4, 2), slice(0, 4, 2)),
        (slice(2, 2), slice(2, 2)),
        (slice(np.int64(1), np.uint8(2), 1), slice(1, 2)),
        (None, slice(0, 5)),
    ],
)
def test_slices_are_those_of_python(file, given, meant):
    matrix = np.arange(25.0).reshape(5, 5)
    save_features(file, matrix, labels=range(5))
    same(load_features(file, rows=given).Z, matrix[meant])
    same(load_features(file, rows=given).labels, np.arange(5)[meant])
    same(load_features(file, columns=given).Z, matrix[:, meant])


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (slice(None, None, -1), ValueError, "must have a step of at least 1"),
        (slice(1.0), TypeError, "slice indices must be integers"),
        (3, TypeError, r"rows must be a slice, such as slice\(100\), got 3"),
    ],
)
def test_slices_that_cannot_be(file, given, error, message):
    save_features(file, np.ones((5, 5)))
    with pytest.raises(error, match=message):
        load_features(file, rows=given)
    with pytest.raises(error, match=message.replace("rows", "columns")):
        load_features(file, columns=given)


def test_a_part_reads_its_part_only(file):
    """As counted by the system."""
    if sys.platform != "linux":
        pytest.skip("needs the counters of Linux in /proc/self/io")

    def bytes_read():
        with open("/proc/self/io", encoding="utf-8") as counters:
            return int(re.search(r"rchar: (\d+)", counters.read())[1])

    matrix = np.random.default_rng(0).random((4000, 1024))
    save_features(file, matrix, labels=np.arange(4000))
    for part, most in (
        ({"rows": slice(250)}, 1 / 16),
        ({"rows": slice(10), "columns": slice(10)}, 0),
        ({}, 1),
    ):
        before = bytes_read()
        load_features(file, **part)
        # At both ends of a part a chunk of 1 MiB may be read whole.
        assert bytes_read() - before < most * matrix.nbytes + 2 * 2**20


def test_an_open_file(file):
    save_features(file, Z)
    with open_features(file) as store:
        assert repr(store) == "<features.h5: 2 x 3, float64>"
        assert len(store) == 2
        same(store[:1], Z[:1])
        with pytest.raises(TypeError, match=r"rows must be a slice, such as slice\(100\), got 1"):
            store[1]
    assert repr(store) == "<features.h5: 2 x 3, float64, closed>"
    with pytest.raises((OSError, ValueError)):
        store.read()


# ---------------------------------------------------------------- what other programs see


def plain(file):
    """Return all datasets by path, and all attributes, as h5py finds them."""
    datasets, attributes = {}, {}

    def visit(name, item):
        attributes.update({f"{name}@{key}": value for key, value in item.attrs.items()})
        if isinstance(item, h5py.Dataset):
            assert item.dtype.kind in "iufS", name  # no compounds, references, enumerations
            datasets[name] = item[()]

    with h5py.File(file, "r") as store:
        store.visititems(visit)
        assert dict(store.attrs) == {"format": "d2ke features"}
    return datasets, attributes


PLAIN = {
    "gamma": 0.5,
    "R": 3,
    "length": (2, 8),
    "grid": (0.1, 1.0),
    "on": True,
    "distance": "levenshtein",
    "window": None,
    "mixed": (1, (None, "é")),
    "note": "für",
    "empty": "",
}


def test_what_the_documented_paths_hold(file):
    save_features(file, Z, labels=["dog", "cat"], omega=OMEGA, parameters=PLAIN)
    datasets, attributes = plain(file)
    same(datasets["Z"], Z)
    same(datasets["labels"], np.array([1, 0]))
    same(datasets["classes"], np.array([b"cat", b"dog"]))
    same(datasets["omega/values"], OMEGA.values)
    same(datasets["omega/offsets"], np.array([0, 2, 2, 6]))
    assert "".join(map(chr, datasets["omega/alphabet"][datasets["omega/values"]])) == "ACGATT"
    lists = {"length": [2, 8], "grid": [0.1, 1.0], "mixed": [1, [None, "é"]]}
    assert json.loads(datasets["parameters"]) == PLAIN | lists
    versions = {"d2ke": d2ke.__version__, "numpy": np.__version__, "h5py": h5py.__version__}
    assert load_features(file).versions == {"format": 1} | versions
    assert json.loads(datasets["versions"]) == {"format": 1} | versions
    assert attributes == {
        "classes@dtype": "<U3",
        "omega@kind": "strings",
        "omega@letters": "str",
    }
    superblock = file.read_bytes()[512:]  # of the oldest version: HDF5 1.8 can read it
    assert superblock.startswith(b"\x89HDF\r\n\x1a\n")
    assert superblock[8] in (0, 2)


def test_octave_reads_all_of_it(file, octave):
    save_features(file, Z, labels=["dog", "cat"], omega=OMEGA, parameters=PLAIN)
    found = octave(
        f"s = load('-hdf5', '{file}'); Z = s.Z; o = s.omega.offsets;"
        "p = jsondecode(s.parameters); v = jsondecode(s.versions);"
        "word = char(s.omega.alphabet(double(s.omega.values(o(3)+1:o(4))) + 1));"
        "text = [sprintf('%s ', strtrim(s.classes(s.labels(1) + 1, :)), word),"
        "sprintf('%g ', p.gamma, p.R, p.length, p.grid, p.on),"
        "sprintf('%s ', p.distance, v.d2ke)]; clear s p v;"
    )
    same(found["Z"].T.copy(), Z)
    words = f"dog GATT 0.5 3 2 8 0.1 1 1 levenshtein {d2ke.__version__}"
    assert found["text"].item().split() == words.split()


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("matrix", "error", "message"),
    [
        (np.ones((2, 2), dtype=int), TypeError, "got an ndarray of int64"),
        (np.ones((2, 2), dtype=np.float16), TypeError, "got an ndarray of float16"),
        (np.ones((2, 2)).astype(">f8"), TypeError, "got an ndarray of >f8"),
        (np.ma.masked_equal(np.ones((2, 2)), 1), TypeError, "Z must not be a masked array"),
        (np.ones(3), ValueError, r"Z must be two-dimensional, got shape \(3,\)"),
        (np.ones((2, 0)), ValueError, r"Z is empty: its shape is \(2, 0\)"),
    ],
)
def test_matrices_that_cannot_be_saved(file, matrix, error, message):
    with pytest.raises(error, match=message):
        save_features(file, matrix)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"labels": []}, ValueError, "labels has 0 labels, but Z has 2 rows"),
        ({"labels": [[1], [2]]}, ValueError, r"labels must be one-dimensional, got shape \(2, 1\)"),
        ({"labels": [0.5, np.nan]}, ValueError, r"labels\[1\] is nan"),
        ({"labels": ["a", 1]}, TypeError, r"labels\[1\] is 1, which an array of <U\d+ cannot hold"),
        ({"labels": [True, False]}, TypeError, "labels must hold .* got dtype bool"),
        ({"labels": ["a", "\ud800"]}, ValueError, r"can't encode character '\\ud800'"),
        ({"omega": "ABC"}, TypeError, "omega must be a sequence of objects, got one str"),
        ({"omega": [[0.0], [np.nan], [1.0]]}, ValueError, r"omega\[1\] has nan at position"),
        ({"parameters": {1: 2}}, TypeError, "parameters must be .* dict of them by str"),
        ({"parameters": {"a": {1: 2}}}, TypeError, r"parameters\['a'\] must be .* dict of them by"),
        ({"parameters": {"a": np.ones(2)}}, TypeError, "of type ndarray"),
        ({"parameters": {"a": b"x"}}, TypeError, "of type bytes"),
        ({"parameters": {"a": np.longdouble(1)}}, TypeError, "of type longdouble"),
        ({"parameters": {"a": signal.SIGINT}}, TypeError, "of type Signals"),
    ],
)  # fmt: skip
def test_what_cannot_be_saved(file, options, error, message):
    """What was saved before stays."""
    save_features(file, Z)
    with pytest.raises(error, match=message):
        save_features(file, 2 * Z, **options)
    same(load_features(file).Z, Z)
    assert os.listdir(file.parent) == [file.name]


def test_paths_that_cannot_be(tmp_path):
    with pytest.raises(ValueError, match=r"end it in \.h5, or write a MAT-file by save_mat"):
        save_features(tmp_path / "Z.mat", Z)
    with pytest.raises(OSError, match="missing"):
        save_features(tmp_path / "missing" / "features.h5", Z)
    with pytest.raises(FileNotFoundError):
        load_features(tmp_path / "none.h5")


@pytest.mark.parametrize("content", [b"", b"{}", b"d2ke features x", b"\0" * 999])
def test_other_files(file, content):
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"features\.h5 is not a features file"):
        load_features(file)


def put(name, values):
    def change(store):
        attributes = dict(store[name].attrs)
        del store[name]
        if values is not None:
            store[name] = values
            store[name].attrs.update(attributes)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            put("versions", np.bytes_('{"format": 2}')),
            "version 2 of the format; .* a newer d2ke",
        ),
        (lambda store: store["omega"].attrs.update(colours=6), "is damaged: .*colours"),
        *(
            (put(name, values), "is damaged: ")
            for name, values in (
                ("Z", None),
                ("Z", np.ones(3)),
                ("Z", np.ones((2, 3), np.int64)),
                ("labels", np.array([0, -1])),
                ("labels", np.array([0, 7])),
                ("classes", np.arange(2.0)),
                ("parameters", None),
                ("omega/values", None),
                ("omega/values", np.array([[np.nan, 0.0]] * 6)),
                ("omega/offsets", np.array([0, 4, 3, 6])),
                ("omega/offsets", np.array([0, 2, 3, 2**40])),
                ("omega/offsets", np.array([0.0, 2.0, 3.0, 6.0])),
            )
        ),
    ],
)
def test_other_hdf5_files(file, change, message):
    save_features(file, Z, labels=["a", "b"], omega=VECTORS)
    with h5py.File(file, "r+") as store:
        change(store)
    seal_features_file(file)
    with pytest.raises(ValueError, match=rf"features\.h5 .*{message}"):
        load_features(file)
