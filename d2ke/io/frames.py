# SPDX-License-Identifier: BSD-3-Clause
"""Labelled objects of data frames, which are read by the rules of tables of text."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from d2ke._base.files import open_file
from d2ke.io.columns import Columns, LabelledObjects
from d2ke.io.delimited import Table, read_rows
from d2ke.objects.arrow_columns import pyarrow
from d2ke.objects.values import column_names


def read_arrow(path: Path, suffix: str) -> Any:
    """Read the table of a .parquet or a .feather file."""
    pyarrow(f"reading {path.name}")
    try:
        with open_file(path) as stream:
            return importlib.import_module(f"pyarrow.{suffix[1:]}").read_table(stream)
    except ValueError as error:
        raise ValueError(f"{path} is not a {suffix} file: {error}") from None


def read_frame(frame: Any, columns: Columns, earlier: Columns, name: str) -> LabelledObjects:
    """Read a frame of pandas or polars, or a table of pyarrow.

    Columns of anything but text, numbers and booleans are left out.
    """
    pa = pyarrow(f"reading {name}")
    texts = {}
    frame = frame.to_arrow() if hasattr(frame, "to_arrow") else frame  # of polars
    for own in column_names(frame):
        values = pa.array(frame[own], from_pandas=True).to_pylist()
        if all(value is None or isinstance(value, (str, int, float)) for value in values):
            texts[str(own)] = ["" if value is None else str(value) for value in values]
    columns = columns.or_earlier(texts, earlier)
    columns.check(name, texts, "column")
    rows = list(map(list, zip(*texts.values(), strict=True)))
    return read_rows(
        Table(name, list(texts), rows, [f"row {i}" for i in range(len(rows))], columns)
    )
