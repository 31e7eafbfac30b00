# SPDX-License-Identifier: BSD-3-Clause
"""Conversion of indexes to named arrays in a store, and back."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import LowLevelCallable

from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.text import listed
from d2ke.distances.problem import PairBlock
from d2ke.io.segment_file import SegmentContent, StoredSegment
from d2ke.io.store import Store
from d2ke.neighbors.collection import Collection, Distance, Segment
from d2ke.neighbors.strategies import INDEXES
from d2ke.objects.container import Objects, check_arrays, from_owned, take
from d2ke.objects.packing import as_objects
from d2ke.objects.records import Column, Records

Arrays = Mapping[str, np.ndarray]

_FIELDS = ("values", "offsets", "alphabet", "weights")
# Number of objects whose distances identify a function, and the relative tolerance.
_SAMPLED, _TOLERANCE = 8, 1e-6


def put_collection(items: Any, like: Any = None) -> SegmentContent:
    """Return the arrays of Objects or Records, without ids, or of a list of strings or arrays.

    `like`: an item that is in the list, or will be.
    """
    if isinstance(items, Records):
        arrays: dict[str, np.ndarray] = {}
        columns = []
        for number, (name, column) in enumerate(items.columns.items()):
            meta, fields = None, {"missing": column.missing}
            if isinstance(column.values, Objects):
                meta, values = put_collection(column.values)
                fields |= _prefixed("objects/", values)
            elif column.values is not None:
                fields["values"] = column.values
            columns.append([name, column.use, meta])
            arrays |= _prefixed(f"{number}/", fields)
        return SegmentContent({"records": columns}, arrays)
    if isinstance(items, list):
        return _put_list(items, items[0] if like is None else like)
    fields = {name: getattr(items, name) for name in _FIELDS}
    names = None if items.channel_names is None else list(items.channel_names)
    meta = {"kind": items.kind, "letters": items.letters, "missing": items.missing, "names": names}
    if items.letters == "token":  # literals in ASCII, of one width
        alphabet = items.alphabet
        fields["alphabet"] = alphabet.view(np.uint8).reshape(-1, alphabet.itemsize)
    return SegmentContent(
        meta, {name: field for name, field in fields.items() if field is not None}
    )


def _put_list(items: list[Any], like: Any) -> SegmentContent:
    """Return the arrays of a list of strings or of arrays."""
    for i, item in enumerate(items):
        if not _can_join(item, like):
            raise ArgumentTypeError(
                "objects",
                f"is {item!r}; an index by a function of your own is saved if all objects are "
                "strings, or arrays of numbers of one dtype",
                i,
            )
    if type(like) is str:
        meta, arrays = put_collection(as_objects("objects", items))
        return SegmentContent({"list": meta}, arrays)
    shapes = np.concatenate([[item.ndim, *item.shape] for item in items])
    flat = np.concatenate([item.ravel() for item in items])
    meta = {"list": None, "dtype": items[0].dtype.str}
    return SegmentContent(meta, {"flat": flat, "shapes": shapes})


def _can_join(item: Any, like: Any) -> bool:
    """Return whether a file can hold both items in one list."""
    if type(like) is np.ndarray:
        same = type(item) is np.ndarray and item.dtype == like.dtype
        return same and like.dtype.kind in "biuf" and like.dtype.itemsize <= 8
    return type(item) is type(like) is str


def _get_list(meta: Any, arrays: Arrays, check: bool) -> list[Any]:
    if meta["list"] is not None:
        return list(get_collection(meta["list"], arrays, check))
    items, first, shapes = [], 0, iter(arrays["shapes"].tolist())
    for ndim in shapes:
        shape = [next(shapes) for _ in range(ndim)]
        size = math.prod(shape)
        item = np.array(arrays["flat"][first : first + size], meta["dtype"])
        items.append(item.reshape(shape))
        first += size
    return items


def get_collection(meta: Any, arrays: Arrays, check: bool) -> Any:
    """Return what `put_collection` wrote; `check` it, which reads all."""
    if "list" in meta:
        return _get_list(meta, arrays, check)
    if "records" in meta:
        columns = {}
        for number, (name, use, objects_meta) in enumerate(meta["records"]):
            column = _stripped(f"{number}/", arrays)
            values = column.get("values")
            if objects_meta is not None:
                values = get_collection(objects_meta, _stripped("objects/", column), check)
            columns[name] = Column(values, column["missing"], use)
        return Records(columns)
    names = None if meta["names"] is None else tuple(meta["names"])
    fields: dict[str, Any] = {name: meta[name] for name in ("kind", "letters", "missing")}
    fields |= {name: arrays.get(name) for name in _FIELDS}
    if fields["letters"] == "token":
        literals = fields["alphabet"]
        fields["alphabet"] = literals.view(f"S{literals.shape[1]}").ravel()
    objects = from_owned(**fields, channel_names=names)
    return check_arrays(objects) if check else objects


def put_segment(segment: Segment, n_threads: int) -> SegmentContent:
    """Return the arrays of a segment, of its index and of its mask of removed objects."""
    content = _put_objects(segment.pairs.y, segment.ids, segment.numbers)
    index = segment.index(n_threads)
    kind = next(name for name, index_class in INDEXES.items() if type(index) is index_class)
    arrays = {"hidden": segment.removed, **content.arrays, **_prefixed(f"{kind}/", index.arrays())}
    return SegmentContent(content.meta, arrays)


def _put_objects(
    items: Any, ids: np.ndarray | None, numbers: np.ndarray, like: Any = None
) -> SegmentContent:
    meta, arrays = put_collection(items, like)
    names = {} if ids is None else {"ids": ids}
    return SegmentContent(
        {"objects": meta}, {**names, "numbers": numbers, **_prefixed("objects/", arrays)}
    )


def put_added(collection: Collection, objects: Any, ids: np.ndarray | None) -> SegmentContent:
    """Return the record of added objects."""
    y, first = collection.segments[0].pairs.y, collection.next
    like = y[0] if isinstance(y, list) else None
    return _put_objects(objects, ids, np.arange(first, first + len(objects)), like)


def put_removed(segments: Sequence[Segment], positions: Sequence[np.ndarray]) -> SegmentContent:
    """Return the record of removed objects."""
    pairs = zip(segments, positions, strict=True)
    numbers = np.concatenate([segment.numbers[rows] for segment, rows in pairs])
    return SegmentContent({"removed": True}, {"numbers": numbers})


def put_header(collection: Collection) -> dict[str, Any]:
    """Return the JSON shared by all segments.

    A user's function is not written; distances between sampled objects identify it.
    """
    distance, segment = collection.distance, collection.segments[0]
    params = _put_params(distance.params)
    header = {"next": collection.next, "metric": distance.metric, "params": params}
    if any(distance.functions()):
        rows = np.flatnonzero(~segment.removed)
        rows = rows[np.unique(np.linspace(0, len(rows) - 1, _SAMPLED).astype(int))]
        D = _all_distances(distance, take(segment.pairs.y, rows))
        header["sample"] = [segment.numbers[rows].tolist(), D.tolist()]
    return header | {"distance": _put_distance(distance.distance)}


def _put_distance(distance: Any) -> Any:
    """Return a distance, or each column's distance and parameters; None for functions."""
    if isinstance(distance, Mapping):
        return {
            name: [_put_distance(column), _put_params(params) if isinstance(column, str) else None]
            for name, (column, params) in distance.items()
        }
    return distance if isinstance(distance, str) else None


def _put_params(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _put_value(name, value) for name, value in params.items()}


def _get_params(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _get_value(value) for name, value in params.items()}


def _put_value(name: str, value: Any) -> Any:
    """Return a parameter as JSON; values without a JSON type are tagged by theirs."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Mapping):
        items = [[_put_value(name, item) for item in pair] for pair in value.items()]
        return {"type": "dict", "items": items}
    if type(value) in (list, tuple):
        return {"type": type(value).__name__, "items": [_put_value(name, item) for item in value]}
    if type(value) is bytes:
        return {"type": "bytes", "items": list(value)}
    if type(value) is np.ndarray and value.dtype.kind in "biufU":
        return {"type": value.dtype.str, "shape": value.shape, "items": value.ravel().tolist()}
    if value is not None and type(value) not in (bool, int, float, str):
        raise ArgumentTypeError(
            name, f"is {value!r}, which no file can hold; give it to the function by partial"
        )
    return value


def _get_value(value: Any) -> Any:
    """Return what `_put_value` wrote."""
    if not isinstance(value, dict):
        return value
    kind, items = value["type"], value["items"]
    if kind == "bytes":
        return bytes(items)
    if "shape" in value:
        return np.array(items, kind).reshape(value["shape"])
    if kind == "dict":
        return {_get_value(key): _get_value(item) for key, item in items}
    items = [_get_value(item) for item in items]
    return tuple(items) if kind == "tuple" else items


def commit(store: Store, collection: Collection, n_threads: int) -> None:
    """Write new segments, and empty the log."""
    segments = collection.segments
    contents = [segment.stored or put_segment(segment, n_threads) for segment in segments]
    record = put_removed(segments, [np.flatnonzero(segment.removed) for segment in segments])
    store.commit([*contents, record], put_header(collection))
    pairs = zip(segments, store.segments, strict=False)
    collection.segments = tuple(replace(segment, stored=stored) for segment, stored in pairs)


def get_index(
    store: Store, distance: Any, check: bool, before: Collection | None = None
) -> Collection:
    """Return the objects of a store; segments that `before` has read already are reused."""
    header = store.header
    if before is not None and "sample" in header and any(before.distance.functions()):
        distance = before.distance.distance
    by = Distance(_get_distance(store, distance), _get_params(header["params"]), header["metric"])
    old = before.segments if before is not None else ()
    loaded = {segment.stored.name: segment for segment in old if segment.stored}
    segments = []
    for content in store.segments:
        if "removed" not in content.meta:
            segment = loaded.get(content.name)
            if segment is not None:  # undo removals that were made in memory only
                segment = replace(segment, removed=content.arrays["hidden"])
            segments.append(segment or _get_segment(content, by, check))
    collection = Collection(by, segments, header["next"])
    if "sample" in header and not any(content.name in loaded for content in store.segments):
        _check_function(collection, *header["sample"])
    records: list[SegmentContent | StoredSegment] = [*store.segments, *store.log]
    for record in records:
        if "removed" in record.meta:
            # The masks of later segments include some of these removals.
            numbers = record.arrays["numbers"]
            positions = [segment.positions(numbers) for segment in collection.segments]
            collection.remove([rows[rows >= 0] for rows in positions])
        elif isinstance(record, SegmentContent):
            arrays = _stripped("objects/", record.arrays)
            objects = get_collection(record.meta["objects"], arrays, True)
            collection.add(objects, record.arrays.get("ids"))
    return collection


def _get_distance(store: Store, distance: Any) -> Any:
    """Return the distance of a store; the user's functions, which it lacks, are in `distance`."""
    stored = store.header["distance"]
    if "sample" not in store.header:
        if distance is not None:
            problem = f"goes with an index of a function; {store.path} has its distance"
            raise ArgumentTypeError("distance", problem)
        if isinstance(stored, str):
            return stored
        return {name: (column, _get_params(params)) for name, (column, params) in stored.items()}
    if distance is None:
        problem = f"is needed: {store.path} was built with a function, and files hold no code"
        raise ArgumentTypeError("distance", problem)
    needed = f"must be the function that {store.path} was built with"
    if stored is None:
        if not _is_function(distance):
            raise ArgumentTypeError("distance", f"{needed}, got {distance!r}")
        return distance
    if not isinstance(distance, Mapping) or {*distance} != {*stored}:
        problem = f"must be a dict of the columns {listed(stored)} of {store.path}"
        raise ArgumentTypeError("distance", f"{problem}, got {distance!r}")
    columns = {}
    for name, (column, params) in stored.items():  # which are added in this order
        new = distance[name] if type(distance[name]) is tuple else (distance[name], {})
        where = f"distance[{name!r}]"
        if column is None and not _is_function(new[0]):
            raise ArgumentTypeError(where, f"{needed}, got {new[0]!r}")
        columns[name] = new
        if column is not None:
            columns[name] = column, _get_params(params)
            if column != new[0] or params != json.loads(json.dumps(_put_params(new[1]))):
                problem = f"is {new!r}, but that of {store.path} is {columns[name]!r}"
                raise ArgumentError(where, problem)
    return columns


def _is_function(value: Any) -> bool:
    return callable(value) or isinstance(value, LowLevelCallable)


def _all_distances(distance: Distance, objects: Any) -> np.ndarray:
    """Return the distances of all pairs in both directions, as searches compute them."""
    pairs = distance.pairs(objects, objects)
    return pairs.distances(PairBlock(pairs.x, pairs.y), 1)


def _check_function(collection: Collection, numbers: list[int], D: list[list[float]]) -> None:
    """Refuse a function whose distances differ from the stored ones."""
    new = _all_distances(collection.distance, collection.take(np.array(numbers)))
    for i, j in np.argwhere(~np.isclose(new, D, rtol=_TOLERANCE, atol=0)):
        raise ArgumentError(
            "distance",
            f"is another function than that of the index: of objects {numbers[i]} and "
            f"{numbers[j]} it is {new[i, j]}, and was {D[i][j]}",
        )


def _get_segment(content: StoredSegment, by: Distance, check: bool) -> Segment:
    """Return the segment that `put_segment` wrote."""
    arrays = content.arrays
    pairs = by.pairs(get_collection(content.meta["objects"], _stripped("objects/", arrays), check))
    ids = arrays.get("ids")
    segment = Segment(pairs, arrays["numbers"], arrays["hidden"], ids, by.metric, content)
    for kind, index_class in INDEXES.items():
        if index_arrays := _stripped(f"{kind}/", arrays):
            segment.prepared.index = index_class.from_arrays(index_arrays, pairs)
    return segment


def _prefixed(prefix: str, arrays: Arrays) -> dict[str, np.ndarray]:
    return {prefix + name: array for name, array in arrays.items()}


def _stripped(prefix: str, arrays: Arrays) -> dict[str, np.ndarray]:
    return {name[len(prefix) :]: arrays[name] for name in arrays if name.startswith(prefix)}
