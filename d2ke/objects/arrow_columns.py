# SPDX-License-Identifier: BSD-3-Clause
"""Conversion of other libraries' columns to Arrow arrays without copies, and of Objects."""

from __future__ import annotations

import ast
import importlib.util
import json
from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentTypeError

CHANNEL_NAMES = "d2ke channel names"  # a JSON list, in the metadata of the type of the vectors


def pyarrow(reason: str) -> Any:
    """Return the module; the error explains how to install it."""
    try:
        importlib.import_module("pyarrow.compute")
        return importlib.import_module("pyarrow")
    except ImportError:
        raise ImportError(f"{reason} needs pyarrow: pip install 'd2ke[arrow]'") from None


def read_column(items: Any, name: str) -> Any:
    """Return a column that pyarrow reads as a chunked array; None for anything else.

    Without pyarrow, columns that can be listed (polars, awkward, pandas) are not read as columns.
    """
    if isinstance(items, (list, tuple, np.ndarray)) or hasattr(items, "columns"):
        return None
    items = getattr(items, "array", None) if _module(items) == "pandas" else items
    if _module(items) == "polars" and str(getattr(items, "dtype", "")) == "Object":
        return None  # Arrow sees addresses of Python objects there
    signs = ("__arrow_c_stream__", "__arrow_c_array__", "__arrow_array__")
    if not (any(hasattr(items, sign) for sign in signs) or _is_old(items)):
        return None
    listed = hasattr(items, "to_list") or hasattr(items, "tolist")
    if listed and importlib.util.find_spec("pyarrow") is None:
        return None
    pa = pyarrow(f"{name}, an Arrow column,")
    column = _imported(pa, items, name)
    return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])


def _imported(pa: Any, items: Any, name: str) -> Any:
    """Return an array or a chunked array of pyarrow over the column's data."""
    if isinstance(items, (pa.Array, pa.ChunkedArray)):
        return items
    if _is_old(items):
        return items.to_arrow()
    major = int(pa.__version__.partition(".")[0])
    try:
        # Streams, and the letters that polars exports, are known since version 16.
        if hasattr(items, "__arrow_c_stream__") and major >= 16:
            return pa.chunked_array(items)
        if hasattr(items, "__arrow_c_stream__") and _module(items) == "polars":
            return items.to_arrow()
        return pa.array(items)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise ArgumentTypeError(
            name, f"is a {type(items).__name__} that pyarrow {pa.__version__} cannot read: {error}"
        ) from None


def _module(items: Any) -> str:
    return type(items).__module__.partition(".")[0]


def _is_old(items: Any) -> bool:
    """Return whether items are a column of a polars or a pyarrow without Arrow streams."""
    method = {"polars": "to_arrow", "pyarrow": "chunks"}.get(_module(items), "")
    return hasattr(items, method) and not hasattr(items, "__arrow_c_stream__")


def plain(array: Any) -> Any:
    """Return the array without dictionaries and byte views."""
    pa = pyarrow("an Arrow column")
    if isinstance(array, pa.ChunkedArray):
        chunks = array.chunks or [pa.nulls(0, array.type)]
        return pa.chunked_array(list(map(plain, chunks)))
    types = pa.types
    if types.is_dictionary(array.type):
        values = plain(array.dictionary)
        if types.is_string(values.type):
            values = values.cast(pa.large_string())  # 32 bits may not count their copies
        array = values.take(array.indices)
    name = str(array.type)
    if name == "string_view":
        return array.cast(pa.large_string())
    if name == "binary_view" or name.startswith("fixed_size_binary"):
        return array.cast(pa.large_binary())
    return array


def first_null(array: Any) -> int | None:
    """Return the index of the first null, None if there is none."""
    return int(np.asarray(array.is_null()).argmax()) if array.null_count else None


def arrow_array(objects: Any) -> Any:
    """Implement `Objects.to_arrow`."""
    pa = pyarrow("Objects.to_arrow")
    offsets = pa.array(objects.offsets)
    if not objects.has_letters:
        vectors, names = pa.array(objects.values.reshape(-1)), objects.channel_names
        if objects.dim > 1:
            vectors = pa.FixedSizeListArray.from_arrays(vectors, objects.dim)
        if objects.weights is not None:
            fields = [vectors, pa.array(objects.weights)]
            vectors = pa.StructArray.from_arrays(fields, ["vector", "weight"])
        metadata = None if names is None else {CHANNEL_NAMES: json.dumps(names)}
        kind = pa.large_list(pa.field("item", vectors.type, metadata=metadata))
        buffers = [None, pa.py_buffer(objects.offsets)]
        return pa.Array.from_buffers(kind, len(objects), buffers, children=[vectors])
    if objects.letters == "int":
        return pa.LargeListArray.from_arrays(offsets, pa.array(objects.alphabet[objects.values]))
    if objects.letters == "token":
        return pa.LargeListArray.from_arrays(offsets, _tokens(pa, objects))
    alphabet, in_bytes = objects.alphabet, objects.letters == "bytes"
    if in_bytes or alphabet.max(initial=0) < 128:
        text = pa.py_buffer(alphabet.astype(np.uint8)[objects.values])
        kind = pa.large_binary() if in_bytes else pa.large_string()
        buffers = [None, pa.py_buffer(objects.offsets), text]
        return pa.Array.from_buffers(kind, len(objects), buffers, 0)
    items = list(objects)
    try:
        return pa.array(items, pa.large_string())
    except UnicodeEncodeError as error:
        raise ValueError(
            f"objects[{items.index(error.object)}] has the lone surrogate "
            f"{error.object[error.start]!r}, which UTF-8 cannot hold"
        ) from None


def _tokens(pa: Any, objects: Any) -> Any:
    """Return all tokens, which must be all str or all bytes."""
    tokens = [ast.literal_eval(entry.decode("ascii")) for entry in objects.alphabet.tolist()]
    kinds = {type(token) for token in tokens}
    if not (kinds <= {str} or kinds == {bytes}):
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise TypeError(
            f"the tokens are of the types {names}; an Arrow array holds tokens of str, or of bytes"
        )
    alphabet = pa.array(tokens, pa.large_binary() if kinds == {bytes} else pa.large_string())
    codes = pa.array(objects.values.astype(np.int64))
    return alphabet.take(codes)
