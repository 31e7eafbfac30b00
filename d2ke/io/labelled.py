# SPDX-License-Identifier: BSD-3-Clause
"""Read labelled objects from files of several formats."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType, NoneType
from typing import Any, NamedTuple

from d2ke._base.checks import choice, file_path
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.keywords import hinted
from d2ke.io.arff import read_arff
from d2ke.io.columns import LabelledObjects
from d2ke.io.delimited import open_table
from d2ke.io.fasta import read_fasta
from d2ke.io.graphs import is_folder_of_graphs, read_codes
from d2ke.io.parquet import ParquetObjects, open_arrow
from d2ke.io.tables import find_roles, read_roles
from d2ke.io.ts import read_ts
from d2ke.io.ucr import has_columns, read_headless, read_lines
from d2ke.io.variables import read_arrays, read_mat
from d2ke.objects.column_names import NOTHING, ColumnNames
from d2ke.objects.compatibility import check_missing
from d2ke.objects.container import Objects, as_kind
from d2ke.objects.kinds import KINDS
from d2ke.objects.packing import pack
from d2ke.objects.record_packing import fill_missing
from d2ke.objects.tables import (
    Table,
    arrow_index,
    check_lengths,
    columns_of,
    index_level,
    is_table,
    with_ids,
)


class _Format(NamedTuple):
    """How the files of some endings are read.

    Attributes
    ----------
    arguments : tuple of str
        The arguments that have a meaning.
    read : callable or None
        ``read(path, columns, how, earlier)``; None for tables and graphs.
    name : str or None
        What a model keeps, if not the ending: files of one name are read alike.
    channels_first : bool or None
        The layout of channels by default.
    packed : bool
        The ending may be followed by .gz or .zip.
    """

    arguments: tuple[str, ...]
    read: Callable[..., LabelledObjects] | None = None
    name: str | None = None
    channels_first: bool | None = None
    packed: bool = False


_TABLE = _Format(("objects", "labels", "ids", "time", "series"), name="table")
_TEXT = _TABLE._replace(arguments=(*_TABLE.arguments, "na_values"), packed=True)
_MAT = _Format(("objects", "labels", "ids", "channels_first"), read_mat, channels_first=True)
_FORMATS = {
    ".ts": _Format(
        (),
        lambda path, _, how, __: LabelledObjects(*read_ts(path, missing=bool(how["missing"]))[:2]),
        packed=True,
    ),
    ".txt": _Format((), lambda path, *_: read_lines(path), packed=True),
    **dict.fromkeys((".csv", ".tsv"), _TEXT),
    **dict.fromkeys((".parquet", ".feather", ""), _TABLE),
    **dict.fromkeys(
        (".fasta", ".fa", ".fna", ".faa", ".fas"),
        _Format(
            ("labels",),
            lambda path, names, _, earlier: read_fasta(
                path, names.labels, earlier.how.get("header")
            ),
            packed=True,
        ),
    ),
    ".arff": _Format(("labels", "ids", "channels_first"), read_arff, packed=True),
    ".mat": _MAT,
    **dict.fromkeys(
        (".npz", ".npy", ".h5", ".hdf5"),
        _MAT._replace(read=read_arrays, name="arrays", channels_first=False),
    ),
    ".zip": _Format(("objects",)),
}


@hinted
def read_objects(
    file: Any,
    *,
    objects: str | Sequence[str] | None = None,
    labels: str | None = None,
    ids: str | None = None,
    time: str | None = None,
    channels_first: bool | None = None,
    kind: str | None = None,
    categories: str | Sequence[str] = (),
    series: bool | None = None,
    na_values: str | Sequence[str] | None = None,
    missing: str | None = None,
) -> LabelledObjects:
    r"""Read labelled objects from a file, whose ending gives the format, or from a table in memory.

    ================  ==========================================================================
    ending            objects and labels
    ================  ==========================================================================
    .ts               series and classes, see `read_ts`
    .arff             one relational attribute with numbers, one string attribute, or all numeric
                      attributes as a series; and a nominal attribute
    .csv, .tsv        a table with a header: a string, or a record, on each row; or, where a column
                      has the id of each row's series, a vector of a series; also .csv.gz, .tsv.gz
    .tsv, .txt        files of the UCR archive: on each line a class, then the values of a series,
                      without a header; NaN at the end of a line makes a shorter series
    .mat              a cell of strings or matrices, or an n x L matrix of n series; labels in a
                      row, a column or a cell
    .fasta, .fa,      sequences; the label is the last field of the header after ``|``, if each
    .fna, .faa, .fas  header has one and they repeat
    .parquet,         a table with the types of Arrow: a string, a list or a record on each row, or
    .feather          a vector of a series; see also `ParquetObjects`
    .zip, a folder    graphs, see `read_graphs`: the columns `codes` and, if nodes have
                      attributes, `attributes`, of sets
    .npz, .h5, .hdf5  arrays `values` and `offsets` (object i has the rows offsets[i] to
                      offsets[i + 1]), an array of n series (n, length[, channels]), or n strings
    ================  ==========================================================================

    The delimiter of a table is the one of comma, semicolon, tab and pipe that is in its first line
    and cuts all lines into as many fields; in a .tsv file tab comes before the others. The first
    line is the header. A table is refused if this line may be data: no argument names one of its
    columns, and it has a number, a field that is repeated below, or a single field without a usual
    name. A first column without a name (an index) names the rows, unless it counts them from 0;
    other columns without a name are left out. Blanks around a field do not count, but for those in
    quotes. An empty field is missing, also in quotes.

    A column means the same in each format, and in data frames and dicts. Dates are days since
    1970-01-01, times seconds since 1970-01-01 UTC (those without a zone count as UTC, which the
    result notes), durations and times of a day seconds, decimals and booleans numbers. In text
    all fields of a column must have the form: 2024-02-29; 2024-02-29 10:00:00.5 or
    2024-02-29T10:00+02:00; 1 days 02:00:00, 26:00:00 or P1DT2H; True or false. Columns of other
    types are named in a warning if they are not asked for.

    A .csv or .tsv file of numbers only is a file of the UCR archive if its name ends with _TRAIN or
    _TEST, or with ``series=True``.

    Labels have the types of their column; booleans stay booleans, dates are days. Nominal classes
    of .ts and .arff stay text. Labels of text files become numbers if all have one canonical form:
    whole, or with equally many decimals, or as short as they can be (so 1.1 and 1.10, or 1E2 and
    100, stay four labels). A nan, NA or inf, or nothing, among numbers is refused, and so is a
    decimal comma.

    Parameters
    ----------
    file : str, path, data frame or mapping
        The file; or a data frame of pandas or polars, a table of pyarrow, or a dict of columns.
        Levels of an index of pandas that have a name are columns.
    objects : str or sequence of str, optional
        The variable of a .mat, .npz or .h5 file; the column of strings or lists of a table; several
        columns of records, or columns of values of series. Default: the only column that can be;
        where there are several, one called X, objects, sequence, ...; for series all columns of
        numbers that have no other meaning; for graphs all columns.
    labels : str, optional
        The variable, the column or the attribute. Default: one called label, labels, class, y or
        target (in any case; of a table with axes, y beside z or beside numbers called x, y is an
        axis); for .arff also the only nominal one.
        For FASTA a regular expression with one group, which is searched in each header.
    ids : str, optional
        The column, the variable or the attribute with the names of the objects. Default: one
        called id, series or series_id (a variable: id or ids; an attribute: of text), or the index
        of pandas, unless it counts the rows from 0. Names that repeat say which series a row is of,
        unless the objects are strings, lists or records; then they are kept. A default without an
        entry in each row is not used. Ids of FASTA are the first words of headers.
    time : str, optional
        The column by which the rows of a series are put in order: numbers, dates, times or
        durations. Default: one called time, t, step or timestamp; without one, the order of the
        file.
    channels_first : bool, optional
        As for `d2ke.pack` and `load_objects`, for .mat and three-dimensional arrays. For relational
        attributes of .arff: True if a row of them is a channel (the UEA archive of series), False
        if it is a vector (multi-instance data).
    kind : {"series", "sets", "strings"}, optional
        The kind of the objects. Vectors are series, whose order counts, unless d2ke wrote the file
        as another kind, or ``kind="sets"``.
    categories : str or sequence of str, optional
        Columns among `objects` that hold labels of categories; the rows are records then. Columns
        of a categorical type are categories without that.
    series : bool, optional
        Whether each row of a table is a series: the columns `objects`, by default all of numbers
        that have no other meaning, are its steps. Empty fields at its end make it shorter.
    na_values : str or sequence of str, optional
        Fields of .csv and .tsv that are missing, such as ``"NA"``; in columns of numbers and dates
        NA, NaN, null and ? are, in others only empty fields.
    missing : "interpolate", optional
        Fill in missing values of series, as `d2ke_train` does; of a table with ids by its times.
        By default they are refused.

    Returns
    -------
    LabelledObjects
        The pair of the n objects and their labels. Objects are packed, and have the names as
        ``objects.ids``; several columns of which one holds strings or lists, or without ids that
        repeat, are `Records`; series of a long table are in the order in which they first appear.
        Labels are an ndarray of int64 (if all are whole numbers), float64, bool or str, or None if
        the file has none. Its printed form and its attribute `columns` list the columns or
        variables that were read.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    TypeError
        An argument that has no meaning for this format.
    ValueError
        An unknown ending, column or variable; several that may be meant; a value that is missing
        or not finite; labels that differ within a series, or are not as many as the objects. The
        message names the file, and the line and the column, or the variable.

    Examples
    --------
    >>> import os, tempfile
    >>> from d2ke.io import read_objects
    >>> file = os.path.join(tempfile.mkdtemp(), "genes.csv")
    >>> with open(file, "w", encoding="utf-8") as stream:
    ...     _ = stream.write("sequence,label\nACGT,coding\nTTTTA,other\n")
    >>> objects, labels = read_objects(file)
    >>> objects, labels.tolist()
    (<2 strings over 4 letters, lengths 4 to 5>, ['coding', 'other'])
    >>> table = {"name": ["Ada", "Bo"], "price": [1.5, None], "label": [0, 1], "note": ["x", "y"]}
    >>> read_objects(table, objects=["name", "price"])
    <2 records: name (strings), price (numbers, 1 missing); labels of 2 different values; objects
    from 'name', 'price'; labels from 'label'; not used: 'note'>
    """
    names = objects if isinstance(objects, (list, tuple, NoneType)) else (objects,)
    category_names = [categories] if isinstance(categories, str) else categories
    check_categories(names or (), category_names)
    columns = ColumnNames(names, labels, ids, time)
    kinds = dict.fromkeys(category_names, "categories") or None
    check_missing(missing)
    absent = [na_values] if isinstance(na_values, str) else na_values
    how = {"channels_first": channels_first, "series": series, "na_values": absent}
    return read_file(file, columns, how, kind=kind, kinds=kinds, missing=missing)


def check_categories(names: Sequence[str], category_names: Sequence[str]) -> None:
    """Refuse categories that are not among the columns of records."""
    for name in category_names:
        if name not in names:
            raise ArgumentError("categories", f"names {name!r}, which is not among the columns")


def read_file(
    file: Any,
    columns: ColumnNames,
    how: Mapping[str, Any] = MappingProxyType({}),
    earlier: ColumnNames = NOTHING,
    *,
    kind: str | None = None,
    streamed: bool = False,
    kinds: Mapping[str, str] | None = None,
    unlabelled: bool = False,
    missing: str | None = None,
) -> LabelledObjects:
    """Read labelled objects as `read_objects` does, with ids and the names of their columns.

    Where `columns` names nothing, the `earlier` names that the file has are used. With `streamed`,
    objects of a Parquet file stay there. With `kinds` of a model's columns, the named columns are
    records, even a single one. With `unlabelled`, rows of a table may have an empty label, and all
    labels are text. `how` has `channels_first`, `series` and `na_values`; those of an `earlier`
    file of the same format hold, too.
    """
    if kind is not None:
        choice("kind", kind, KINDS)
    suffix = _format_of(file)
    _check(columns, how, suffix)
    file_format = _FORMATS[suffix]
    form = file_format.name or suffix
    arguments = {name: value for name, value in how.items() if value is not None}
    if "na_values" in arguments:
        arguments["na_values"] = sorted(set(arguments["na_values"]))
    for name, value in earlier.how.items() if earlier.how.get("format") == form else ():
        if name in how and arguments.setdefault(name, value) != value:
            raise ArgumentError(
                name, f"is {arguments[name]!r}, but the model's file was read with {name}={value!r}"
            )
    options = {**arguments, "streamed": streamed, "unlabelled": unlabelled, "missing": missing}
    data = _read_file(file, suffix, columns, earlier, kind, kinds, options)
    if file_format.channels_first is not None and not getattr(data.objects, "has_letters", False):
        arguments.setdefault("channels_first", file_format.channels_first)
    if arguments or data.columns.how:
        how = {"format": form, **arguments, **data.columns.how}
        data.columns = replace(data.columns, how=how)
    base = getattr(data.objects, "base", data.objects.kind)
    if missing is not None and not data.filled and base in ("series", "records"):
        objects, counts = fill_missing(data.objects, str(file) if suffix else "the table")
        data = data.with_objects(objects)
        data.filled = counts
    if kind in (None, data.objects.kind):
        return data
    objects = None if data.objects.kind == "records" else as_kind(data.objects, kind)
    if objects is None and KINDS[kind].read is not None and isinstance(data.objects, Objects):
        objects = with_ids(pack(list(data.objects), kind=kind, name=str(file)), data.objects.ids)
    if objects is None:
        raise ArgumentError("kind", f"is {kind!r}, but {file} holds {data.objects.kind}")
    return data.with_objects(objects)


def _read_file(
    file: Any,
    suffix: str,
    columns: ColumnNames,
    earlier: ColumnNames,
    kind: str | None,
    kinds: Mapping[str, str] | None,
    how: Mapping[str, Any],
) -> LabelledObjects:
    in_rows = bool(how.get("series"))
    if suffix:
        path = file_path("file", file)
        if suffix == ".zip" and "categories" not in (kinds or {}).values():
            return read_codes(path, columns, earlier, kinds is not None)
        if _FORMATS[suffix].name != "table":
            if kinds is not None:
                tables = [end for end, row in _FORMATS.items() if end and row.name == "table"]
                raise ValueError(f"{path} must end in {', '.join(tables)} to have columns")
            read = _FORMATS[suffix].read
            assert read is not None
            return read(path, columns, how, earlier)
        if _FORMATS[suffix] is _TEXT and not columns.explicit:
            headless = read_headless(path, earlier, in_rows)
            if headless is not None:
                return headless
    table = open_columns(file, columns, earlier, how)
    assert table is not None
    roles = find_roles(table, columns, earlier, kinds is not None, in_rows)
    if how["streamed"] and suffix == ".parquet" and roles.form == "objects":
        (column,) = roles.columns.objects or ()
        opened = ParquetObjects(
            path, objects=column, labels=roles.columns.labels, ids=roles.columns.rows, kind=kind
        )
        return LabelledObjects(opened, opened.labels, columns=opened.columns)
    uses = {**(kinds or {}), **earlier.uses}
    return read_roles(table, roles, uses, kind, how["missing"], how["unlabelled"])


def open_columns(
    file: Any,
    columns: ColumnNames,
    earlier: ColumnNames = NOTHING,
    how: Mapping[str, Any] = MappingProxyType({}),
) -> Table | None:
    """Return the columns of a file or of a table in memory; None for a format without columns.

    `how` may have ``na_values``, and ``series``: numbers in the first line are names then.
    """
    suffix = _format_of(file)
    if not suffix:
        name = "the dict" if isinstance(file, Mapping) else "the data frame"
        levels = getattr(getattr(file, "index", None), "names", ())
        entries, index = columns_of(file, name, levels), index_level(file)
        if index is not None and index.name is None:
            entries = {"": index.to_series(), **entries}
        level = arrow_index(file) if index is None else index.name or ""
        table = Table(name, entries, index=level)
        check_lengths({column: len(table.typed(column)) for column in table.names}, name)
        return table
    path = file_path("file", file)
    if suffix in (".parquet", ".feather"):
        return open_arrow(path, suffix)
    if _FORMATS[suffix] is not _TEXT:
        return None
    return open_table(path, columns, earlier, how.get("na_values") or (), bool(how.get("series")))


def _format_of(file: Any) -> str:
    """Return the ending that gives the format of a file, "" for a table in memory."""
    if is_table(file):
        return ""
    path = file_path("file", file)
    if is_folder_of_graphs(path):
        return ".zip"
    name = path.name.lower()
    packed = [end + more for end, row in _FORMATS.items() if row.packed for more in (".gz", ".zip")]
    suffix = next((end for end in (*packed, *_FORMATS) if end and name.endswith(end)), "")
    suffix = suffix.removesuffix(".gz").removesuffix(".zip") or suffix
    if name.endswith(("_train", "_test")):  # of the UCR archive, before 2018
        suffix = ".txt"
    if not suffix:
        ends = ", ".join(filter(None, _FORMATS))
        raise ValueError(f"{path} must end in {ends}; pandas writes other tables as .parquet")
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    return ".csv" if suffix == ".txt" and has_columns(path) else suffix


def _check(columns: ColumnNames, how: Mapping[str, Any], suffix: str) -> None:
    """Refuse arguments that have no meaning for a format, and names that are not strings."""
    what = f"a {suffix} file" if suffix else "a table in memory"
    for name, value in (*columns.explicit, *how.items()):
        if value is not None and name not in _FORMATS[suffix].arguments:
            raise ArgumentTypeError(name, f"has no meaning for {what}; got {value!r}")
        if name not in how and not isinstance(value, str):
            raise ArgumentTypeError(name, f"must be a string, got {value!r}")
    if suffix != ".zip" and _FORMATS[suffix].name != "table" and len(columns.objects or ()) > 1:
        raise ArgumentTypeError(
            "objects", f"must name one variable of {what}, got {columns.objects!r}"
        )
