# SPDX-License-Identifier: BSD-3-Clause
"""Checks of arrays of numbers: real, finite, symmetric, distances, the arrays of a model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from d2ke._base.errors import ArgumentError, ArgumentTypeError

_BLOCK = 1 << 20  # values per block of rows: temporary arrays stay small


def row_blocks(shape: tuple[int, int]) -> Iterator[slice]:
    """Yield slices of rows of about 2**20 values each."""
    step = max(1, _BLOCK // max(1, shape[1]))
    for low in range(0, shape[0], step):
        yield slice(low, min(low + step, shape[0]))


def matrix(name: str, values: Any, *, infinite: bool = False) -> np.ndarray:
    """Return a dense two-dimensional array of real numbers; nothing is copied or cast.

    Numbers must be finite; with `infinite`, only nan is refused.

    Raises
    ------
    TypeError
        If `values` is masked, sparse, or not of real numbers that float64 holds exactly.
    ValueError
        If `values` is not two-dimensional or a value is refused.
    """
    if np.ma.isMaskedArray(values):
        raise ArgumentTypeError(name, "must not be a masked array: the mask would be lost")
    if sparse.issparse(values):
        raise ArgumentTypeError(name, f"must be a dense array, got sparse; use {name}.toarray()")
    try:
        dense = np.asarray(values)
    except ValueError:
        raise ArgumentError(name, "must be a matrix, but its rows differ in length") from None
    if dense.dtype.kind == "O" and dense.ndim == 0:
        raise ArgumentTypeError(name, f"must be a matrix of numbers, got {type(values).__name__}")
    if dense.ndim != 2:
        raise ArgumentError(name, f"must be two-dimensional, got shape {dense.shape}")
    check_numbers(name, dense)
    if dense.dtype.kind == "f":
        for rows in row_blocks(dense.shape):
            bad = np.isnan(dense[rows]) if infinite else ~np.isfinite(dense[rows])
            if bad.any():
                i, j = np.argwhere(bad)[0]
                kind = "a number" if infinite else "finite"
                refuse_entry(name, dense[rows][i, j], rows.start + i, j, kind)
    return dense


def filled_matrix(name: str, values: Any) -> np.ndarray:
    """Return what `matrix` does, and refuse a matrix without an entry."""
    dense = matrix(name, values)
    check_filled(name, dense)
    return dense


def check_filled(name: str, values: Any) -> None:
    """Refuse a matrix without an entry."""
    if 0 in values.shape:
        raise ArgumentError(name, f"is empty: its shape is {values.shape}")


def check_distances(name: str, values: np.ndarray) -> None:
    """Refuse negative numbers and nan."""
    if not values.min(initial=0) >= 0:
        i, j = np.argwhere(~(values >= 0))[0]
        raise ArgumentError(name, f"is {values[i, j]}; distances must be >= 0", (i, j))


def check_rows_of_distances(name: str, values: np.ndarray) -> None:
    """Refuse rows that cannot be distances to objects.

    A symmetric matrix of at least three rows counts as distances among the objects themselves;
    distances to other objects are hardly ever symmetric.
    """
    check_distances(name, values)
    if len(values) >= 3 and np.array_equal(values, values.T):
        check_diagonal(name, values)


def check_diagonal(name: str, square: np.ndarray) -> None:
    """Refuse distances of objects to themselves that are larger than rounding makes them."""
    diagonal = square.diagonal()
    rounding = np.finfo(np.result_type(square.dtype, np.float32)).eps ** 0.5
    wrong = np.flatnonzero(diagonal > rounding * square.max(initial=0))
    if wrong.size:
        i = wrong[0]
        raise ArgumentError(
            name,
            f"is {diagonal[i]}, but the distance of an object to itself is 0; if these are "
            "similarities, make distances of them, such as 1 - S or np.sqrt(2 - 2 * S)",
            (i, i),
        )


def like_distances(square: np.ndarray) -> bool:
    """Return whether a matrix looks like distances: zeros on the diagonal, and none negative."""
    return not square.diagonal().any() and bool((square >= 0).all()) and bool(square.any())


def refuse_distances(name: str, square: np.ndarray) -> None:
    """Refuse a matrix of similarities that looks like distances."""
    if like_distances(square):
        raise ArgumentError(
            name,
            "has zeros on its diagonal, as distances have; make similarities of them: "
            "np.exp(-gamma * D)",
        )


def check_symmetric(name: str, square: np.ndarray, tolerance: float) -> None:
    """Refuse a square matrix that differs from its transpose by more than `tolerance`."""
    for rows in row_blocks(square.shape):
        gap = np.abs(square[rows].astype(np.float64) - square[:, rows].T)
        if gap.max() > tolerance:
            i, j = np.unravel_index(gap.argmax(), gap.shape)
            i += rows.start
            raise ArgumentError(
                name,
                f"must be symmetric, but {name}[{i}, {j}] is {square[i, j]} and "
                f"{name}[{j}, {i}] is {square[j, i]}",
            )


def refuse_entry(name: str, value: Any, row: int, column: int, kind: str = "finite") -> None:
    """Raise a ValueError that names an entry of a matrix."""
    raise ArgumentError(
        name, f"has {value} at position ({row}, {column}); every value must be {kind}"
    )


def check_numbers(name: str, values: Any) -> None:
    """Refuse a dense or sparse matrix unless it holds numbers that float64 holds exactly."""
    dtype = values.dtype
    if dtype.kind not in "biuf" or (dtype.kind == "f" and dtype.itemsize > 8):
        raise ArgumentTypeError(
            name, f"must hold real numbers (float64 or float32), got dtype {dtype}"
        )
    wide = dtype.kind in "iu" and dtype.itemsize == 8 and 0 not in values.shape
    if wide and (values.max() > 2**53 or values.min() < -(2**53)):
        raise ArgumentError(name, "holds integers beyond 2**53, which float64 cannot represent")


# Tolerated deviation from symmetry, relative to the largest entry.
ASYMMETRY = 1e-8


def item_weights(weights: Any, n: int) -> np.ndarray:
    """Return the argument `weights` of n items as float64; None for ones."""
    if weights is None:
        return np.ones(n)
    weights = np.asarray(weights)
    check_numbers("weights", weights)
    weights = weights.astype(np.float64)
    if weights.shape != (n,):
        raise ArgumentError("weights", f"must have shape ({n},), got {weights.shape}")
    wrong = np.flatnonzero(~((weights >= 0) & (weights < np.inf)))
    if wrong.size:
        raise ArgumentError("weights", f"is {weights[wrong[0]]}; must be finite, >= 0", wrong[0])
    if not weights.any():
        raise ArgumentError("weights", "must not all be 0")
    return weights


def symmetric_matrix(name: str, values: Any) -> np.ndarray:
    """Return a matrix as float64, symmetric but for rounding, or raise."""
    square = matrix(name, values)
    if square.shape[0] != square.shape[1] or not square.size:
        raise ArgumentError(name, f"must be square and not empty, got shape {square.shape}")
    square = np.asarray(square, dtype=np.float64)
    largest = max(abs(float(square.max())), abs(float(square.min())))
    check_symmetric(name, square, ASYMMETRY * largest)
    return square


def square_distances(name: str, values: Any) -> np.ndarray:
    """Return distances among objects as float64: symmetric, >= 0, and 0 on the diagonal."""
    D = symmetric_matrix(name, values)
    check_distances(name, D)
    check_diagonal(name, D)
    return D


def check_array(name: str, array: Any, dtype: type, shape: tuple[int | None, ...]) -> None:
    """Refuse an array of a model's file that has another type or shape (None: any)."""
    if not isinstance(array, np.ndarray) or array.dtype != dtype:
        raise ArgumentError(name, f"must be an array of {np.dtype(dtype)}")
    fits = array.ndim == len(shape) and all(
        want is None or want == have for want, have in zip(shape, array.shape, strict=True)
    )
    if not fits:
        expected = tuple("any" if want is None else want for want in shape)
        raise ArgumentError(name, f"must have shape {expected}, got {array.shape}")
