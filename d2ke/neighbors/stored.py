# SPDX-License-Identifier: BSD-3-Clause
"""An index as named arrays in a store, and the arrays as an index."""

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
from d2ke.neighbors.collection import Collection, Distance
from d2ke.neighbors.segments import Segment
from d2ke.neighbors.strategies import INDEXES
from d2ke.objects.container import Objects, check_arrays, from_owned, take
from d2ke.objects.packing import as_objects
from d2ke.objects.records import Column, Records

Arrays = Mapping[str, np.ndarray]

_FIELDS = ("values", "offsets", "alphabet", "weights")
# Objects whose distances by a function are written, and how far they may be off when it is given.
_SAMPLED, _TOLERANCE = 8, 1e-6


def put_collection(items: Any, like: Any = None) -> SegmentContent:
    """Return the arrays of Objects or Records, without ids, or of a list of strings or arrays.

    `like`: an item that is in the list, or will be.
    """
    if isinstance(items, Records):
        arrays: dict[str, np.ndarray] = {}
        columns = []
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
    """Return the arrays of a list of strings or of arrays, which a user's function takes."""
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
        for number, (name, use, of_objects) in enumerate(meta["records"]):
            held = _part(arrays, f"{number}/")
            values = held.get("values")
            if of_objects is not None:
                values = get_collection(of_objects, _part(held, "objects/"), check)
            columns[name] = Column(values, held["missing"], use)
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
    """Return the arrays of a segment with what is prepared of it; removed objects are marked."""
    content = _put_named(segment.pairs.y, segment.ids, segment.numbers)
    held = {"hidden": segment.hidden, **content.arrays}
    index = segment.index(n_threads)
    kind = next(name for name, one in INDEXES.items() if type(index) is one)
    held |= {f"{kind}/{name}": array for name, array in index.arrays().items()}
    return SegmentContent(content.meta, held)


def _put_named(
    items: Any, ids: np.ndarray | None, numbers: np.ndarray, like: Any = None
) -> SegmentContent:
    meta, arrays = put_collection(items, like)
    held = {"numbers": numbers, **{f"objects/{name}": array for name, array in arrays.items()}}
    return SegmentContent({"objects": meta}, held if ids is None else {"ids": ids, **held})


def put_added(held: Collection, objects: Any, ids: np.ndarray | None) -> SegmentContent:
    """Return the record of objects that are added."""
    y = held.segments[0].pairs.y
    like = y[0] if isinstance(y, list) else None
    return _put_named(objects, ids, np.arange(held.next, held.next + len(objects)), like)


def put_removed(segments: Sequence[Segment], places: Sequence[np.ndarray]) -> SegmentContent:
    """Return the record of objects that are removed."""
    pairs = zip(segments, places, strict=True)
    numbers = np.concatenate([segment.numbers[own] for segment, own in pairs])
    return SegmentContent({"removed": True}, {"numbers": numbers})


def put_header(held: Collection) -> dict[str, Any]:
    """Return what all segments share, as JSON has it.

    Of a user's function, which is not written, there are some distances instead.
    """
    by, segment = held.distance, held.segments[0]
    header = {"next": held.next, "metric": by.metric, "params": _put_params(by.params)}
    if any(by.functions()):
        shown = np.flatnonzero(~segment.hidden)
        places = shown[np.unique(np.linspace(0, len(shown) - 1, _SAMPLED).astype(int))]
        D = _all_distances(by, take(segment.pairs.y, places))
        header["sample"] = [segment.numbers[places].tolist(), D.tolist()]
    return header | {"distance": _put_distance(by.distance)}


def _put_distance(distance: Any) -> Any:
    """Return a distance, or that of each column with its parameters; None for functions."""
    if isinstance(distance, Mapping):
        return {
            name: [_put_distance(one), _put_params(params) if isinstance(one, str) else None]
            for name, (one, params) in distance.items()
        }
    return distance if isinstance(distance, str) else None


def _put_params(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _put_value(name, value) for name, value in params.items()}


def _get_params(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _get_value(value) for name, value in params.items()}


def _put_value(name: str, value: Any) -> Any:
    """Return a parameter as JSON has it; what JSON would change is named by its type."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Mapping):
        items = [[_put_value(name, one) for one in pair] for pair in value.items()]
        return {"type": "dict", "items": items}
    if type(value) in (list, tuple):
        return {"type": type(value).__name__, "items": [_put_value(name, one) for one in value]}
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
        return {_get_value(key): _get_value(one) for key, one in items}
    items = [_get_value(one) for one in items]
    return tuple(items) if kind == "tuple" else items


def commit(store: Store, held: Collection, n_threads: int) -> None:
    """Write segments of what the log has, and empty it."""
    segments = held.segments
    contents = [one.stored or put_segment(one, n_threads) for one in segments]
    hidden = put_removed(segments, [np.flatnonzero(one.hidden) for one in segments])
    store.commit([*contents, hidden], put_header(held))
    pairs = zip(segments, store.segments, strict=False)
    held.segments = tuple(replace(one, stored=stored) for one, stored in pairs)


def get_index(
    store: Store, distance: Any, check: bool, before: Collection | None = None
) -> Collection:
    """Return the objects of a store; `before`: what was read of it earlier, which is kept."""
    header = store.header
    if before is not None and "sample" in header and any(before.distance.functions()):
        distance = before.distance.distance
    by = Distance(_get_distance(store, distance), _get_params(header["params"]), header["metric"])
    kept = {} if before is None else {one.stored.name: one for one in before.segments if one.stored}
    segments = []
    for content in store.segments:
        if "removed" not in content.meta:
            known = kept.get(content.name)
            if known is not None:  # without what was removed in memory only
                known = replace(known, hidden=content.arrays["hidden"])
            segments.append(known or _get_segment(content, by, check))
    held = Collection(by, segments, header["next"])
    if "sample" in header and not any(one.name in kept for one in store.segments):
        _check_function(held, *header["sample"])
    records: list[SegmentContent | StoredSegment] = [*store.segments, *store.log]
    for record in records:
        if "removed" in record.meta:
            # Segments that were written later have some of the marks.
            found = [one.places(record.arrays["numbers"]) for one in held.segments]
            held.hide([places[places >= 0] for places in found])
        elif isinstance(record, SegmentContent):
            objects = get_collection(record.meta["objects"], _part(record.arrays, "objects/"), True)
            held.add(objects, record.arrays.get("ids"))
    return held


def _get_distance(store: Store, given: Any) -> Any:
    """Return the distance of a store, with the functions that are given, which it has not."""
    kept = store.header["distance"]
    if "sample" not in store.header:
        if given is not None:
            problem = f"goes with an index of a function; {store.path} has its distance"
            raise ArgumentTypeError("distance", problem)
        if isinstance(kept, str):
            return kept
        return {name: (one, _get_params(params)) for name, (one, params) in kept.items()}
    if given is None:
        problem = f"is needed: {store.path} was built with a function, and files hold no code"
        raise ArgumentTypeError("distance", problem)
    needed = f"must be the function that {store.path} was built with"
    if kept is None:
        if not _is_function(given):
            raise ArgumentTypeError("distance", f"{needed}, got {given!r}")
        return given
    if not isinstance(given, Mapping) or {*given} != {*kept}:
        problem = f"must be a dict of the columns {listed(kept)} of {store.path}, got {given!r}"
        raise ArgumentTypeError("distance", problem)
    columns = {}
    for name, (one, params) in kept.items():  # which are added in this order
        own = given[name] if type(given[name]) is tuple else (given[name], {})
        where = f"distance[{name!r}]"
        if one is None and not _is_function(own[0]):
            raise ArgumentTypeError(where, f"{needed}, got {own[0]!r}")
        columns[name] = own
        if one is not None:
            columns[name] = one, _get_params(params)
            if one != own[0] or params != json.loads(json.dumps(_put_params(own[1]))):
                problem = f"is {own!r}, but that of {store.path} is {columns[name]!r}"
                raise ArgumentError(where, problem)
    return columns


def _is_function(given: Any) -> bool:
    return callable(given) or isinstance(given, LowLevelCallable)


def _all_distances(by: Distance, objects: Any) -> np.ndarray:
    """Return the distances of all pairs in both directions, as searches compute them."""
    pairs = by.pairs(objects, objects)
    return pairs.distances(PairBlock(pairs.x, pairs.y), 1)


def _check_function(held: Collection, numbers: list[int], D: list[list[float]]) -> None:
    """Refuse a function that gives other distances than the one of the index."""
    found = _all_distances(held.distance, held.take(np.array(numbers)))
    for i, j in np.argwhere(~np.isclose(found, D, rtol=_TOLERANCE, atol=0)):
        raise ArgumentError(
            "distance",
            f"is another function than that of the index: of objects {numbers[i]} and "
            f"{numbers[j]} it is {found[i, j]}, and was {D[i][j]}",
        )


def _get_segment(content: StoredSegment, by: Distance, check: bool) -> Segment:
    """Return the segment that `put_segment` wrote."""
    arrays = content.arrays
    pairs = by.pairs(get_collection(content.meta["objects"], _part(arrays, "objects/"), check))
    ids = arrays.get("ids")
    segment = Segment(pairs, arrays["numbers"], arrays["hidden"], ids, by.metric, content)
    for kind, index in INDEXES.items():
        if own := _part(arrays, f"{kind}/"):
            segment.prepared.index = index.from_arrays(own, pairs)
    return segment


def _part(arrays: Arrays, start: str) -> dict[str, np.ndarray]:
    return {name[len(start) :]: arrays[name] for name in arrays if name.startswith(start)}
