# SPDX-License-Identifier: BSD-3-Clause
"""Tokens as letters of strings: words, states, codes; in files and alphabets as Python literals."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentError, ArgumentTypeError

_LONGEST = 1024  # bytes of a token in an alphabet, whose entries are all of one width


def is_token_list(item: Any) -> bool:
    """Return whether an item can only be a sequence of tokens: one of text or bytes."""
    if isinstance(item, np.ndarray):
        return item.ndim == 1 and item.dtype.kind in "US"
    return isinstance(item, (list, tuple)) and len(item) > 0 and isinstance(item[0], (str, bytes))


def holds_tokens(items: Sequence[Any]) -> bool:
    """Return whether some element is not a number, and no item is an array of numbers."""
    if any(isinstance(item, np.ndarray) and item.dtype.kind in "US" for item in items):
        return True
    lists = [item for item in items if isinstance(item, (list, tuple))]
    kinds = set(map(type, chain.from_iterable(lists)))
    numeric = (int, float, complex, np.number, np.bool_, np.ndarray, list)
    return not all(issubclass(kind, numeric) for kind in kinds)


def encode(token: Any, name: str) -> bytes:
    """Return a token as an ASCII literal; equal literals are equal tokens of one type."""
    text = ascii(_plain(token, name)).encode()
    if len(text) > _LONGEST:
        raise ArgumentError(name, f"takes {len(text)} bytes; a token may take {_LONGEST}")
    return text


def _plain(token: Any, name: str) -> Any:
    """Return a token of Python's own types."""
    if isinstance(token, np.generic):
        token = token.item()
    kind = type(token)
    if kind is tuple:
        return tuple(_plain(item, f"{name}[{i}]") for i, item in enumerate(token))
    if kind in (str, bytes, bool, int, type(None)):
        return token
    if isinstance(token, float):
        raise ArgumentTypeError(
            name,
            f"is the float {token!r}; tokens are compared exactly: pack text or integers, "
            'or leave out kind="strings" for series of numbers',
        )
    if kind.__hash__ is None:
        raise ArgumentTypeError(
            name,
            f"is an unhashable {kind.__name__}; tokens are str, bytes, int, bool, None or "
            "tuples of them",
        )
    raise ArgumentTypeError(
        name,
        f"is {kind.__name__}, which no file can hold as a token; tokens are str, bytes, "
        "int, bool, None or tuples of them",
    )


@lru_cache(1 << 16)
def decode(text: bytes) -> Any:
    """Return the token of an entry of an alphabet."""
    return ast.literal_eval(text.decode("ascii"))


def index_tokens(items: Iterable[Any], total: int, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the alphabet of all tokens of the items, and their indices in it."""
    numbers: dict[str | bytes, int] = {}
    entries: list[bytes] = []
    codes = np.empty(total, dtype=np.int64)
    at = 0
    for i, item in enumerate(items):
        for j, token in enumerate(item):
            # Text is its own key, which is fast; 1 and True would be one key.
            token = token.item() if isinstance(token, np.generic) else token
            key = token if type(token) is str else encode(token, f"{name}[{i}][{j}]")
            code = numbers.get(key)
            if code is None:
                entries.append(encode(token, f"{name}[{i}][{j}]"))
                code = numbers[key] = len(numbers)
            codes[at] = code
            at += 1
    alphabet = np.array(entries, dtype=np.bytes_) if entries else np.empty(0, "S1")
    order = np.argsort(alphabet, kind="stable")
    return alphabet[order], np.argsort(order)[codes]


def letters_of(symbols: np.ndarray, letters: str) -> list[Any]:
    """Return entries of an alphabet as users write them."""
    if letters == "token":
        return [decode(symbol) for symbol in symbols.tolist()]
    return [chr(point) for point in symbols.tolist()] if letters == "str" else symbols.tolist()


def symbols_of(letters: Sequence[Any], kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Return entries of alphabets of this kind for users' letters, and which of the letters."""
    numbers: dict[Any, int] = {}
    symbol: bytes | int
    for number, letter in enumerate(letters):
        if kind == "token":
            symbol = encode(letter, f"letter {number}")
        elif isinstance(letter, str if kind == "str" else bytes) and len(letter) == 1:
            symbol = ord(letter)
        elif kind != "str" and isinstance(letter, (int, np.integer)):
            symbol = int(letter)
        else:
            continue
        numbers.setdefault(symbol, number)
    dtype = np.bytes_ if kind == "token" else np.int64
    symbols = np.array(list(numbers), dtype=dtype) if numbers else np.empty(0, "S1")
    return symbols, np.array(list(numbers.values()), dtype=np.int64)
