# SPDX-License-Identifier: BSD-3-Clause
"""`pack`: readers of containers turn items into `Objects`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from d2ke._base.checks import choice, flag
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.keywords import hinted
from d2ke._base.labels import entries_of
from d2ke.objects.arrow_columns import read_column
from d2ke.objects.arrow_packing import read_chunks
from d2ke.objects.compatibility import refuse_missing, weights_of_items, with_weights
from d2ke.objects.container import (
    Objects,
    WeightedVectors,
    as_kind,
    check_arrays,
    with_fields,
)
from d2ke.objects.kinds import KINDS
from d2ke.objects.layouts import LAYOUTS, Layout, from_xarray, is_xarray
from d2ke.objects.long_tables import series_of_frame
from d2ke.objects.strings import read_strings
from d2ke.objects.tables import index_ids, read_ids, with_ids
from d2ke.objects.tokens import is_token_list
from d2ke.objects.values import channel_names, list_of
from d2ke.objects.vectors import (
    is_padded,
    read_padded,
    read_vectors,
    rows_of,
)


@hinted
def pack(
    items: Any,
    *,
    kind: str | None = None,
    lengths: Any = None,
    channels_first: bool | None = None,
    weights: Any = None,
    missing: bool | str = False,
    layout: str | None = None,
    ids: Any = None,
    time: str | None = None,
    channels: Sequence[str] | None = None,
    name: str = "items",
) -> Objects:
    """Pack objects of unequal sizes into one contiguous, immutable collection.

    Parameters
    ----------
    items : Objects, sequence or ndarray
        - `Objects`: returned as they are, or with `weights`;
        - a sequence of (length, dim) arrays, or of 1-D arrays (dim = 1):
          series or sets of vectors; single objects of a weighted collection
          bring their weights;
        - a sequence of `str`, or of `bytes`, or (with ``kind="strings"``) of
          1-D integer arrays: strings;
        - a sequence of lists of `str` (words, states, codes) or, with ``kind="strings"``, of lists
          of `str`, `bytes`, `int`, `bool`, None and tuples thereof: strings of such tokens;
        - an object array such as `scipy.io.loadmat` gives for a cell: as the
          sequence of its elements (a row or a column);
        - a numeric (n, length) or (n, length, dim) array: n series of equal
          length, or of the given `lengths`; a DataArray of xarray, in which the
          dimension called time is the length;
        - a column of polars, pandas, pyarrow, awkward or anything that has Arrow's
          interface: strings, lists of numbers, lists of lists of numbers (series or
          sets of several channels), lists of strings (tokens), as `Objects.to_arrow`
          writes them. Needs pyarrow, see docs/containers.md;
        - a data frame of pandas or polars or a table of pyarrow, with the name of its
          column of `ids`.
    kind : {"series", "sets", "strings"} or str, optional
        What the objects are; kinds of `add_kind` read their items. Vectors are series, whose
        order counts, unless ``kind="sets"`` or there are weights: then distances, models and their
        defaults are for sets. Integer sequences are series of one channel
        unless ``kind="strings"``, which tokens that are not text need, too.
    lengths : array_like of int, shape (n,), optional
        For a padded (n, length[, dim]) array: how much of each row counts.
    channels_first : bool, optional
        True: 2-D items are (dim, length), as in the authors' MATLAB cells. False:
        they are (length, dim). None, the default: as False, with a warning where
        every item has the same shape of more channels than vectors, as series of
        equal length have with channels first.
    weights : sequence of array_like, optional
        For sets of vectors: one 1-D array for each object, or a cell of rows or
        columns, with a weight for each vector; finite, >= 0, and of a sum > 0.
        In a numeric array that goes with padded items and `lengths`, as much of
        each row counts as of the items. Only some distances use weights; all others
        refuse them.
    missing : bool
        Whether NaN stands for values that are missing, and is kept; so do nulls in lists of
        numbers of Arrow columns. Such objects are for ``distance="dtw"`` with
        ``missing="arow"``, or `d2ke_train` with ``missing="interpolate"``; all else refuses
        them. For a data frame with `ids`, "interpolate" fills them in, linearly by `time`; the ends
        are repeated.
    layout : {"aeon", "tslearn"}, optional
        Series as another library has them. ``"aeon"``: an array (n, channels, length) or
        (n, length), or a list of arrays (channels, length). ``"tslearn"``: an array
        (n, length, channels), in which NaN fills the end of shorter series.
    ids : sequence of int or str, shape (n,), or str, optional
        The names of the objects, kept as ``X.ids``; they need not differ. Default: the ids of
        `Objects`, and the index of a column of pandas, unless it counts the rows from 0, has
        several levels or a gap. For a data frame with a vector of a series on each row: the column
        with the name of the series. Series are in the order in which they first appear.
    time : str, optional
        For a data frame with `ids`: the column by which the rows of a series are ordered (default:
        as they are).
    channels : sequence of str, optional
        For a data frame with `ids`: the columns of the channels. Default: all but `ids`, `time` and
        an index that a file was written with; an error asks which are meant where a column may be
        one of labels or targets.
    name : str
        What errors call the argument.

    Returns
    -------
    Objects
        float32 items stay float32, float16 become float32, other numbers and
        booleans float64; where both occur, all are float64. Nothing is rounded.
        Letters become indices into an alphabet. Weights are kept as float64. Columns of data
        frames, fields of structured arrays and of Arrow's structs, and the coordinate of the
        channels in xarray name the channels, see `Objects`; items are matched by these names.

    Raises
    ------
    ImportError
        An Arrow column without pyarrow.
    TypeError
        Items of types that are not understood or do not mix (`bytes` among
        `str`, complex numbers, a `str` instead of a sequence of them); tokens that
        are unhashable, floats or of types that no file can hold; nulls of Arrow
        columns.
    ValueError
        No items; two channels of one name, items whose channels have other names; infinity, or NaN
        without `missing` (naming the item and the position); different numbers of channels;
        integers that float64 cannot hold; wrong shapes or lengths; weights or ids that do not fit
        the objects; a missing id.

    Warns
    -----
    UserWarning
        Items that may be (dim, length), see `channels_first`.

    Examples
    --------
    >>> import numpy as np
    >>> import d2ke
    >>> d2ke.pack([np.zeros((5, 3)), np.ones((8, 3))])
    <2 series of 3-dimensional vectors, float64, lengths 5 to 8>
    >>> d2ke.pack(["AC", "GATTACA"])
    <2 strings over 4 letters, lengths 2 to 7>
    >>> d2ke.pack(["AC", "GATTACA"], ids=["gene 1", "gene 2"]).ids.tolist()
    ['gene 1', 'gene 2']
    >>> d2ke.pack([["the", "cat"], ["the"]])[0]
    ['the', 'cat']
    >>> d2ke.pack(np.zeros((2, 6, 3)), lengths=[6, 4]).lengths
    array([6, 4])
    >>> d2ke.pack([np.zeros((2, 3)), np.ones((1, 3))], weights=[[0.25, 0.75], [1]]).weights
    array([0.25, 0.75, 1.  ])
    """
    if kind is not None:
        choice("kind", kind, KINDS)
    explicit = channels_first is not None
    if layout is not None:
        choice("layout", layout, LAYOUTS)
        if explicit or lengths is not None or kind == "strings":
            other = "kind='strings'" if lengths is None else "lengths"
            other = "channels_first" if explicit else other
            raise TypeError(f"{other} does not go with layout={layout!r}, which says how {name} is")
        items, lengths, channels_first = LAYOUTS[layout](items, name)
        explicit, kind = True, kind or ("series" if weights is None else "sets")
    if isinstance(ids, str):
        if missing != "interpolate":
            flag("missing", missing)
        items, ids = series_of_frame(items, ids, time, channels, name, missing), None
        missing = items.missing
    else:
        for option, value in (("time", time), ("channels", channels)):
            if value is not None:
                raise ArgumentError(option, "is for the series of a data frame, with ids")
    first = explicit and flag("channels_first", channels_first)
    reading = Layout(first, explicit, missing=flag("missing", missing), lengths=lengths)
    objects = pack_items(items, reading, name, kind, weights)
    names = index_ids(items) if ids is None else read_ids(ids, len(objects), of=name)
    packed: Objects = with_ids(objects, names)
    return packed


def as_objects(name: str, items: Any, kind: str | None = None, missing: bool = False) -> Objects:
    """Pack an argument of a function that takes what `pack` takes.

    Parameters
    ----------
    name : str
        The argument's name, for errors.
    items : Objects or what `pack` takes
        The argument; Objects are returned as they are.
    kind : {"series", "sets", "strings"}, optional
        The kind that is needed; None for any.
    missing : bool
        Whether NaN stands for values that are missing.
    """
    layout = Layout(advice=f"pack({name}, channels_first={{}})", missing=missing)
    return pack_items(items, layout, name, kind)


def pack_items(
    items: Any, layout: Layout, name: str, kind: str | None = None, weights: Any = None
) -> Objects:
    """Pack the items of `pack`; its other arguments are checked and in the layout.

    Items with weights become sets, packed items are only checked, and the reader of their container
    reads all others; a container without a reader becomes a list.
    """
    row = KINDS[kind] if kind else None
    if row is not None and row.read is not None and not isinstance(items, Objects):
        read = []
        for i, item in enumerate(list_of(name, items)):
            try:
                read.append(row.read(item))
            except Exception as error:
                error.add_note(f"{name}[{i}] was read as one of {kind}")
                raise
        return with_fields(pack_items(read, layout, name, row.stands_for[0], weights), kind=kind)
    if weights is not None:
        _refuse_series(kind, name)
        masses = _masses(weights, layout.lengths)
        if layout.lengths is None:
            layout = layout._replace(explicit=True)  # weights fit one reading only
        objects = pack_items(items, layout._replace(weighted=True), name, kind)
        return with_weights(objects, masses, name)
    if isinstance(items, Objects):
        if layout.lengths is not None or layout.channels_first:
            raise ArgumentTypeError(
                name, "is packed already: lengths and channels_first do not apply"
            )
        packed = items if kind is None else as_kind(items, kind)
        if packed is None:
            raise ArgumentTypeError(name, f"holds {items.kind}, but {kind} are needed")
        if items.missing and not layout.missing:
            refuse_missing(items, name)
        return packed
    if isinstance(items, (list, tuple)):
        objects = read_sequence(items, layout, name, kind)
    elif isinstance(items, np.ndarray):
        objects = read_array(items, layout, name, kind)
    elif is_xarray(items):
        objects = read_xarray(items, layout, name, kind)
    elif (column := read_column(items, name)) is None:
        objects = read_sequence(list_of(name, items), layout, name, kind)
    elif layout.channels_first or layout.lengths is not None:
        objects = read_sequence(column.to_pylist(), layout, name, kind)
    else:
        objects = read_chunks(column, layout, name, kind)
    # Arrays of strings are made by their readers.
    return objects if objects.has_letters else check_arrays(objects)


def _masses(weights: Any, lengths: Any = None) -> Objects:
    """Read the weights, one array for each object, as sets of numbers."""
    column = read_column(weights, "weights")
    if column is not None:
        return as_objects("weights", column, "sets")
    if lengths is not None and is_padded(weights):
        return pack_items(weights, Layout(lengths=lengths), "weights", "sets")
    if isinstance(weights, np.ndarray) and weights.dtype.kind == "O":
        if weights.size > max(weights.shape, default=1):
            raise ArgumentError(
                "weights", f"must be a row or a column of arrays, got shape {weights.shape}"
            )
        weights = weights.ravel()
    # Weights from MATLAB are rows or columns.
    return as_objects("weights", list(map(np.ravel, list_of("weights", weights))), "sets")


# ------------------------------------------------------------------------------ readers


def read_sequence(items: Any, layout: Layout, name: str, kind: str | None) -> Objects:
    """Read a list or a tuple of strings, tokens, arrays, or single objects with weights."""
    if layout.lengths is not None:
        raise TypeError(f"lengths goes with a padded array of numbers, but {name} is a sequence")
    if not items:
        raise ArgumentError(name, "is empty: at least one object is needed")
    if kind in (None, "strings") and hasattr(items[0], "to_list"):
        first = entries_of(items[0])
        if isinstance(first, list) and first and isinstance(first[0], str):
            items = list(map(entries_of, items))  # columns of words are strings of tokens
    weights = None
    if WeightedVectors in set(map(type, items)) and not layout.weighted:
        weights = weights_of_items(items, name)
    if weights is not None:
        _refuse_series(kind, name)
        layout = layout._replace(explicit=True)
    if kind is None:
        filled = next((x for x in items if not isinstance(x, (list, tuple)) or x), items[0])
        text = isinstance(items[0], (str, bytes)) or is_token_list(filled)
        kind = "strings" if text else "series"
    if kind != "strings":
        objects = read_vectors(items, layout, name, kind)
        return objects if weights is None else with_weights(objects, _masses(weights), name)
    if layout.channels_first:
        raise TypeError(f"channels_first does not apply to strings, which {name} holds")
    return read_strings(items, name)


def read_array(items: Any, layout: Layout, name: str, kind: str | None) -> Objects:
    """Read an array: a padded one of numbers, or a row or a column of objects."""
    if is_padded(items):
        if kind != "strings":
            return read_padded(items, layout, name, kind or "series")
        rows = rows_of(items, layout, name)
        return read_sequence(rows, layout._replace(lengths=None), name, kind)
    if items.size > max(items.shape, default=1):
        raise ArgumentError(name, f"must be a row or a column of objects, got shape {items.shape}")
    return read_sequence([_uncell(item) for item in items.ravel()], layout, name, kind)


def read_xarray(items: Any, layout: Layout, name: str, kind: str | None) -> Objects:
    """Read a DataArray of xarray, with the names of its channels."""
    objects = read_array(from_xarray(items, name), layout, name, kind)
    if objects.has_letters or items.ndim < 3 or layout.channels_first:
        return objects
    channels = [dim for dim in items.dims if dim != "time"][-1]
    return with_fields(objects, channel_names=channel_names(items.indexes.get(channels), name))


def _refuse_series(kind: str | None, name: str) -> None:
    if kind is not None and KINDS[kind].base == "series":
        raise ArgumentTypeError(name, "has weights, which go with sets, but series are needed")


def _uncell(item: Any) -> Any:
    """Turn a character array, which loadmat gives for a string in a cell, into str."""
    if isinstance(item, np.ndarray) and item.dtype.kind == "U":
        if item.size > 1:
            raise ValueError(f"a cell holds {item.size} rows of characters; one was expected")
        return str(item.item()) if item.size else ""
    return item
