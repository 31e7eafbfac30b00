# SPDX-License-Identifier: BSD-3-Clause
"""Weights of the vectors of sets: those that objects bring with them, and those given beside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from d2ke._base.errors import ArgumentTypeError
from d2ke.objects.packed import Packed
from d2ke.objects.values import array_of


class WeightedVectors(np.ndarray[Any, np.dtype[Any]]):
    """The (length, dim) array of one object of a weighted collection, with its weights.

    Arrays that are computed from it, or cut out of it, have no weights.

    Attributes
    ----------
    weights : ndarray of float64, shape (length,), or None
    """

    weights: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, vectors: NDArray[Any], weights: NDArray[np.float64]) -> WeightedVectors:
        """Return the vectors, in the same memory, with weights."""
        item = vectors.view(cls)
        item.weights = weights
        return item

    def __reduce__(self) -> tuple[Any, ...]:
        if self.weights is None:
            return np.asarray, (self.view(np.ndarray),)
        return WeightedVectors.of, (self.view(np.ndarray), self.weights)


def weights_of_items(items: Sequence[Any], name: str) -> list[Any] | None:
    """Return the weights that all items bring with them, None if they have none."""
    weights = [getattr(item, "weights", None) for item in items]
    for i, masses in enumerate(weights):
        if (masses is None) != (weights[0] is None):
            raise ArgumentTypeError(
                name,
                f"has {'no ' if masses is None else ''}weights, {name}[0] has "
                f"{'none' if masses is not None else 'some'}; give all of them with weights=",
                i,
            )
    return None if weights[0] is None else weights


def with_weights(packed: Packed, weights: Any, name: str) -> Packed:
    """Return packed vectors as sets with these weights."""
    if packed.kind == "strings":
        raise TypeError(f"weights go with sets, but {name} holds {packed.kind}")
    if packed.weights is not None:
        raise ArgumentTypeError(name, "has weights already")
    if packed.missing and np.isnan(packed.values).any():
        raise ArgumentTypeError(
            name, "has values that are missing; no distance takes them and weights"
        )
    if not isinstance(weights, (Sequence, np.ndarray)) or isinstance(weights, (str, bytes)):
        raise TypeError(
            f"weights must be a sequence of arrays, one for each object of {name}; got "
            f"{type(weights).__name__}"
        )
    if isinstance(weights, np.ndarray) and weights.dtype.kind == "O":
        if weights.size > max(weights.shape, default=1):
            raise ValueError(
                f"weights must be a row or a column of arrays, got shape {weights.shape}"
            )
        weights = weights.ravel()
    lengths = np.diff(packed.offsets).tolist()
    if len(weights) != len(lengths):
        raise ValueError(
            f"weights has {len(weights)} arrays, but {name} has {len(lengths)} objects"
        )
    arrays = [
        _object_weights(masses, i, n, name)
        for i, (masses, n) in enumerate(zip(weights, lengths, strict=True))
    ]
    return packed._replace(kind="sets", weights=np.concatenate(arrays), missing=False)


def _object_weights(weights: Any, i: int, length: int, name: str) -> NDArray[np.float64]:
    array = array_of(weights, f"weights[{i}]")
    if array.ndim == 2 and 1 in array.shape:
        array = array.ravel()  # a row or a column of MATLAB's
    if array.size and (array.dtype.kind not in "iuf" or array.dtype.itemsize > 8):
        raise TypeError(f"weights[{i}] has element type {array.dtype}; float64 or integers needed")
    if array.shape != (length,) and not array.size == length == 0:
        raise ValueError(
            f"weights[{i}] has shape {array.shape}, but {name}[{i}] has {length} vectors"
        )
    array = array.ravel()
    wide = array.astype(np.float64)
    if array.dtype.kind in "iu" and not (wide.astype(array.dtype) == array).all():
        raise ValueError(f"weights[{i}] has integers that float64 cannot hold")
    wrong = np.flatnonzero(~(np.isfinite(wide) & (wide >= 0)))
    if wrong.size:
        at = wrong[0]
        raise ValueError(f"weights[{i}] has {wide[at]} at {at}; weights must be finite and >= 0")
    with np.errstate(over="ignore"):
        total = wide.sum()
    # Half of what float64 holds: rounding in another order of summing cannot overflow.
    if length and not 0 < total < 2.0**1023:
        raise ValueError(f"the sum of weights[{i}] must be > 0 and < 2**1023, got {total}")
    return wide
