# SPDX-License-Identifier: BSD-3-Clause
"""Labelled objects of Parquet files, which may be larger than memory."""

from __future__ import annotations

import importlib
import os
from functools import lru_cache, reduce
from pathlib import Path
from typing import Any

import numpy as np

from d2ke._base.checks import file_path
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.files import open_file
from d2ke.io.columns import LABELS, Columns, LabelledObjects, find_usual
from d2ke.io.delimited import IDS, STRINGS
from d2ke.io.text import labels_of_text
from d2ke.objects.arrow_columns import pyarrow
from d2ke.objects.arrow_import import holds_objects
from d2ke.objects.container import Objects
from d2ke.objects.packing import pack


class ParquetObjects:
    """The objects of a column of a Parquet file, read by row groups on access.

    `d2ke_train` takes them as it takes packed objects, so that the file may be larger than memory.
    All rows are read once to check them; then memory holds their lengths, the labels and one row
    group.

    Parameters
    ----------
    file : path
        The file.
    objects : str, optional
        The column of strings or lists. Default: the only one of the kind; where there are several,
        one called sequence, string, text, objects or x.
    labels : str, optional
        The column of labels. Default: one called label, labels, class, y or target, if any.

    kind : {"series", "sets", "strings"}, optional
        As for `pack`.

    Attributes
    ----------
    kind, dim, alphabet, letters
        As those of `Objects`.
    lengths : ndarray of int64, shape (n,)
        The length of each object.
    labels : ndarray of shape (n,), or None
        The label of each object.
    columns : Columns
        Names of the columns that are read.

    Raises
    ------
    ImportError
        Without pyarrow.
    TypeError, ValueError
        A file of another format, an unknown column, several that may be meant; an object or a label
        that is missing or of a wrong type, which is named by its row.

    Examples
    --------
    >>> import os, tempfile
    >>> import d2ke, pyarrow as pa, pyarrow.parquet as pq
    >>> words = {"word": ["aab", "bba"] * 20, "label": [0, 1] * 20}
    >>> file = os.path.join(tempfile.mkdtemp(), "words.parquet")
    >>> pq.write_table(pa.table(words), file, row_group_size=16)
    >>> opened = d2ke.io.ParquetObjects(file)
    >>> opened
    <40 strings over 2 letters of words.parquet, in 3 row groups>
    >>> d2ke.d2ke_train(opened.labels, opened, R=32).accuracy
    100.0
    """

    def __init__(
        self,
        file: str | os.PathLike[str],
        *,
        objects: str | None = None,
        labels: str | None = None,
        kind: str | None = None,
    ):
        self.path, self._kind = file_path("file", file), kind
        pyarrow(f"reading {self.path.name}")
        open_file(self.path).close()
        try:
            self._file = importlib.import_module("pyarrow.parquet").ParquetFile(self.path)
        except (OSError, ValueError) as error:
            raise ValueError(f"{self.path} is not a Parquet file: {error}") from None
        schema = self._file.schema_arrow
        column, label = _find(self.path, schema, objects, labels)
        unused = tuple(name for name in schema.names if name not in (column, label))
        self.columns = Columns((column,), label, unused=unused)
        counts = [self._file.metadata.row_group(i).num_rows for i in range(self.n_groups)]
        self._starts = np.cumsum([0, *counts])
        self._read = lru_cache(1)(self._read_group)
        if not len(self):
            raise ValueError(f"{self.path} has no rows")
        groups = [i for i, count in enumerate(counts) if count]
        parts = [self._pack(self._read(i), self._starts[i]) for i in groups]
        described = {(one.kind, one.dim, one.letters) for one in parts}
        if len(described) > 1:
            raise ValueError(f"{self.path} has objects of several kinds in column {column!r}")
        self.kind, self.dim, self.letters = described.pop()
        self.alphabet = None
        if self.kind == "strings":
            self.alphabet = reduce(np.union1d, [one.alphabet for one in parts])
        self.lengths = np.concatenate([one.lengths for one in parts])
        self.labels = None
        if label is not None:
            held = self._file.read(columns=[label]).column(0)
            self.labels = labels_of_column(self.path, label, held)

    @property
    def n_groups(self) -> int:
        """Number of row groups."""
        return self._file.metadata.num_row_groups

    def __len__(self) -> int:
        return int(self._starts[-1])

    def __repr__(self) -> str:
        what = f"{len(self)} {self.kind}"
        if self.alphabet is not None:
            what += f" over {len(self.alphabet)} letters"
        return f"<{what} of {self.path.name}, in {self.n_groups} row groups>"

    def span(self, start: int, stop: int) -> Objects:
        """Return consecutive objects, packed."""
        first, last = np.searchsorted(self._starts, [start, stop - 1], side="right") - 1
        pieces = []
        for i in range(first, last + 1):
            begin = self._starts[i]
            pieces += self._read(i).slice(max(start - begin, 0), stop - max(start, begin)).chunks
        return self._pack(pyarrow("").chunked_array(pieces), start)

    def __getitem__(self, rows: np.ndarray) -> Objects:
        """Return the objects of some rows, in rising order, packed."""
        groups = np.searchsorted(self._starts, rows, side="right") - 1
        pieces = []
        for i in np.unique(groups):
            pieces += self._read(i).take(rows[groups == i] - self._starts[i]).chunks
        return self._pack(pyarrow("").chunked_array(pieces), 0)

    def held(self, streamed: bool) -> LabelledObjects:
        """Return all objects, in memory or as they are in the file, with their labels."""
        objects = self if streamed else self.span(0, len(self))
        return LabelledObjects(objects, self.labels, columns=self.columns)

    def _read_group(self, i: int) -> Any:
        (name,) = self.columns.objects or ()
        return self._file.read_row_group(i, columns=[name]).column(0)

    def _pack(self, column: Any, first: int) -> Objects:
        try:
            return pack(column, kind=self._kind, name="X")
        except (ArgumentError, ArgumentTypeError) as error:
            if not isinstance(error.index, int):
                raise
            raise type(error)(error.argument, error.problem, int(first) + error.index) from None


def labels_of_column(path: Path, name: str, column: Any) -> np.ndarray:
    """Return the labels of a column of pyarrow; none may be missing."""
    if column.null_count:
        row = int(np.flatnonzero(column.is_null())[0])
        raise ArgumentError("labels", f"is missing in {path}, column {name!r}", row)
    values = column.to_numpy()
    if values.dtype.kind != "O":
        return values
    return labels_of_text(values.tolist(), f"{path}, column {name!r}, row {{}}".format)


def _find(path: Path, schema: Any, objects: str | None, labels: str | None) -> tuple[str, Any]:
    """Return the names of the columns of objects and of labels."""
    Columns(None if objects is None else (objects,), labels).check(path, schema.names, "column")
    found = find_usual(schema.names, LABELS)
    label = schema.names[found] if labels is None and found is not None else labels
    if objects is not None:
        return objects, label
    known = [
        field.name
        for field in schema
        if field.name != label
        and field.name.lower() not in IDS
        and holds_objects(pyarrow("").chunked_array([], field.type))
    ]
    usual = find_usual(known, STRINGS)
    if len(known) != 1 and usual is None:
        raise ArgumentError(
            "objects",
            f"must name the column of objects: {path} has "
            + (f"several of strings or lists: {known}" if known else "none of strings or lists")
            + "; of a long table of series, ids must name the column that says of which a row is",
        )
    return known[usual or 0], label
