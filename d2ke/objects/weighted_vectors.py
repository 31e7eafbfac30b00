# SPDX-License-Identifier: BSD-3-Clause
"""One object of a weighted collection: its vectors, which remember their weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentTypeError


class WeightedVectors(np.ndarray):
    """The (length, dim) array of one object, with its weights.

    What is computed from it, or cut out of it, is an array without weights.

    Attributes
    ----------
    weights : ndarray of float64, shape (length,), or None
    """

    weights: np.ndarray | None = None

    @classmethod
    def of(cls, vectors: np.ndarray, weights: np.ndarray) -> WeightedVectors:
        """Return the vectors, in their own memory, with weights."""
        item = vectors.view(cls)
        item.weights = weights
        return item

    def __reduce__(self) -> tuple[Any, ...]:
        if self.weights is None:
            return np.asarray, (self.view(np.ndarray),)
        return WeightedVectors.of, (self.view(np.ndarray), self.weights)


def weights_of_items(items: Any, name: str) -> list[np.ndarray] | None:
    """Return the weights that all items of a sequence bring with them, None if they have none."""
    if not isinstance(items, (list, tuple, np.ndarray)) or WeightedVectors not in _types(items):
        return None
    weights: list[Any] = [getattr(item, "weights", None) for item in _flat(items)]
    for i, own in enumerate(weights):
        if (own is None) != (weights[0] is None):
            raise ArgumentTypeError(
                name,
                f"has {'no ' if own is None else ''}weights, {name}[0] has "
                f"{'none' if own is not None else 'some'}; give all of them with weights=",
                i,
            )
    return None if weights[0] is None else weights


def _types(items: Any) -> set[type]:
    if isinstance(items, np.ndarray) and items.dtype.kind != "O":
        return set()
    return set(map(type, _flat(items)))


def _flat(items: Any) -> Any:
    return items.ravel() if isinstance(items, np.ndarray) else items
