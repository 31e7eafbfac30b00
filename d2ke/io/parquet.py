# SPDX-License-Identifier: BSD-3-Clause
"""Labelled objects of Parquet files, which may be larger than memory."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, reduce
from pathlib import Path
from typing import Any

import numpy as np

from d2ke._base.checks import file_path
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.files import open_file
from d2ke.io.tables import find_roles, without_empty_labels
from d2ke.objects.arrow_columns import pyarrow
from d2ke.objects.column_names import ColumnNames
from d2ke.objects.container import Objects, StoredObjects
from d2ke.objects.packing import pack
from d2ke.objects.tables import Table, arrow_index, columns_of


class ParquetObjects(StoredObjects):
    """The objects of a column of a Parquet file, read by row groups on access.

    `d2ke_train` takes them as it takes packed objects, so that the file may be larger than memory.
    All rows are read once to check them; then memory holds their lengths, the labels and one row
    group.

    Parameters
    ----------
    file : path
        The file.
    objects : str, optional
        The column of strings or lists. Default: the only one of the kind; of several, one
        called sequence, string, text, objects or x.
    labels : str, optional
        The column of labels. Default: one called label, labels, class, y or target, if any.
    ids : str, optional
        The column of the names of the rows. Default: one called id, series or series_id, if each
        row has an entry.
    kind : {"series", "sets", "strings"}, optional
        As for `pack`.

    Attributes
    ----------
    kind, dim, alphabet, letters, channel_names
        As those of `Objects`.
    lengths : ndarray of int64, shape (n,)
        The length of each object.
    labels : ndarray of shape (n,), or None
        The label of each object.
    ids : ndarray of int64 or str, shape (n,), or None
        The name of each object.
    columns : ColumnNames
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
    <40 strings over 2 letters of words.parquet, in 3 row groups; objects from 'word'; labels from
    'label'>
    >>> d2ke.d2ke_train(opened.labels, opened, R=32).accuracy
    100.0
    """

    def __init__(
        self,
        file: str | os.PathLike[str],
        *,
        objects: str | None = None,
        labels: str | None = None,
        ids: str | None = None,
        kind: str | None = None,
    ):
        self.path, self._kind = file_path("file", file), kind
        self._file = _opened(self.path)
        table = _table(self.path, self._file)
        names = None if objects is None else (objects,)
        roles = find_roles(table, ColumnNames(names, labels, rows=ids))
        if roles.form != "objects":
            raise ArgumentError(
                "objects",
                f"must name the column of objects: {self.path} is a long table of series, of which "
                f"{roles.columns.ids!r} repeats; read_objects reads it",
            )
        self.columns = without_empty_labels(table, roles.columns)
        (column,), label = self.columns.objects or (), self.columns.labels
        counts = [self._file.metadata.row_group(i).num_rows for i in range(self.n_groups)]
        self._starts = np.cumsum([0, *counts])
        self._read = lru_cache(1)(self._read_group)
        if not len(self):
            raise ValueError(f"{self.path} has no rows")
        filled = np.flatnonzero(counts).tolist()
        groups = [self._pack(self._read(i), self._starts[i]) for i in filled]
        described = {(x.kind, x.dim, x.letters, x.channel_names) for x in groups}
        if len(described) > 1:
            raise ValueError(f"{self.path} has objects of several kinds in column {column!r}")
        self.kind, self.dim, self.letters, self.channel_names = described.pop()
        self.alphabet = None
        if self.has_letters:
            self.alphabet = reduce(np.union1d, [group.alphabet for group in groups])
        self.lengths = np.concatenate([group.lengths for group in groups])
        self.labels = None if label is None else table.typed(label, "strings").labels()
        rows = self.columns.rows
        self.ids = None if rows is None else table.typed(rows, "strings").ids()

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
        return f"<{what} of {self.path.name}, in {self.n_groups} row groups; {self.columns}>"

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


def open_arrow(path: Path, suffix: str) -> Table:
    """Return the table of a .feather file, or of a .parquet file, which is read by columns."""
    pyarrow(f"reading {path.name}")
    if suffix == ".parquet":
        return _table(path, _opened(path))
    try:
        with open_file(path) as stream:
            table = importlib.import_module("pyarrow.feather").read_table(stream)
    except ValueError as error:
        raise ValueError(f"{path} is not a {suffix} file: {error}") from None
    return Table(path, columns_of(table, str(path)), index=arrow_index(table))


def _opened(path: Path) -> Any:
    pyarrow(f"reading {path.name}")
    open_file(path).close()
    try:
        return importlib.import_module("pyarrow.parquet").ParquetFile(path)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} is not a Parquet file: {error}") from None


def _table(path: Path, file: Any) -> Table:
    schema = file.schema_arrow
    heads = columns_of(schema.empty_table(), str(path))
    index = arrow_index(schema.empty_table())
    return Table(path, _FileColumns(file, list(heads)), heads=heads, index=index)


@dataclass(frozen=True)
class _FileColumns(Mapping[str, Any]):
    """The columns of a Parquet file, each of which is read on access."""

    file: Any
    names: list[str]

    def __getitem__(self, name: str) -> Any:
        return self.file.read(columns=[name]).column(0)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)
