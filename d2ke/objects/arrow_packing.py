# SPDX-License-Identifier: BSD-3-Clause
"""Arrow columns packed into Objects, in place where the layouts agree."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke.objects.arrow_columns import (
    CHANNEL_NAMES,
    first_null,
    pieces,
    plain,
    plain_type,
    pyarrow,
)
from d2ke.objects.compatibility import with_weights
from d2ke.objects.container import Objects, from_owned
from d2ke.objects.layouts import Layout
from d2ke.objects.packed import code_dtype, offsets_of
from d2ke.objects.strings import pack_integers, pack_runs
from d2ke.objects.tokens import encode, sorted_alphabet
from d2ke.objects.values import (
    LARGEST_EXACT_INTEGER,
    as_floats,
    channel_names,
    check_values,
    is_exact,
)


def holds_objects(column: Any) -> bool:
    """Return whether the rows of a column are strings or lists, not numbers."""
    kind = plain_type(column)
    return bool(_letters(kind)) or _is_list(kind)


def read_chunks(column: Any, layout: Layout, name: str, kind: str | None) -> Objects:
    """Read a chunked array of pyarrow: strings, or lists of numbers, vectors or tokens."""
    if not len(column):
        raise ArgumentError(name, "is empty: at least one object is needed")
    row_type = plain_type(column)
    letters = _letters(row_type)
    if not letters and not _is_list(row_type):
        for _ in pieces(column, name):
            pass  # a null is a better reason
        raise ArgumentTypeError(
            name, f"is a column of {column.type}; strings or lists are needed, one for each object"
        )
    lists = None if letters else _Lists.of(column, name)
    tokens = lists is not None and _letters(lists.runs[0].type)
    if (letters or tokens) and kind in ("series", "sets"):
        raise ArgumentTypeError(name, f"is a column of {column.type}; lists of numbers are needed")
    if lists is None:
        return _read_text(column, letters or "", name)
    if tokens:
        return _read_tokens(lists, name)
    if kind == "strings":
        return _read_integers(lists, name)
    return _read_vectors(lists, layout, name, kind or "series")


@dataclass(frozen=True)
class _Lists:
    """The values of a column's lists end to end, in runs, and the lists' offsets."""

    offsets: NDArray[Any]
    runs: list[Any]
    channel_names: tuple[str, ...] | None = None  # that `to_arrow` wrote

    @classmethod
    def of(cls, column: Any, name: str) -> _Lists:
        lengths, runs = [], []
        for _, array in pieces(column, name):
            lengths.append(_lengths(array))
            runs.append(plain(array.flatten()))
        item = getattr(column.type, "value_field", None)
        written = None if item is None else (item.metadata or {}).get(CHANNEL_NAMES.encode())
        names = None if written is None else tuple(json.loads(written))
        return cls(offsets_of(np.concatenate(lengths)), runs, names)

    def place(self, at: int) -> tuple[int, int]:
        """Return the object of an element, and the element's place in it."""
        i = int(np.searchsorted(self.offsets, at, side="right")) - 1
        return i, int(at - self.offsets[i])

    def check_nulls(self, runs: list[Any], width: int, name: str) -> None:
        """Refuse nulls in runs that have `width` values for each element."""
        before = 0
        for run in runs:
            null = first_null(run)
            if null is not None:
                i, at = self.place(before + null // width)
                raise ArgumentTypeError(
                    name,
                    f"has None at position {at}; every value must be there: remove "
                    "or fill missing values first",
                    i,
                )
            before += len(run) // width


def _read_vectors(lists: _Lists, layout: Layout, name: str, kind: str) -> Objects:
    runs, weights, dim, names = lists.runs, None, 1, lists.channel_names
    if _is_weighted(runs[0].type):
        lists.check_nulls(runs, 1, name)
        weights = _numbers(lists, [run.field("weight") for run in runs], 1, f"weights of {name}")
        runs = [plain(run.field("vector")) for run in runs]
    channels = None
    if pyarrow("an Arrow column").types.is_struct(runs[0].type):
        lists.check_nulls(runs, 1, name)
        fields = [field.name for field in runs[0].type]
        names = channel_names(fields, name)
        channels = [
            _numbers(lists, [plain(run.field(i)) for run in runs], 1, name, layout.missing)
            for i in range(len(fields))
        ]
        dim = len(fields)
    elif _is_list(runs[0].type):
        lists.check_nulls(runs, 1, name)
        dim = _channels(lists, runs, name)
        runs = [plain(run.flatten()) for run in runs]
    values = np.hstack(channels) if channels else _numbers(lists, runs, dim, name, layout.missing)
    values = check_values(values, lists.offsets, layout.missing, name)
    lengths = np.diff(lists.offsets)
    if (lengths == lengths[0]).all():
        layout.warn(name, int(lengths[0]), dim)
    objects = from_owned(kind, values, lists.offsets, missing=layout.missing, channel_names=names)
    if weights is None:
        return objects
    weights = check_values(weights, lists.offsets, False, "weights")
    return with_weights(objects, from_owned("sets", weights, lists.offsets), name)


def _channels(lists: _Lists, runs: list[Any], name: str) -> int:
    """Return how many numbers each inner list has: as many as the first."""
    counts = np.concatenate([_lengths(run) for run in runs])
    if not len(counts):
        return max(getattr(runs[0].type, "list_size", 1), 1)
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
    lists: _Lists, runs: list[Any], dim: int, name: str, missing: bool = False
) -> NDArray[Any]:
    """Return the numbers of runs as (total, dim) floats; those of one run are not copied.

    `missing`: nulls become NaN.
    """
    pa = pyarrow("an Arrow column")
    types, kind = pa.types, runs[0].type
    if not missing or types.is_null(kind):
        lists.check_nulls(runs, dim, name)
    if types.is_null(kind):
        return np.empty((0, dim))
    if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
        raise ArgumentTypeError(
            name, f"holds lists of {kind}; float64, float32 or integers are needed: cast them"
        )
    arrays, before = [], 0
    for run in runs:
        run = run.cast(pa.uint8()) if types.is_boolean(kind) else run
        filled = run.null_count and types.is_integer(run.type)
        array = (run.fill_null(0) if filled else run).to_numpy(zero_copy_only=False)
        if array.dtype.kind in "iu" and not is_exact(array):
            limit = LARGEST_EXACT_INTEGER
            i = lists.place(before + int(((array > limit) | (array < -limit)).argmax()) // dim)[0]
            raise ArgumentError(name, "has integers beyond 2**53, which float64 cannot hold", i)
        if filled:
            array = run.to_numpy(zero_copy_only=False)
        arrays.append(as_floats(array).reshape(-1, dim))
        before += len(arrays[-1])
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _read_integers(lists: _Lists, name: str) -> Objects:
    types = pyarrow("an Arrow column").types
    kind = lists.runs[0].type
    if not (types.is_integer(kind) or types.is_null(kind)):
        raise ArgumentTypeError(
            name, f"holds lists of {kind}; strings or lists of integers are needed"
        )
    lists.check_nulls(lists.runs, 1, name)
    symbols = np.concatenate([run.to_numpy(zero_copy_only=False) for run in lists.runs])
    if symbols.dtype == np.uint64 and symbols.max(initial=0) > np.iinfo(np.int64).max:
        i = lists.place(int((symbols > np.iinfo(np.int64).max).argmax()))[0]
        raise ArgumentError(name, "has integers beyond int64", i)
    return pack_integers(symbols.astype(np.int64, copy=False), lists.offsets)


def _read_tokens(lists: _Lists, name: str) -> Objects:
    pa = pyarrow("an Arrow column")
    lists.check_nulls(lists.runs, 1, name)
    encoded = pa.chunked_array(lists.runs).dictionary_encode().unify_dictionaries()
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
    return types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)


def _is_weighted(kind: Any) -> bool:
    """Return whether a type is that of vectors with weights, as `to_arrow` writes them."""
    if not pyarrow("an Arrow column").types.is_struct(kind):
        return False
    return {kind.field(i).name for i in range(kind.num_fields)} == {"vector", "weight"}


def _lengths(array: Any) -> NDArray[Any]:
    if pyarrow("an Arrow column").types.is_fixed_size_list(array.type):
        return np.full(len(array), array.type.list_size, dtype=np.int64)
    return np.diff(array.offsets.to_numpy()).astype(np.int64)


def _read_text(column: Any, letters: str, name: str) -> Objects:
    """Pack a column of UTF-8 (letters "str") or binary strings ("bytes"): no object for a row."""
    lengths: list[NDArray[np.int64]] = []
    runs: list[Any] = []
    for row, array in pieces(column, name):
        _, ends, data = array.buffers()
        dtype = np.int64 if str(array.type).startswith("large_") else np.int32
        ends = np.frombuffer(ends, dtype)[array.offset : array.offset + len(array) + 1]
        held = np.frombuffer(b"" if data is None else data, np.uint8)[ends[0] : ends[-1]]
        ends = ends - ends[0]
        lengths.append(np.diff(ends))
        runs.append(held.tobytes())
        if letters == "bytes":
            continue
        if held.max(initial=0) < 128:
            runs[-1] = runs[-1].decode("ascii")
            continue
        begins = np.append((held & 0xC0) != 0x80, True)
        filled = lengths[-1] > 0
        try:
            runs[-1] = runs[-1].decode("utf-8")
            # A letter that begins in one string and ends in the next is wrong in both.
            split = ends[:-1][filled & ~begins[ends[:-1]]]
            wrong = split[0] if split.size else None
        except UnicodeDecodeError as error:
            wrong = error.start
        if wrong is not None:
            i = row + int(np.searchsorted(ends, wrong, side="right")) - 1
            raise ArgumentError(name, "is not valid UTF-8 text", i)
        begins[-1] = False
        lengths[-1] = np.add.reduceat(begins, ends[:-1], dtype=np.int64) * filled
    return pack_runs(runs, offsets_of(np.concatenate(lengths)), letters)
