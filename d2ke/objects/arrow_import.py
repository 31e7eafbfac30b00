# SPDX-License-Identifier: BSD-3-Clause
"""Arrow columns packed into Objects, in place where the layouts agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke.objects.arrow_columns import first_null, pieces, plain, plain_type, pyarrow
from d2ke.objects.arrow_strings import pack_text
from d2ke.objects.container import Objects, code_dtype, from_owned, offsets_of
from d2ke.objects.readings import Layout
from d2ke.objects.string_packing import indexed
from d2ke.objects.tokens import encode, sorted_alphabet
from d2ke.objects.values import LARGEST_EXACT_INTEGER, as_floats, check_values, is_exact

TENSOR = "arrow.fixed_shape_tensor"
_WEIGHTED = {"vector", "weight"}


def holds_objects(column: Any) -> bool:
    """Tell whether the rows of a column are strings or lists, not numbers."""
    kind = plain_type(column)
    return bool(_letters(kind)) or _is_list(kind) or is_tensor(kind)


def is_tensor(kind: Any) -> bool:
    """Tell Arrow's type of tensors of one shape."""
    return getattr(kind, "extension_name", None) == TENSOR


def tensors(column: Any, name: str) -> np.ndarray:
    """Return a column of tensors as one array."""
    for _ in pieces(column, name):
        pass  # refuses nulls
    return np.concatenate([chunk.to_numpy_ndarray() for chunk in column.chunks])


def pack_column(
    column: Any, layout: Layout, name: str, kind: str | None
) -> tuple[Objects, list[np.ndarray] | None]:
    """Pack a chunked array of pyarrow; returns the weights that it has, too."""
    if not len(column):
        raise ArgumentError(name, "is empty: at least one object is needed")
    own = plain_type(column)
    letters = _letters(own)
    if letters:
        if kind in ("series", "sets"):
            raise ArgumentTypeError(
                name, f"is a column of {column.type}; lists of numbers are needed"
            )
        return pack_text(column, letters, name), None
    if not _is_list(own):
        for _ in pieces(column, name):
            pass  # a null is a better reason
        raise ArgumentTypeError(
            name, f"is a column of {column.type}; strings or lists are needed, one for each object"
        )
    lists = _Lists.of(column, name)
    inner = lists.parts[0].type
    if _letters(inner):
        if kind in ("series", "sets"):
            raise ArgumentTypeError(
                name, f"is a column of {column.type}; lists of numbers are needed"
            )
        return _pack_tokens(lists, name), None
    if kind == "strings":
        return _pack_integers(lists, name), None
    return _pack_vectors(lists, layout, name, kind or "series")


@dataclass(frozen=True)
class _Lists:
    """The values of a column's lists end to end, in parts, and the lists' offsets."""

    offsets: np.ndarray
    parts: list[Any]

    @classmethod
    def of(cls, column: Any, name: str) -> _Lists:
        lengths, parts = [], []
        for _, array in pieces(column, name):
            lengths.append(_lengths(array))
            parts.append(plain(array.flatten()))
        return cls(offsets_of(np.concatenate(lengths)), parts)

    def place(self, at: int) -> tuple[int, int]:
        """Return the object of an element, and the element's place in it."""
        i = int(np.searchsorted(self.offsets, at, side="right")) - 1
        return i, int(at - self.offsets[i])

    def check_nulls(self, parts: list[Any], width: int, name: str) -> None:
        """Refuse nulls in parts that have `width` values for each element."""
        before = 0
        for part in parts:
            null = first_null(part)
            if null is not None:
                i, at = self.place(before + null // width)
                raise ArgumentTypeError(
                    name,
                    f"has None at position {at}; every value must be there: remove "
                    "or fill missing values first",
                    i,
                )
            before += len(part) // width


def _pack_vectors(
    lists: _Lists, layout: Layout, name: str, kind: str
) -> tuple[Objects, list[np.ndarray] | None]:
    parts, weights = lists.parts, None
    masses: list[np.ndarray] | None = None
    if _is_weighted(parts[0].type):
        lists.check_nulls(parts, 1, name)
        weights = _numbers(lists, [part.field("weight") for part in parts], 1, f"weights of {name}")
        parts = [plain(part.field("vector")) for part in parts]
    dim = 1
    if _is_list(parts[0].type):
        lists.check_nulls(parts, 1, name)
        dim = _channels(lists, parts, name)
        parts = [plain(part.flatten()) for part in parts]
    values = _numbers(lists, parts, dim, name, layout.missing)
    values = check_values(values, lists.offsets, layout.missing, name)
    lengths = np.diff(lists.offsets)
    if (lengths == lengths[0]).all():
        layout.warn(name, int(lengths[0]), dim)
    if weights is not None:
        masses = np.split(weights.ravel(), lists.offsets[1:-1])
    return from_owned(kind, values, lists.offsets, missing=layout.missing), masses


def _channels(lists: _Lists, parts: list[Any], name: str) -> int:
    """Return how many numbers each inner list has: as many as the first."""
    counts = np.concatenate([_lengths(part) for part in parts])
    if not len(counts):
        return max(getattr(parts[0].type, "list_size", 1), 1)
    wrong = np.flatnonzero(counts != counts[0])
    if wrong.size:
        i, at = lists.place(wrong[0])
        first = lists.place(0)[0]
        raise ArgumentError(
            name,
            f"has {counts[wrong[0]]} channels at position {at}, {name}[{first}] has "
            f"{counts[0]}; all must have the same",
            i,
        )
    if not counts[0]:
        raise ValueError(f"{name}[{lists.place(0)[0]}]: its vectors have no elements")
    return int(counts[0])


def _numbers(
    lists: _Lists, parts: list[Any], dim: int, name: str, missing: bool = False
) -> np.ndarray:
    """Return the numbers of parts as (total, dim) floats; those of one part are not copied.

    `missing`: nulls become NaN.
    """
    pa = pyarrow("an Arrow column")
    types, kind = pa.types, parts[0].type
    if not missing or types.is_null(kind):
        lists.check_nulls(parts, dim, name)
    if types.is_null(kind):
        return np.empty((0, dim))
    if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
        raise ArgumentTypeError(
            name, f"holds lists of {kind}; float64, float32 or integers are needed: cast them"
        )
    arrays, before = [], 0
    for part in parts:
        part = part.cast(pa.uint8()) if types.is_boolean(kind) else part
        filled = part.null_count and types.is_integer(part.type)
        array = (part.fill_null(0) if filled else part).to_numpy(zero_copy_only=False)
        if array.dtype.kind in "iu" and not is_exact(array):
            limit = LARGEST_EXACT_INTEGER
            i = lists.place(before + int(((array > limit) | (array < -limit)).argmax()) // dim)[0]
            raise ArgumentError(name, "has integers beyond 2**53, which float64 cannot hold", i)
        if filled:
            array = part.to_numpy(zero_copy_only=False)
        arrays.append(as_floats(array).reshape(-1, dim))
        before += len(arrays[-1])
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _pack_integers(lists: _Lists, name: str) -> Objects:
    types = pyarrow("an Arrow column").types
    kind = lists.parts[0].type
    if not (types.is_integer(kind) or types.is_null(kind)):
        raise ArgumentTypeError(
            name, f"holds lists of {kind}; strings or lists of integers are needed"
        )
    lists.check_nulls(lists.parts, 1, name)
    symbols = np.empty(lists.offsets[-1], dtype=np.int64)
    before = 0
    for part in lists.parts:
        array = part.to_numpy(zero_copy_only=False)
        if array.dtype == np.uint64 and array.max(initial=0) > np.iinfo(np.int64).max:
            i = lists.place(before + int((array > np.iinfo(np.int64).max).argmax()))[0]
            raise ArgumentError(name, "has integers beyond int64", i)
        symbols[before : before + len(array)] = array
        before += len(array)
    alphabet, codes = indexed(symbols)
    return from_owned("strings", codes, lists.offsets, alphabet, "int")


def _pack_tokens(lists: _Lists, name: str) -> Objects:
    pa = pyarrow("an Arrow column")
    lists.check_nulls(lists.parts, 1, name)
    encoded = pa.chunked_array(lists.parts).dictionary_encode().unify_dictionaries()
    chunks = encoded.chunks
    indices = [chunk.indices.to_numpy() for chunk in chunks]
    codes = np.concatenate(indices) if indices else np.empty(0, dtype=np.int32)
    entries = []
    for code, token in enumerate(chunks[-1].dictionary.to_pylist() if chunks else []):
        try:
            entries.append(encode(token, name))
        except ValueError:
            i, at = lists.place(int((codes == code).argmax()))
            encode(token, f"{name}[{i}][{at}]")
    alphabet, rank = sorted_alphabet(entries)
    codes = rank.astype(code_dtype(len(alphabet)))[codes]
    return from_owned("strings", codes, lists.offsets, alphabet, "token")


def _letters(kind: Any) -> str | None:
    """Return what letters the strings of a type have; None for other types."""
    if str(kind) in ("string", "large_string", "string_view"):
        return "str"
    name = str(kind).partition("[")[0]
    binary = ("binary", "large_binary", "binary_view", "fixed_size_binary")
    return "bytes" if name in binary else None


def _is_list(kind: Any) -> bool:
    types = pyarrow("an Arrow column").types
    return (
        types.is_list(kind)
        or types.is_large_list(kind)
        or types.is_fixed_size_list(kind)
        or str(kind).startswith(("list_view<", "large_list_view<"))
    )


def _is_weighted(kind: Any) -> bool:
    """Tell vectors with weights, as `to_arrow` writes them."""
    if not pyarrow("an Arrow column").types.is_struct(kind):
        return False
    return {kind.field(i).name for i in range(kind.num_fields)} == _WEIGHTED


def _lengths(array: Any) -> np.ndarray:
    if pyarrow("an Arrow column").types.is_fixed_size_list(array.type):
        return np.full(len(array), array.type.list_size, dtype=np.int64)
    if hasattr(array, "sizes"):  # a view
        return array.sizes.to_numpy().astype(np.int64)
    return np.diff(array.offsets.to_numpy()).astype(np.int64)
