# SPDX-License-Identifier: BSD-3-Clause
"""The segments of an index as named arrays, and the arrays as segments."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentTypeError
from d2ke.distances.problem import PairwiseProblem
from d2ke.io.segment_file import SegmentContent, StoredSegment
from d2ke.neighbors import pivots, strings
from d2ke.neighbors.segments import Segment
from d2ke.neighbors.string_sides import Columns
from d2ke.objects.container import Objects, check_arrays, from_owned
from d2ke.objects.packing import as_objects
from d2ke.objects.records import Column, Records

Arrays = Mapping[str, np.ndarray]

_FIELDS = ("values", "offsets", "alphabet", "weights")


def put_collection(items: Any) -> SegmentContent:
    """Return the arrays of Objects, of Records, or of a list that `pack` takes; ids are left out."""
    if isinstance(items, Records):
        arrays, columns = {}, []
        for number, (name, column) in enumerate(items.columns.items()):
            meta, held = None, {"missing": column.missing}
            if isinstance(column.values, Objects):
                meta, values = put_collection(column.values)
                held |= {f"objects/{key}": array for key, array in values.items()}
            elif column.values is not None:
                held["values"] = column.values
            columns.append([name, column.use, meta])
            arrays |= {f"{number}/{key}": array for key, array in held.items()}
        return SegmentContent({"records": columns}, arrays)
    if not isinstance(items, Objects):
        try:
            items = as_objects("objects", items)
        except (TypeError, ValueError) as error:
            raise ArgumentTypeError(
                "objects", f"cannot be saved, as `pack` does not take them: {error}"
            ) from None
    held = {name: getattr(items, name) for name in _FIELDS}
    names = None if items.channel_names is None else list(items.channel_names)
    meta = {"kind": items.kind, "letters": items.letters, "missing": items.missing, "names": names}
    return SegmentContent(meta, {name: field for name, field in held.items() if field is not None})


def get_collection(meta: Any, arrays: Arrays, check: bool) -> Any:
    """Return the Objects or Records that `put_collection` wrote; `check` them, which reads all."""
    if "records" in meta:
        columns = {}
        for number, (name, use, of_objects) in enumerate(meta["records"]):
            held = _part(arrays, f"{number}/")
            values = held.get("values")
            if of_objects is not None:
                values = get_collection(of_objects, _part(held, "objects/"), check)
            columns[name] = Column(values, held["missing"], use)
        return Records(columns)
    names = None if meta["names"] is None else tuple(meta["names"])
    held = {name: arrays.get(name) for name in _FIELDS}
    fields: dict[str, Any] = {name: meta[name] for name in ("kind", "letters", "missing")}
    objects = from_owned(**fields, **held, channel_names=names)
    return check_arrays(objects) if check else objects


def put_segment(segment: Segment, n_threads: int) -> SegmentContent:
    """Return the arrays of a segment with what is prepared of it; removed objects are marked."""
    meta, arrays = put_collection(segment.pairs.y)
    held = {f"objects/{name}": array for name, array in arrays.items()}
    held |= {"numbers": segment.numbers, "hidden": segment.hidden}
    if segment.ids is not None:
        held["ids"] = segment.ids
    prepared = getattr(segment.prepared(n_threads), "keywords", {})
    if "columns" in prepared:
        held |= {f"strings/{name}": array for name, array in prepared["columns"].arrays().items()}
    if isinstance(prepared.get("index"), pivots.PivotIndex):
        held |= {f"pivots/{name}": array for name, array in prepared["index"].arrays().items()}
    return SegmentContent(meta, held)


def get_segment(content: Any, problem: Any, metric: bool, check: bool) -> Segment:
    """Return the segment that `put_segment` wrote.

    `problem` returns the pairs of a collection with itself.
    """
    arrays = content.arrays
    pairs: PairwiseProblem = problem(get_collection(content.meta, _part(arrays, "objects/"), check))
    stored = content if isinstance(content, StoredSegment) else None
    hidden, ids = arrays["hidden"], arrays.get("ids")
    segment = Segment(pairs, arrays["numbers"], hidden, ids, metric, stored)
    if own := _part(arrays, "strings/"):
        columns = Columns.from_arrays(own)
        segment.made["search"] = partial(strings.search_strings, columns=columns)
    elif own := _part(arrays, "pivots/"):
        index = pivots.PivotIndex.from_arrays(own, pairs)
        segment.made["search"] = partial(pivots.search_pivots, index=index)
    return segment


def _part(arrays: Arrays, start: str) -> dict[str, np.ndarray]:
    return {name[len(start) :]: arrays[name] for name in arrays if name.startswith(start)}
