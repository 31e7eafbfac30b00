# SPDX-License-Identifier: BSD-3-Clause
"""Lists, arrays and cells packed into Objects."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from d2ke._base.checks import choice, flag
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke.objects.arrow_columns import read_column
from d2ke.objects.arrow_import import is_tensor, pack_column, tensors
from d2ke.objects.container import OBJECT_KINDS, Objects, of_kind, refuse_missing
from d2ke.objects.layouts import LAYOUTS, from_layout, from_xarray
from d2ke.objects.long_tables import series_of_frame
from d2ke.objects.readings import Layout
from d2ke.objects.string_packing import pack_strings, pack_texts
from d2ke.objects.tokens import is_token_list
from d2ke.objects.values import list_of, refuse_table
from d2ke.objects.vector_packing import pack_vectors, with_weights
from d2ke.objects.weighted_vectors import WeightedVectors, weights_of_items

_TEXTS = ({str}, {bytes})


def pack(
    items: Any,
    *,
    kind: str | None = None,
    lengths: Any = None,
    channels_first: bool | None = None,
    weights: Any = None,
    missing: bool = False,
    layout: str | None = None,
    ids: str | None = None,
    time: str | None = None,
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
          of `str`, `bytes`, `int`, `bool`, None and tuples of them: strings of such tokens;
        - an object array such as `scipy.io.loadmat` gives for a cell: as the
          sequence of its elements (a row or a column);
        - a numeric (n, length) or (n, length, dim) array: n series of equal
          length, or of the given `lengths`; a DataArray of xarray, in which the
          dimension called time is the length;
        - a column of polars, pandas, pyarrow, awkward or anything that has Arrow's
          interface: strings, lists of numbers, lists of lists of numbers (series or
          sets of several channels), lists of strings (tokens), as `Objects.to_arrow`
          writes them. Needs pyarrow, see docs/containers.md;
        - a data frame of pandas or polars or a table of pyarrow, with `ids`.
    kind : {"series", "sets", "strings"}, optional
        What the objects are. Vectors are series, whose order counts, unless
        ``kind="sets"`` or there are weights: then distances, models and their
        defaults are those of sets. Integer sequences are series of one channel
        unless ``kind="strings"``, which tokens that are not text need, too.
    lengths : array_like of int, shape (n,), optional
        For a padded (n, length[, dim]) array: how much of each row counts.
    channels_first : bool, optional
        True: 2-D items are (dim, length), as in the authors' MATLAB cells. False:
        they are (length, dim). None, the default: as False, with a warning where
        every item has the same shape of more channels than vectors, which is what
        series of equal length look like with channels first.
    weights : sequence of array_like, optional
        For sets of vectors: one 1-D array for each object, or a cell of rows or
        columns, with a weight for each vector; finite, >= 0, and of a sum > 0.
        Of a numeric array that goes with padded items and `lengths`, as much of
        each row counts. Only some distances use weights, the others refuse
        them.
    missing : bool
        Whether NaN stands for values that are missing, and is kept; so do nulls in lists of
        numbers of Arrow columns. Such objects are for ``distance="dtw"`` with
        ``missing="arow"``; all else refuses them.
    layout : {"aeon", "tslearn"}, optional
        Series as another library has them. ``"aeon"``: an array (n, channels, length) or
        (n, length), or a list of arrays (channels, length). ``"tslearn"``: an array
        (n, length, channels), in which NaN fills the end of shorter series.
    ids, time : str, optional
        For a data frame with a vector of a series on each row: the columns that say of which
        series, and in which order (default: that of the rows). All other columns are channels.
        Series are in the order in which they first appear.
    name : str
        What errors call the argument.

    Returns
    -------
    Objects
        float32 items stay float32, float16 become float32, other numbers and
        booleans float64; where both occur, all are float64. Nothing is rounded.
        Letters become indices into an alphabet. Weights are kept as float64.

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
        No items; infinity, or NaN without `missing` (naming the item and the position); different
        numbers of channels; integers that float64 cannot hold; wrong shapes or
        lengths; weights that do not fit the objects.

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
    >>> d2ke.pack([["the", "cat"], ["the"]])[0]
    ['the', 'cat']
    >>> d2ke.pack(np.zeros((2, 6, 3)), lengths=[6, 4]).lengths
    array([6, 4])
    >>> d2ke.pack([np.zeros((2, 3)), np.ones((1, 3))], weights=[[0.25, 0.75], [1]]).weights
    array([0.25, 0.75, 1.  ])
    """
    if kind is not None:
        choice("kind", kind, OBJECT_KINDS)
    explicit = channels_first is not None
    if layout is not None:
        choice("layout", layout, LAYOUTS)
        if explicit or lengths is not None or kind == "strings":
            other = "kind='strings'" if lengths is None else "lengths"
            other = "channels_first" if explicit else other
            raise TypeError(f"{other} does not go with layout={layout!r}, which says how {name} is")
        items, lengths, channels_first = from_layout(items, layout, name)
        explicit, kind = True, kind or ("series" if weights is None else "sets")
    if ids is not None:
        items = series_of_frame(items, ids, time, name, flag("missing", missing))
        explicit, channels_first = True, False
    elif time is not None:
        raise ArgumentError("time", "is for the series of a data frame, with ids")
    first = explicit and flag("channels_first", channels_first)
    reading = Layout(first, explicit, missing=flag("missing", missing))
    return pack_items(items, reading, name, kind, lengths, weights)


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
    advice = f"pack({name}, channels_first={{}})"
    return pack_items(items, Layout(advice=advice, missing=missing), name, kind)


def pack_items(
    items: Any,
    layout: Layout,
    name: str,
    kind: str | None = None,
    lengths: Any = None,
    weights: Any = None,
) -> Objects:
    """Find the layout of items, and call its packer; the arguments are those of `pack`, checked."""
    types = set(map(type, items)) if type(items) in (list, tuple) else set()
    plain = weights is lengths is None and not layout.channels_first
    if plain and types in _TEXTS and kind in (None, "strings"):
        return pack_texts(items, types.pop().__name__)
    if weights is None and (WeightedVectors in types if types else not isinstance(items, Objects)):
        weights = weights_of_items(items, name)
    if weights is None:
        return _unweighted(items, layout, name, kind, lengths)
    if kind == "series":
        raise ArgumentTypeError(name, "has weights, which go with sets, but series are needed")
    column = read_column(weights, "weights")
    if column is not None:
        weights = [masses.ravel() for masses in as_objects("weights", column, "sets")]
    elif hasattr(weights, "to_list"):  # a column of Python objects
        weights = weights.to_list()
    if lengths is not None and _is_padded(weights):
        weights = _trim(weights, lengths, False, "weights")
    else:
        layout = replace(layout, explicit=True)  # weights fit one reading only
    return with_weights(_unweighted(items, layout, name, kind, lengths), weights, name)


def _unweighted(items: Any, layout: Layout, name: str, kind: str | None, lengths: Any) -> Objects:
    """Pack items as they are."""
    if isinstance(items, Objects):
        if lengths is not None or layout.channels_first:
            raise ArgumentTypeError(
                name, "is packed already: lengths and channels_first do not apply"
            )
        objects = items if kind is None else of_kind(items, kind)
        if objects is None:
            raise ArgumentTypeError(name, f"holds {items.kind}, but {kind} are needed")
        if items.missing and not layout.missing:
            refuse_missing(items, name)
        return objects
    if not isinstance(items, (list, tuple, np.ndarray)):
        items = from_xarray(items, name)
        column = read_column(items, name)
        if column is None:
            pass
        elif is_tensor(column.type):
            items = tensors(column, name)
        elif layout.channels_first or lengths is not None:
            items = column.to_pylist()
        else:
            objects, weights = pack_column(column, layout, name, kind)
            return objects if weights is None else with_weights(objects, weights, name)
    padded = items.shape[1:] if _is_padded(items) else None
    items = _as_list(items, lengths, layout.channels_first, name)
    if kind is None:
        first = next((one for one in items if not isinstance(one, (list, tuple)) or one), items[0])
        text = isinstance(items[0], (str, bytes))
        text = text or (not _is_padded(first) and is_token_list(first))
        kind = "strings" if text else "series"
    if kind != "strings":
        return pack_vectors(items, layout, name, kind, padded)
    if layout.channels_first:
        raise TypeError(f"channels_first does not apply to strings, which {name} holds")
    return pack_strings(items, name)


def _as_list(items: Any, lengths: Any, channels_first: bool, name: str) -> list[Any]:
    """Return any collection that `pack` takes as a list of items."""
    refuse_table(name, items)
    padded = _is_padded(items)
    if lengths is not None and not padded:
        raise TypeError(f"lengths goes with a padded array of numbers, but {name} is a sequence")
    if padded:
        if items.ndim not in (2, 3):
            raise ArgumentError(
                name,
                f"must be a sequence of objects or an (n, length[, dim]) array, got an "
                f"array of shape {items.shape}",
            )
        if lengths is not None:
            items = _trim(items, lengths, channels_first and items.ndim == 3, name)
    elif isinstance(items, np.ndarray):
        if items.size > max(items.shape, default=1):
            raise ArgumentError(
                name, f"must be a row or a column of objects, got shape {items.shape}"
            )
        items = [_uncell(item) for item in items.ravel()]
    return list_of(name, items)


def _is_padded(items: Any) -> bool:
    return isinstance(items, np.ndarray) and items.dtype.kind not in "OUST"


def _uncell(item: Any) -> Any:
    """Turn a character array, which loadmat gives for a string in a cell, into str."""
    if isinstance(item, np.ndarray) and item.dtype.kind == "U":
        if item.size > 1:
            raise ValueError(f"a cell holds {item.size} rows of characters; one was expected")
        return str(item.item()) if item.size else ""
    return item


def _trim(array: np.ndarray, lengths: Any, channels_first: bool, name: str) -> list[np.ndarray]:
    lengths = np.asarray(lengths)
    if lengths.shape != (len(array),) or lengths.dtype.kind not in "iu":
        raise ValueError(
            f"lengths must be {len(array)} integers, one for each row of {name}; got "
            f"{lengths.dtype} of shape {lengths.shape}"
        )
    if array.ndim < 2:
        raise ArgumentError(name, f"must be padded, one row for each object; got {array.shape}")
    longest = array.shape[2] if channels_first else array.shape[1]
    wrong = np.flatnonzero((lengths < 0) | (lengths > longest))
    if wrong.size:
        i = wrong[0]
        raise ValueError(f"lengths[{i}] must be between 0 and {longest}, got {lengths[i]}")
    return [
        row[..., :n] if channels_first else row[:n] for row, n in zip(array, lengths, strict=True)
    ]
