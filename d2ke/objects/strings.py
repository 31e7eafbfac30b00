# SPDX-License-Identifier: BSD-3-Clause
"""Readers of text, bytes, and sequences of integers or tokens; pieces of packed objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.labels import is_missing
from d2ke.objects.container import Objects, code_dtype, from_owned, offsets_of, with_fields
from d2ke.objects.tokens import holds_tokens, index_tokens
from d2ke.objects.values import array_of

_LETTERS = 1 << 22  # letters read in one go; Ctrl-C is heard after each
_SMALL_TABLE = 2**16  # letters whose range is at most this are counted, not sorted
_FLAGS = {bool, np.bool_}  # True would be the letter 1


def read_strings(items: Sequence[Any], name: str) -> Objects:
    """Read strings, all of the type of the first."""
    types = {
        kind: "str" if issubclass(kind, str) else "bytes" if issubclass(kind, bytes) else "int"
        for kind in set(map(type, items))
    }
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
    if holds_tokens(items):
        return read_tokens(items, name)
    sequences = [_integers(item, i, name) for i, item in enumerate(items)]
    return index_letters(np.concatenate(sequences), offsets_of(list(map(len, sequences))), "int")


def read_texts(items: Sequence[Any], letters: str) -> Objects:
    """Read strings that are all `str` or all `bytes`; ASCII text is read as bytes."""
    if letters == "bytes":
        symbols: NDArray[Any] = np.frombuffer(b"".join(items), np.uint8)
    elif (text := "".join(items)).isascii():
        symbols = np.frombuffer(text.encode(), np.uint8)
    else:
        symbols = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    return index_letters(symbols, offsets_of(list(map(len, items))), letters)


def read_tokens(items: Sequence[Any], name: str) -> Objects:
    """Read lists of tokens."""
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


def index_letters(symbols: NDArray[Any], offsets: NDArray[np.int64], letters: str) -> Objects:
    """Pack strings given end to end; each letter becomes its index in the alphabet."""
    if symbols.dtype == np.uint8:  # a third of the time of the table below
        text = symbols.tobytes()
        distinct = bytes(set(text[:_SMALL_TABLE]))
        while rest := text.translate(None, distinct):
            distinct += bytes(set(rest[:_SMALL_TABLE]))
        distinct = bytes(sorted(distinct))
        table = bytes.maketrans(distinct, bytes(range(len(distinct))))
        codes = np.frombuffer(text.translate(table), np.uint8)
        alphabet = np.frombuffer(distinct, np.uint8).astype(np.int64)
        return from_owned("strings", codes, offsets, alphabet, letters)
    lowest = int(symbols.min(initial=0))
    span = int(symbols.max(initial=0)) - lowest + 1
    if span > max(_SMALL_TABLE, len(symbols)):
        alphabet, indices = np.unique(symbols, return_inverse=True)
        codes = indices.astype(code_dtype(len(alphabet)))
        return from_owned("strings", codes, offsets, alphabet.astype(np.int64), letters)
    occurs = np.zeros(span, dtype=bool)
    for low in range(0, len(symbols), _LETTERS):
        occurs[symbols[low : low + _LETTERS] - lowest] = True
    (alphabet,) = occurs.nonzero()
    index: NDArray[Any] = np.zeros(span, dtype=code_dtype(len(alphabet)))
    index[alphabet] = np.arange(len(alphabet))
    codes = np.empty(len(symbols), index.dtype)
    for low in range(0, len(symbols), _LETTERS):
        run = slice(low, low + _LETTERS)
        index.take(symbols[run] - lowest, out=codes[run])
    return from_owned("strings", codes, offsets, alphabet + lowest, letters)


def counted_pieces(X: Objects, longest: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count in how many strings each piece of up to `longest` letters is, by length and letters.

    Return the counts, where in the letters of X a piece begins, and its length.
    """
    owner = np.repeat(np.arange(len(X)), X.lengths)
    left = X.offsets[1:][owner] - np.arange(len(owner))  # letters from here to the string's end
    base = int(X.values.max(initial=0)) + 1
    ranks, starts = np.zeros(len(owner), np.int64), np.arange(len(owner))
    counts, positions, lengths = [], [], []
    for length in range(1, longest + 1):
        starts = starts[left[starts] >= length]
        # Rank the pieces of each length, so that no code overflows.
        codes = ranks[starts] * base + X.values[starts + length - 1]
        _, firsts, ranks[starts] = np.unique(codes, return_index=True, return_inverse=True)
        pairs = np.sort(ranks[starts] * len(X) + owner[starts])
        distinct = pairs[np.diff(pairs, prepend=-1) > 0] // max(len(X), 1)
        counts.append(np.bincount(distinct, minlength=len(firsts)))
        positions.append(starts[firsts])
        lengths.append(np.full(len(firsts), length))
    return np.concatenate(counts), np.concatenate(positions), np.concatenate(lengths)


def select_pieces(X: Objects, begins: np.ndarray, lengths: np.ndarray) -> Objects:
    """Return pieces of the objects of X, given where they begin in its values and their lengths."""
    offsets = offsets_of(lengths)
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - begins, lengths)
    return with_fields(X, values=X.values[within], offsets=offsets, ids=None)
