# SPDX-License-Identifier: BSD-3-Clause
"""Readers of text, bytes, and sequences of integers or of tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.labels import is_missing
from d2ke.objects.container import Objects, from_owned
from d2ke.objects.packed import code_dtype, offsets_of
from d2ke.objects.tokens import holds_tokens, index_tokens
from d2ke.objects.values import array_of

_RUN = 1 << 18  # strings or bytes that are looked at in one go, since Ctrl-C is heard between two
_LETTERS = 1 << 22  # letters that are looked at in one go
_SMALL_TABLE = 2**16  # letters whose range is at most this are counted, not sorted
_FLAGS = {bool, np.bool_}  # True would be the letter 1


def read_strings(items: Sequence[Any], name: str) -> Objects:
    """Read strings of one type, which is that of the first."""
    types = {kind: _letters(kind) for kind in set(map(type, items))}
    letters = types[type(items[0])]
    if set(types.values()) != {letters}:
        i = next(i for i, item in enumerate(items) if types[type(item)] != letters)
        if is_missing(items[i]):
            problem = f"is {items[i]!r}; it must be a string: remove missing objects first"
            raise ArgumentTypeError(name, problem, i)
        raise ArgumentTypeError(
            name,
            f"is {type(items[i]).__name__}, {name}[0] is {type(items[0]).__name__}; "
            "all must be of one type",
            i,
        )
    if letters != "int":
        return read_texts(items, letters)
    return _read_tokens(items, name) if holds_tokens(items) else _read_integers(items, name)


def read_texts(items: Sequence[Any], letters: str) -> Objects:
    """Read strings that are all `str`, or all `bytes`; ASCII text is read as bytes."""
    join: Any = "".join if letters == "str" else b"".join
    lengths: list[int] = []
    runs: list[Any] = []
    for low in range(0, len(items), _RUN):
        run = items[low : low + _RUN] if len(items) > _RUN else items
        lengths += map(len, run)
        runs.append(join(run))
    return pack_runs(runs, offsets_of(lengths), letters)


def pack_runs(runs: Sequence[Any], offsets: NDArray[np.int64], letters: str) -> Objects:
    """Pack strings that are joined to runs of `str`, or of `bytes`."""
    if letters == "bytes" or all(map(str.isascii, runs)):
        data = [run.encode() for run in runs] if letters == "str" else runs
        alphabet = bytes(sorted(distinct_bytes(data)))
        table = bytes.maketrans(alphabet, bytes(range(len(alphabet))))
        codes = np.frombuffer(b"".join([run.translate(table) for run in data]), np.uint8)
        symbols = np.frombuffer(alphabet, np.uint8).astype(np.int64)
        return from_owned("strings", codes, offsets, symbols, letters)
    data = [np.frombuffer(run.encode("utf-32-le", "surrogatepass"), "<u4") for run in runs]
    return from_owned("strings", *_indexed(np.concatenate(data), offsets), letters)


def distinct_bytes(runs: Iterable[bytes]) -> bytes:
    """Return the different bytes of all runs, in no order."""
    letters = b""
    for run in runs:
        for low in range(0, len(run), _RUN):
            letters += bytes(set(run[low : low + _RUN].translate(None, letters)))
    return letters


def _read_integers(items: Sequence[Any], name: str) -> Objects:
    sequences = [_integers(item, i, name) for i, item in enumerate(items)]
    offsets = offsets_of(list(map(len, sequences)))
    symbols = np.empty(offsets[-1], dtype=np.int64)
    for low in range(0, len(items), _RUN):
        run = sequences[low : low + _RUN]
        np.concatenate(run, out=symbols[offsets[low] : offsets[low + len(run)]])
    return pack_integers(symbols, offsets)


def _read_tokens(items: Sequence[Any], name: str) -> Objects:
    for i, item in enumerate(items):
        if not isinstance(item, (list, tuple, range)) and not (
            isinstance(item, np.ndarray) and item.ndim == 1
        ):
            raise ArgumentTypeError(
                name, f"is {type(item).__name__}; a list of tokens is needed, as others are", i
            )
    offsets = offsets_of(list(map(len, items)))
    alphabet, codes = index_tokens(items, int(offsets[-1]), name)
    return from_owned(
        "strings", codes.astype(code_dtype(len(alphabet))), offsets, alphabet, "token"
    )


def _letters(kind: type) -> str:
    return "str" if issubclass(kind, str) else "bytes" if issubclass(kind, bytes) else "int"


def _integers(item: Any, i: int, name: str) -> NDArray[np.int64]:
    array = array_of(item, f"{name}[{i}]")
    if array.size == 0 and array.ndim == 1:
        return np.empty(0, dtype=np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ArgumentTypeError(
            name,
            f"must be a str, bytes or a 1-D sequence of integers; got "
            f"{type(item).__name__} ({array.dtype}, shape {array.shape})",
            i,
        )
    if not isinstance(item, np.ndarray) and not _FLAGS.isdisjoint(map(type, item)):
        k, flag = next((k, value) for k, value in enumerate(item) if type(value) in _FLAGS)
        raise TypeError(f"{name}[{i}][{k}] is {flag!r}, but the others are integers")
    if array.dtype == np.uint64 and array.max() > np.iinfo(np.int64).max:
        raise ArgumentError(name, "has integers beyond int64", i)
    return array.astype(np.int64)


def pack_integers(symbols: NDArray[Any], offsets: NDArray[np.int64]) -> Objects:
    """Pack integers that are letters, end to end."""
    return from_owned("strings", *_indexed(symbols, offsets), "int")


def _indexed(
    symbols: NDArray[Any], offsets: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64]]:
    """Return each symbol's index among the different ones, the offsets, and these in order."""
    lowest = int(symbols.min(initial=0))
    span = int(symbols.max(initial=0)) - lowest + 1
    if span > max(_SMALL_TABLE, len(symbols)):
        alphabet, indices = np.unique(symbols, return_inverse=True)
        return indices.astype(code_dtype(len(alphabet))), offsets, alphabet.astype(np.int64)
    occurs = np.zeros(span, dtype=bool)
    for low in range(0, len(symbols), _LETTERS):
        occurs[symbols[low : low + _LETTERS] - lowest] = True
    (places,) = occurs.nonzero()
    index: NDArray[Any] = np.zeros(span, dtype=code_dtype(len(places)))
    index[places] = np.arange(len(places))
    codes = np.empty(len(symbols), index.dtype)
    for low in range(0, len(symbols), _LETTERS):
        run = slice(low, low + _LETTERS)
        index.take(symbols[run] - lowest, out=codes[run])
    return codes, offsets, places + lowest
