# SPDX-License-Identifier: BSD-3-Clause
"""Types of arguments, and the options that several commands share."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any

from d2ke._base.checks import integer, not_negative, positive_number
from d2ke._base.progress import bars
from d2ke.cli.session import Session

FILES = """\
FILE holds objects and, for most uses, their labels:

  .ts               series and classes, as in the UEA and UCR archives
  .csv, .tsv        a header, then a string on each row; or a vector of a series on each row, with
                    a column that says which series it is of (id, or --ids NAME)
  .tsv, .txt        of the UCR archive: a class, then the values of a series; no header
  .mat              a cell of strings or matrices, and labels
  .fasta, .fa       sequences; the label is the last field of the header between |, or the group
                    of a regular expression, --labels 'family=(\\w+)'
  .arff             series (numbers or a relational attribute) or strings, and a nominal attribute
  .parquet          a column of strings or lists, and one of labels; `d2ke train` reads it in parts
  .npz, .h5, .hdf5  arrays values and offsets, or series of equal length, or strings; and labels
"""


def _checked(read: Callable[[str], Any], kind: str) -> Callable[[str], Any]:
    """Return a type of argparse that reads text; `kind` says what is needed."""

    def convert(text: str) -> Any:
        try:
            return read(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not {kind}") from None

    return convert


number = _checked(lambda text: positive_number("it", float(text)), "a positive finite number")
radius = _checked(lambda text: not_negative("it", float(text)), "a finite number of at least 0")
positive = _checked(lambda text: integer("it", int(text), 1), "an integer of at least 1")
seed = _checked(lambda text: integer("it", int(text), 0), "an integer of at least 0")


def parameter(text: str) -> tuple[str, Any]:
    """Return the name and the value of NAME=VALUE: a number, true, false, null, or else text."""
    name, sign, value = text.partition("=")
    if not name or not sign:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE, such as window=5")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def threads_parser() -> argparse.ArgumentParser:
    """Return a parent of the parsers of commands that compute."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument(
        "--threads", type=positive, metavar="N", help="threads to use (default: all)"
    )
    return parser


def add_seed(parser: argparse.ArgumentParser) -> None:
    """Add the random seed."""
    parser.add_argument("--seed", type=seed, default=0, metavar="S", help="random seed (default 0)")


def add_objects(parser: argparse.ArgumentParser) -> None:
    """Add what says where a file has its objects and labels."""
    add = parser.add_argument
    add(
        "--objects",
        action="append",
        metavar="NAME",
        help="the variable or column of the objects; several times for the channels of series",
    )
    add("--labels", metavar="NAME", help="the variable or column of the labels (default: by name)")
    add("--ids", metavar="NAME", help="the column that says which series a row is of")
    add("--time", metavar="NAME", help="the column by which the rows of a series are ordered")
    add(
        "--channels-first",
        action=argparse.BooleanOptionalAction,
        help="matrices have channels in rows (default: as far as that can be seen)",
    )
    add(
        "--kind",
        choices=["series", "sets", "strings"],
        help="what the objects are (default: vectors are series: the order of rows counts)",
    )


def add_distance(parser: argparse.ArgumentParser) -> None:
    """Add the distance of objects and its parameters."""
    add = parser.add_argument
    add(
        "--distance",
        metavar="NAME",
        help="default: levenshtein for strings, dtw for series, mhd for sets",
    )
    add(
        "--parameter",
        type=parameter,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="of the distance, such as window=10 for dtw; several times for several",
    )


def session_of(options: argparse.Namespace) -> Session:
    """Return the `Session` of a command: it shows progress, and prints what it reports."""
    return Session(n_threads=options.threads, progress=True, report=_print)


def _print(line: str) -> None:
    """Print a line, on a terminal above a progress bar."""
    if sys.stderr.isatty():
        bars().write(line)
        sys.stdout.flush()
    else:
        print(line, flush=True)
