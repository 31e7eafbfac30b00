# SPDX-License-Identifier: BSD-3-Clause
"""Weights of vectors: how they are packed, carried along, and refused where nobody uses them."""

import pickle

import numpy as np
import pytest
import reference
from scipy import LowLevelCallable

import d2ke
from d2ke.distances.registry import BY_NAME

ITEMS = [np.arange(6.0).reshape(3, 2), np.ones((1, 2)), np.zeros((2, 2))]
WEIGHTS = [[0.5, 0.0, 0.25], [3.0], [1e-300, 1.0]]


def weighted():
    return d2ke.pack(ITEMS, weights=WEIGHTS)


def weights_of(X, i):
    return X.weights[X.offsets[i] : X.offsets[i + 1]].tolist()


def test_kept_as_given():
    X = weighted()
    assert X.weights.dtype == np.float64
    assert not X.weights.flags.writeable
    assert [weights_of(X, i) for i in range(3)] == WEIGHTS
    assert X.nbytes == d2ke.pack(ITEMS).nbytes + 6 * 8
    assert repr(X) == "<3 sets of weighted 2-dimensional vectors, float64, lengths 1 to 3>"
    assert d2ke.pack(X) is X
    assert d2ke.pack(ITEMS).weights is None


def cell(arrays, shape):
    result = np.empty(len(arrays), dtype=object)
    result[:] = arrays
    return result.reshape(shape)


def test_any_form_of_weights():
    X = weighted()
    arrays = [np.array(one) for one in WEIGHTS]
    rows = [one[None] for one in arrays]  # as MATLAB has vectors
    columns = [one[:, None] for one in arrays]
    for form in (tuple(arrays), rows, columns, cell(rows, (1, 3)), cell(columns, (3, 1))):
        assert d2ke.pack(ITEMS, weights=form) == X
    assert d2ke.pack(d2ke.pack(ITEMS), weights=arrays) == X
    for dtype in (np.int8, np.uint64, ">i4", np.float32, ">f8"):
        whole = [np.arange(1, len(item) + 1).astype(dtype) for item in ITEMS]
        assert d2ke.pack(ITEMS, weights=whole).weights.tolist() == [1, 2, 3, 1, 1, 2]
    padded = np.zeros((2, 3, 2))
    full = d2ke.pack(padded, weights=np.ones((2, 3)))
    assert full.weights.tolist() == [1] * 6
    part = d2ke.pack(padded, lengths=[2, 1], weights=np.arange(1.0, 7).reshape(2, 3))
    assert part.weights.tolist() == [1, 2, 4]
    empty = d2ke.pack([np.zeros((0, 2)), np.ones((1, 2))], weights=[[], [2]])
    assert empty.weights.tolist() == [2]


def test_single_objects_bring_their_weights():
    X = weighted()
    for items in (list(X), tuple(X), cell(list(X), (3,))):
        assert d2ke.pack(items) == X
    assert d2ke.pack([X[2], X[0], X[1]]) == X[[2, 0, 1]]
    assert X[1].weights.tolist() == WEIGHTS[1]
    assert not X[1].flags.writeable
    assert not X[1].weights.flags.writeable
    copy = pickle.loads(pickle.dumps(X[0]))
    assert np.array_equal(copy, ITEMS[0])
    assert copy.weights.tolist() == WEIGHTS[0]
    # What is computed from an object has other vectors, or fewer.
    for other in (X[0][1:], X[0] * 2, X[0].copy()):
        assert other.weights is None
        assert d2ke.pack([other]).weights is None
    assert type(pickle.loads(pickle.dumps(X[0][1:]))) is np.ndarray
    assert d2ke.pack(list(X), weights=[[1, 1, 1], [1], [1, 1]]).weights.tolist() == [1] * 6
    assert type(d2ke.pack(ITEMS)[0]) is np.ndarray
    # No warning of wide objects: their weights say what the vectors are.
    wide = d2ke.pack([np.zeros((2, 3)), np.ones((2, 3))], weights=[[1, 2], [3, 4]])
    assert d2ke.pack(list(wide)) == wide


def test_some_objects_without_weights():
    X = weighted()
    with pytest.raises(TypeError, match=r"items\[1\] has no weights, items\[0\] has some"):
        d2ke.pack([X[0], ITEMS[1]])
    with pytest.raises(TypeError, match=r"items\[1\] has weights, items\[0\] has none"):
        d2ke.pack([ITEMS[1], X[0]])


def test_as_a_one_dimensional_array():
    X = weighted()
    assert X.shape == np.shape(X) == (3,)
    assert X[[2, 0], ...] == X[[2, 0]]
    assert X[np.array([True, False, True]), ...] == X[[0, 2]]
    assert X[1:, ...] == X[1:]
    assert np.array_equal(X[1, ...], X[1])
    for wrong in ((..., 1), (1, 1, ...), ([0], None)):
        with pytest.raises((IndexError, TypeError, ValueError)):
            X[wrong]


def test_carried_along():
    X = weighted()
    assert [weights_of(X[[2, 0, 2]], i) for i in range(3)] == [WEIGHTS[i] for i in (2, 0, 2)]
    assert weights_of(X[1:], 1) == WEIGHTS[2]
    assert weights_of(X[np.array([False, False, True])], 0) == WEIGHTS[2]
    assert pickle.loads(pickle.dumps(X)) == X
    assert d2ke.pack(ITEMS) != X
    assert d2ke.pack(ITEMS, weights=[[0.5, 0, 0.25], [3], [1e-300, 2]]) != X
    assert d2ke.concatenate([X[:1], X[1:]]) == X
    mixed = d2ke.concatenate([d2ke.pack(ITEMS)[1:], X[:1]])
    assert mixed.weights.tolist() == [1, 0.5, 0.5, *WEIGHTS[0]]
    assert sorted(d2ke.samplers.training_objects(3, X, seed=0)[0].weights) == sorted(X.weights)
    (scaled,) = d2ke.datasets.standardize(X)
    assert scaled.weights.tolist() == X.weights.tolist()


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        ("abc", TypeError, "weights must be a sequence of objects, got one str"),
        (cell([[1.0]] * 4, (2, 2)), ValueError, r"weights must be a row or a column of arrays"),
    ],
)
def test_refused(weights, error, message):
    with pytest.raises(error, match=message):
        d2ke.pack(ITEMS, weights=weights)


USERS = ("emd", "kernel", *reference.STRINGS)
SERIES = [name for name in d2ke.distance_names() if BY_NAME[name].kind == "series"]
OTHERS = [name for name in d2ke.distance_names() if name not in USERS]


@pytest.mark.parametrize("name", OTHERS)
def test_other_distances_refuse_weights(name):
    plain = d2ke.pack(ITEMS)
    problem = f"distance '{name}' does not use weights, but omega has"
    if name in SERIES:
        problem = "omega holds sets, but series are needed"
    with pytest.raises(TypeError, match=problem):
        d2ke.d2ke_embed(plain, weighted(), distance=name, gamma=1.0)


def test_users_distances_refuse_weights():
    def python(x, y):
        return 0.0

    with pytest.raises(TypeError, match="a Python distance does not use weights, but X has them"):
        d2ke.distance_matrix(weighted(), distance=python)
    with pytest.raises(TypeError, match="a Python distance does not use weights, but Y has them"):
        d2ke.distance_matrix(ITEMS, weighted(), python)
    numba = pytest.importorskip("numba")
    t = numba.types
    pointer = t.CPointer(t.float64)
    compiled = LowLevelCallable(
        numba.cfunc(t.float64(pointer, t.intp, pointer, t.intp, t.intp, t.voidptr))(
            lambda x, n_x, y, n_y, dim, data: 0.0
        ).ctypes
    )
    with pytest.raises(TypeError, match="a compiled distance does not use weights, but X has"):
        d2ke.distance_matrix(weighted(), distance=compiled)


def test_weights_of_random_objects():
    with pytest.raises(TypeError, match="segments does not use weights, but X has them"):
        d2ke.samplers.segments(2, weighted(), length=1, seed=0)
    drawn = d2ke.samplers.resampled(2, weighted(), size=1, seed=0)
    assert drawn.weights is None


def test_padded_weights_of_one_dimension_are_refused():
    with pytest.raises(ValueError, match="weights must be a sequence of objects or an"):
        d2ke.pack(np.ones((2, 3)), lengths=[1, 2], weights=np.ones(2))


def test_weights_in_a_column_of_pandas():
    pandas = pytest.importorskip("pandas")
    column = pandas.Series([[1], [2, 3]], index=[7, 8])
    assert d2ke.pack([[1.0], [2.0, 3.0]], weights=column).weights.tolist() == [1, 2, 3]
