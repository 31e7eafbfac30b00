# SPDX-License-Identifier: BSD-3-Clause
"""Distances of the words of strings, for the registry."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentTypeError
from d2ke._ext import strings
from d2ke.distances.distance import Distance
from d2ke.distances.string_rows import not_empty, prepare_edits
from d2ke.objects.compatibility import common_alphabet
from d2ke.objects.container import Objects
from d2ke.objects.packing import pack


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
    return prepare_edits(strings.indel, True, joined[0], joined[-1], same, normalize=True)


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


WORDS = (
    Distance(
        name="token_sort",
        kind="strings",
        shortest=0,
        prepare=prepare_token_sort,
        check=check_text,
        summary="normalized indel distance of the strings with their words sorted",
        source="rapidfuzz.fuzz.token_sort_ratio",
    ),
    Distance(
        name="token_set",
        kind="strings",
        shortest=0,
        prepare=prepare_token_set,
        check=check_text,
        summary="the same of sets of words: 0 if one has all the words of the other",
        source="rapidfuzz.fuzz.token_set_ratio",
    ),
)
