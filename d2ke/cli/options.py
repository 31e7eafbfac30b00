# SPDX-License-Identifier: BSD-3-Clause
"""Types of arguments, and the options that several commands share.

This module imports nothing of d2ke, so that help and errors about options appear at once.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
from collections.abc import Callable, Sequence
from typing import Any


def _number(convert: Callable[[str], Any], low: float, kind: str) -> Callable[[str], Any]:
    """Return a type of argparse: finite numbers of at least `low`, which errors call `kind`."""

    def read(text: str) -> Any:
        try:
            value = convert(text)
        except ValueError:
            value = math.nan
        if not low <= value < math.inf:
            raise argparse.ArgumentTypeError(f"{text!r} is not {kind}")
        return value

    return read


number = _number(float, math.ulp(0.0), "a positive finite number")
radius = _number(float, 0, "a finite number of at least 0")
positive = _number(int, 1, "an integer of at least 1")
seed = _number(int, 0, "an integer of at least 0")


def parameter(text: str) -> tuple[str, Any]:
    """Return the name and the value of NAME=VALUE: a number, true, false, null, or else text."""
    name, sign, value = text.partition("=")
    if not name or not sign:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE, such as window=5")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def radii(text: str) -> float | dict[str, float]:
    """Return one radius, or a radius for each named column."""
    if "=" not in text:
        return float(radius(text))
    return {name: radius(str(value)) for name, value in map(parameter, between_commas(text))}


def between_commas(text: str) -> list[str]:
    """Return the words between commas; a name that has a comma is in double quotes."""
    return next(csv.reader([text], skipinitialspace=True), [""])


def joined(words: Sequence[str]) -> str:
    """Invert `between_commas`."""
    return ",".join(f'"{word}"' if "," in word else word for word in words)


def names(text: str) -> list[str]:
    """Return distinct names of columns."""
    fields = between_commas(text)
    if not fields or "" in fields or len(set(fields)) < len(fields):
        raise argparse.ArgumentTypeError(f"{text!r} is not different names with commas between")
    return fields


# A name in the table, or a name with arguments of `add_argument` that the table has not.
Option = str | tuple[str, dict[str, Any]]

# The arguments of `add_argument` for each option; a command may have another text for one.
OPTIONS: dict[str, dict[str, Any]] = {
    "--threads": {"type": positive, "metavar": "N", "help": "threads to use (default: all)"},
    "--seed": {"type": seed, "default": 0, "metavar": "S", "help": "random seed (default 0)"},
    "model": {"metavar": "MODEL", "help": "what d2ke train wrote"},
    "file": {"metavar": "FILE", "help": "the objects: a file, or the name of a data set"},
    "--out": {"required": True, "metavar": "FILE"},
    "--report": {"metavar": "FILE", "help": "write a page with pictures here, .html"},
    "--objects": {
        "action": "extend",
        "type": names,
        "metavar": "NAME,NAME,...",
        "help": "the variable or column of the objects; several columns for the channels of "
        "series, or for rows that are records of text, numbers, times or lists",
    },
    "--categories": {
        "type": names,
        "metavar": "NAME,...",
        "help": "columns of --objects whose text is labels of categories; rows are records",
    },
    "--labels": {
        "metavar": "NAME",
        "help": "the variable or column of the labels (default: by name)",
    },
    "--ids": {
        "metavar": "NAME",
        "help": "the column or variable of the names of the objects, which results have; names "
        "that repeat say which series a row is of (default: by name)",
    },
    "--time": {"metavar": "NAME", "help": "the column by which the rows of a series are ordered"},
    "--channels-first": {
        "action": argparse.BooleanOptionalAction,
        "help": "matrices have channels in rows (default: as far as that can be seen)",
    },
    "--series": {
        "action": "store_true",
        "default": None,
        "help": "each row of a table is a series, its columns of numbers are the steps",
    },
    "--na-values": {
        "type": between_commas,
        "metavar": "TEXT,...",
        "help": "fields of .csv and .tsv that are missing, such as NA (default: empty ones; among "
        "numbers and dates also NA, NaN, null and ?)",
    },
    "--kind": {
        "choices": ["series", "sets", "strings"],
        "help": "what the objects are (default: vectors are series: the order of rows counts)",
    },
    "--distance": {
        "metavar": "NAME",
        "help": "default: levenshtein for strings, dtw for series, mhd for sets, bag for graphs",
    },
    "--parameter": {
        "type": parameter,
        "action": "append",
        "default": [],
        "metavar": "NAME=VALUE",
        "help": "of the distance, such as window=10 for dtw; several times for several",
    },
    "--costs": {
        "metavar": "FILE",
        "help": "costs of edits that d2ke learn-costs wrote: the distance is weighted_levenshtein",
    },
    "--unseen-letters": {
        "choices": ["allow", "refuse"],
        "default": "allow",
        "help": "what to do with letters that no training string has: let them differ from all of "
        "the model, or stop (default: allow)",
    },
}
# Where a file has its objects and labels.
OBJECTS = ("--objects", "--labels", "--ids", "--time", "--channels-first", "--kind", "--series",
           "--na-values")  # fmt: skip
DISTANCE = ("--distance", "--parameter", "--costs")


def add_options(
    parser: argparse.ArgumentParser, *options: str | tuple[str, dict[str, Any]]
) -> None:
    """Add options by their names in the table; later ones override the table and earlier ones."""
    arguments: dict[str, dict[str, Any]] = {}
    for option in options:
        name, more = (option, {}) if isinstance(option, str) else option
        arguments[name] = arguments.get(name, OPTIONS.get(name, {})) | more
    for name, values in arguments.items():
        parser.add_argument(name, **values)
