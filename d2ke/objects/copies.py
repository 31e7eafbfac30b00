# SPDX-License-Identifier: BSD-3-Clause
"""The distinct objects of a collection, and how often each occurs."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from d2ke.objects.container import Objects, offsets_of
from d2ke.objects.records import Records


class Copies(NamedTuple):
    """The distinct objects of n objects.

    `firsts` holds the position of each at its first occurrence, ascending; `numbers` the number of
    the distinct object that each of the n objects equals; `counts` the occurrences of each.
    """

    firsts: np.ndarray
    numbers: np.ndarray
    counts: np.ndarray

    def __bool__(self) -> bool:
        """Whether any object occurs twice."""
        return len(self.firsts) < len(self.numbers)

    def members(self) -> tuple[np.ndarray, np.ndarray]:
        """Return all positions by distinct object, ascending, and the offsets of each."""
        return np.argsort(self.numbers, kind="stable"), offsets_of(self.counts)

    def repeated(self) -> np.ndarray:
        """Return the positions of objects with an earlier equal object."""
        again = np.ones(len(self.numbers), bool)
        again[self.firsts] = False
        return np.flatnonzero(again)


def find_copies(items: Any) -> Copies:
    """Find the equal objects among Objects, Records or a list.

    Objects are equal if their packed content is, bit for bit, weights and missing values included:
    0.0 and -0.0 differ. Items of a list are equal if they are of one plain type and have the same
    content; others are equal only to themselves.
    """
    if isinstance(items, Records):
        columns = []
        for column in items.columns.values():
            entries, values = np.full(len(column), -1, np.int64), column.values  # -1: missing
            if isinstance(values, Objects):
                entries[column.rows] = _numbered(_contents(values))
            elif values is not None:
                values = values.view(np.int64) if values.dtype == np.float64 else values
                entries[column.rows] = np.unique(values, return_inverse=True)[1]
            columns.append(entries.tolist())
        numbers = _numbered(zip(*columns, strict=True))
    else:
        numbers = _numbered(
            _contents(items) if isinstance(items, Objects) else map(_content, items)
        )
    _, firsts, counts = np.unique(numbers, return_index=True, return_counts=True)
    return Copies(firsts, numbers, counts)


def no_copies(n: int) -> Copies:
    """Return n objects as distinct ones."""
    return Copies(np.arange(n), np.arange(n), np.ones(n, np.int64))


def _numbered(keys: Iterable[Hashable]) -> np.ndarray:
    """Return the number of each key, by its first occurrence."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)


def _contents(objects: Objects) -> Iterator[bytes]:
    """Yield the bytes of each object; of 32 and more their SHA-256, which has 32."""
    arrays = [objects.values] if objects.weights is None else [objects.values, objects.weights]
    flat = [(memoryview(array.reshape(-1).view(np.uint8)), array[:1].nbytes) for array in arrays]
    for start, stop in pairwise(objects.offsets.tolist()):
        content = b"".join([memory[start * size : stop * size] for memory, size in flat])
        yield content if len(content) < 32 else hashlib.sha256(content).digest()


def _content(item: Any) -> Hashable:
    """Return a key of equal items of a plain type; for any other item its identity."""
    kind = type(item)
    if kind in (str, bytes, int, bool, type(None)):
        return kind, item
    if kind is float or (isinstance(item, np.generic) and item.dtype.kind in "biufcUS"):
        return kind, np.asarray(item).dtype.str, np.asarray(item).tobytes()
    if kind is np.ndarray and item.dtype.kind in "biufcUS":
        return kind, item.dtype.str, item.shape, item.tobytes()
    if kind in (tuple, list):
        return kind, tuple(map(_content, item))
    return id(item)
