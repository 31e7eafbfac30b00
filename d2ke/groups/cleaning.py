# SPDX-License-Identifier: BSD-3-Clause
"""Strings written in one way: without differences of case, accents, punctuation and spaces."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Any

import numpy as np

from d2ke._base.checks import choice
from d2ke._base.errors import ArgumentTypeError
from d2ke.objects.container import with_fields
from d2ke.objects.packing import pack
from d2ke.objects.records import Column

CLEANING = ("case", "accents", "punctuation", "spaces")


class _Letters(dict[int, str]):
    """A table for `str.translate` that is made as letters are met."""

    def __init__(self, steps: frozenset[str]):
        super().__init__()
        self._steps = steps

    def __missing__(self, code: int) -> str:
        letter, steps = chr(code), self._steps
        if "case" in steps:
            letter = letter.casefold()
        if "accents" in steps:
            letters = unicodedata.normalize("NFKD", letter)
            letter = "".join(mark for mark in letters if not unicodedata.combining(mark))
        if "punctuation" in steps and unicodedata.category(chr(code))[0] in "PS":
            letter = "" if chr(code) in "'`\u2019" else " "
        self[code] = letter
        return letter


def check_cleaning(clean: Any) -> frozenset[str]:
    """Return the steps that `clean` names."""
    if isinstance(clean, str) or not isinstance(clean, Iterable):
        raise ArgumentTypeError(
            "clean", f"must be a sequence of names, such as ('case', 'spaces'), got {clean!r}"
        )
    return frozenset(choice("clean", step, CLEANING) for step in clean)


def clean_column(column: Column, steps: frozenset[str]) -> Column:
    """Clean a column of strings; an entry of which nothing remains is missing."""
    if not steps or not getattr(column.values, "has_letters", False):
        return column
    if column.values.letters != "str":
        raise ArgumentTypeError(
            "clean", f"is for columns of text, not for strings of {column.values.letters}"
        )
    letters, missing = _Letters(steps), column.missing.copy()
    texts = [text.translate(letters) for text in column.values]
    if steps & {"punctuation", "spaces"}:
        texts = [" ".join(text.split()) for text in texts]
    missing[column.rows] = [not text for text in texts]
    texts = list(filter(None, texts))
    values = with_fields(pack(texts), kind=column.kind) if texts else None
    return Column(values, np.asarray(missing))
