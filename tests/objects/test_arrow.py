# SPDX-License-Identifier: BSD-3-Clause
"""Arrow columns: every type as the list of its values, in place, and back; nulls are named."""

import datetime
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import d2ke

pa = pytest.importorskip("pyarrow", minversion="14")

LETTERS = st.characters(exclude_categories=["Cs"]) | st.sampled_from("ACGT")
TEXTS = st.lists(st.text(LETTERS, max_size=9), min_size=1, max_size=9)
BYTES = st.lists(st.binary(max_size=9), min_size=1, max_size=9)
FINITE = st.floats(-1e9, 1e9, width=32)
SERIES = st.lists(st.lists(FINITE, max_size=6), min_size=1, max_size=8)
TOKENS = st.lists(st.lists(st.text(LETTERS, max_size=3), max_size=4), min_size=1, max_size=6)
NEW = hasattr(pa, "string_view")
RECENT = pytest.mark.skipif(not NEW, reason="pyarrow 16 and later know views")


def chunked(array, cuts):
    """An array in chunks, of which some have an offset."""
    edges = sorted({0, len(array), *(cut % (len(array) + 1) for cut in cuts)})
    parts = [array[a:b] for a, b in pairwise(edges)]
    return pa.chunked_array(parts, type=array.type)


CUTS = st.lists(st.integers(0, 100), max_size=3)
TEXT_TYPES = ["string", "large_string", "dictionary", *(["string_view"] if NEW else [])]
BYTE_TYPES = ["binary", "large_binary", "dictionary", *(["binary_view"] if NEW else [])]


def column_of(values, kind):
    if kind == "dictionary":
        return pa.array(values).dictionary_encode()
    return pa.array(values, getattr(pa, kind)())


@given(
    st.tuples(TEXTS, st.sampled_from(TEXT_TYPES)) | st.tuples(BYTES, st.sampled_from(BYTE_TYPES)),
    CUTS,
)
def test_strings(drawn, cuts):
    values, kind = drawn
    column = column_of(values, kind)
    assert d2ke.pack(column) == d2ke.pack(values)
    assert d2ke.pack(chunked(column, cuts)) == d2ke.pack(values)


def test_bytes_of_one_width():
    column = pa.array([b"ab", b"cd"], pa.binary(2))
    assert d2ke.pack(column) == d2ke.pack([b"ab", b"cd"])


def test_many_letters():
    values = [chr(i) for i in range(33, 400)] + [chr(0x4E00 + i) for i in range(300)]
    X = d2ke.pack(pa.array(values))
    assert d2ke.pack(values) == X
    assert X.dtype == np.uint16


NUMBERS = ["float64", "float32", "float16", "int64", "uint8", "bool_"]


@given(SERIES, st.sampled_from(NUMBERS), st.booleans(), CUTS)
def test_series_of_one_channel(items, kind, large, cuts):
    dtype = np.dtype({"bool_": "bool"}.get(kind, kind))
    with np.errstate(over="ignore"):
        arrays = [np.nan_to_num(np.abs(np.array(x)) % 200).astype(dtype) for x in items]
    outer = pa.large_list if large else pa.list_
    column = pa.array([list(x) for x in arrays], outer(getattr(pa, kind)()))
    X = d2ke.pack(chunked(column, cuts))
    assert d2ke.pack(arrays) == X
    assert X.dtype == d2ke.pack(arrays).dtype


@st.composite
def channels(draw):
    dim = draw(st.integers(1, 3))
    vector = st.lists(FINITE, min_size=dim, max_size=dim)
    return dim, draw(st.lists(st.lists(vector, min_size=1, max_size=4), min_size=1, max_size=6))


@given(channels(), st.sampled_from(["list", "large", "fixed"]), CUTS)
@pytest.mark.filterwarnings("ignore:every item")
def test_series_of_several_channels(items, kind, cuts):
    dim, items = items
    if kind == "fixed":
        column = pa.array(items, pa.large_list(pa.list_(pa.float64(), dim)))
    else:
        make = pa.list_ if kind == "list" else pa.large_list
        column = pa.array(items, make(make(pa.float64())))
    assert d2ke.pack(chunked(column, cuts)) == d2ke.pack([np.array(x) for x in items])


def test_lists_of_one_length():
    A = np.arange(24.0).reshape(4, 3, 2)
    column = pa.array(A.tolist(), pa.list_(pa.list_(pa.float64(), 2), 3))
    assert d2ke.pack(column) == d2ke.pack(A)
    assert d2ke.pack(column[1:3]) == d2ke.pack(A[1:3])
    wide = pa.array(A.reshape(4, 2, 3).tolist())
    with pytest.warns(UserWarning, match=r"every item of items has shape \(2, 3\)"):
        assert d2ke.pack(wide).dim == 3
    X = d2ke.pack(wide, channels_first=True)
    assert d2ke.pack(A.reshape(4, 2, 3), channels_first=True) == X


@pytest.mark.parametrize("kind", ["float64", "float32", "int32", "bool_"])
def test_nulls_that_stand_for_missing_values(kind):
    column = pa.array([[1, None], [0, 1, 1]]).cast(pa.list_(getattr(pa, kind)()))
    X = d2ke.pack(column, missing=True)
    assert X.missing
    np.testing.assert_array_equal(X[0].ravel(), [1, np.nan])
    values = np.array([1.0, np.nan, 3.0])
    column = pa.LargeListArray.from_arrays(pa.array([0, 3], pa.int64()), pa.array(values))
    assert not np.shares_memory(d2ke.pack(column, missing=True).values, values)
    with pytest.raises(ValueError, match=r"items\[1\] has integers beyond 2\*\*53"):
        d2ke.pack(pa.array([[1], [None, 2**53 + 1]]), missing=True)
    with pytest.raises(TypeError, match=r"items\[1\] is None"):
        d2ke.pack(pa.array([[1.0], None]), missing=True)
    with pytest.raises(TypeError, match=r"items\[0\] has None at position 1"):
        d2ke.pack(pa.array([[[1.0, 2.0], None]]), missing=True)


@given(TOKENS, st.sampled_from(["string", "dictionary"]), CUTS)
def test_tokens(items, kind, cuts):
    inner = pa.string() if kind == "string" else pa.dictionary(pa.int32(), pa.string())
    column = chunked(pa.array(items, pa.list_(inner)), cuts)
    if any(items):
        assert d2ke.pack(column) == d2ke.pack(items)
    assert list(d2ke.pack(column)) == items


@given(st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5), min_size=1, max_size=6))
def test_integers_as_letters(items):
    column = pa.array(items, pa.list_(pa.int64()))
    assert d2ke.pack(column, kind="strings") == d2ke.pack(items, kind="strings")


# ------------------------------------------------------------------------------ back


def copy_of(X):
    return d2ke.pack(X.to_arrow(), kind=X.kind, channels_first=False if X.dim > 1 else None)


@given(TEXTS | BYTES | TOKENS.filter(lambda items: len(items[0]) > 0))
def test_letters_there_and_back(items):
    X = d2ke.pack(items)
    assert copy_of(X) == X
    assert X.to_arrow().to_pylist() == items
    assert copy_of(X[::-1]) == X[::-1]
    X.to_arrow().validate(full=True)


@given(channels(), st.booleans(), st.booleans())
@pytest.mark.filterwarnings("ignore:every item")
def test_vectors_there_and_back(items, single, weighted):
    dtype = np.float32 if single else np.float64
    arrays = [np.array(x, dtype) for x in items[1]]
    weights = [np.arange(1.0, len(x) + 1) for x in arrays] if weighted else None
    X = d2ke.pack(arrays, weights=weights)
    assert copy_of(X) == X
    X.to_arrow().validate(full=True)
    assert (copy_of(X[1:]) == X[1:]) if len(X) > 1 else not len(X[1:].to_arrow())


def test_no_copy_where_layouts_agree():
    for X in (
        d2ke.pack([[1.0, 2.0], [3.0]]),
        d2ke.pack(np.ones((2, 4, 3), np.float32), channels_first=False),
    ):
        column = X.to_arrow()
        numbers = column.flatten().flatten() if X.dim > 1 else column.flatten()
        assert np.shares_memory(numbers.to_numpy(), X.values)
        assert np.shares_memory(copy_of(X).values, X.values)
        assert not copy_of(X).values.flags.writeable
    values = np.arange(12.0)
    column = pa.LargeListArray.from_arrays(pa.array([0, 5, 12], pa.int64()), pa.array(values))
    assert np.shares_memory(d2ke.pack(column).values, values)
    assert np.shares_memory(d2ke.pack(column[1:]).values, values)


def test_objects_are_arrow_arrays():
    X = d2ke.pack(["AC", "GT"])
    assert pa.array(X).to_pylist() == ["AC", "GT"]


def test_what_arrow_cannot_hold():
    with pytest.raises(ValueError, match=r"objects\[1\] has the lone surrogate '\\ud800'"):
        d2ke.pack(["a", "b\ud800"]).to_arrow()
    assert d2ke.pack(["a", "b\ud800"])[:1].to_arrow().to_pylist() == ["a"]
    with pytest.raises(TypeError, match="the tokens are of the types int, str"):
        d2ke.pack([["a", 1]], kind="strings").to_arrow()


# ------------------------------------------------------------------------------ refused

NULLS = [
    (["a", None], r"X\[1\] is None; it must be .* \(drop_nulls, dropna\)"),
    ([[1.0], None], r"X\[1\] is None; it must be"),
    ([None, None], r"X\[0\] is None"),
    ([[1.0], [2.0, None]], r"X\[1\] has None at position 1; every value must be there"),
    ([[[1.0, 2]], [[3.0, 4], [1.0, None]]], r"X\[1\] has None at position 1"),
    ([[[1.0, 2]], [[3.0, 4], None]], r"X\[1\] has None at position 1"),
    ([["a"], ["b", "c", None]], r"X\[1\] has None at position 2"),
    ([1.0, None], r"X\[1\] is None"),
]


@pytest.mark.parametrize(("items", "message"), NULLS)
def test_nulls_are_named(items, message):
    whole = pa.array(items)
    for column in (whole, pa.chunked_array([whole[:0], whole[:1], whole[1:]])):
        with pytest.raises(TypeError, match=message):
            d2ke.pack(column, name="X")


def test_nulls_of_dictionaries():
    with pytest.raises(TypeError, match=r"items\[2\] is None"):
        d2ke.pack(pa.array(["a", "b", None]).dictionary_encode())
    column = pa.DictionaryArray.from_arrays([0, 1, 0], pa.array(["a", None]))
    with pytest.raises(TypeError, match=r"items\[1\] is None"):
        d2ke.pack(column)


@pytest.mark.parametrize(
    ("items", "options", "error", "message"),
    [
        ([1.0, 2.0], {}, TypeError, "X is a column of double; strings or lists are needed"),
        ([{"a": 1}], {}, TypeError, "X is a column of struct<a: int64>"),
        ([[2**60]], {}, ValueError, r"X\[0\] has integers beyond 2\*\*53"),
        ([[1], [0, -(2**60)]], {}, ValueError, r"X\[1\] has integers beyond 2\*\*53"),
        ([[1.0], [0, np.nan]], {}, ValueError, r"X\[1\] has nan at position \(1, 0\)"),
        ([[[1.0, 2]], [[1.0]]], {}, ValueError, r"X\[1\] has 1 channels at position 0, X\[0\] has"),
        ([[[]]], {}, ValueError, r"X\[0\]: its vectors have no elements"),
        ([[[[1.0]]]], {}, TypeError, "X holds lists of list<item: double>"),
        ([[datetime.date(2020, 1, 1)]], {}, TypeError, r"X holds lists of date32\[day\]"),
        ([["a" * 2000]], {}, ValueError, r"X\[0\]\[0\] takes 2002 bytes"),
        ([["a"], ["b", "a" * 2000]], {}, ValueError, r"X\[1\]\[1\] takes 2002 bytes"),
        (["a"], {"kind": "series"}, TypeError, "lists of numbers are needed"),
        ([["a"]], {"kind": "series"}, TypeError, "lists of numbers are needed"),
        ([[1.5]], {"kind": "strings"}, TypeError, "strings or lists of integers are needed"),
        ([[2**63]], {"kind": "strings"}, ValueError, r"X\[0\] has integers beyond int64"),
    ],
)
def test_refused(items, options, error, message):
    column = pa.array(items, pa.list_(pa.uint64())) if items == [[2**63]] else pa.array(items)
    with pytest.raises(error, match=message):
        d2ke.pack(column, name="X", **options)


def test_empty_columns_and_tables():
    with pytest.raises(ValueError, match="items is empty"):
        d2ke.pack(pa.array([], pa.string()))
    with pytest.raises(ValueError, match="items is empty"):
        d2ke.pack(pa.chunked_array([], pa.string()))


@pytest.mark.parametrize(
    ("ends", "data", "row"),
    [
        ([0, 1, 2], b"a\xff", 1),
        ([0, 1, 2], b"\xc3\xa9", 0),
        ([0, 0, 1, 3], b"a\xc3b", 2),
        ([0, 1, 3], b"a\xc3\xa9b", None),
    ],
)
def test_text_that_is_not_utf8(ends, data, row):
    buffers = [None, pa.py_buffer(np.array(ends, np.int32)), pa.py_buffer(data)]
    column = pa.Array.from_buffers(pa.string(), len(ends) - 1, buffers)
    if row is None:
        assert list(d2ke.pack(column)) == ["a", "é"]
        return
    with pytest.raises(ValueError, match=rf"items\[{row}\] is not valid UTF-8 text"):
        d2ke.pack(column)


def test_weights_may_be_columns():
    sets, weights = [[1.0, 2.0], [3.0]], [[0.5, 2.0], [1.0]]
    X = d2ke.pack(sets, weights=weights)
    assert d2ke.pack(pa.array(sets), weights=pa.array(weights)) == X
    with pytest.raises(TypeError, match="has weights already"):
        d2ke.pack(X.to_arrow(), weights=weights)


# ------------------------------------------------------------------------------ producers


class Producer:
    """A column of a library that nobody knows, with nothing but Arrow's interface."""

    def __init__(self, array):
        self._array = array

    def __arrow_c_array__(self, requested_schema=None):
        return self._array.__arrow_c_array__(requested_schema)


class Stream:
    """A column in chunks."""

    def __init__(self, array):
        self._array = array

    def __arrow_c_stream__(self, requested_schema=None):
        return self._array.__arrow_c_stream__(requested_schema)


STRINGS = ["aäb", "", "\U0001f600x"]
LISTS = [[1.0, 2.0, 3.0], [], [4.0]]
VECTORS = [[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0]]]
WORDS = [["the", "cat"], [], ["the"]]
ALL = [STRINGS, LISTS, VECTORS, WORDS]


def check(make, every=ALL):
    for items in every:
        plain = [np.array(x) for x in items] if items is VECTORS else items
        assert d2ke.pack(make(items)) == d2ke.pack(plain)


def test_arrays_by_their_interface():
    check(lambda items: Producer(pa.array(items)))


@RECENT
def test_streams_by_their_interface():
    check(lambda items: Stream(pa.chunked_array([items[:1], items[1:]])))


class Broken:
    """A column whose interface gives nothing."""

    def __arrow_c_array__(self, requested_schema=None):
        raise TypeError("no such schema")


def test_columns_that_cannot_be_read():
    with pytest.raises(TypeError, match=r"items is a Broken that pyarrow .* cannot read: no such"):
        d2ke.pack(Broken())


def test_polars():
    pl = pytest.importorskip("polars")
    check(pl.Series)
    assert d2ke.pack(pl.Series(STRINGS, dtype=pl.Categorical)) == d2ke.pack(STRINGS)
    fixed = pl.Series(VECTORS, dtype=pl.List(pl.Array(pl.Float64, 2)))
    assert d2ke.pack(fixed) == d2ke.pack([np.array(x) for x in VECTORS])
    with pytest.raises(TypeError, match=r"items\[1\] is None"):
        d2ke.pack(pl.Series(["a", None]))


def test_pandas():
    pd = pytest.importorskip("pandas")
    check(pd.Series, [STRINGS, LISTS, WORDS])
    for dtype in ("object", "string[python]", "string[pyarrow]", "category"):
        assert d2ke.pack(pd.Series(STRINGS, dtype=dtype)) == d2ke.pack(STRINGS)
    arrays = [np.array(x) for x in VECTORS]
    assert d2ke.pack(pd.Series(arrays)) == d2ke.pack(arrays)
    check(lambda items: pd.Series(items, dtype=pd.ArrowDtype(pa.array(items).type)))
    with pytest.raises(TypeError, match=r"items\[1\] is None"):
        d2ke.pack(pd.Series(["a", None], dtype="string[pyarrow]"))


def test_awkward():
    ak = pytest.importorskip("awkward", reason="awkward is not installed")
    check(ak.Array)
    A = np.arange(24.0).reshape(4, 3, 2)
    assert d2ke.pack(ak.Array(A)) == d2ke.pack(A)
    with pytest.raises(TypeError, match=r"items\[1\] is None"):
        d2ke.pack(ak.Array([[1.0], None]))
    with pytest.raises(TypeError, match="column of struct"):
        d2ke.pack(ak.Array([{"x": [1.0]}]))


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="numpy 2 has StringDType")
def test_numpy_strings_of_any_length():
    assert d2ke.pack(np.array(STRINGS, dtype=np.dtypes.StringDType())) == d2ke.pack(STRINGS)


def test_without_pyarrow(monkeypatch):
    column, objects = Producer(pa.array(["a"])), d2ke.pack(["a"])
    listed = pytest.importorskip("polars").Series(STRINGS)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"items, .* needs pyarrow: pip install 'd2ke\[arrow\]'"):
        d2ke.pack(column)
    with pytest.raises(ImportError, match=r"Objects.to_arrow needs pyarrow: pip install"):
        objects.to_arrow()
    assert d2ke.pack(listed) == d2ke.pack(STRINGS)


def test_polars_columns_of_python_objects():
    pl = pytest.importorskip("polars")
    column = pl.Series(["ab", "c"], dtype=pl.Object)
    assert list(d2ke.pack(column)) == ["ab", "c"]
