# SPDX-License-Identifier: BSD-3-Clause
"""Objects and pack: what is accepted, what is refused, and that nothing can change them."""

import copy
import pickle

import numpy as np
import pytest
import scipy.io
from hypothesis import given
from hypothesis import strategies as st

import d2ke

LETTERS = st.characters()  # every code point, lone surrogates too


@given(st.lists(st.text(LETTERS), min_size=1, max_size=8))
def test_str_round_trip(strings):
    X = d2ke.pack(strings)
    assert list(X) == strings
    assert [X[i] for i in range(len(X))] == strings
    assert X.lengths.tolist() == [len(s) for s in strings]
    assert (X.kind, X.letters, X.dim) == ("strings", "str", 1)
    assert X.alphabet.tolist() == sorted({ord(c) for s in strings for c in s})
    assert X[::-1] == d2ke.pack(strings[::-1])


@given(st.lists(st.binary(), min_size=1, max_size=8))
def test_bytes_round_trip(strings):
    X = d2ke.pack(strings)
    assert list(X) == strings
    assert X.letters == "bytes"


@given(st.lists(st.lists(st.integers(-(2**63), 2**63 - 1)), min_size=1, max_size=8))
def test_integer_round_trip(sequences):
    X = d2ke.pack(sequences, kind="strings")
    assert [item.tolist() for item in X] == sequences
    assert X.letters == "int"


@pytest.mark.parametrize(
    ("n", "dtype"),
    [(1, "u1"), (256, "u1"), (257, "u2"), (65536, "u2"), (65537, "u4")],
)
def test_letters_are_stored_in_the_smallest_type(n, dtype):
    X = d2ke.pack([np.arange(n)], kind="strings")
    assert X.dtype == dtype
    assert np.array_equal(X[0], np.arange(n))


SERIES = [np.arange(6.0).reshape(3, 2), np.arange(6.0, 10).reshape(2, 2), np.zeros((0, 2))]


@pytest.mark.parametrize(
    "change",
    [
        lambda a: a.astype(np.int64),
        lambda a: a.astype(np.uint8),
        lambda a: a.astype(bool) * a,
        np.asfortranarray,
        lambda a: np.repeat(np.repeat(a, 2, axis=0), 3, axis=1)[::2, ::3],
        lambda a: a[::-1][::-1],
        lambda a: a.astype(">f8"),
        lambda a: a.astype(">i4"),
        lambda a: a.tolist() if len(a) else a,
    ],
    ids=["int64", "uint8", "product", "Fortran", "strided", "reversed", ">f8", ">i4", "list"],
)
def test_arrays_of_any_layout(change):
    X = d2ke.pack([change(a) for a in SERIES])
    assert d2ke.pack(SERIES) == X
    assert X.dtype == np.float64
    assert X.dtype.isnative
    assert X.values.flags.c_contiguous
    for item, wanted in zip(X, SERIES, strict=True):
        np.testing.assert_array_equal(item, wanted)


def test_element_types():
    a, b = np.ones((2, 1), np.float32), np.ones((3, 1))
    assert d2ke.pack([a, a]).dtype == np.float32
    assert d2ke.pack([a, b]).dtype == np.float64
    assert d2ke.pack([a, b.astype(int)]).dtype == np.float64
    assert d2ke.pack([a.astype(">f4")]).dtype == np.float32
    assert d2ke.pack(np.ones((2, 4, 3), np.float32)).dtype == np.float32
    assert d2ke.pack([[1, 2], [3]]).dtype == np.float64


def test_pack_returns_objects_as_they_are():
    X = d2ke.pack(["a"])
    assert d2ke.pack(X) is X
    assert d2ke.pack(X, kind="strings") is X


# Padded arrays


def test_padded_array():
    A = np.arange(24.0).reshape(2, 4, 3)
    X = d2ke.pack(A, lengths=[4, 0])
    assert X.lengths.tolist() == [4, 0]
    np.testing.assert_array_equal(X[0], A[0])
    X = d2ke.pack(A, lengths=np.array([1, 3], dtype=np.uint8))
    np.testing.assert_array_equal(X[1], A[1, :3])
    assert d2ke.pack(A).lengths.tolist() == [4, 4]


def test_padding_may_be_nan():
    A = np.array([[1.0, 2.0, np.nan], [3.0, np.nan, np.nan]])
    X = d2ke.pack(A, lengths=[2, 1])
    assert [item.ravel().tolist() for item in X] == [[1, 2], [3]]


def test_padded_array_with_channels_first():
    A = np.arange(24.0).reshape(2, 3, 4)
    X = d2ke.pack(A, lengths=[4, 2], channels_first=True)
    assert (X.dim, X.lengths.tolist()) == (3, [4, 2])
    np.testing.assert_array_equal(X[1], A[1, :, :2].T)
    assert d2ke.pack(A, channels_first=True).lengths.tolist() == [4, 4]


def cells(*items):
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def test_channels_first_is_not_ignored():
    for items in (["ab"], d2ke.pack([[1.0, 2.0]])):
        with pytest.raises(TypeError, match="channels_first"):
            d2ke.pack(items, channels_first=True)


# Cells


def test_matlab_cells(tmp_path):
    rng = np.random.default_rng(0)
    series = [rng.standard_normal((2, length)) for length in (3, 1, 5)]
    words = ["kitten", "", "sitting"]
    path = tmp_path / "cells.mat"
    scipy.io.savemat(path, {"row": cells(*series), "words": cells(*words)})
    mat = scipy.io.loadmat(path)
    X = d2ke.pack(mat["row"], channels_first=True)
    assert (X.dim, X.lengths.tolist()) == (2, [3, 1, 5])
    for item, wanted in zip(X, series, strict=True):
        np.testing.assert_array_equal(item, wanted.T)
    assert d2ke.pack(mat["row"].T, channels_first=True) == X
    assert d2ke.pack(mat["row"].ravel(), channels_first=True) == X
    assert list(d2ke.pack(mat["words"])) == words
    squeezed = scipy.io.loadmat(path, squeeze_me=True)
    assert list(d2ke.pack(squeezed["words"])) == words


def test_bad_cells():
    square = cells(*"abcd").reshape(2, 2)
    with pytest.raises(ValueError, match=r"items must be a row or a column .* shape \(2, 2\)"):
        d2ke.pack(square)
    with pytest.raises(ValueError, match="a cell holds 2 rows of characters"):
        d2ke.pack(cells(np.array(["ab", "cd"])))


# Refusals


@pytest.mark.parametrize(
    ("items", "error", "message"),
    [
        (np.zeros(3), ValueError, r"an array of shape \(3,\)"),
        ([[1.0], [[1.0], [2.0, 3.0]]], TypeError, r"items\[1\] is not an array of numbers"),
        ([np.zeros((2, 0))], ValueError, r"items\[0\] has shape \(2, 0\)"),
    ],
)
def test_refused(items, error, message):
    with pytest.raises(error, match=message):
        d2ke.pack(items)


def test_masked_elements_and_large_integers_are_refused():
    with pytest.raises(TypeError, match=r"items\[1\]"):
        d2ke.pack([np.ones(2), np.ma.array([1.0, 2.0], mask=[False, True])])
    with pytest.raises(ValueError, match=r"items\[0\] has integers beyond int64"):
        d2ke.pack([[2**63]], kind="strings")


# Immutability and copies

EXAMPLES = [
    d2ke.pack(SERIES),
    d2ke.pack([a.astype(np.float32) for a in SERIES]),
    d2ke.pack(["a\U0001f600", ""]),
    d2ke.pack([b"ab", b"\xff"]),
    d2ke.pack([[5, -1], []], kind="strings"),
    d2ke.pack(SERIES)[:0],
    d2ke.samplers.random_series(3, 2, length=(1, 5), sigma=1.0, seed=0),
    d2ke.samplers.random_strings(3, "ACGT", length=(1, 5), seed=0),
    d2ke.concatenate([d2ke.pack(["a"]), d2ke.pack(["b"])]),
    d2ke.pack(SERIES, weights=[[1, 0, 2], [0.5, 0.5], []]),
]


@pytest.mark.parametrize("X", EXAMPLES, ids=repr)
def test_immutable(X):
    for name in ("values", "offsets", "alphabet", "weights"):
        array = getattr(X, name)
        if array is None:
            continue
        assert not array.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True
        with pytest.raises(AttributeError, match=f"cannot set '{name}'"):
            setattr(X, name, array)
        with pytest.raises(AttributeError, match=f"cannot delete '{name}'"):
            delattr(X, name)
    with pytest.raises(AttributeError, match="cannot set 'label'"):
        X.label = 1
    with pytest.raises(TypeError, match="unhashable"):
        hash(X)
    if X.kind != "strings" and len(X):
        assert not X[0].flags.writeable


def exporters(array):
    """The array, and everything below it that Python code can reach."""
    while array is not None:
        yield array
        array = array.obj if isinstance(array, memoryview) else getattr(array, "base", None)


@pytest.mark.parametrize("X", [*EXAMPLES, *(X[:1] for X in EXAMPLES), *(X.span(0, 1) for X in
                               EXAMPLES if len(X))], ids=repr)  # fmt: skip
def test_nothing_below_can_be_written_to(X):
    for name in ("values", "offsets", "alphabet", "weights"):
        array = getattr(X, name)
        if array is None:
            continue
        for below in [*exporters(array), *exporters(memoryview(array))]:
            assert memoryview(below).readonly
            if isinstance(below, np.ndarray):
                with pytest.raises(ValueError, match="WRITEABLE"):
                    below.flags.writeable = True
            with pytest.raises((BufferError, ValueError, TypeError)):
                np.frombuffer(below, np.uint8)[...] = 0


def test_a_second_initialisation():
    X = d2ke.pack(["ab", "c"])
    with pytest.raises(AttributeError, match="cannot be initialised again"):
        X.__init__("strings", X.values, np.array([0, 1, 3]), X.alphabet, "str")
    assert list(X) == ["ab", "c"]


def test_arrays_of_the_caller_stay_the_callers():
    values, weights = np.arange(8.0).reshape(4, 2), np.ones(4)
    base = np.array([0, 1, 4, 9])
    offsets = base[:3]
    offsets.flags.writeable = False
    X = d2ke.Objects("sets", values, offsets, weights=weights)
    before = d2ke.Objects("sets", values.copy(), [0, 1, 4], weights=weights.copy())
    values[:], weights[:], base[:] = 7, 7, 10**9
    assert before == X
    codes, alphabet = np.array([0, 1, 0], np.uint8), np.array([65, 66])
    Y = d2ke.Objects("strings", codes, np.array([0, 1, 3]), alphabet, "str")
    codes[:], alphabet[:] = 200, 0
    assert list(Y) == ["A", "BA"]


def test_parts_of_objects_are_shared():
    X = d2ke.pack(SERIES, weights=[[1, 0, 2], [0.5, 0.5], []])
    for Y in (X.span(0, 2), d2ke.Objects("sets", X.values, X.offsets, weights=X.weights)):
        assert np.shares_memory(Y.values, X.values)
        assert np.shares_memory(Y.weights, X.weights)


@pytest.mark.parametrize("X", EXAMPLES, ids=repr)
@pytest.mark.parametrize("clone", [copy.copy, copy.deepcopy, *(
    lambda X, p=p: pickle.loads(pickle.dumps(X, p)) for p in range(2, 6)
)])  # fmt: skip
def test_pickle_and_copy(X, clone):
    Y = clone(X)
    assert X == Y
    assert X.dtype == Y.dtype
    assert repr(X) == repr(Y)
    assert not Y.values.flags.writeable
    assert not Y.offsets.flags.writeable


# Indices


@given(
    n=st.integers(0, 6),
    seed=st.integers(0, 99),
    index=st.one_of(
        st.slices(6),
        st.lists(st.integers(-8, 7), max_size=5),
        st.integers(-8, 7),
        st.lists(st.booleans(), max_size=7).map(lambda mask: np.array(mask, dtype=bool)),
    ),
)
def test_indices_as_numpy_has_them(n, seed, index):
    rng = np.random.default_rng(seed)
    items = ["".join(rng.choice(list("ab"), rng.integers(0, 5))) for _ in range(n)]
    X = d2ke.pack([*items, "q"])[:n]
    array = np.empty(n, dtype=object)
    array[:] = items
    if isinstance(index, np.ndarray) and len(index) != n:  # numpy lets an empty mask pass
        with pytest.raises(IndexError, match="a boolean mask must have shape"):
            X[index]
        return
    try:
        wanted = array[np.array(index, dtype=int) if isinstance(index, list) else index]
    except IndexError:
        with pytest.raises(IndexError):
            X[index]
        return
    if isinstance(index, int):
        assert X[index] == wanted
    else:
        assert list(X[index]) == list(wanted)


def test_equality():
    X = d2ke.pack(["ab", "c"])
    assert d2ke.pack(["zab", "ab", "c"])[1:] == X  # the alphabets differ, the strings do not
    assert d2ke.pack(["a", "bc"]) != X
    assert d2ke.pack([b"ab", b"c"]) != X
    assert X != ["ab", "c"]
    V = d2ke.pack([[1.0, 2.0]])
    assert V != X
    assert d2ke.pack([np.ones((4, 1))]) != d2ke.pack([np.ones((2, 2))])


@pytest.mark.parametrize(
    ("low", "high"), [(0, 300), (-400, 3), (10**6, 10**6 + 9), (-(2**62), 2**62)]
)
def test_alphabets_of_any_range_and_order(low, high):
    letters = np.random.default_rng(0).integers(low, high, size=500)
    X = d2ke.pack([letters[:1], letters[1:1], letters[1:]], kind="strings")
    assert np.array_equal(X.alphabet, np.unique(letters))
    assert X.alphabet.dtype == np.int64
    assert np.array_equal(X.alphabet[X.values], letters)


# concatenate


def test_concatenate_strings():
    parts = [d2ke.pack(["b", ""]), d2ke.pack(["a\U0001f600"]), d2ke.pack([""])]
    X = d2ke.concatenate(parts)
    assert list(X) == ["b", "", "a\U0001f600", ""]
    assert X.alphabet.tolist() == [97, 98, 0x1F600]
    # More letters together than fit the parts' type.
    wide = [d2ke.pack([np.arange(i, i + 200)], kind="strings") for i in (0, 200)]
    assert np.array_equal(np.concatenate(list(d2ke.concatenate(wide))), np.arange(400))


def test_concatenate_vectors():
    a, b = d2ke.pack([np.ones(2, np.float32)]), d2ke.pack([np.ones(3)])
    assert d2ke.concatenate([a, a]).dtype == np.float32
    assert d2ke.concatenate([a, b]).dtype == np.float64
    assert d2ke.concatenate([a, b]).lengths.tolist() == [2, 3]
    assert d2ke.concatenate([a[:0], b]) == b


@pytest.mark.parametrize("items", [{"ab", "c"}, frozenset({"ab"})])
def test_collections_without_order_are_refused(items):
    with pytest.raises(TypeError, match=r"items is one (frozen)?set, which has no order"):
        d2ke.pack(items)
