# SPDX-License-Identifier: BSD-3-Clause
"""MAT-files: one rule for types and shapes, exact round trips, and errors that say where."""

import datetime
import zlib

import h5py
import numpy as np
import pytest
import scipy.io
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from reference import examples

import d2ke
from d2ke.io import MatFileError, Unreadable, load_mat, load_objects, save_mat
from d2ke.io.mat import v5

VERSIONS = ["5", "7.3"]
DTYPES = ["f8", "f4", "c16", "c8", "?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]


def same(a, b):
    """Whether two values are of one type, shape and dtype, and the same bit for bit."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if scipy.sparse.issparse(a):
        return (
            a.shape == b.shape
            and a.dtype == b.dtype
            and np.array_equal(a.indptr, b.indptr)
            and np.array_equal(a.indices, b.indices)
            and a.data.tobytes() == b.data.tobytes()
        )
    if not isinstance(a, np.ndarray):
        return a == b
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.names is not None:
        return all(same(a[field], b[field]) for field in a.dtype.names)
    if a.dtype == object:
        return all(same(x, y) for x, y in zip(a.ravel(), b.ravel(), strict=True))
    return a.tobytes() == b.tobytes()


def objects(values, shape):
    result = np.empty(int(np.prod(shape)), dtype=object)
    result[:] = values
    return result.reshape(shape)


# One value of each kind, as load_mat returns it.
shapes = hnp.array_shapes(min_dims=2, max_dims=4, min_side=0, max_side=3)
names = st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,62}", fullmatch=True).filter(
    lambda name: name not in {"if", "do", "end", "for", "try", "spmd", "case", "else"}
)
arrays = st.sampled_from(DTYPES).flatmap(lambda dtype: hnp.arrays(dtype, shapes))
texts = st.text(st.characters(exclude_categories=[]), max_size=6)
bmp = st.characters(min_codepoint=1, max_codepoint=0xD7FF)


@st.composite
def char_arrays(draw):
    shape, width = draw(shapes), draw(st.integers(0, 3))
    shape = shape[:1] + shape[2:]
    rows = [
        "".join(draw(st.lists(bmp, min_size=width, max_size=width)))
        for _ in range(int(np.prod(shape)))
    ]
    if len(shape) == 1 and shape[0] == 1:
        return rows[0]
    return np.array(rows, dtype=f"U{max(width, 1)}").reshape(shape)


@st.composite
def sparse(draw):
    dtype = draw(st.sampled_from(["f8", "c16", "?"]))
    dense = draw(hnp.arrays(dtype, st.tuples(st.integers(0, 4), st.integers(0, 4))))
    return scipy.sparse.csc_array(dense)


@st.composite
def cells(draw, values):
    shape = draw(hnp.array_shapes(min_dims=2, max_dims=3, min_side=0, max_side=2))
    count = int(np.prod(shape))
    return objects(draw(st.lists(values, min_size=count, max_size=count)), shape)


@st.composite
def struct_arrays(draw, values):
    shape = draw(hnp.array_shapes(min_dims=2, max_dims=3, min_side=0, max_side=2))
    fields = draw(st.lists(names, max_size=3, unique=True))
    if shape == (1, 1):
        return {field: draw(values) for field in fields}
    result = np.empty(shape, dtype=[(field, object) for field in fields])
    for field in fields:
        count = result.size
        result[field] = objects(draw(st.lists(values, min_size=count, max_size=count)), shape)
    return result


trees = st.recursive(
    arrays | texts | char_arrays() | sparse(),
    lambda inner: cells(inner) | struct_arrays(inner) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "a.mat"


@given(st.dictionaries(names, trees, max_size=3), st.booleans())
@settings(max_examples=examples(100))
def test_round_trip_v5(tmp_path_factory, data, compress):
    file = tmp_path_factory.getbasetemp() / "round5.mat"
    save_mat(file, data, compress=compress)
    assert same(load_mat(file), data)


@given(st.dictionaries(names, trees, max_size=3))
@settings(max_examples=examples(40))
def test_round_trip_v73(tmp_path_factory, data):
    file = tmp_path_factory.getbasetemp() / "round73.mat"
    save_mat(file, data, version="7.3")
    loaded = load_mat(file)
    assert same({name: loaded[name] for name in data}, data)  # HDF5 sorts the names


@pytest.mark.parametrize("version", VERSIONS)
def test_large_arrays_are_compressed_without_loss(file, version):
    data = {"z": np.zeros((300, 400)), "r": np.random.default_rng(0).normal(size=(300, 40))}
    data["c"] = data["r"] * 1j
    save_mat(file, data, version=version)
    assert file.stat().st_size < 0.7 * sum(x.nbytes for x in data.values())
    assert same(load_mat(file, list(data)), data)
    small = file.stat().st_size
    save_mat(file, data, version=version, compress=False)
    assert file.stat().st_size > small
    assert same(load_mat(file, list(data)), data)


BECOMES = {
    "i": (3, np.array([[3]])),
    "u": (2**63, np.array([[2**63]], dtype=np.uint64)),
    "f": (2.5, np.array([[2.5]])),
    "z": (1j, np.array([[1j]])),
    "b": (True, np.array([[True]])),
    "s": (np.float32(1.5), np.array([[1.5]], dtype=np.float32)),
    "row": (np.arange(3), np.array([[0, 1, 2]])),
    "cell": (
        [1.0, "two", (False,)],
        objects([np.array([[1.0]]), "two", objects([np.array([[False]])], (1, 1))], (1, 3)),
    ),
    "empty": ([], np.empty((1, 0), dtype=object)),
    "text": (np.str_("abc"), "abc"),
    "rows": (np.array(["ab", "cd"]), np.array(["ab", "cd"])),
    "swapped": (np.arange(3, dtype=">i2"), np.array([[0, 1, 2]], dtype=np.int16)),
    "csr": (scipy.sparse.csr_array(np.eye(2)), scipy.sparse.csc_array(np.eye(2))),
    "obj": (np.array(["x", None], dtype=object)[:1], objects(["x"], (1, 1))),
}


@pytest.mark.parametrize("version", VERSIONS)
def test_what_python_values_become(file, version):
    save_mat(file, {name: value for name, (value, _) in BECOMES.items()}, version=version)
    got = load_mat(file)
    assert got.keys() == BECOMES.keys()
    for name, (_, expected) in BECOMES.items():
        assert same(got[name], expected), name


@pytest.mark.parametrize("version", VERSIONS)
def test_squeeze(file, version):
    pair = np.zeros((1, 2), dtype=[("a", object)])
    pair["a"][0, :] = [np.array([[1.0]]), "x"]
    data = {"x": 2.5, "y": np.ones((3, 1)), "e": np.zeros((0, 0)), "c": [[1.0]], "s": pair}
    save_mat(file, data | {"d": {"f": 1}}, version=version)
    got = load_mat(file, squeeze=True)
    assert isinstance(got["x"], np.float64)
    assert got["x"] == 2.5
    assert got["y"].shape == (3,)
    assert got["e"].shape == (0, 0)
    assert got["c"].shape == (1,)
    assert got["c"][0].shape == (1,)
    assert got["s"].shape == (2,)
    assert got["s"]["a"].tolist() == [1.0, "x"]
    assert got["d"] == {"f": 1}


def test_scipy_reads_what_is_written(file):
    data = {"x": np.arange(6.0).reshape(2, 3), "t": "text", "i": np.array([[2**62 + 1]])}
    data |= {"c": [np.eye(2), "é"], "s": {"a": np.float32(1.5)}, "m": np.array(["ab", "cd"])}
    save_mat(file, data)
    got = scipy.io.loadmat(file, uint16_codec="utf-16")
    assert np.array_equal(got["x"], data["x"])
    assert got["t"] == ["text"]
    assert got["i"] == 2**62 + 1
    assert np.array_equal(got["c"][0, 0], np.eye(2))
    assert got["c"][0, 1] == ["é"]
    assert got["s"]["a"][0, 0] == 1.5
    assert got["m"].tolist() == ["ab", "cd"]


def test_v73_has_what_matlab_looks_for(file):
    pair = np.zeros((1, 2), dtype=[("one", object), ("two", object)])
    pair["one"][:] = pair["two"][:] = 1.0
    logical = scipy.sparse.csc_array(np.array([[True, False], [True, True]]))
    data = {"x": np.arange(6.0).reshape(2, 3), "t": "text", "b": True, "z": 1j, "c": [1.0, "a"]}
    data |= {"s": {"f": 1.0, "g": 2.0}, "pair": pair, "e": np.zeros((0, 3)), "sp": logical}
    save_mat(file, data, version="7.3")
    head = file.read_bytes()[:520]
    assert head.startswith(b"MATLAB 7.3 MAT-file")
    assert head[116:128] == bytes(8) + b"\x00\x02IM"
    assert head[512:] == b"\x89HDF\r\n\x1a\n"
    attributes = {
        "x": {"class": b"double"},
        "t": {"class": b"char", "int_decode": 2},
        "b": {"class": b"logical", "int_decode": 1},
        "c": {"class": b"cell"},
        "#refs#/a": {"class": b"canonical empty"},
        "s": {"class": b"struct"},
        "e": {"empty": 1},
        "sp": {"class": b"logical", "sparse": 2},
    }
    with h5py.File(file) as h:
        for name, wanted in attributes.items():
            for attribute, value in wanted.items():
                assert h[name].attrs[f"MATLAB_{attribute}"] == value, name
        assert h["x"].shape == (3, 2)
        assert (h["t"].dtype, h["t"].shape, h["b"].dtype) == (np.uint16, (4, 1), np.uint8)
        assert h["z"].dtype.names == ("real", "imag")
        assert h[h["c"][0, 0]].name.startswith("/#refs#/")
        assert [b"".join(f) for f in h["s"].attrs["MATLAB_fields"]] == [b"f", b"g"]
        assert h["pair/one"].dtype == h5py.ref_dtype
        assert h["e"][()].tolist() == [0, 3]
        assert h["sp/jc"][()].tolist() == [0, 2, 3]
        assert h["sp/ir"][()].tolist() == [0, 1, 1]


def test_v4_is_read(file):
    sparse = scipy.sparse.csc_array(np.array([[0, 1.5, 0], [2, 0, 0], [0, 0, 0]]))
    data = {"x": np.arange(6.0).reshape(2, 3), "z": np.array([[1 + 2j]]), "t": "text", "s": sparse}
    scipy.io.savemat(file, data, format="4")
    assert same(load_mat(file), data)


def test_text_of_old_files(file):
    # 8-bit codes beyond ASCII, UTF-16 pairs and text counted in characters, made by hand.
    def matrix(kind, data, count):
        def element(k, raw):
            return np.array([k, len(raw)], "<u4").tobytes() + raw + bytes(-len(raw) % 8)

        body = element(6, np.array([4, 0], "<u4").tobytes())
        body += element(5, np.array([1, count], "<i4").tobytes()) + element(1, b"t")
        body += element(kind, data)
        head = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM"
        file.write_bytes(head + np.array([14, len(body)], "<u4").tobytes() + body)
        return load_mat(file)["t"]

    assert matrix(2, "grün".encode("latin-1"), 4) == "grün"
    assert matrix(17, "a😀".encode("utf-16-le"), 3) == "a😀"
    # Octave's text: bytes of UTF-8, each in 16 bits; MATLAB's own text is UTF-16.
    narrow = np.frombuffer("aé😀".encode(), np.uint8).astype("<u2").tobytes()
    assert matrix(4, narrow, 7) == "aé😀"
    assert matrix(17, narrow, 7) == narrow.decode("utf-16-le")
    assert matrix(4, "grün".encode("utf-16-le"), 4) == "grün"
    matlab = file.read_bytes().replace(b"5.0 MAT-file  ", b"5.0 Platform: ")
    file.write_bytes(matlab)
    assert load_mat(file)["t"] == "grün"
    file.write_bytes(matlab.replace("ü".encode("utf-16-le"), "Ã".encode("utf-16-le")))
    assert load_mat(file)["t"] == "grÃn"
    assert matrix(4, "a😀".encode("utf-16-le"), 3) == "a😀"
    assert matrix(16, "a😀".encode(), 3) == "a😀"
    assert matrix(16, "a😀é".encode(), 3) == "a😀é"
    assert matrix(18, "a😀".encode("utf-32-le"), 2) == "a😀"
    with pytest.raises(MatFileError, match="cannot reshape array of size 4"):
        matrix(16, b"text", 9)


# What is asked for, and nothing else.


@pytest.mark.parametrize("version", VERSIONS)
def test_only_named_variables_are_read(file, version):
    save_mat(file, {"a": np.arange(3.0), "b": "x", "c": np.zeros((500, 500))}, version=version)
    assert load_mat(file, "b") == {"b": "x"}
    assert list(load_mat(file, ["b", "a"])) == ["b", "a"]
    assert load_mat(file, []) == {}
    with pytest.raises(ValueError, match=r"a\.mat has no variable 'd'; it has a, b, c"):
        load_mat(file, ["a", "d"])
    with pytest.raises(TypeError, match=r"names\[1\] must be a str, got 3"):
        load_mat(file, ["a", 3])


def test_damage_after_the_named_variable_is_not_met(file):
    save_mat(file, {"a": 1.0, "b": np.arange(100.0)}, compress=False)
    file.write_bytes(file.read_bytes()[:-9])
    assert load_mat(file, "a")["a"] == 1
    with pytest.raises(MatFileError, match=r"a\.mat cannot be read: .*beyond the end"):
        load_mat(file)


# Objects.


@pytest.mark.parametrize("version", VERSIONS)
def test_load_objects(file, version):
    rng = np.random.default_rng(0)
    series = [rng.normal(size=(22, n)) for n in (45, 136, 60)]
    column = objects(series, (3, 1))
    strings = ["GATTACA", "", "AC"]
    data = {"X": column, "row": series, "s": strings, "m": rng.normal(size=(4, 9))}
    data |= {"codes": [np.array([[1.0, 2.0]]), np.array([[2], [3]], dtype=np.int8)]}
    expected = d2ke.pack(series, channels_first=True)
    save_mat(file, {**data, "packed": expected}, version=version)
    for name in ("X", "row", "packed"):
        assert load_objects(file, name) == expected
    assert load_mat(file, "packed")["packed"].shape == (3, 1)
    with pytest.raises(ValueError, match=r"X\[1\] has 136 channels"):
        load_objects(file, "X", channels_first=False)
    assert load_objects(file, "s") == d2ke.pack(strings)
    assert load_objects(file, "m") == d2ke.pack(data["m"])
    codes = load_objects(file, "codes", kind="strings")
    assert [x.tolist() for x in codes] == [[1, 2], [2, 3]]


@pytest.mark.parametrize("version", VERSIONS)
def test_load_objects_names_what_it_cannot_use(file, version):
    square = objects([np.eye(2)] * 4, (2, 2))
    data = {"square": square, "nested": [np.eye(2), ["a"]], "struct": {"a": 1}}
    data |= {"nan": [np.eye(2), np.full((2, 3), np.nan)], "half": [np.array([[1.5, 2.0]])]}
    data |= {"mixed": ["a", np.eye(2)], "rows": [np.array(["ab", "cd"])]}
    save_mat(file, data, version=version)
    for name, message in {
        "square": r"cell of shape \(2, 2\); a row or a column is needed",
        "nested": r"nested\{2\} is cell; a matrix or one row of char is needed",
        "struct": "struct is struct, not a cell",
        "nan": r"nan\[1\] has nan",
        "rows": r"rows\{1\} is char of shape \(2, 2\)",
        "none": "has no variable 'none'; it has half, mixed",
    }.items():
        with pytest.raises(ValueError, match=message):
            load_objects(file, name)
    with pytest.raises(TypeError, match=r"mixed\[1\] is ndarray"):
        load_objects(file, "mixed")
    with pytest.raises(ValueError, match=r"half\{1\} has numbers that are not integers"):
        load_objects(file, "half", kind="strings")
    with pytest.raises(TypeError, match="name must be the name of one variable"):
        load_objects(file, None)
    with pytest.raises(ValueError, match="kind must be one of series, sets, strings; got 'bags'"):
        load_objects(file, "nan", kind="bags")


def test_real_objects(data_dir):
    X = load_objects(data_dir / "pentip" / "pentip_all_v5.mat", "X")
    assert (len(X), X.dim, X.lengths.min(), X.lengths.max()) == (2858, 3, 109, 205)


# Writing.


LINE = scipy.sparse.coo_array(np.ones(3))
SINGLE = scipy.sparse.csr_array(np.ones((2, 2), np.float32))


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ({"a": {"b": [0, 1, datetime.datetime(2020, 1, 1)]}}, TypeError,
         r"save_mat: data\['a'\]\['b'\]\[2\] is a datetime; MATLAB can hold numbers"),
        ({"a": np.array([[1, None]], dtype=object)}, TypeError, r"data\['a'\]\[0, 1\] is None"),
        ({"a": b"x"}, TypeError, r"data\['a'\] is a bytes"),
        ({"a": np.float16(1)}, TypeError, r"data\['a'\] is an array of float16"),
        ({"a": np.array([b"x"])}, TypeError, r"data\['a'\] is an array of \|S1"),
        ({"a": np.ma.array([1])}, TypeError, r"data\['a'\] is a MaskedArray"),
        ({"a": Unreadable("f", "function_handle", "")}, TypeError, "function_handle that was not"),
        ({"a": 2**64}, ValueError, "no integer class of MATLAB"),
        ({"a": np.array(["a", "bcd"])}, ValueError, "strings of 1 to 3 characters"),
        ({"a": np.array(["😀", "b"])}, ValueError, "beyond 16 bits"),
        ({"a": SINGLE}, TypeError, "sparse of float32"),
        *([({"a": LINE}, ValueError, "of 1 dimensions")] if LINE.ndim == 1 else []),  # SciPy 1.13
        ({"_a": 1}, ValueError, "data has a variable '_a', which MATLAB does not accept"),
        ({"a-b": 1}, ValueError, "'a-b'"),
        ({"é": 1}, ValueError, "'é'"),
        ({"a" * 64: 1}, ValueError, "at most 63"),
        ({"end": 1}, ValueError, "keyword"),
        ({"a": {"b c": 1}}, ValueError, r"data\['a'\] has a field 'b c'"),
        ({"a": np.zeros(2, dtype=[("x y", "f8")])}, ValueError, "a field 'x y'"),
        ({3: 1}, TypeError, "the key 3; the name of a variable must be a str"),
    ],
)  # fmt: skip
def test_bad_values_are_named(file, version, data, error, message):
    with pytest.raises(error, match=message):
        save_mat(file, data, version=version)
    assert list(file.parent.iterdir()) == []


def test_endless_nesting_is_an_error(file):
    loop = []
    loop.append(loop)
    with pytest.raises(ValueError, match="data is nested too deep"):
        save_mat(file, {"a": loop})
    deep = 1.0
    for _ in range(100):
        deep = [deep]
    for version in VERSIONS:
        save_mat(file, {"a": deep}, version=version)
        got = load_mat(file)["a"]
        for _ in range(100):
            got = got[0, 0]
        assert got == 1


def test_large_variables_need_v73(file):
    large = np.broadcast_to(np.zeros(1), (2**14, 2**14))  # 2 GB for the eye, 8 bytes of memory
    with pytest.raises(ValueError, match=r"data\['x'\] takes 2\.0 GB.*use version=\"7\.3\""):
        save_mat(file, {"x": large})
    assert not file.exists()


@pytest.mark.parametrize("version", VERSIONS)
def test_same_data_same_bytes(file, version):
    data = {"x": np.arange(5000.0), "c": ["a", {"b": 1}]}
    save_mat(file, data, version=version)
    first = file.read_bytes()
    save_mat(file, data, version=version)
    assert file.read_bytes() == first


# Damage, and what only MATLAB reads.


def test_not_a_mat_file(file):
    for content, message in {
        b"": "0 bytes",
        b"MATLAB": "6 bytes",
        b"some text\n" * 40: "does not begin like a MAT-file",
        b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + bytes(512): "has no HDF5",
        b"MATLAB 9.0 MAT-file".ljust(124) + b"\x00\x09IM": "unknown version 9",
        b"\x89HDF\r\n\x1a\n" + bytes(200): "cannot be read",
    }.items():
        file.write_bytes(content)
        with pytest.raises(MatFileError, match=message) as caught:
            load_mat(file)
        assert str(file) in str(caught.value)


def damaged_v7(path):
    save_mat(path, {"a": "first", "b": np.random.default_rng(0).random((90, 100)), "c": "last"})
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 50] = bytes(50)
    path.write_bytes(content)


def damaged_v73(path):
    save_mat(path, {"a": "first", "b": np.zeros((2, 2)), "c": "last"}, version="7.3")
    with h5py.File(path, "r+") as file:
        file["b"].attrs["MATLAB_class"] = np.bytes_("cell")


@pytest.mark.parametrize("damage", [damaged_v7, damaged_v73])
def test_other_variables_are_read(tmp_path, damage):
    path = tmp_path / "a.mat"
    damage(path)
    data = load_mat(path)
    assert data["a"] == "first"
    assert data["c"] == "last"
    assert isinstance(data["b"], Unreadable)
    assert data["b"].name == "b"
    assert data["b"].matlab_class in ("double", "cell")
    assert data["b"].reason.startswith("damaged: ")
    assert load_mat(path, "c") == {"c": "last"}
    with pytest.raises(MatFileError, match=r"a\.mat cannot be read: "):
        load_mat(path, "b")
    with pytest.raises(MatFileError, match="b: "):
        load_objects(path, "b")


def test_small_file_that_claims_to_be_large(file):
    save_mat(file, {"x": np.zeros(10)}, compress=False)
    element = bytearray(file.read_bytes()[128:])
    head = file.read_bytes()[:128]
    element[32:40] = np.array([2**20, 2**20], "<i4").tobytes()
    file.write_bytes(head + bytes(element))
    with pytest.raises(MatFileError, match=r"x: ValueError: cannot reshape array of size 10"):
        load_mat(file)
    # A tag that promises 4 GB, with hardly any bytes compressed behind it.
    packed = zlib.compress(np.array([14, 2**32 - 8], "<u4").tobytes() + bytes(element[8:]))
    file.write_bytes(head + np.array([15, len(packed)], "<u4").tobytes() + packed)
    with pytest.raises(MatFileError, match="x: compressed data end too early"):
        load_mat(file)


@pytest.mark.parametrize("version", VERSIONS)
def test_empty_arrays_of_huge_shapes(file, version):
    huge = (0, 2**31 - 1)
    pairs = np.empty(huge, dtype=[("f", object)])
    data = {"x": np.empty(huge), "c": np.empty(huge, dtype=object), "s": pairs}
    save_mat(file, data, version=version)
    for name, value in load_mat(file).items():
        assert value.shape == huge, name
        assert value.dtype == data[name].dtype
    assert load_mat(file, squeeze=True)["c"].shape == huge


@pytest.mark.parametrize("shape", [(2**31 - 1, 0), (0, 2**31 - 1), (0, *[2**31 - 1] * 3)])
def test_char_arrays_of_huge_shapes_are_refused(file, shape):
    node = ("char", np.empty(0, np.uint16).reshape(shape)) if len(shape) == 2 else None
    if node is None:
        save_mat(file, {"t": np.empty((0, 1, 2, 3))}, compress=False)
        content = bytearray(file.read_bytes())
        at = content.index(np.array([0, 1, 2, 3], "<i4").tobytes())
        content[at : at + 16] = np.array(shape, "<i4").tobytes()
        file.write_bytes(content)
    else:
        with open(file, "wb") as out:
            v5.write(out, {"t": node}, False)
    with pytest.raises(MatFileError, match="cannot be read: t"):
        load_mat(file)


def test_hdf5_cell_that_contains_itself(file):
    save_mat(file, {"c": [1.0]}, version="7.3")
    with h5py.File(file, "r+") as h:
        h["c"][0, 0] = h["c"].ref
    with pytest.raises(MatFileError, match="nested deeper than 100"):
        load_mat(file)


def test_hdf5_values_that_are_not_matlabs(file):
    save_mat(file, {"a": 1.0}, version="7.3")
    with h5py.File(file, "r+") as h:
        h["plain"] = np.arange(6).reshape(2, 3)
        h["words"] = "some text"
        h["f"] = np.zeros(3)
        h["f"].attrs["MATLAB_class"] = np.bytes_("function_handle")
        h["o"] = np.zeros((1, 6), np.uint32)
        h["o"].attrs["MATLAB_class"] = np.bytes_("table")
        h["o"].attrs["MATLAB_object_decode"] = np.int32(3)
        h.create_group("#subsystem#")
    got = load_mat(file)
    assert list(got) == ["a", "f", "o", "plain", "words"]
    assert np.array_equal(got["plain"], np.arange(6).reshape(2, 3).T)
    assert got["f"] == Unreadable("f", "function_handle", "a function handle")
    without = "an object of a class, whose properties are not in the file"
    assert got["o"] == Unreadable("o", "table", without)
    assert got["words"].reason == "not a value of MATLAB's"
    with pytest.raises(ValueError, match="f is unreadable, not a cell"):
        load_objects(file, "f")


def test_the_authors_result(data_dir):
    info = load_mat(data_dir / "authors" / "Gun_Point_rws_R128_10fold_CV.mat")["info"]
    assert isinstance(info, dict)
    assert info["sigma"] == [[4.46]]
    assert info["DMax"] == 25
    assert info["lambda_inverse"] == 10
    assert info["valAccuHist"].shape == (14, 10)
    assert (info["valAccu"] == 100).all()


# Structs with very many fields or without some members, and characters beyond 16 bits.


@pytest.mark.parametrize(
    ("n", "most"),
    [(40, 40), (41, 40)]
    + [pytest.param(n, 4000, marks=pytest.mark.slow) for n in (4000, 4001, 5000)],
)
def test_many_fields(tmp_path, monkeypatch, n, most):
    if most < 4000:
        monkeypatch.setattr("d2ke.io.mat.v73._MAX_FIELDS", most)
    values = {f"f{i:05}": float(i) for i in reversed(range(n))}
    save_mat(tmp_path / "a.mat", {"s": values}, version="7.3")
    with h5py.File(tmp_path / "a.mat") as file:
        kept = isinstance(file["s"].attrs["MATLAB_fields"], h5py.Reference)
        assert kept == (n > most)
    read = load_mat(tmp_path / "a.mat", squeeze=True)["s"]
    assert list(read) == list(values)
    assert read == values


def test_missing_members(tmp_path):
    path = tmp_path / "a.mat"
    pairs = np.zeros((1, 2), dtype=[("one", object), ("two", object), ("three", object)])
    for name in pairs.dtype.names:
        pairs[name][:] = name
    save_mat(path, {"s": {"a": 1.0, "b": 2.0, "c": 3.0}, "pairs": pairs}, version="7.3")
    with h5py.File(path, "r+") as file:
        del file["s/b"], file["pairs/two"]
        file["s"]["d"] = file["s"]["c"]
    data = load_mat(path)
    assert list(data["s"]) == ["a", "b", "c", "d"]
    assert data["s"]["c"] == data["s"]["d"] == 3
    assert data["s"]["b"] == Unreadable("s.b", "", "a field without a value in the file")
    assert data["pairs"].dtype.names == ("one", "two", "three")
    assert data["pairs"]["three"].tolist() == [["three", "three"]]
    assert all(isinstance(value, Unreadable) for value in data["pairs"]["two"].flat)


@pytest.mark.parametrize("version", VERSIONS)
def test_rows_of_characters_beyond_16_bits(tmp_path, version):
    rows = np.array(["AB", "zz", "CD"])
    save_mat(tmp_path / "a.mat", {"t": rows}, version=version, compress=False)
    content = (tmp_path / "a.mat").read_bytes()
    stored = "AzCBzD".encode("utf-16-le")
    assert content.count(stored) == 1
    units = np.frombuffer("A_CB_D".encode("utf-16-le"), "<u2").copy()
    units[[1, 4]] = np.frombuffer("😀".encode("utf-16-le"), "<u2")
    (tmp_path / "a.mat").write_bytes(content.replace(stored, units.tobytes()))
    assert load_mat(tmp_path / "a.mat")["t"].tolist() == ["AB", "😀", "CD"]
