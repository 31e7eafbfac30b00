# SPDX-License-Identifier: BSD-3-Clause
"""Distances of strings for the registry: checks of parameters, common letters, compiled kernels."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np

from d2ke._base.checks import choice, not_negative
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._ext import edits, pairwise, strings
from d2ke.objects.container import Objects
from d2ke.objects.joining import common_alphabet
from d2ke.objects.packing import pack

_MODES = {"global": strings.GLOBAL, "prefix": strings.PREFIX, "infix": strings.INFIX}
_OVERREAD = 64  # bytes after the last letter that a kernel may read
_MOST_WEIGHT = 0.25  # for each of four letters
_LIST_BITS = 32  # of a letter in a list; bit sets may take as much as the lists


def mode(name: str, value: Any) -> int:
    """Check with which part of x the whole y is compared."""
    return _MODES[choice(name, value, list(_MODES))]


def mode_or_local(name: str, value: Any) -> int:
    """Check as `mode`; with costs of letters, parts of x and of y can be compared too."""
    return (_MODES | {"local": strings.LOCAL})[choice(name, value, [*_MODES, "local"])]


def not_whole(mode: int = strings.GLOBAL, **_: Any) -> bool:
    """Return whether y is compared with a part of x."""
    return mode != strings.GLOBAL


def normalized(normalize: bool = False, **_: Any) -> bool:
    """Return whether distances are divided by lengths; they are then not metrics."""
    return normalize


def whole_if_normalized(**parameters: Any) -> dict[str, Any]:
    """Refuse normalize=True where y is compared with a part of x."""
    if parameters.get("normalize") and not_whole(**parameters):
        raise ValueError("normalize=True needs mode='global'")
    return parameters


def common_letters(x: Objects, y: Objects) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the letters of x and y as indices into their common alphabet, and its size."""
    if x is y:
        codes = not_empty(x.values.astype(np.uint32))
        return codes, codes, len(x.alphabet)
    alphabet, (x_codes, y_codes) = common_alphabet([x, y])
    x_codes, y_codes = not_empty(x_codes.astype(np.uint32)), not_empty(y_codes.astype(np.uint32))
    return x_codes, y_codes, len(alphabet)


def not_empty(codes: np.ndarray) -> np.ndarray:
    """Return the codes, or one 0 in the place of none: kernels want an address."""
    return codes if codes.size else np.zeros(1, dtype=codes.dtype)


def prepare_levenshtein(
    x: Objects, y: Objects, same: bool, mode: int = strings.GLOBAL, normalize: bool = False
) -> Any:
    """Compile Levenshtein's distance."""
    pairs = strings.levenshtein(*_sides(x, y), same, mode)
    return pairwise.divide_by_lengths(pairs, False) if normalize else pairs


def prepare_osa(x: Objects, y: Objects, same: bool, normalize: bool = False) -> Any:
    """Compile the distance of optimal string alignment."""
    pairs = strings.osa(*_sides(x, y), same)
    return pairwise.divide_by_lengths(pairs, False) if normalize else pairs


def prepare_indel(x: Objects, y: Objects, same: bool, normalize: bool = False) -> Any:
    """Compile the distance of insertions and deletions."""
    pairs = strings.indel(*_sides(x, y), same)
    return pairwise.divide_by_lengths(pairs, True) if normalize else pairs


def prepare_damerau(x: Objects, y: Objects, same: bool, normalize: bool = False) -> Any:
    """Compile the unrestricted Damerau-Levenshtein distance."""
    pairs = edits.damerau(*_sides(x, y), same)
    return pairwise.divide_by_lengths(pairs, False) if normalize else pairs


def prefix_weight(name: str, value: Any) -> float:
    """Check the weight of a letter of the common beginning, of which four count."""
    value = not_negative(name, value)
    if value > _MOST_WEIGHT:
        raise ArgumentError(name, f"must be between 0 and {_MOST_WEIGHT}, got {value}")
    return value


def prepare_jaro(x: Objects, y: Objects, same: bool, prefix_weight: float = 0.0) -> Any:
    """Compile Jaro's distance."""
    return strings.jaro(*_sides(x, y), same, prefix_weight)


def prepare_jaro_winkler(x: Objects, y: Objects, same: bool, prefix_weight: float = 0.1) -> Any:
    """Compile Winkler's distance."""
    return prepare_jaro(x, y, same, prefix_weight)


def check_text(name: str, objects: Objects) -> None:
    """Refuse strings that cannot be split at whitespace."""
    if objects.letters not in ("str", "bytes"):
        raise ArgumentTypeError(
            name,
            f"holds strings of letters of type {objects.letters!r}; words are found in str and "
            "bytes, and 'jaccard' and 'indel' compare lists of tokens",
        )


def prepare_token_sort(x: Objects, y: Objects, same: bool) -> Any:
    """Compile the distance of insertions and deletions of strings whose words are sorted."""
    joined = [_joined(map(sorted, _words(side))) for side in ((x,) if y is x else (x, y))]
    return prepare_indel(joined[0], joined[-1], same, normalize=True)


def prepare_token_set(x: Objects, y: Objects, same: bool) -> Any:
    """Compile the distance of sets of words."""
    words = [
        [sorted(set(tokens)) for tokens in _words(side)] for side in ((x,) if y is x else (x, y))
    ]
    distinct = sorted(set(chain.from_iterable(chain(*words))))
    numbers = {word: i for i, word in enumerate(distinct)}
    joined = [_joined(side) for side in words]
    vocabulary = pack([*distinct, " "])
    alphabet, codes = common_alphabet([*joined, vocabulary])
    letters = [not_empty(code.astype(np.uint32)) for code in codes]
    pairs = strings.indel(
        letters[0], joined[0].offsets, letters[-2], joined[-1].offsets, len(alphabet), same
    )
    sides = []
    for side in words:
        tokens = np.fromiter((numbers[word] for word in chain(*side)), np.int64)
        sides.append((not_empty(tokens), np.cumsum([0, *map(len, side)], dtype=np.int64)))
    return strings.token_set(
        pairs, sides[0], sides[-1], letters[-1], vocabulary.offsets, len(alphabet), letters[-1][-1]
    )


def _words(objects: Objects) -> list[list[str]]:
    """Return the words of each string; a byte becomes the character of the same number."""
    if objects.letters == "bytes":
        return [[word.decode("latin-1") for word in text.split()] for text in objects]
    return [text.split() for text in objects]


def _joined(words: Iterable[list[str]]) -> Objects:
    """Pack each string's words with a space between them."""
    return pack([" ".join(side) for side in words])


def _sides(x: Objects, y: Objects) -> tuple[Any, ...]:
    """Return the letters and offsets of both, and the size of their alphabet."""
    x_codes, y_codes, n_letters = common_letters(x, y)
    return x_codes, x.offsets, y_codes, y.offsets, n_letters


def prepare_hamming(x: Objects, y: Objects, same: bool, normalize: bool = False) -> Any:
    """Compile Hamming's distance, in letters of 8 bits where they suffice."""
    alphabet, codes = common_alphabet([x, y])
    dtype = np.uint8 if len(alphabet) <= 2**8 else np.uint32
    rest = np.zeros(_OVERREAD // dtype().itemsize, dtype)
    x_codes = np.concatenate([codes[0].astype(dtype, copy=False), rest])
    y_codes = x_codes
    if x is not y:
        y_codes = np.concatenate([codes[1].astype(dtype, copy=False), rest])
    pairs = edits.hamming(x_codes, x.offsets, y_codes, y.offsets)
    return pairwise.divide_by_lengths(pairs, False) if normalize else pairs


def check_one_length(x_name: str, x: Objects, y_name: str, y: Objects) -> None:
    """Refuse strings of different lengths."""
    length = x.lengths[0]
    for name, objects in ((x_name, x), (y_name, y)):
        others = np.flatnonzero(objects.lengths != length)
        if others.size:
            i = others[0]
            raise ArgumentError(
                name,
                f"has {objects.lengths[i]} letters, {x_name}[0] has {length}; "
                "'hamming' compares strings of one length, 'levenshtein' and 'indel' those of any",
                i,
            )


def prepare_jaccard(x: Objects, y: Objects, same: bool) -> Any:
    """Compile Jaccard's distance of the sets of letters: as bits if these take no more memory."""
    alphabet, codes = common_alphabet([x, y])
    pairs = ((x, codes[0]),) if x is y else ((x, codes[0]), (y, codes[1]))
    n_letters = max(1, len(alphabet))
    sets = [_letter_sets(objects, letters, n_letters) for objects, letters in pairs]
    sizes = np.concatenate([np.diff(offsets) for _, offsets in sets])
    if n_letters <= max(64, _LIST_BITS * sizes.mean()):
        sides = [(*_bit_sets(*side, n_letters), np.diff(side[1])) for side in sets]
    else:
        sides = [
            (not_empty(members.astype(np.uint32)), offsets, np.diff(offsets))
            for members, offsets in sets
        ]
    return edits.jaccard(*sides[0], *sides[-1])


def _letter_sets(
    objects: Objects, codes: np.ndarray, n_letters: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return each object's different letters in order, and where they begin."""
    n = len(objects)
    owners = np.repeat(np.arange(n), objects.lengths)
    keys = np.unique(owners * n_letters + codes)
    return keys % n_letters, np.searchsorted(keys, np.arange(n + 1) * n_letters)


def _bit_sets(members: np.ndarray, offsets: np.ndarray, n_letters: int) -> tuple[np.ndarray, ...]:
    """Return one bit for each letter of the alphabet and each set, and where its words begin."""
    n, words = len(offsets) - 1, -(-n_letters // 64)
    owners = np.repeat(np.arange(n), np.diff(offsets))
    bits = np.zeros(n * words, np.uint64)
    bit = np.left_shift(np.uint64(1), (members % 64).astype(np.uint64))
    np.bitwise_or.at(bits, owners * words + members // 64, bit)
    return bits, np.arange(n + 1) * words
