# SPDX-License-Identifier: BSD-3-Clause
"""Files of results with a row for each object, and errors about options."""

from __future__ import annotations

import argparse
import csv
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.files import atomic_write, check_writable
from d2ke.cli.commands import HDF5
from d2ke.objects.hdf5 import create_hdf5, put_text

_ROWS = 2**16  # of a table, in text at a time

# The command's options, by the arguments that they give to the library.
OPTIONS = {
    "objects": "--objects",
    "labels": "--labels",
    "ids": "--ids",
    "time": "--time",
    "channels_first": "--channels-first",
    "series": "--series",
    "na_values": "--na-values",
    "missing": "--missing",
    "unseen_letters": "--unseen-letters",
    "distance": "--distance",
    "alpha": "--alpha",
    "radius": "--radius",
    "clean": "--clean",
    "categories": "--categories",
    "threshold": "--threshold",
    "known": "--pairs",
    "length": "--window",
}


class InputError(ValueError):
    """An argument names something that is missing or unusable."""

    status = 2  # of the command, as where its arguments themselves are wrong


@contextmanager
def input_errors() -> Iterator[None]:
    """Turn refused values into InputErrors."""
    try:
        yield
    except InputError:
        raise
    except (MemoryError, TypeError, ValueError) as error:
        raise InputError(in_options(error)) from error


def in_options(error: BaseException | str) -> str:
    """Return the message of an error or a warning, with the option beside its argument."""
    if isinstance(error, (ArgumentError, ArgumentTypeError)) and error.argument in OPTIONS:
        return f"{error.argument} ({OPTIONS[error.argument]}) {error.problem}"
    text = str(error)
    for argument in ("task='regression'", "task='classification'", "missing='interpolate'"):
        text = text.replace(argument, f"--{argument.replace('=', ' ').replace(chr(39), '')}")
    text = text.replace("say so (series)", "say so (--series)")
    # Advice on how to read matrices, which is about X or a file.
    return f"{text}; the option is --channels-first" if "channels_first=" in text else text


def check_results(
    options: argparse.Namespace, out: Sequence[str], inputs: Mapping[str, Any]
) -> None:
    """Before the work, refuse results that cannot be written or would overwrite an input.

    `out` has the endings of the result itself.
    """

    def place(file: Any) -> str:
        return os.path.normcase(os.path.realpath(file))

    taken: dict[str, str] = {place(file): name for name, file in inputs.items()}
    pictures = (".png", ".pdf", ".svg")
    results: tuple[tuple[str, Sequence[str], tuple[str, ...]], ...] = (
        ("out", out, ()),
        ("picture", pictures, ("matplotlib",)),
        ("tree", pictures, ("matplotlib",)),
        ("report", (".html", ".htm"), ("matplotlib", "Jinja2")),
        ("save_features", HDF5, ()),
        ("save", (), ()),
    )
    for name, endings, packages in results:
        file = getattr(options, name, None)
        if file is None:
            continue
        if endings and Path(file).suffix not in endings:
            raise InputError(f"{name} must end in {', '.join(endings)}, got {file!r}")
        for package in packages:
            try:
                import_module(package.lower())
            except ImportError:
                raise ImportError(f'{name} needs {package}: pip install "d2ke[demo]"') from None
        other = taken.setdefault(place(file), name)
        grows = name == "save" and other == "the saved groups"
        if other != name and not grows:
            raise InputError(
                f"{name} and {other} are the same file, {file!r}; {name} must be another"
            )
        check_writable(Path(file))


def write_columns(file: Path, columns: Mapping[str, np.ndarray]) -> None:
    """Write columns of equal length atomically; in HDF5, a dataset for each."""
    if file.suffix in HDF5:
        with create_hdf5(file) as store:
            for name, values in columns.items():
                if values.dtype.kind == "U":
                    put_text(store, name, values)
                else:
                    store[name] = values
        return
    n = max(map(len, columns.values()), default=0)
    with atomic_write(file) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        for start in range(0, n, _ROWS):
            chunk = (values[start : start + _ROWS].tolist() for values in columns.values())
            writer.writerows(zip(*chunk, strict=True))
        text.detach()
