# SPDX-License-Identifier: BSD-3-Clause
"""Feature stores: every bit comes back, other programs read them, and no damage is believed."""

import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from reference import examples

import d2ke
from d2ke.io import FeatureStore, load_features, open_features, save_features

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
    """As counted by the system."""
    if not os.path.exists("/proc/self/io"):
        pytest.skip("needs the counters of Linux in /proc/self/io")

    def bytes_read():
        with open("/proc/self/io") as counters:
            return int(re.search(r"rchar: (\d+)", counters.read())[1])

    matrix = np.random.default_rng(0).random((4000, 1024))
    save_features(file, matrix, labels=np.arange(4000))
    for part, most in (
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
        "format": 1,
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
        "versions/format": 1,
        "versions/d2ke": d2ke.__version__.encode(),
        "versions/numpy": np.__version__.encode(),
        "versions/h5py": h5py.__version__.encode(),
    }
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
    assert set(attributes) == {"omega@kind"}
    assert attributes["omega@kind"] == "vectors"
    offsets = datasets["omega/offsets"]
    for j, wanted in enumerate(VECTORS):
        same_array(datasets["omega/values"][offsets[j] : offsets[j + 1]], wanted)


def test_what_was_not_given_is_not_there(file):
    save_features(file, Z)
    datasets, _ = plain(file)
    assert {name.split("/")[0] for name in datasets} == {"Z", "versions"}


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
    superblock = file.read_bytes()
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
        (["a", None], TypeError, r"labels\[1\] is None: a label is missing"),
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
    monkeypatch.setattr(os, "fsync", fail)
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


@pytest.mark.parametrize("content", [b"", b"{}", b"d2ke features x", b"\0" * 999])
def test_other_files(file, content):
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"features\.h5 is not .* it is not an HDF5 file"):
        load_features(file)


def test_other_hdf5_files(file):
    with h5py.File(file, "w") as store:
        store["Z"] = Z
    with pytest.raises(ValueError, match="not a features file: another program wrote it"):
        load_features(file)


def test_a_newer_format(file):
    save_features(file, Z)
    with h5py.File(file, "r+") as store:
        store["versions/format"][()] = 2
    with pytest.raises(ValueError, match=r"has version 2 of the format, .* a newer d2ke is needed"):
        load_features(file)


def test_a_part_that_is_not_known(file):
    save_features(file, Z, omega=VECTORS)
    with h5py.File(file, "r+") as store:
        store["omega"].attrs["colours"] = 6
    with pytest.raises(ValueError, match=r"features\.h5 is damaged: .*colours"):
        load_features(file)


@pytest.mark.parametrize("name", ["Z", "parameters", "versions", "omega/values", "omega/offsets"])
def test_a_part_that_is_missing(file, name):
    save_features(file, Z, omega=VECTORS)
    with h5py.File(file, "r+") as store:
        del store[name]
    with pytest.raises(ValueError, match=r"features\.h5 is damaged: "):
        load_features(file)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("omega/values", np.array([[np.nan, 0.0]] * 6)),
        ("omega/offsets", np.array([0, 4, 3, 6])),
        ("omega/offsets", np.array([0, 2, 3, 2**40])),
        ("omega/offsets", np.array([0.0, 2.0, 3.0, 6.0])),
    ],
)
def test_objects_are_checked(file, name, values):
    save_features(file, Z, omega=VECTORS)
    with h5py.File(file, "r+") as store:
        del store[name]
        store[name] = values
    with pytest.raises(ValueError, match=r"features\.h5 is damaged: "):
        load_features(file)


def test_truncated_files(file):
    save_features(file, np.ones((300, 200)), labels=np.arange(300), omega=["A"] * 200)
    content = file.read_bytes()
    for size in [*range(17, 700, 7), *range(700, len(content), len(content) // 50)]:
        file.write_bytes(content[:size])
        with pytest.raises((OSError, ValueError)):
            load_features(file)


def test_a_closed_file(file):
    save_features(file, Z)
    with open_features(file) as store:
        assert repr(store) == "<features.h5: 2 x 3, float64>"
        assert len(store) == 2
        same_array(store[:1], Z[:1])
        with pytest.raises(TypeError, match="takes a slice of rows, got 1"):
            store[1]
    assert repr(store) == "<features.h5: 2 x 3, float64, closed>"
    with pytest.raises(ValueError, match=r"features\.h5 is closed"):
        store.read()


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
