# SPDX-License-Identifier: BSD-3-Clause
"""Inputs of training, and checks of new objects against the training objects."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any

import numpy as np

from d2ke._base import memory
from d2ke._base.checks import choice as one_of
from d2ke._base.checks import integer
from d2ke._base.errors import ArgumentError, ArgumentTypeError, warn
from d2ke._base.labels import refuse_swapped
from d2ke.distances.distance import Distance
from d2ke.distances.registry import (
    BY_NAME,
    check_kind,
    find_distance,
    split_parameters,
    usual_distance,
)
from d2ke.distances.strands import check_dna
from d2ke.distances.string_rows import codes_of
from d2ke.models.blocks import AnyBlock, check_blocks
from d2ke.models.distance_blocks import Block, FittedBlock
from d2ke.objects.compatibility import in_order
from d2ke.objects.container import Objects, StoredObjects, as_kind
from d2ke.objects.packing import as_objects
from d2ke.objects.record_packing import as_categories, naming_rows, pack_records, pack_table
from d2ke.objects.records import Column, Records, check_use
from d2ke.objects.tables import is_table
from d2ke.objects.tokens import letters_of
from d2ke.objects.typed import NOTES
from d2ke.objects.values import column_names, list_of

_BLOCK_ROWS = (256, 8192)  # rows of features in memory at a time


@dataclass(frozen=True)
class ModelRequest:
    """The user's choices of blocks, distances and size.

    Attributes
    ----------
    blocks : sequence of blocks or None
        The user's blocks; None for the recipe.
    distance : object
        A name, a function, or a list of either; None for the usual distance of the kind of objects.
        For records it may be a mapping by column.
    parameters : mapping
        Parameters of the distance.
    R : int or None
        Number of random objects; None for the default of the recipe.
    strands : {"one", "both"}
        Whether the pieces of the reverse complement count too, in the recipe of strings.
    """

    blocks: Sequence[AnyBlock] | None = None
    distance: Any = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    R: int | None = None
    strands: str = "one"

    @classmethod
    def of(
        cls,
        blocks: Any,
        distance: Any,
        R: Any,
        params: Mapping[str, Any],
        strands: str = "one",
    ) -> ModelRequest:
        """Check the arguments of `d2ke_train`; `strands` may be a parameter of the distance."""
        if R is not None:
            integer("R", R, 1)
        if one_of("strands", strands, ["one", "both"]) == "both":
            if distance is None and blocks is None and not params:
                return cls(R=R, strands=strands)
            params = {**params, "strands": strands}
        if blocks is not None:
            if distance is not None or R is not None or params:
                raise ArgumentTypeError(
                    "blocks", "have distances, parameters and sizes of their own"
                )
            check_blocks(blocks)
        if isinstance(distance, (list, tuple)):
            if not distance:
                raise ArgumentError("distance", "is an empty list; at least one is needed")
            for i, item in enumerate(distance):
                if not (isinstance(item, str) or callable(item)):
                    raise ArgumentTypeError(
                        "distance", f"must be a name or a function, got {item!r}", i
                    )
        return cls(blocks, distance, params, R)

    @property
    def distances(self) -> tuple[Any, ...]:
        """Names or functions; None for the usual distance, and for blocks without one."""
        if self.blocks is not None:
            return tuple(
                block.distance if isinstance(block, (Block, FittedBlock)) else None
                for block in self.blocks
            )
        several = isinstance(self.distance, (list, tuple))
        return tuple(self.distance) if several else (self.distance,)

    @property
    def size(self) -> int:
        """Number of features; 0 if the recipe chooses it."""
        return self.R or sum(map(attrgetter("R"), self.blocks or ()))

    @property
    def largest(self) -> int:
        """Largest number of random objects from one sample; 0 if the recipe chooses it."""
        return self.R or max(map(attrgetter("R"), self.blocks or ()), default=0)


def packed(X: Any, request: ModelRequest, y: Any) -> Any:
    """Pack objects or records; refuse kinds that the distances cannot compare."""
    if not is_table(X):
        refuse_swapped(y, X)
        objects = packed_objects(X, request.distances)
        if request.strands == "both" and isinstance(objects, Objects):
            check_dna("X", objects)
        return objects
    records = pack_records(X, name="X")
    if not len(records):
        raise ArgumentError("X", "is empty; at least two labelled records are needed")
    empty = [name for name, column in records.columns.items() if column.kind == "missing"]
    if empty:
        named = ", ".join(map(repr, empty))
        warn(f"X: the columns {named} have no entry in any row; the model has no blocks of them")
        columns = {name: records[name] for name in records if name not in empty}
        records = Records(columns, records.ids)
    check_training_columns(records)
    column_requests(records, request)
    return records


def packed_objects(X: Any, distances: Sequence[Any], name: str = "X") -> Any:
    """Pack objects that the distances can compare; Python functions take objects of any type."""
    if all(map(callable, distances)):
        return X if isinstance(X, Objects) else list_of(name, X)
    objects: Any = X if isinstance(X, StoredObjects) else as_objects(name, X)
    if not len(objects):
        raise ArgumentError(name, "is empty; at least two labelled objects are needed")
    for distance in distances:
        if distance is not None and not isinstance(distance, str):
            continue
        row = find_distance(usual_distance(objects.kind) if distance is None else distance)
        check_kind(row, name, objects.kind)
        row.check_lengths(name, objects)
    return objects


def check_training_columns(records: Records) -> None:
    """Refuse training records with an empty column, or without a column of objects."""
    for name, column in records.columns.items():
        if column.kind == "missing":
            raise ArgumentError(f"X[{name!r}]", "has no entry in any row; leave the column out")
    if not _object_columns(records):
        raise ArgumentError(
            "X",
            f"has no column of objects among its {len(records.columns)}: they hold numbers or "
            "categories. If each row is a series, give an array, df.to_numpy()",
        )


def _object_columns(records: Records) -> list[str]:
    return [name for name, column in records.columns.items() if isinstance(column.values, Objects)]


def column_requests(records: Records, request: ModelRequest) -> dict[str, ModelRequest]:
    """Return the request for each column of objects; refuse one that its entries do not suit."""
    names = _object_columns(records)
    if request.strands == "both":
        raise ArgumentTypeError("strands", f"is for strings, and X holds records of {names}")
    for i, block in enumerate(request.blocks or ()):
        if block.column not in names:
            raise ArgumentError(
                "blocks", f"sees the column {block.column!r}; of objects are {names}", i
            )
    if request.parameters:
        raise TypeError(
            f"records have parameters by column: distance={{{names[0]!r}: "
            f"('a distance', {dict(request.parameters)!r})}}"
        )
    distances = {} if request.distance is None else request.distance
    if not isinstance(distances, Mapping):
        if len(names) > 1:
            raise ArgumentTypeError(
                "distance", f"must say of which column, such as {{{names[0]!r}: {distances!r}}}"
            )
        distances = {names[0]: distances}
    for name in distances:
        if name not in names:
            raise ArgumentError("distance", f"names the column {name!r}; of objects are {names}")
    requests = {}
    for name in names:
        blocks = None
        distance, params = split_parameters(distances.get(name), f"distance[{name!r}]")
        if request.blocks is not None:
            blocks = [block for block in request.blocks if block.column == name]
        elif distance is not None and not isinstance(distance, (list, tuple)):
            distance = [distance]
        requests[name] = replace(ModelRequest.of(None, distance, None, params), blocks=blocks)
        if len(records[name].rows):  # a sample of the records may have none
            with naming_rows(records[name].missing):
                packed_objects(records[name].values, requests[name].distances, f"X[{name!r}]")
    return requests


def block_rows(R: int) -> int:
    """Return the number of rows of R features to hold at a time: about 16 million numbers."""
    low, high = _BLOCK_ROWS
    return min(max(low, (1 << 24) // R), high)


def check_size(n: int, R: int, k: int, keep_sums: bool = False) -> None:
    """Refuse a model that does not fit in memory; the error names the largest R that does.

    R is 0 if the recipe has not chosen it yet.
    """
    if not R:
        return
    rows = min(n, block_rows(R))

    def needed(size: int) -> int:
        products = max(n, size) if keep_sums else n
        return (64 * min(products, size) + 20 * rows + 40 * k) * size

    limit = memory.memory_limit()
    if needed(R) > limit:
        sizes = range(1, min(R, 1 << 40))  # a range of more has no length
        largest = max(1, bisect_right(sizes, limit, key=needed))
        what = f"training with R = {R} features"
        memory.check_fits(needed(R), what, f"the largest R that fits is about {largest}")


@dataclass(frozen=True, eq=False)
class InputKind:
    """The kind of the training objects, or of one column of records.

    Attributes
    ----------
    kind : str
        Kind of `Objects` or `Column`; "records", or "any" for Python functions as distances.
    channels : int
        Number of channels of vectors; else 0.
    alphabet : ndarray or None
        The letters of the training strings.
    letters : {"str", "bytes", "int", "token"} or None
        Type of the letters.
    channel_names : tuple of str, or None
        Names of the channels, as in `Objects`.
    """

    kind: str
    channels: int = 0
    alphabet: np.ndarray | None = None
    letters: str | None = None
    channel_names: tuple[str, ...] | None = None

    @classmethod
    def of(cls, X: Any, blocks: Sequence[Any]) -> InputKind:
        """Return the kind of packed objects, of records, of a list or of a column.

        Series are sets if all distances compare sets.
        """
        X = X.values if isinstance(X, Column) and isinstance(X.values, Objects) else X
        if isinstance(X, (Records, Column)):
            return cls(X.kind)
        if isinstance(X, list):
            return cls("any")
        compared = {row.kind for row in _registered(blocks)}
        kind = "sets" if X.kind == "series" and compared == {"sets"} else X.kind
        channels = 0 if X.has_letters else X.dim
        return cls(kind, channels, X.alphabet, X.letters, X.channel_names)

    def check(
        self,
        name: str,
        objects: Objects,
        items: Any,
        blocks: Sequence[Any],
        refuse: bool | None,
        rows: np.ndarray | None = None,
    ) -> Objects:
        """Return packed objects with channels in the model's order; refuse another kind.

        `items` are the objects before packing, and `rows` the rows of a column's objects. Letters
        that occur in no training string are an error if `refuse`, else a warning; for None they are
        not checked.
        """
        taken = as_kind(objects, self.kind)
        if taken is None:
            raise ArgumentTypeError(
                name, f"holds {objects.kind}, but the model was trained on {self.kind}"
            )
        objects = in_order(taken, self.channel_names, name, "the training data")
        if self.alphabet is None:
            if objects.dim != self.channels and len(objects.values):
                # The rows of a matrix are series of one channel.
                alone = isinstance(items, np.ndarray) and items.ndim == 2
                raise ArgumentError(
                    name,
                    f"has vectors of {objects.dim} dimensions (channels), but the model was "
                    f"trained on {self.channels}{'; of one series give a list, [x]' * alone}",
                )
            for row in _registered(blocks):
                row.check_lengths(name, objects)
            return objects
        if objects.letters != self.letters and len(objects.values):
            raise ArgumentTypeError(
                name,
                f"holds strings of {objects.letters}, but the model was trained on strings of "
                f"{self.letters}",
            )
        if refuse is not None:
            _check_letters(name, objects, self.alphabet, refuse, rows)
        return objects


def _registered(blocks: Sequence[Any]) -> list[Distance]:
    """Return the registry's rows of the distances of blocks; shapelets compare series, as DTW."""
    distances = {block.distance for block in blocks if isinstance(block, FittedBlock)}
    names = sorted(name for name in distances if isinstance(name, str))
    return [BY_NAME.get(name, BY_NAME["dtw"]) for name in names]


def input_fields(X: Any, blocks: Sequence[Any]) -> dict[str, Any]:
    """Return the fields of `D2KEModel` about the kind of its objects."""
    kind = vars(InputKind.of(X, blocks))
    if not isinstance(X, Records):
        return kind
    inputs = {
        name: InputKind.of(column, [block for block in blocks if block.column == name])
        for name, column in X.columns.items()
    }
    uses = {name: column.use for name, column in X.columns.items() if column.use in NOTES}
    columns = {"objects": list(X), **({"uses": uses} if uses else {})}
    return {**kind, "inputs": inputs, "columns": columns}


def check_records(
    X: Any,
    inputs: Mapping[str, InputKind],
    blocks: Sequence[Any],
    refuse: bool | None,
    uses: Mapping[str, str],
) -> Records:
    """Pack records; refuse columns of other kinds than a model was trained on.

    Columns may be in any order, and entries may be missing. `uses` maps columns of numbers to
    dates, times or durations.
    """
    if not is_table(X):
        names = ", ".join(map(repr, inputs))
        raise ArgumentTypeError(
            "X", f"must be a dict or a frame of the columns {names}, got {type(X).__name__}"
        )
    kinds = {name: kind.kind for name, kind in inputs.items()} | dict(uses)
    given_names = list(X) if isinstance(X, (Records, Mapping)) else column_names(X)
    check_columns(given_names, inputs)
    if len(given_names) > len(inputs) and not isinstance(X, Records):
        X = {name: X[name] for name in inputs}
    records = pack_table(X, "X", kinds)
    checked = {}
    for name, kind in inputs.items():
        column, where = records[name], f"X[{name!r}]"
        if kind.kind == "categories":
            column = as_categories(column, where)
        column_blocks = [block for block in blocks if block.column == name]
        if isinstance(column.values, Objects):
            with naming_rows(column.missing):
                objects = kind.check(where, column.values, None, column_blocks, refuse, column.rows)
            column = Column(objects, column.missing)
        elif column.kind not in (kind.kind, "missing"):
            raise ArgumentTypeError(
                where, f"holds {column.kind}, but the model was trained on {kind.kind}"
            )
        elif refuse is not None:
            for block in column_blocks:
                block.warn_of_unseen(column)
        if column.kind == "numbers":
            check_use(where, column.use, uses.get(name, ""), "the training data")
        checked[name] = column
    return Records(checked)


def check_columns(columns: Sequence[Any], inputs: Mapping[str, InputKind]) -> None:
    """Refuse a missing column of the model; warn of columns that it does not use."""
    names = ", ".join(map(repr, inputs))
    for name in inputs:
        if name not in columns:
            raise ArgumentError("X", f"has no column {name!r}; the model was trained on {names}")
    unused = [name for name in columns if name not in inputs]
    if unused:
        listed = ", ".join(map(repr, unused[:20])) + ", ..." * (len(unused) > 20)
        warn(f"X: the columns {listed} are not used; the model was trained on {names}")


def _check_letters(
    name: str, objects: Objects, alphabet: Any, refuse: bool, rows: np.ndarray | None
) -> None:
    unseen = np.zeros(len(objects.alphabet), bool)
    unseen[objects.values] = True
    unseen[unseen] = codes_of(objects.alphabet[unseen], alphabet) == len(alphabet)
    indices = np.flatnonzero(unseen[objects.values]) if unseen.any() else np.empty(0, np.int64)
    if not indices.size:
        return
    items = np.unique(np.searchsorted(objects.offsets, indices, side="right")) - 1
    row = items[0] if rows is None else rows[items[0]]
    code = objects.values[indices[0]]
    (letter,) = letters_of(objects.alphabet[code : code + 1], objects.letters)
    if refuse:
        raise ArgumentError(
            "unseen_letters",
            f"is 'refuse', and {name}[{row}] has the letter {letter!r}, which no training "
            "object has; with 'allow' it differs from every letter of the model",
        )
    warn(
        f"{len(items)} of {len(objects)} strings have letters that no training string has, such "
        f"as {letter!r} in {name}[{row}]; they differ from every letter of the model"
    )
