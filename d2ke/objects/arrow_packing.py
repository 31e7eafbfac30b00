# SPDX-License-Identifier: BSD-3-Clause
"""Arrow columns packed into Objects, without copies if the layouts agree."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke.objects.arrow_columns import CHANNEL_NAMES, first_null, plain, pyarrow
from d2ke.objects.compatibility import with_weights
from d2ke.objects.container import Objects, from_owned, offsets_of
from d2ke.objects.layouts import Layout
from d2ke.objects.strings import index_letters, read_texts, read_tokens
from d2ke.objects.values import (
    LARGEST_EXACT_INTEGER,
    as_floats,
    channel_names,
    check_values,
    is_exact,
)


def holds_objects(column: Any) -> bool:
    """Return whether the rows of a column are strings or lists, not numbers."""
    kind = plain(column.chunk(0)[:0]).type if column.num_chunks else column.type
    return bool(_letters(kind)) or _is_list(kind)


def read_chunks(column: Any, layout: Layout, name: str, kind: str | None) -> Objects:
    """Read a chunked array of pyarrow: strings, or lists of numbers, vectors or tokens."""
    if not len(column):
        raise ArgumentError(name, "is empty: at least one object is needed")
    array = plain(column.chunk(0) if column.num_chunks == 1 else column)
    null = first_null(array)
    if null is not None:
        raise ArgumentTypeError(
            name,
            "is None; it must be a string or a sequence of numbers: "
            "remove missing objects first (drop_nulls, dropna), or fill them",
            null,
        )
    letters = _letters(array.type)
    if not letters and not _is_list(array.type):
        raise ArgumentTypeError(
            name, f"is a column of {column.type}; strings or lists are needed, one for each object"
        )
    compute = pyarrow("an Arrow column").compute
    values = None if letters else plain(compute.list_flatten(array))
    tokens = values is not None and _letters(values.type)
    if (letters or tokens) and kind in ("series", "sets"):
        raise ArgumentTypeError(name, f"is a column of {column.type}; lists of numbers are needed")
    if letters:
        return _read_text(array, letters, name)
    lists = _Lists(offsets_of(np.asarray(compute.list_value_length(array))), name)
    if tokens:
        lists.refuse_null(values)
        items = np.asarray(values).tolist()
        return read_tokens([items[low:high] for low, high in pairwise(lists.offsets)], name)
    if kind == "strings":
        return _read_integers(values, lists)
    written = (array.type.value_field.metadata or {}).get(CHANNEL_NAMES.encode())  # by `to_arrow`
    names = None if written is None else tuple(json.loads(written))
    return _read_vectors(values, lists, layout, kind or "series", names)


def _read_text(array: Any, letters: str, name: str) -> Objects:
    array = array.cast(pyarrow("an Arrow column").large_binary())
    array.validate(full=True)  # offsets of a damaged file may point anywhere
    if hasattr(array, "chunks"):
        array = array.combine_chunks()
    offsets = np.frombuffer(array.buffers()[1], np.int64)[array.offset :][: len(array) + 1]
    text = np.frombuffer(array.buffers()[2] or b"", np.uint8)[offsets[0] : offsets[-1]]
    if letters == "bytes" or not (text & 128).any():  # ASCII: a letter is a byte
        return index_letters(text, offsets - offsets[0], letters)
    items = np.asarray(array).tolist()
    for i, item in enumerate(items):
        try:
            items[i] = item.decode()
        except UnicodeDecodeError:
            raise ArgumentError(name, "is not valid UTF-8 text", i) from None
    return read_texts(items, letters)


class _Lists(NamedTuple):
    """The offsets of a column's lists in their elements, and its name in errors."""

    offsets: NDArray[np.int64]
    name: str

    def locate(self, at: int) -> tuple[int, int]:
        """Return the object of an element, and its position there."""
        i = int(np.searchsorted(self.offsets, at, side="right")) - 1
        return i, int(at - self.offsets[i])

    def refuse_null(self, values: Any, width: int = 1) -> None:
        """Refuse a null among values, with `width` values for each element."""
        null = first_null(values)
        if null is not None:
            i, at = self.locate(null // width)
            raise ArgumentTypeError(
                self.name,
                f"has None at position {at}; every value must be there: remove "
                "or fill missing values first",
                i,
            )


def _read_vectors(
    values: Any, lists: _Lists, layout: Layout, kind: str, names: tuple[str, ...] | None
) -> Objects:
    compute, types = pyarrow("an Arrow column").compute, pyarrow("an Arrow column").types
    weights, missing, name = None, layout.missing, lists.name
    fields = [field.name for field in values.type] if types.is_struct(values.type) else []
    if set(fields) == {"vector", "weight"}:  # as `to_arrow` writes them
        lists.refuse_null(values)
        masses = _numbers(compute.struct_field(values, "weight"), lists, 1)
        weights = from_owned(
            "sets", check_values(masses, lists.offsets, False, "weights"), lists.offsets
        )
        values = plain(compute.struct_field(values, "vector"))
    if types.is_struct(values.type):
        lists.refuse_null(values)
        fields = [field.name for field in values.type]
        names = channel_names(fields, name)
        columns = [plain(compute.struct_field(values, [i])) for i in range(len(fields))]
        vectors = np.hstack([_numbers(column, lists, 1, missing) for column in columns])
    elif _is_list(values.type):
        lists.refuse_null(values)
        dim = _channels(values, lists)
        vectors = _numbers(plain(compute.list_flatten(values)), lists, dim, missing)
    else:
        vectors = _numbers(values, lists, 1, missing)
    vectors = check_values(vectors, lists.offsets, missing, name)
    lengths = np.diff(lists.offsets)
    if (lengths == lengths[0]).all():
        layout.warn(name, int(lengths[0]), vectors.shape[1])
    objects = from_owned(kind, vectors, lists.offsets, missing=missing, channel_names=names)
    return objects if weights is None else with_weights(objects, weights, name)


def _channels(values: Any, lists: _Lists) -> int:
    """Return the common length of the inner lists."""
    counts = np.asarray(pyarrow("an Arrow column").compute.list_value_length(values))
    if not len(counts):
        return max(getattr(values.type, "list_size", 1), 1)
    wrong = np.flatnonzero(counts != counts[0])
    if wrong.size:
        i, at = lists.locate(wrong[0])
        first = lists.locate(0)[0]
        raise ArgumentError(
            lists.name,
            f"has {counts[wrong[0]]} channels at position {at}, {lists.name}[{first}] has "
            f"{counts[0]}; all must have the same",
            i,
        )
    if not counts[0]:
        raise ValueError(f"{lists.name}[{lists.locate(0)[0]}]: its vectors have no elements")
    return int(counts[0])


def _numbers(values: Any, lists: _Lists, dim: int, missing: bool = False) -> NDArray[Any]:
    """Return numbers as (total, dim) floats, without a copy of a single chunk.

    `missing`: nulls become NaN.
    """
    pa = pyarrow("an Arrow column")
    types, kind = pa.types, values.type
    if not missing or types.is_null(kind):
        lists.refuse_null(values, dim)
    if types.is_null(kind):
        return np.empty((0, dim))
    if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
        raise ArgumentTypeError(
            lists.name, f"holds lists of {kind}; float64, float32 or integers are needed: cast them"
        )
    if types.is_boolean(kind):
        values = values.cast(pa.uint8())
    filled = values.null_count and types.is_integer(values.type)
    array = np.asarray(values.fill_null(0) if filled else values)
    if array.dtype.kind in "iu" and not is_exact(array):
        limit = LARGEST_EXACT_INTEGER
        i = lists.locate(int(((array > limit) | (array < -limit)).argmax()) // dim)[0]
        raise ArgumentError(lists.name, "has integers beyond 2**53, which float64 cannot hold", i)
    return as_floats(np.asarray(values) if filled else array).reshape(-1, dim)


def _read_integers(values: Any, lists: _Lists) -> Objects:
    types = pyarrow("an Arrow column").types
    if not (types.is_integer(values.type) or types.is_null(values.type)):
        raise ArgumentTypeError(
            lists.name, f"holds lists of {values.type}; strings or lists of integers are needed"
        )
    lists.refuse_null(values)
    symbols = np.asarray(values)
    if symbols.dtype == np.uint64 and symbols.max(initial=0) > np.iinfo(np.int64).max:
        i = lists.locate(int((symbols > np.iinfo(np.int64).max).argmax()))[0]
        raise ArgumentError(lists.name, "has integers beyond int64", i)
    return index_letters(symbols.astype(np.int64, copy=False), lists.offsets, "int")


def _letters(kind: Any) -> str | None:
    """Return the letters of a type of strings; None for other types."""
    if str(kind) in ("string", "large_string", "string_view"):
        return "str"
    name = str(kind).partition("[")[0]
    binary = ("binary", "large_binary", "binary_view", "fixed_size_binary")
    return "bytes" if name in binary else None


def _is_list(kind: Any) -> bool:
    types = pyarrow("an Arrow column").types
    return types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
