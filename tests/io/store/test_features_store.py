# SPDX-License-Identifier: BSD-3-Clause
"""Feature stores: every bit comes back, other programs read them, and no damage is believed."""

import errno
import gzip
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from zlib import crc32

import h5py
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from reference import examples
from sealed import seal

import d2ke
from d2ke.io import FeatureStore, load_features, save_features
from d2ke.io.store import blocks, layout
from d2ke.io.store.hdf5 import HEADER_BYTES, Image, get_objects, header, place_dataset

Z = np.array([[0.5, 0.25, 0.125], [1.0, 0.0, -0.0]])
OMEGA = d2ke.pack(["AC", "", "GATT"])
VECTORS = d2ke.pack([np.arange(4.0).reshape(2, 2), np.ones((1, 2)), np.full((3, 2), 0.1)])


def same_array(a, b):
    assert a.dtype == b.dtype
    assert a.shape == b.shape
    assert np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()


def same_objects(a, b):
    assert (a.kind, a.letters) == (b.kind, b.letters)
    same_array(a.values, b.values)
    same_array(a.offsets, b.offsets)
    assert (a.weights is None) == (b.weights is None)
    if a.weights is not None:
        same_array(a.weights, b.weights)
    assert (a.alphabet is None) == (b.alphabet is None)
    if a.alphabet is not None:
        same_array(a.alphabet, b.alphabet)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "features.h5"


# ---------------------------------------------------------------- round trips

FLOATS = st.sampled_from([np.float32, np.float64])


@st.composite
def matrices(draw):
    dtype = np.dtype(draw(FLOATS))
    elements = st.floats(allow_nan=False, width=8 * dtype.itemsize)
    matrix = draw(
        hnp.arrays(dtype, (draw(st.integers(1, 9)), draw(st.integers(1, 6))), elements=elements)
    )
    return draw(st.sampled_from([matrix, np.asfortranarray(matrix), matrix[::-1]]))


LETTERS = st.characters()  # also those that no UTF-8 has: Objects hold code points
KINDS = {
    "str": st.text(LETTERS, max_size=5),
    "bytes": st.binary(max_size=5),
    "int": st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5).map(
        lambda one: np.array(one, dtype=np.int64)
    ),
}


@st.composite
def collections(draw, n):
    kind = draw(st.sampled_from([*KINDS, "vectors"]))
    if kind == "vectors":
        dtype, dim = np.dtype(draw(FLOATS)), draw(st.integers(1, 3))
        values = st.floats(allow_nan=False, allow_infinity=False, width=8 * dtype.itemsize)
        length = st.integers(0, 4)
        items = [draw(hnp.arrays(dtype, (draw(length), dim), elements=values)) for _ in range(n)]
        objects = d2ke.pack(items, channels_first=False)
        if not draw(st.booleans()):
            return objects
        weight = st.floats(0.5, 2**20)
        return d2ke.pack(
            objects, weights=[draw(hnp.arrays(float, len(x), elements=weight)) for x in items]
        )
    # More than are kept, so that the alphabet has letters that do not occur.
    items = draw(st.lists(KINDS[kind], min_size=n, max_size=n + 2))
    return d2ke.pack(items, kind="strings")[:n]


NUMBERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", ">i4"]
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=4).map(lambda s: s.rstrip("\0"))


@st.composite
def label_arrays(draw, n):
    dtype = draw(st.sampled_from([*NUMBERS, "U"]))
    if dtype == "U":
        width = draw(st.integers(4, 6))
        return np.array(draw(st.lists(WORDS, min_size=n, max_size=n)), dtype=f"U{width}")
    elements = None
    if "f" in dtype:
        width = 8 * np.dtype(dtype).itemsize
        elements = st.floats(allow_nan=False, allow_infinity=False, width=width)
    return draw(hnp.arrays(dtype, n, elements=elements))


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
NAMES = TEXTS.filter(lambda name: name not in ("", ".") and not set(name) & {"/", "\0"})
SCALARS = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | TEXTS
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4).map(tuple) | st.dictionaries(TEXTS, inner, max_size=3)
    ),
    max_leaves=6,
)
PARAMETERS = st.dictionaries(NAMES, VALUES, max_size=5)


@settings(max_examples=examples(200))
@given(st.data(), matrices(), PARAMETERS, st.sampled_from([None, "gzip"]))
def test_everything_comes_back(tmp_path, data, matrix, parameters, compression):
    n, r = matrix.shape
    labels = data.draw(st.none() | label_arrays(n))
    omega = data.draw(st.none() | collections(r))
    before = (matrix.copy(), None if labels is None else labels.copy(), repr(parameters))
    path = tmp_path / "store"
    save_features(
        path, matrix, labels=labels, omega=omega, parameters=parameters, compression=compression
    )
    store = load_features(str(path))
    same_array(store.Z, matrix)
    assert (store.labels is None) == (labels is None)
    assert (store.omega is None) == (omega is None)
    if labels is not None:
        same_array(store.labels, labels)
    if omega is not None:
        same_objects(store.omega, omega)
    # repr tells 1 from True and 1.0, 0.0 from -0.0, and has the order.
    assert repr(store.parameters) == repr(parameters)
    assert os.listdir(tmp_path) == ["store"]

    # A part of it is the part of the whole.
    rows = sorted(data.draw(st.sets(st.integers(0, n), min_size=2, max_size=2)))
    columns = sorted(data.draw(st.sets(st.integers(0, r), min_size=2, max_size=2)))
    part = load_features(path, rows=slice(*rows), columns=slice(*columns))
    same_array(part.Z, matrix[slice(*rows), slice(*columns)])
    if labels is not None:
        same_array(part.labels, labels[slice(*rows)])
    if omega is not None:
        same_objects(part.omega, omega[slice(*columns)])
    assert repr(part.parameters) == repr(parameters)

    # Nothing that was given has changed.
    same_array(matrix, before[0])
    if labels is not None:
        same_array(labels, before[1])
    assert repr(parameters) == before[2]


@pytest.mark.parametrize("shape", [(1, 1), (256, 128), (257, 129), (300, 130), (1000, 3), (3, 700)])
@pytest.mark.parametrize("compression", [None, "gzip"])
def test_many_blocks(file, shape, compression):
    matrix = np.random.default_rng(0).standard_normal(shape, dtype=np.float32)
    save_features(file, matrix, compression=compression)
    same_array(load_features(file).Z, matrix)
    n, r = shape
    for rows in (slice(0, 1), slice(n - 1, n), slice(n // 3, n // 2 + 1)):
        for columns in (slice(0, 1), slice(r - 1, r), slice(r // 3, r // 2 + 1)):
            same_array(load_features(file, rows=rows, columns=columns).Z, matrix[rows, columns])


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (slice(2), slice(0, 2)),
        (slice(-2, None), slice(3, 5)),
        (slice(1, -1), slice(1, 4)),
        (slice(None), slice(0, 5)),
        (slice(np.int64(1), np.uint8(2), 1), slice(1, 2)),
        (None, slice(0, 5)),
    ],
)
def test_slices_are_those_of_python(file, given, meant):
    matrix = np.arange(25.0).reshape(5, 5)
    save_features(file, matrix, labels=range(5))
    same_array(load_features(file, rows=given).Z, matrix[meant])
    same_array(load_features(file, rows=given).labels, np.arange(5)[meant])
    same_array(load_features(file, columns=given).Z, matrix[:, meant])


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (slice(6), ValueError, "the stop of rows must be between -5 and 5, got 6"),
        (slice(-6, None), ValueError, "the start of rows must be between -5 and 5, got -6"),
        (slice(2, 2), ValueError, r"rows selects nothing of 5: slice\(2, 2, None\)"),
        (slice(3, 2), ValueError, "rows selects nothing"),
        (slice(0, 4, 2), ValueError, "rows must have no step"),
        (slice(None, None, -1), ValueError, "rows must have no step"),
        (slice(1.0), TypeError, "the stop of rows must be an integer, got 1.0"),
        (3, TypeError, r"rows must be a slice, such as slice\(100\), got 3"),
        ([0, 1], TypeError, "rows must be a slice"),
    ],
)
def test_slices_that_cannot_be(file, given, error, message):
    save_features(file, np.ones((5, 5)))
    with pytest.raises(error, match=message):
        load_features(file, rows=given)
    with pytest.raises(error, match=message.replace("rows", "columns")):
        load_features(file, columns=given)


def test_a_part_reads_its_part_only(file):
    """As counted by the system: neither HDF5 nor the check looks at the other chunks."""
    if not os.path.exists("/proc/self/io"):
        pytest.skip("needs the counters of Linux in /proc/self/io")

    def bytes_read():
        with open("/proc/self/io") as counters:
            return int(re.search(r"rchar: (\d+)", counters.read())[1])

    matrix = np.random.default_rng(0).random((4000, 1024))
    save_features(file, matrix, labels=np.arange(4000))
    for part, most in (
        ({"columns": slice(128)}, 1 / 8),
        ({"rows": slice(250)}, 1 / 16),
        ({"rows": slice(10), "columns": slice(10)}, 1 / 100),
        ({}, 1),
    ):
        before = bytes_read()
        load_features(file, **part)
        assert bytes_read() - before < most * matrix.nbytes + 200_000


def test_compression_is_what_was_asked_for(file):
    matrix = np.round(np.random.default_rng(0).random((600, 200)), 1)
    sizes = {}
    for compression in (None, "gzip"):
        save_features(file, matrix, compression=compression)
        sizes[compression] = file.stat().st_size
        with h5py.File(file) as store:
            assert store["Z"].compression == compression
    assert sizes["gzip"] < sizes[None] / 4


def test_labels_in_a_list(file):
    for labels in ([3, 1], [0.5, 2.0], ["é", "b"]):
        save_features(file, Z, labels=labels)
        same_array(load_features(file).labels, np.array(labels))


def test_omega_is_packed(file):
    save_features(file, Z, omega=["AC", "", "GATT"])
    same_objects(load_features(file).omega, OMEGA)


def test_numbers_of_numpy_in_parameters(file):
    given = {
        "gamma": np.float64(0.1),
        "single": np.float32(0.1),
        "R": np.int32(7),
        "on": np.bool_(True),
        "name": np.str_("é"),
        "range": (np.int64(2), np.uint8(3)),
    }
    save_features(file, Z, parameters=given)
    wanted = {"gamma": 0.1, "single": float(np.float32(0.1)), "R": 7, "on": True, "name": "é"}
    assert repr(load_features(file).parameters) == repr(wanted | {"range": (2, 3)})


@pytest.mark.parametrize("text", ["", "\0", "a\0", "\0a", " a ", "\n", "null", "é\0", "😀"])
def test_every_text_comes_back(file, text):
    given = {"a": text, "b": (text, "c"), "c": {text: text}}
    save_features(file, Z, parameters=given)
    assert load_features(file).parameters == given


def test_versions(file):
    save_features(file, Z)
    assert load_features(file).versions == {
        "format": 2,
        "d2ke": d2ke.__version__,
        "numpy": np.__version__,
        "h5py": h5py.__version__,
    }


def test_the_printed_text(file):
    save_features(
        file,
        Z.astype(np.float32),
        labels=["x", "x"],
        omega=OMEGA,
        parameters={"gamma": 0.5, "grid": tuple(range(100))},
    )
    assert repr(load_features(file)).splitlines() == [
        "<features: 2 x 3, float32",
        "labels: str, 1 different",
        "omega: <3 strings over 4 letters, lengths 0 to 4>",
        "parameters: gamma=0.5, grid=(0, 1, 2, 3, 4, 5, ...)",
        f"saved by d2ke {d2ke.__version__}>",
    ]
    save_features(file, Z)
    assert (
        repr(load_features(file)) == f"<features: 2 x 3, float64\nsaved by d2ke {d2ke.__version__}>"
    )


def test_a_store_is_frozen(file):
    save_features(file, Z)
    store = load_features(file)
    assert isinstance(store, FeatureStore)
    with pytest.raises(AttributeError):
        store.Z = None


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
        assert dict(store.attrs) == {}
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
    same_array(datasets["Z"], Z)
    same_array(datasets["labels"], np.array([1, 0]))
    same_array(datasets["classes"], np.array([b"cat", b"dog"]))
    same_array(datasets["omega/values"], OMEGA.values)
    same_array(datasets["omega/offsets"], np.array([0, 2, 2, 6]))
    assert "".join(map(chr, datasets["omega/alphabet"][datasets["omega/values"]])) == "ACGATT"
    found = {
        name.removeprefix("parameters/"): value
        for name, value in datasets.items()
        if name.startswith("parameters/")
    }
    assert set(found) == set(PLAIN)
    assert (found["gamma"], found["R"], found["on"]) == (0.5, 3, 1)
    assert (found["gamma"].dtype, found["R"].dtype, found["on"].dtype) == ("f8", "i8", "u1")
    same_array(found["length"], np.array([2, 8]))
    same_array(found["grid"], np.array([0.1, 1.0]))
    assert (found["distance"], found["note"], found["empty"]) == (
        b"levenshtein",
        "für".encode(),
        b"",
    )
    assert json.loads(found["window"]) is None
    assert json.loads(found["mixed"]) == [1, [None, "é"]]
    assert {name: value for name, value in datasets.items() if name.startswith("versions/")} == {
        "versions/format": 2,
        "versions/d2ke": d2ke.__version__.encode(),
        "versions/numpy": np.__version__.encode(),
        "versions/h5py": h5py.__version__.encode(),
    }
    assert datasets["blocks"].tolist() == [[2**32 + crc32(Z)]]
    same_array(attributes.pop("blocks@shape"), np.array([2, 3]))
    assert attributes == {
        "classes@dtype": "<U3",
        "omega@kind": "strings",
        "omega@letters": "str",
        "parameters/window@json": 1,
        "parameters/mixed@json": 1,
    }


def test_vectors_lie_end_to_end(file):
    save_features(file, Z, labels=[7, 5], omega=VECTORS)
    datasets, attributes = plain(file)
    same_array(datasets["labels"], np.array([7, 5]))
    assert "classes" not in datasets
    assert "omega/alphabet" not in datasets
    assert set(attributes) == {"omega@kind", "blocks@shape"}
    assert attributes["omega@kind"] == "vectors"
    offsets = datasets["omega/offsets"]
    for j, wanted in enumerate(VECTORS):
        same_array(datasets["omega/values"][offsets[j] : offsets[j + 1]], wanted)


def test_what_was_not_given_is_not_there(file):
    save_features(file, Z)
    datasets, _ = plain(file)
    assert {name.split("/")[0] for name in datasets} == {"Z", "blocks", "versions"}


def test_text_is_marked_as_what_it_is(file):
    save_features(file, Z, labels=["a", "é"], parameters={"ascii": "e", "more": "é"})
    with h5py.File(file) as store:
        marks = {
            name: h5py.check_string_dtype(store[name].dtype).encoding
            for name in ("classes", "parameters/ascii", "parameters/more")
        }
    assert marks == {"classes": "utf-8", "parameters/ascii": "ascii", "parameters/more": "utf-8"}


def test_libraries_of_hdf5_1_8_can_read_it(file):
    """What h5py marks with the oldest version that it needs: the superblock and the groups."""
    save_features(file, Z, omega=OMEGA, parameters=PLAIN)
    superblock = file.read_bytes()[HEADER_BYTES:]
    assert superblock.startswith(b"\x89HDF\r\n\x1a\n")
    assert superblock[8] in (0, 2)


@pytest.fixture
def octave(tmp_path):
    program = shutil.which("octave-cli")
    if not program:
        pytest.skip("needs Octave: octave-cli is not on the path")

    def run(script):
        done = subprocess.run(
            [program, "--norc", "--quiet", "--eval", script],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )
        return done.stdout.split(), done.stderr

    return run


OCTAVE = """
s = load('-hdf5', 'features.h5');
printf('%.17g ', s.Z, size(s.Z)); printf('\\n');
printf('%d ', s.labels); printf('%s ', strtrim(s.classes(s.labels(1) + 1, :)));
o = s.omega.offsets; v = s.omega.values; a = s.omega.alphabet;
"""


def test_octave_reads_the_whole(file, octave):
    parameters = {name: value for name, value in PLAIN.items() if name != "note"}
    save_features(file, Z, labels=["dog", "cat"], omega=OMEGA, parameters=parameters)
    words, errors = octave(
        OCTAVE
        + "i = 3; printf('%s ', char(a(double(v(o(i)+1:o(i+1))) + 1)));"
        + "p = s.parameters; printf('%g ', p.gamma, p.R, p.length, p.grid, p.on);"
        + "printf('%s ', p.distance, p.window, s.versions.d2ke);"
    )
    assert words[:8] == [*(f"{value:.17g}" for value in Z.ravel()), "3", "2"], errors
    assert words[8:12] == ["1", "0", "dog", "GATT"]
    assert " ".join(words[12:]) == f"0.5 3 2 8 0.1 1 1 levenshtein null {d2ke.__version__}"


def test_octave_reads_vectors_compressed_and_single(file, octave):
    single = Z.astype(np.float32)
    names = ["dog", "cat"]
    save_features(file, single, labels=names, omega=VECTORS, compression="gzip")
    words, errors = octave(
        OCTAVE.replace("a = s.omega.alphabet;", "")
        + "i = 3; w = v(:, o(i)+1:o(i+1)); printf('%d ', size(w)); printf('%.17g ', w);"
    )
    assert words[:8] == [*(f"{value:.17g}" for value in single.ravel()), "3", "2"], errors
    assert words[11:] == ["2", "3", *(f"{value:.17g}" for value in VECTORS[2].ravel())]


def test_octave_goes_round_what_it_cannot_read(file, octave):
    save_features(file, Z, labels=["é", "b"], omega=OMEGA, parameters={"gamma": 0.5})
    words, errors = octave(
        "s = load('-hdf5', 'features.h5', 'Z', 'omega', 'labels');"
        "printf('%d ', size(s.Z), s.labels, s.omega.offsets);"
    )
    assert " ".join(words) == "3 2 1 0 0 2 2 6", errors


# ---------------------------------------------------------------- what is refused


def saving(file, *arguments, **keywords):
    """Try to save over a good store, which must stay."""
    save_features(file, Z)
    try:
        save_features(file, *arguments, **keywords)
    finally:
        same_array(load_features(file).Z, Z)
        assert os.listdir(file.parent) == [file.name]


@pytest.mark.parametrize(
    ("matrix", "error", "message"),
    [
        ([[1.0]], TypeError, "Z must be an ndarray of float32 or float64, got list"),
        (np.ones((2, 2), dtype=int), TypeError, "got an ndarray of int64"),
        (np.ones((2, 2), dtype=np.float16), TypeError, "got an ndarray of float16"),
        (np.ones((2, 2), dtype=np.longdouble), TypeError, "got an ndarray of "),
        (np.ones((2, 2), dtype=complex), TypeError, "got an ndarray of complex128"),
        (np.ones((2, 2)).astype(">f8"), TypeError, "got an ndarray of >f8"),
        (np.ma.masked_equal(np.ones((2, 2)), 1), TypeError, "Z must not be a masked array"),
        (np.ones(3), ValueError, r"Z must be two-dimensional, got shape \(3,\)"),
        (np.ones((2, 0)), ValueError, r"Z is empty: its shape is \(2, 0\)"),
        (np.array([[0, 1.0], [2, np.nan]]), ValueError, r"Z has nan at position \(1, 1\)"),
    ],
)
def test_matrices_that_cannot_be_saved(file, matrix, error, message):
    with pytest.raises(error, match=message):
        saving(file, matrix)


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        ([1, 2, 3], ValueError, "labels has 3 labels, but Z has 2 rows"),
        ([], ValueError, "labels has 0 labels, but Z has 2 rows"),
        ([[1], [2]], ValueError, r"labels must be one-dimensional, got shape \(2, 1\)"),
        ([0.5, np.nan], ValueError, r"labels\[1\] is nan"),
        (["a", 1], TypeError, r"labels\[1\] is 1, which an array of <U\d+ cannot hold"),
        (["a", None], TypeError, "labels must hold"),
        ([True, False], TypeError, "labels must hold .* got dtype bool"),
        ([b"a", b"b"], TypeError, "labels must hold .* got dtype |S1"),
        (np.ones(2, dtype=np.float16), TypeError, "labels must hold .* got dtype float16"),
        (["a", "\ud800"], ValueError, r"labels\[1\] is '\\ud800', which UTF-8 cannot write"),
    ],
)
def test_labels_that_cannot_be_saved(file, labels, error, message):
    with pytest.raises(error, match=message):
        saving(file, Z, labels=labels)


@pytest.mark.parametrize(
    ("omega", "error", "message"),
    [
        (["A", "B"], ValueError, "omega has 2 objects, but Z has 3 columns"),
        ("ABC", TypeError, "omega must be a sequence of objects, got one str"),
        ([[0.0], [np.nan], [1.0]], ValueError, r"omega\[1\] has nan at position"),
    ],
)
def test_objects_that_cannot_be_saved(file, omega, error, message):
    with pytest.raises(error, match=message):
        saving(file, Z, omega=omega)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ([("a", 1)], TypeError, "parameters must be a dict, got list"),
        ({1: 2}, TypeError, "parameters has the name 1; names must be str"),
        ({"a": {1: 2}}, TypeError, r"parameters\['a'\] has the name 1; names must be str"),
        ({"a/b": 1}, ValueError, "parameters has the name 'a/b'"),
        ({"": 1}, ValueError, "parameters has the name ''"),
        ({".": 1}, ValueError, "parameters has the name '.'"),
        ({"a\0": 1}, ValueError, r"parameters has the name 'a\\x00'"),
        ({"\ud800": 1}, ValueError, r"a name in parameters is '\\ud800', which UTF-8"),
        ({"a": [1, 2]}, TypeError, r"parameters\['a'\] must be None, .* of type list"),
        ({"a": (1, [2])}, TypeError, r"parameters\['a'\]\[1\] must be None, .* of type list"),
        ({"a": np.ones(2)}, TypeError, "of type ndarray"),
        ({"a": b"x"}, TypeError, "of type bytes"),
        ({"a": 1j}, TypeError, "of type complex"),
        ({"a": np.longdouble(1)}, TypeError, "of type longdouble"),
        ({"a": signal.SIGINT}, TypeError, "of type Signals"),
        ({"a": len}, TypeError, "of type builtin_function_or_method"),
        ({"a": ("\ud800",)}, ValueError, r"parameters\['a'\]\[0\] is '\\ud800', which UTF-8"),
    ],
)
def test_parameters_that_cannot_be_saved(file, parameters, error, message):
    with pytest.raises(error, match=message):
        saving(file, Z, parameters=parameters)


def test_other_compressions(file):
    with pytest.raises(ValueError, match="compression must be one of gzip; got 'lzf'"):
        saving(file, Z, compression="lzf")
    with pytest.raises(TypeError, match="compression must be a string, one of gzip; got 4"):
        saving(file, Z, compression=4)


def test_a_name_of_another_format(tmp_path):
    with pytest.raises(ValueError, match=r"end it in \.h5, or write a MAT-file by save_mat"):
        save_features(tmp_path / "Z.mat", np.zeros((2, 2)))


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_features(tmp_path / "none.h5")
    with pytest.raises(OSError, match="missing"):
        save_features(tmp_path / "missing" / "features.h5", Z)


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_an_interrupted_write_leaves_the_old_file(file, monkeypatch, error):
    def fail(*arguments):
        raise error

    save_features(file, Z)
    monkeypatch.setattr(layout, "seal_complete", fail)
    with pytest.raises(error):
        save_features(file, 2 * Z)
    same_array(load_features(file).Z, Z)
    assert os.listdir(file.parent) == [file.name]


@pytest.mark.skipif(os.name != "posix", reason="sends SIGKILL")
def test_a_killed_write_leaves_the_old_file(file):
    save_features(file, Z)
    script = (
        "import os, signal, sys, numpy; from d2ke.io import save_features\n"
        "os.replace = lambda *paths: os.kill(os.getpid(), signal.SIGKILL)\n"
        "save_features(sys.argv[1], numpy.ones((2, 2)))"
    )
    assert subprocess.call([sys.executable, "-c", script, str(file)]) == -signal.SIGKILL
    same_array(load_features(file).Z, Z)


# ---------------------------------------------------------------- damage


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"\x89HDF\r\n\x1a\n", b"d2ke features x", b"\0" * 999]
)
def test_other_files(file, content):
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"features\.h5 is not a feature store of d2ke: it is "):
        load_features(file)


def test_other_hdf5_files(file):
    with h5py.File(file, "w") as store:
        store["Z"] = Z
    with pytest.raises(
        ValueError, match="not a feature store of d2ke: it is an HDF5 file of anoth"
    ):
        load_features(file)


def test_a_newer_format(file):
    save_features(file, Z)
    content = file.read_bytes()
    file.write_bytes(content.replace(b"features 2", b"features 3", 1))
    with pytest.raises(ValueError, match=r"has version 3 of the format, .* a newer d2ke is needed"):
        load_features(file)
    file.write_bytes(b"d2ke features 12\nwhat nobody knows yet")
    with pytest.raises(ValueError, match="has version 12 of the format"):
        load_features(file)


def test_a_part_that_is_not_known(file):
    """Such as a newer version may write: nothing is left out in silence."""
    save_features(file, Z, omega=VECTORS)
    lines = file.read_bytes().split(b"\n")[:2]
    with h5py.File(file, "r+") as store:
        store["omega"]["colours"] = np.ones(6)
    lines[1] = b"%d 512 512" % file.stat().st_size
    seal(file, [line.decode() for line in lines])
    with pytest.raises(ValueError, match="/omega has a part 'colours', which objects have not"):
        load_features(file)


def test_changed_by_another_program(file):
    save_features(file, Z, parameters={"gamma": 0.5})
    with h5py.File(file, "r+") as store:
        store["parameters/gamma"][()] = 0.25
    with pytest.raises(ValueError, match=r"damaged, or was changed after it was saved|instead of"):
        load_features(file)


def test_truncated_and_lengthened_files(file):
    save_features(file, np.ones((300, 200)), labels=np.arange(300), omega=["A"] * 200)
    content = file.read_bytes()
    for size in [*range(17, 700), *range(700, len(content), len(content) // 50), len(content) - 1]:
        file.write_bytes(content[:size])
        with pytest.raises(ValueError, match="is damaged"):
            load_features(file)
    file.write_bytes(content + b"\0")
    with pytest.raises(ValueError, match=f"{len(content) + 1} bytes instead of {len(content)}"):
        load_features(file)


class Quiet(dict):
    """A dict that hypothesis does not print in full, megabytes of it."""

    def __repr__(self):
        return f"<{len(self)} files>"


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A store with blocks enough that most of it is values of Z."""
    matrix = np.random.default_rng(0).random((600, 300))
    stores = Quiet()
    for compression in (None, "gzip"):
        path = tmp_path_factory.mktemp("large") / "features.h5"
        save_features(
            path,
            matrix if compression is None else matrix.round(1),
            labels=["a", "b"] * 300,
            omega=["AC"] * 300,
            parameters=PLAIN,
            compression=compression,
        )
        stores[compression] = path.read_bytes()
    return stores


def test_most_of_it_is_read_once(large):
    for content in large.values():
        size, start, stop = map(int, content.split(b"\n")[1].split())
        assert size == len(content)
        assert stop - start > 0.75 * size


@settings(max_examples=examples(400))
@given(
    st.sampled_from([None, "gzip"]),
    st.floats(0, 1, exclude_max=True),
    st.integers(1, 255),
)
@example(None, 0.0, 1)
@example(None, 1e-5, 1)  # the format's version: 0
def test_no_damaged_byte_is_believed(tmp_path, large, compression, at, change):
    content = bytearray(large[compression])
    content[int(at * len(content))] ^= change
    path = tmp_path / "features.h5"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"is damaged|not a feature store|newer d2ke"):
        load_features(path)


@pytest.mark.parametrize("compression", [None, "gzip"])
def test_no_damaged_byte_of_the_front_is_believed(tmp_path, large, compression):
    """The header, HDF5's own data, labels and omega: a byte of every 7."""
    content = large[compression]
    start = int(content.split(b"\n")[1].split()[1])
    path = tmp_path / "features.h5"
    path.write_bytes(content)
    for at in range(0, start, 7):
        for byte in (content[at] ^ 1 << (at % 8), content[at]):
            with open(path, "r+b") as stream:
                stream.seek(at)
                stream.write(bytes([byte]))
            if byte != content[at]:
                with pytest.raises(ValueError, match=r"is damaged|not a feature store|newer d2ke"):
                    load_features(path, rows=slice(1), columns=slice(1))
    load_features(path)


def test_damage_elsewhere_in_z_does_not_matter(tmp_path, large):
    content = bytearray(large[None])
    content[-1000] ^= 1  # in the last tile
    path = tmp_path / "features.h5"
    path.write_bytes(content)
    assert load_features(path, rows=slice(100), columns=slice(100)).Z.shape == (100, 100)
    with pytest.raises(ValueError, match="is damaged: Z cannot be read"):
        load_features(path)


def test_the_spared_span_holds_nothing_but_values(large):
    """Whatever its bytes are, HDF5 finds the same table, labels and objects."""
    content = large[None]
    start, stop = map(int, content.split(b"\n")[1].split()[1:])
    assert stop - start == 600 * 300 * 8
    with (
        h5py.File(io.BytesIO(content)) as whole,
        h5py.File(io.BytesIO(content[:start] + b"\xa5" * (stop - start) + content[stop:])) as blank,
    ):
        same_objects(get_objects(whole["omega"]), get_objects(blank["omega"]))
        for name in ("labels", "blocks"):
            same_array(whole[name][()], blank[name][()])
        assert layout.get_blocks(whole) == layout.get_blocks(blank)


def test_the_spared_span_of_a_compressed_store_holds_nothing_but_chunks(large):
    content = large["gzip"]
    start, stop = map(int, content.split(b"\n")[1].split()[1:])
    with (
        h5py.File(io.BytesIO(content)) as whole,
        h5py.File(io.BytesIO(content[:start] + b"\xa5" * (stop - start) + content[stop:])) as blank,
    ):
        same_objects(get_objects(whole["omega"]), get_objects(blank["omega"]))
        same_array(whole["labels"][()], blank["labels"][()])
        found = whole["Z"].id
        chunks = [found.get_chunk_info(i) for i in range(found.get_num_chunks())]
        assert chunks == [blank["Z"].id.get_chunk_info(i) for i in range(len(chunks))]
        assert sum(chunk.size for chunk in chunks) == stop - start


def test_the_longest_run_of_chunks(monkeypatch):
    """Whether or not h5py has chunk_iter, and HDF5 counts the header."""
    places = [(9000, 3000), (20000, 1000), (12000, 2500), (21000, 5000)]
    chunks = [SimpleNamespace(byte_offset=start, size=size) for start, size in places]
    found = SimpleNamespace(get_num_chunks=lambda: 4, get_chunk_info=chunks.__getitem__)
    monkeypatch.setattr(layout, "_shift", lambda: 512)
    assert layout._longest_run(SimpleNamespace(id=found)) == (20512, 26512)
    found.chunk_iter = lambda add: [add(chunk) for chunk in chunks]
    assert layout._longest_run(SimpleNamespace(id=found)) == (20512, 26512)


@pytest.mark.parametrize("shape", [(600, 300), (1, 1), (300, 5)])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_rows_and_checksums_are_where_they_are_said_to_be(file, shape, dtype):
    matrix = np.random.default_rng(0).random(shape).astype(dtype)
    save_features(file, matrix)
    content = file.read_bytes()
    with h5py.File(file) as store:
        places, table = layout.get_blocks(store), store["blocks"][()]
        same_array(store["Z"][()], matrix)
    found = np.frombuffer(content[places.start : places.stop], dtype).reshape(shape)
    same_array(found, matrix)
    assert content[places.table_start : places.table_stop] == table.tobytes()
    height, width = places.tile
    assert table.shape == places.table_shape == (-(-shape[0] // height), -(-shape[1] // width))
    for (i, j), entry in np.ndenumerate(table):
        tile = matrix[i * height : (i + 1) * height, j * width : (j + 1) * width]
        assert entry == 2**32 + crc32(tile.tobytes())


@settings(max_examples=examples(100))
@given(st.data())
def test_any_rows_and_columns_are_read_and_checked(tmp_path, data):
    n, m = data.draw(st.integers(1, 60)), data.draw(st.integers(1, 40))
    tile = data.draw(st.integers(1, n)), data.draw(st.integers(1, m))
    matrix = np.random.default_rng(0).random((n, m), dtype=data.draw(FLOATS))
    places = blocks.Blocks((n, m), tile, matrix.dtype, 100, 5)
    path = tmp_path / "x"
    with open(path, "wb+", buffering=0) as stream:
        fd = stream.fileno()
        table = np.zeros(places.table_shape, blocks.TABLE)
        for block in range(len(table)):
            rows = places.rows(block, block + 1)
            assert places.blocks(rows) == range(block, block + 1)
            table[block] = places.write(fd, block, matrix[rows])
        bad = data.draw(st.none() | st.tuples(st.integers(0, n - 1), st.integers(0, m - 1)))
        if bad:
            place = places.start + (bad[0] * m + bad[1]) * matrix.itemsize
            byte = os.pread(fd, 1, place)[0] ^ 64
            os.pwrite(fd, bytes([byte]), place)
        rows = slice(*sorted(data.draw(st.sets(st.integers(0, n), min_size=2, max_size=2))))
        columns = slice(*sorted(data.draw(st.sets(st.integers(0, m), min_size=2, max_size=2))))
        found, damaged = places.read_checked(fd, table, rows, columns)
        if bad and damaged:
            ((tall, wide),) = damaged
            assert tall.start <= bad[0] < tall.stop
            assert wide.start <= bad[1] < wide.stop
            assert (tall.start % tile[0], wide.start % tile[1]) == (0, 0)
        else:
            same_array(found, matrix[rows, columns])
            inside = bad and rows.start <= bad[0] < rows.stop
            assert not (inside and columns.start <= bad[1] < columns.stop)


@settings(max_examples=examples(50))
@given(
    st.lists(st.tuples(st.integers(0, 20_000), st.binary(min_size=1, max_size=9000)), max_size=8),
    st.data(),
)
def test_an_image_is_a_file(tmp_path, writes, data):
    """What libhdf5 writes, over what the file has, at once or in steps."""
    path = tmp_path / "x"
    before = data.draw(st.binary(max_size=6000))
    wanted = io.BytesIO()
    with open(path, "wb+", buffering=0) as stream:
        stream.write(before)
        image = Image(stream.fileno())
        image.seek(len(before))
        image.truncate()
        wanted.write(before)
        for place, content in writes:
            image.seek(place)
            assert image.write(content) == len(content)
            wanted.seek(place)
            wanted.write(content)
            if data.draw(st.booleans()):
                image.write_to_file()
        size = image.seek(0, os.SEEK_END)
        assert size == max([len(before), *(place + len(c) for place, c in writes)])
        image.seek(0)
        assert image.read() == wanted.getvalue().ljust(size, b"\0")[:size]
        image.write_to_file()
        assert path.read_bytes()[:size] == wanted.getvalue()[:size].ljust(size, b"\0")


def test_libhdf5_writes_nothing_to_a_dataset_that_has_its_place(tmp_path):
    with open(tmp_path / "x", "wb+", buffering=0) as stream:
        image = Image(stream.fileno())
        with h5py.File(image, "w") as store:
            Z = place_dataset(store, "Z", (10**6, 10**4), np.dtype("f8"))
            place = Z.id.get_offset()
            store["x"] = 1
        assert image.size > place + 8 * 10**10
        assert len(image._pages) < 20
        assert os.fstat(stream.fileno()).st_size == 0


# ---------------------------------------------------------------- a full disk


@pytest.mark.parametrize("compression", [None, "gzip"])
@pytest.mark.parametrize("reserves", [True, False])
def test_a_full_disk_is_an_error(small_disk, monkeypatch, compression, reserves):
    """Never the end of the process, and nothing is left behind."""
    if not reserves:  # as file systems do that reserve nothing
        monkeypatch.setattr(os, "posix_fallocate", lambda *arguments: None)
        monkeypatch.delattr(os, "statvfs")
    path = small_disk / "features.h5"
    save_features(path, Z)
    rng = np.random.default_rng(0)
    for _ in range(3):
        with pytest.raises(OSError, match=r"takes .* bytes: |No space left") as got:
            save_features(
                path, rng.random((4000, 80)), labels=np.arange(4000), compression=compression
            )
        assert got.value.errno == errno.ENOSPC
        assert os.listdir(small_disk) == ["features.h5"]
    same_array(load_features(path).Z, Z)


# ---------------------------------------------------------------- version 0.1.0


@pytest.fixture
def old(tmp_path):
    """Files that version 0.1.0 wrote."""
    for path in (Path(__file__).parent / "version_0.1.0").iterdir():
        (tmp_path / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
    return tmp_path


OLD = {"distance": "levenshtein", "gamma": 0.3}
OLD_X = [("ACGT" * 9)[i % 4 : i % 4 + i % 11] for i in range(40)]
OLD_OMEGA = d2ke.random_strings(6, "ACGT", length=(2, 5), seed=0)


def test_stores_of_version_0_1_0_are_read(old):
    wanted = d2ke.d2ke_embed(OLD_X, OLD_OMEGA, **OLD)
    store = load_features(old / "gzip.h5")
    same_array(store.Z, wanted)
    assert store.labels.tolist() == ["even", "odd"] * 20
    assert store.omega == OLD_OMEGA
    assert store.parameters == {"gamma": 0.3, "length": (2, 5), "window": None}
    assert store.versions["format"] == 1
    part = load_features(old / "gzip.h5", rows=slice(3, 9), columns=slice(2, 5))
    same_array(part.Z, wanted[3:9, 2:5])
    wanted = wanted.astype(np.float32)
    with d2ke.io.open_features(old / "streamed.h5") as store:
        store.verify()
        np.testing.assert_allclose(store.read(), wanted, rtol=1e-6)
        rows = store.reader()
        read = store.read()
    same_array(rows(slice(7, 12)), read[7:12])
    # All is there already: it is not written again.
    before = (old / "streamed.h5").read_bytes()
    how = {**OLD, "dtype": "f4", "out": old / "streamed.h5", "resume": True}
    with d2ke.d2ke_embed(OLD_X, OLD_OMEGA, **how) as store:
        same_array(store.read(), read)
    assert (old / "streamed.h5").read_bytes() == before
    with pytest.raises(ValueError, match=r"gamma was 0\.3 and is 0\.4"):
        d2ke.d2ke_embed(OLD_X, OLD_OMEGA, **how | {"gamma": 0.4})


@pytest.mark.parametrize("name", ["gzip.h5", "streamed.h5"])
def test_damage_of_stores_of_version_0_1_0_is_seen(old, name):
    content = (old / name).read_bytes()
    for at in range(0, len(content), 97):
        damaged = bytearray(content)
        damaged[at] ^= 8
        (old / name).write_bytes(damaged)
        with pytest.raises(ValueError, match=r"is damaged|not a feature store|newer d2ke"):
            load_features(old / name)


def test_what_version_0_1_0_has_begun_is_refused(old):
    path = old / "begun.h5"
    before = {one.name: one.read_bytes() for one in old.iterdir()}
    for resume in (True, False):
        with pytest.raises(
            ValueError, match=r"begun by version 0\.1\.0 .* remove it and .*begun\.h5\.j"
        ):
            d2ke.d2ke_embed(OLD_X, OLD_OMEGA, **OLD, out=path, resume=resume)
    assert {one.name: one.read_bytes() for one in old.iterdir()} == before
    with pytest.raises(ValueError, match=r"begun\.h5\.part is not complete"):
        load_features(f"{path}.part")
    for end in (".part", ".journal"):
        Path(f"{path}{end}").unlink()
    d2ke.d2ke_embed(OLD_X, OLD_OMEGA, **OLD, out=path).close()


def test_a_header_without_a_span_covers_all(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"\0" * HEADER_BYTES + b"content")
    seal(path, ["one", "two"])
    content = path.read_bytes()
    assert content.startswith(b"one\ntwo\n")
    assert content[HEADER_BYTES:] == b"content"
    with open(path, "rb") as stream:
        assert header(["one", "two"], stream) == content[:HEADER_BYTES]
        assert header(["one", "two"], stream, (513, 514)) != content[:HEADER_BYTES]
