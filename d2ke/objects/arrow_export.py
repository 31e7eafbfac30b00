# SPDX-License-Identifier: BSD-3-Clause
"""Objects as Arrow arrays, in place where the layouts agree."""

from __future__ import annotations

import ast
import json
from typing import Any

import numpy as np

from d2ke.objects.arrow_columns import pyarrow

_LETTERS = 1 << 22  # that are encoded in one go
CHANNEL_NAMES = "d2ke channel names"  # a JSON list, in the metadata of the type of the vectors


def arrow_array(objects: Any) -> Any:
    """Return what `Objects.to_arrow` does."""
    pa = pyarrow("Objects.to_arrow")
    offsets = pa.array(objects.offsets)
    if objects.kind != "strings":
        vectors, names = _vectors(pa, objects), objects.channel_names
        metadata = None if names is None else {CHANNEL_NAMES: json.dumps(names)}
        kind = pa.large_list(pa.field("item", vectors.type, metadata=metadata))
        buffers = [None, pa.py_buffer(objects.offsets)]
        return pa.Array.from_buffers(kind, len(objects), buffers, children=[vectors])
    if objects.letters == "int":
        return pa.LargeListArray.from_arrays(offsets, pa.array(objects.alphabet[objects.values]))
    if objects.letters == "token":
        return pa.LargeListArray.from_arrays(offsets, _tokens(pa, objects))
    kind = pa.large_binary() if objects.letters == "bytes" else pa.large_string()
    ends, text = _text(objects)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(text)]
    return pa.Array.from_buffers(kind, len(objects), buffers, 0)


def _vectors(pa: Any, objects: Any) -> Any:
    """Return all vectors, with their weights if they have some."""
    numbers = pa.array(objects.values.reshape(-1))
    if objects.dim > 1:
        numbers = pa.FixedSizeListArray.from_arrays(numbers, objects.dim)
    if objects.weights is None:
        return numbers
    return pa.StructArray.from_arrays([numbers, pa.array(objects.weights)], ["vector", "weight"])


def _tokens(pa: Any, objects: Any) -> Any:
    """Return all tokens, which must be str, or bytes."""
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


def _text(objects: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return where the strings begin and end in their bytes, and these; UTF-8 for str."""
    alphabet, codes = objects.alphabet, objects.values
    if objects.letters == "bytes" or alphabet.max(initial=0) < 128:
        return objects.offsets, alphabet.astype(np.uint8)[codes]
    lone = np.flatnonzero((alphabet >= 0xD800) & (alphabet < 0xE000))
    if lone.size:
        at = int(np.isin(codes, lone).argmax())
        if codes[at] in lone:
            i = int(np.searchsorted(objects.offsets, at, side="right")) - 1
            raise ValueError(
                f"objects[{i}] has the lone surrogate {chr(alphabet[codes[at]])!r}, which UTF-8 "
                "cannot hold"
            )
    widths = np.ones(len(alphabet), dtype=np.uint8)
    for first in (0x80, 0x800, 0x10000):
        widths += alphabet >= first
    before = np.zeros(len(codes) + 1, dtype=np.int64)
    np.cumsum(widths[codes], out=before[1:])
    text = np.empty(before[-1], dtype=np.uint8)
    points = alphabet.astype("<u4")
    for low in range(0, len(codes), _LETTERS):
        high = min(low + _LETTERS, len(codes))
        run = points[codes[low:high]].tobytes().decode("utf-32-le").encode("utf-8")
        text[before[low] : before[high]] = np.frombuffer(run, np.uint8)
    return before[objects.offsets], text
