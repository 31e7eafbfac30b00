# SPDX-License-Identifier: BSD-3-Clause
"""Users' own distances: Python callables, and compiled ones as scipy.LowLevelCallable."""

import ctypes
import math
from functools import partial

import numba
import numpy as np
import pytest
import reference
from numba import types
from scipy import LowLevelCallable

import d2ke

# Tiny arrays, which are meant as they are.
pytestmark = pytest.mark.filterwarnings("ignore:every item of .* has shape")

VECTORS = types.double(
    types.CPointer(types.double),
    types.intp,
    types.CPointer(types.double),
    types.intp,
    types.intp,
    types.voidptr,
)
STRINGS = types.double(
    types.CPointer(types.int32),
    types.intp,
    types.CPointer(types.int32),
    types.intp,
    types.voidptr,
)
DOUBLES, INTS = ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_int32)
VECTORS_C = ctypes.CFUNCTYPE(
    ctypes.c_double,
    DOUBLES,
    ctypes.c_ssize_t,
    DOUBLES,
    ctypes.c_ssize_t,
    ctypes.c_ssize_t,
    ctypes.c_void_p,
)


@numba.cfunc(VECTORS)
def compiled_mean_gap(x, n_x, y, n_y, dim, user_data):
    a, b = 0.0, 0.0
    for i in range(n_x * dim):
        a += x[i]
    for i in range(n_y * dim):
        b += y[i]
    return abs(a / (n_x * dim) - b / (n_y * dim)) + abs(n_x - n_y)


def letter_gap(x, y):
    return float(abs(sum(map(ord, x)) - sum(map(ord, y))) + len(x) * len(y) % 7)


@numba.cfunc(STRINGS)
def compiled_letter_gap(x, n_x, y, n_y, user_data):
    a = 0
    for i in range(n_x):
        a += x[i]
    for i in range(n_y):
        a -= y[i]
    return float(abs(a) + n_x * n_y % 7)


# Python callables


def test_callable_on_any_objects():
    X = [{1, 2}, set(), {3}]
    D = d2ke.distance_matrix(X, [{1, 3}, {2}], lambda a, b: len(a ^ b))
    assert D.tolist() == [[2, 1], [2, 1], [1, 2]]
    assert D.dtype == np.float64
    assert d2ke.distance_matrix((None, 1), ["a", 2.5], lambda a, b: 7).tolist() == [[7, 7], [7, 7]]


def test_callable_is_called_once_for_a_pair():
    seen = []
    D = d2ke.distance_matrix([3, 5, 9], distance=lambda a, b: seen.append((a, b)) or abs(a - b))
    assert seen == [(3, 3), (3, 5), (3, 9), (5, 5), (5, 9), (9, 9)]
    assert D.tolist() == [[0, 2, 6], [2, 0, 4], [6, 4, 0]]
    seen.clear()
    d2ke.distance_matrix([3, 5], [3, 5], lambda a, b: seen.append((a, b)) or 0)
    assert len(seen) == 4


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (math.nan, ValueError),
        (math.inf, ValueError),
        (-0.5, ValueError),
        (None, TypeError),
        ("3", TypeError),
        (np.ones(2), TypeError),
        (10**400, ValueError),
    ],
    ids=lambda value: str(value)[:9],
)
@pytest.mark.parametrize("embed", [False, True])
def test_bad_values_name_the_pair(value, error, embed):
    def function(a, b):
        return value if (a, b) == (2, 6) else 1

    compute = partial(d2ke.d2ke_embed, gamma=1.0) if embed else d2ke.distance_matrix
    second = "omega" if embed else "Y"
    with pytest.raises(error, match=rf"distance\(X\[1\], {second}\[2\]\) must be"):
        compute([1, 2], [4, 5, 6], distance=function)


@pytest.mark.parametrize("value", [True, np.float32(0.5), np.int8(3), np.array(2.0)])
def test_numbers_of_any_type(value):
    assert d2ke.distance_matrix([1], [2], lambda a, b: value) == float(value)


# Compiled functions


@pytest.mark.parametrize("n_threads", [1, 4])
def test_compiled_on_strings(n_threads):
    X = reference.random_text(np.random.default_rng(1), 50)
    Y = reference.random_text(np.random.default_rng(2), 40)
    function = LowLevelCallable(compiled_letter_gap.ctypes)
    D = d2ke.distance_matrix(X, Y, function, n_threads=n_threads)
    assert np.array_equal(D, d2ke.distance_matrix(X, Y, letter_gap))
    S = d2ke.distance_matrix(X, distance=function, n_threads=n_threads)
    assert np.array_equal(S, d2ke.distance_matrix(X, distance=letter_gap))
    assert d2ke.distance_matrix(["", ""], distance=function).tolist() == [[0, 0], [0, 0]]


def test_compiled_on_bytes_and_integers():
    function = LowLevelCallable(compiled_letter_gap.ctypes)
    assert d2ke.distance_matrix([b"\xff\x01"], [b"\x02"], function) == 254 + 2
    X = d2ke.pack([[-(2**31), 5], [2**31 - 1]], kind="strings")
    assert d2ke.distance_matrix(X[:1], X[1:], function) == 2**32 - 6 + 2
    with pytest.raises(ValueError, match="letters of 32 bits"):
        d2ke.distance_matrix(d2ke.pack([[2**31]], kind="strings"), X, function)


@VECTORS_C
def scaled_gap(x, n_x, y, n_y, dim, user_data):
    scale = ctypes.cast(user_data, DOUBLES)[0]
    return scale * abs(n_x - n_y) + abs(x[n_x * dim - 1] - y[n_y * dim - 1])


def test_ctypes_with_user_data():
    scale = ctypes.c_double(10.0)
    data = ctypes.cast(ctypes.pointer(scale), ctypes.c_void_p)
    function = LowLevelCallable(scaled_gap, data)
    X = [np.zeros((2, 2)), np.full((5, 2), 0.25)]
    for n_threads in (1, 4):
        D = d2ke.distance_matrix(X, X, function, n_threads=n_threads)
        assert D.tolist() == [[0, 30.25], [30.25, 0]]
    scale.value = 1.0
    assert d2ke.distance_matrix(X, distance=function).tolist() == [[0, 3.25], [3.25, 0]]


# A long has 32 bits on Windows.
LONG = "long" if np.dtype("l").itemsize == 8 else "long long"


@pytest.mark.parametrize(
    "signature",
    [
        "double (double *, intptr_t, double *, intptr_t, intptr_t, void *)",
        "double (const double *, Py_ssize_t, const double *, Py_ssize_t, Py_ssize_t, void *)",
        "double (double const *, npy_intp, double const *, npy_intp, npy_intp, void *)",
        f"double (double *, {LONG}, double *, {LONG}, {LONG}, void *)",
        "double(double*,long long,double*,int64_t,ssize_t,void*)",
    ],
)
def test_ways_to_write_the_signature(signature):
    function = LowLevelCallable(compiled_mean_gap.ctypes, signature=signature)
    assert d2ke.distance_matrix([[1.0]], [[3.0]], function) == 2


@pytest.mark.parametrize(
    "signature",
    [
        "double (double)",
        "float (double *, intptr_t, double *, intptr_t, intptr_t, void *)",
        "double (double *, int, double *, int, int, void *)",
        "double (float *, intptr_t, float *, intptr_t, intptr_t, void *)",
        "double (double *, intptr_t, double *, intptr_t, intptr_t)",
        "double (unsigned int *, intptr_t, unsigned int *, intptr_t, void *)",
    ],
)
def test_wrong_signature(signature):
    function = LowLevelCallable(compiled_mean_gap.ctypes, signature=signature)
    with pytest.raises(ValueError, match="distance has the C signature") as caught:
        d2ke.distance_matrix([[1.0]], distance=function)
    assert repr(signature) in str(caught.value)
    assert "const double *, intptr_t" in str(caught.value)


@numba.cfunc(VECTORS)
def compiled_bad(x, n_x, y, n_y, dim, user_data):
    return math.nan if y[0] == 7 else math.inf if y[0] == 8 else -1.5 if y[0] == 9 else 1.0


@pytest.mark.parametrize(("y", "value"), [(7.0, "nan"), (8.0, "inf"), (9.0, "-1.5")])
@pytest.mark.parametrize(
    "compute",
    [
        partial(d2ke.distance_matrix),
        partial(d2ke.distance_matrix, out=np.empty((1, 3), np.float32)),
        partial(d2ke.d2ke_embed, gamma=1.0),
        partial(d2ke.d2ke_embed, link="distance"),
    ],
    ids=["matrix", "float32", "exp", "distance"],
)
def test_bad_values_of_a_compiled_distance_name_the_pair(y, value, compute):
    function = LowLevelCallable(compiled_bad.ctypes)
    X, Y = [[0.0]], [[1.0], [2.0], [y]]
    second = "omega" if compute.func is d2ke.d2ke_embed else "Y"
    message = rf"distance\(X\[0\], {second}\[2\]\) must be finite and >= 0, got {value}"
    with pytest.raises(ValueError, match=message):
        compute(X, Y, distance=function)


def test_compiled_refuses():
    function = LowLevelCallable(compiled_mean_gap.ctypes)
    with pytest.raises(TypeError, match="takes its parameters through user_data; got power"):
        d2ke.distance_matrix([[1.0]], distance=function, power=2)
    single = [np.zeros(2, np.float32)]
    with pytest.raises(TypeError, match="a compiled distance takes float64 vectors; X is float32"):
        d2ke.distance_matrix(single, [[1.0]], function)
    with pytest.raises(TypeError, match="a compiled distance takes float64 vectors; Y is float32"):
        d2ke.distance_matrix([[1.0]], single, function)


def test_compiled_may_see_empty_objects():
    @numba.cfunc(VECTORS)
    def lengths(x, n_x, y, n_y, dim, user_data):
        return 10.0 * n_x + n_y

    X = [np.zeros((0, 2)), np.zeros((0, 2))]
    function = LowLevelCallable(lengths.ctypes)
    assert d2ke.distance_matrix(X, [np.zeros((3, 2))], function).tolist() == [[3], [3]]
    assert d2ke.distance_matrix(X, distance=function).tolist() == [[0, 0], [0, 0]]
