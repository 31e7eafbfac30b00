# SPDX-License-Identifier: BSD-3-Clause
"""Text, bytes, sequences of integers and of tokens packed into Objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke.objects.container import Objects, code_dtype, from_owned, offsets_of
from d2ke.objects.tokens import holds_tokens, index_tokens
from d2ke.objects.values import array_of

_RUN = 1 << 18  # strings that are looked at in one go, since Ctrl-C is heard between two
_LETTERS = 1 << 22  # letters that are looked at in one go
_SMALL_TABLE = 2**16  # letters whose range is at most this are counted, not sorted
_FLAGS = {bool, np.bool_}  # True would be the letter 1


def pack_strings(items: Sequence[Any], name: str) -> Objects:
    """Pack strings of one type, which is that of the first."""
    types = {kind: _letters(kind) for kind in set(map(type, items))}
    letters = types[type(items[0])]
    if set(types.values()) != {letters}:
        i = next(i for i, item in enumerate(items) if types[type(item)] != letters)
        raise ArgumentTypeError(
            name,
            f"is {type(items[i]).__name__}, {name}[0] is {type(items[0]).__name__}; "
            "all must be of one type",
            i,
        )
    if letters != "int":
        return pack_texts(items, letters)
    return _pack_tokens(items, name) if holds_tokens(items) else _pack_integers(items, name)


def pack_texts(items: Sequence[str] | Sequence[bytes], letters: str) -> Objects:
    """Pack strings that are all `str`, or all `bytes`."""
    lengths = np.empty(len(items), dtype=np.int64)
    for low in range(0, len(items), _RUN):
        lengths[low : low + _RUN] = np.fromiter(map(len, items[low : low + _RUN]), np.int64)
    offsets = offsets_of(lengths)
    symbols = np.empty(offsets[-1], dtype="<u4" if letters == "str" else np.uint8)
    for low in range(0, len(items), _RUN):
        run: Any = items[low : low + _RUN]
        if letters == "str":
            data = "".join(run).encode("utf-32-le", "surrogatepass")
        else:
            data = b"".join(run)
        symbols[offsets[low] : offsets[low + len(run)]] = np.frombuffer(data, symbols.dtype)
    alphabet, codes = indexed(symbols)
    return from_owned("strings", codes, offsets, alphabet, letters)


def _pack_integers(items: Sequence[Any], name: str) -> Objects:
    sequences = [_integers(item, i, name) for i, item in enumerate(items)]
    offsets = offsets_of(np.fromiter(map(len, sequences), np.int64, len(items)))
    symbols = np.empty(offsets[-1], dtype=np.int64)
    for low in range(0, len(items), _RUN):
        run = sequences[low : low + _RUN]
        np.concatenate(run, out=symbols[offsets[low] : offsets[low + len(run)]])
    alphabet, codes = indexed(symbols)
    return from_owned("strings", codes, offsets, alphabet, "int")


def _pack_tokens(items: Sequence[Any], name: str) -> Objects:
    for i, item in enumerate(items):
        if not isinstance(item, (list, tuple, range)) and not (
            isinstance(item, np.ndarray) and item.ndim == 1
        ):
            raise ArgumentTypeError(
                name, f"is {type(item).__name__}; a list of tokens is needed, as others are", i
            )
    offsets = offsets_of(np.fromiter(map(len, items), dtype=np.int64, count=len(items)))
    alphabet, codes = index_tokens(items, int(offsets[-1]), name)
    return from_owned(
        "strings", codes.astype(code_dtype(len(alphabet))), offsets, alphabet, "token"
    )


def _letters(kind: type) -> str:
    return "str" if issubclass(kind, str) else "bytes" if issubclass(kind, bytes) else "int"


def _integers(item: Any, i: int, name: str) -> np.ndarray:
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
        k, flag = next((k, one) for k, one in enumerate(item) if type(one) in _FLAGS)
        raise TypeError(f"{name}[{i}][{k}] is {flag!r}, but the others are integers")
    if array.dtype == np.uint64 and array.max() > np.iinfo(np.int64).max:
        raise ArgumentError(name, "has integers beyond int64", i)
    return array.astype(np.int64)


def indexed(symbols: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the different symbols in order, and each symbol's index among them."""
    least = int(symbols.min(initial=0))
    span = int(symbols.max(initial=0)) - least + 1
    if span > max(_SMALL_TABLE, len(symbols)):
        alphabet, codes = np.unique(symbols, return_inverse=True)
        return alphabet.astype(np.int64), codes.astype(code_dtype(len(alphabet)))
    seen = np.zeros(span, dtype=bool)
    for low in range(0, len(symbols), _LETTERS):
        seen[symbols[low : low + _LETTERS] - least] = True
    (places,) = seen.nonzero()
    index: np.ndarray = np.zeros(span, dtype=code_dtype(len(places)))
    index[places] = np.arange(len(places))
    codes = np.empty(len(symbols), index.dtype)
    for low in range(0, len(symbols), _LETTERS):
        run = slice(low, low + _LETTERS)
        index.take(symbols[run] - least, out=codes[run])
    return places + least, codes
