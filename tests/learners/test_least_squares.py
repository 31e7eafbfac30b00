# SPDX-License-Identifier: BSD-3-Clause
"""Linear classification by least squares: equal to the normal equations, with a free offset."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reference import ridge
from scipy import sparse

from d2ke._base.blas import square
from d2ke.learners import least_squares
from d2ke.learners.least_squares import train_least_squares
from d2ke.learners.ridge import RidgeSums
from d2ke.learners.solvers.liblinear import train

# More rows than features, as many, fewer: the equations are those of the smaller number.
SHAPES = [(60, 7), (20, 20), (20, 19), (12, 45)]


def problem(n, R, k, seed=0):
    """Make k classes that overlap, all of them present, with labels that are not 0, 1, ..."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(n) % k)
    Z = rng.standard_normal((n, R)) + 0.7 * rng.standard_normal((k, R))[codes] + 0.5
    return np.array([30, -4, 17, 5])[:k][codes], Z


def signs_of(y):
    """Return one column for each class in sorted order; of two classes for the second only."""
    classes = np.unique(y)
    return np.where(y[:, None] == (classes[1:] if len(classes) == 2 else classes), 1.0, -1.0)


def solved(y, Z, C):
    """Solve the normal equations; the offset has no penalty."""
    weights, offset = ridge(np.asarray(Z, np.float64), signs_of(y), C)
    return weights.T, offset


def close(one, other, rtol=1e-9):
    """Check that models are equal up to rounding."""
    size = np.abs(other.weights).max()
    np.testing.assert_allclose(one.weights, other.weights, rtol=0, atol=rtol * size)
    np.testing.assert_allclose(one.bias, other.bias, rtol=rtol, atol=rtol)
    np.testing.assert_array_equal(one.classes, other.classes)
    assert (one.solver, one.options) == (other.solver, other.options)


# ---------------------------------------------------------------- the solution


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize(("n", "R"), SHAPES)
@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
def test_equals_liblinear_on_centred_rows(n, R, k, C):
    """Its penalised offset is 0 there if the signs are centred too."""
    y, Z = problem(n, R, k)
    model = train_least_squares(y, Z, C)
    assert model.weights.shape == (1 if k == 2 else k, R)
    signs = signs_of(y) - signs_of(y).mean(axis=0)
    for row, column in enumerate(signs.T):
        one = train(column, Z - Z.mean(axis=0), f"-s 11 -p 0 -e 1e-10 -c {C}")
        np.testing.assert_allclose(model.weights[row], one.weights[0], atol=1e-6)
        offset = signs_of(y)[:, row].mean() - model.weights[row] @ Z.mean(axis=0)
        np.testing.assert_allclose(model.bias[row], offset, atol=1e-9)


@given(data=st.data())
def test_solves_the_normal_equations(data):
    n, R = data.draw(st.integers(2, 9)), data.draw(st.integers(1, 9))
    dtype = data.draw(st.sampled_from([np.float64, np.float32, np.int64, bool]))
    elements = {
        np.float64: st.floats(-8, 8),
        np.float32: st.floats(-8, 8, width=32),
        np.int64: st.integers(-8, 8),
        bool: st.booleans(),
    }[dtype]
    Z = data.draw(arrays(dtype, (n, R), elements=elements))
    y = np.array(data.draw(st.lists(st.sampled_from("abc"), min_size=n, max_size=n)))
    y[:2] = ["a", "b"]  # two classes at least
    C = data.draw(st.sampled_from([1e-3, 0.3, 1.0, 40.0]))
    model = train_least_squares(y, Z, C)
    weights, offset = solved(y, Z, C)
    np.testing.assert_allclose(model.weights, weights, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(model.bias, offset, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(("n", "R"), [(4096, 3), (4097, 3), (9001, 4), (20, 4097), (15, 9001)])
def test_blocks_of_rows(n, R):
    """Products are summed over blocks of 4096."""
    y, Z = problem(n, R, 3)
    model = train_least_squares(y, Z, 0.1)
    if n > R:
        weights, _ = solved(y, Z, 0.1)
    else:
        A, S = Z - Z.mean(axis=0), signs_of(y)
        weights = (A.T @ np.linalg.solve(A @ A.T + np.eye(n) / 0.2, S - S.mean(axis=0))).T
    np.testing.assert_allclose(model.weights, weights, rtol=1e-8, atol=1e-12)
    offset = signs_of(y).mean(axis=0) - weights @ Z.mean(axis=0)
    np.testing.assert_allclose(model.bias, offset, rtol=1e-8, atol=1e-12)


# ---------------------------------------------------------------- the same up to rounding

LARGE = [(4300, 20), (700, 300), (300, 300), (290, 700), (10, 4500)]


@pytest.mark.parametrize(("n", "R"), [*SHAPES, *LARGE])
def test_float32_is_computed_with_in_float64(n, R):
    y, Z = problem(n, R, 3)
    single = Z.astype(np.float32)
    before = single.copy()
    model = train_least_squares(y, single, 3.0)
    assert model.weights.dtype == np.float64
    double = train_least_squares(y, single.astype(np.float64), 3.0)
    # The BLAS may add products in another order; in float32 they would be 1e-7 and more apart.
    close(model, double, 1e-11)
    np.testing.assert_array_equal(single, before)
    unrounded = train_least_squares(y, Z, 3.0)
    size = np.abs(double.weights).max()
    assert np.abs(unrounded.weights - double.weights).max() > 1e-9 * size


@pytest.mark.parametrize("C", [1e-3, 1e6])
def test_many_products_are_float32_where_the_penalty_is_larger_than_their_rounding(C, monkeypatch):
    y, Z = problem(3000, 20, 3)
    exact = train_least_squares(y, Z, C)
    types = []
    empty = RidgeSums.empty
    monkeypatch.setattr(
        RidgeSums, "empty", lambda *arguments: types.append(arguments[-1]) or empty(*arguments)
    )
    monkeypatch.setattr(least_squares, "product_type", lambda n, R: np.dtype(np.float32))
    model = train_least_squares(y, Z, C)
    assert types == [np.float32 if C < 1 else np.float64]
    close(model, exact, 1e-5 if C < 1 else 1e-12)


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"Z": sparse.csr_array(np.eye(30))}, TypeError, "Z must be a dense array, got sparse"),
        ({"Z": np.ones((30, 0))}, ValueError, r"Z must have rows and columns, got .*\(30, 0\)"),
    ],
)
def test_bad_arguments(change, error, message):
    y, Z = problem(30, 4, 3)
    with pytest.raises(error, match=message):
        train_least_squares(**{"y": y, "Z": Z} | change)


@pytest.mark.parametrize("wide", [False, True])
def test_a_cost_so_large_that_rounding_decides(wide):
    """Two features, or two of the centred rows, are the same: nothing is rounded."""
    if wide:
        Z = np.array([[4.0, 3.0, 0.0, 1.0], [0.0, 1.0, 2.0, 1.0]])
    else:
        Z = np.array([[3.0, 3.0], [4.0, 4.0], [1.0, 1.0], [0.0, 0.0]])
    y = np.arange(len(Z)) % 2
    with pytest.raises(ValueError, match=r"C = 1e\+300 is too large for these features"):
        train_least_squares(y, Z, 1e300)
    model = train_least_squares(y, Z, 1.0)
    np.testing.assert_allclose(model.weights, solved(y, Z, 1.0)[0], atol=1e-10)


# ---------------------------------------------------------------- products


@pytest.mark.sample(5)  # each n with another k
@pytest.mark.parametrize("k", [1, 255, 256, 257])
@pytest.mark.parametrize("n", [1, 4095, 4096, 4097])
def test_square_is_the_product_with_the_transpose(n, k):
    """Of whole numbers: no rounding, in whatever order they are added."""
    A = np.random.default_rng(n).integers(-9, 10, (n, k))
    for dtype in (np.float64, np.float32):
        part = A.astype(dtype).__getitem__
        found = square(part, n, 2)
        assert (found.dtype, found.shape) == (np.float64, (k, k))
        np.testing.assert_array_equal(np.triu(found), np.triu(A.T.astype(float) @ A))


@pytest.mark.parametrize(("n", "k"), [(30, 5), (8200, 40), (300, 600)])
def test_square_has_the_same_bits_on_any_number_of_threads(n, k):
    A = np.random.default_rng(k).standard_normal((n, k))
    first, *others = (
        np.triu(square(lambda rows: A[rows], n, n_threads)).tobytes()
        for n_threads in (1, 2, 3, None)
    )
    assert all(other == first for other in others)


def test_what_leaves_the_range_of_float64():
    Z, y = np.array([[1.0], [2.0], [4.0]]), [0, 1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for wide in (np.ones((1, 1)), np.ones((1, 7))):
            with pytest.raises(ValueError, match="the values of Z are too large"):
                train_least_squares(y, 1e200 * Z * wide)
            with pytest.raises(ValueError, match="C = 1e-310 is too small"):
                train_least_squares(y, Z * wide, 1e-310)
