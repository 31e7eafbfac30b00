# SPDX-License-Identifier: BSD-3-Clause
"""Types of arguments, and the options that several commands share."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from typing import Any

from d2ke._base.checks import positive_number


def number(text: str) -> float:
    """Return a finite number above 0."""
    try:
        return positive_number("it", float(text))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive finite number") from None


def _whole(text: str, low: int) -> int:
    """Return an integer of at least `low`."""
    try:
        value = int(text)
    except ValueError:
        value = low - 1
    if value < low:
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer of at least {low}")
    return value


positive = partial(_whole, low=1)
seed = partial(_whole, low=0)


def threads_parser() -> argparse.ArgumentParser:
    """Return a parent of the parsers of commands that compute."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument(
        "--threads", type=positive, metavar="N", help="threads to use (default: all)"
    )
    return parser


def add_data(parser: argparse.ArgumentParser) -> None:
    """Add the data folder."""
    parser.add_argument(
        "--data", metavar="DIR", help="folder of the data files (default: $D2KE_DATA)"
    )


def add_seed(parser: argparse.ArgumentParser) -> None:
    """Add the random seed."""
    parser.add_argument("--seed", type=seed, default=0, metavar="S", help="random seed (default 0)")


def session_of(options: argparse.Namespace) -> Any:
    """Return the `Session` of a command: it shows progress, and prints what it reports."""
    from d2ke.experiments.session import Session

    return Session(
        getattr(options, "data", None), n_threads=options.threads, progress=True, report=_print
    )


def _print(line: str) -> None:
    """Print a line above a progress bar."""
    from tqdm import tqdm

    tqdm.write(line)
    sys.stdout.flush()
