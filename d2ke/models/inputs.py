# SPDX-License-Identifier: BSD-3-Clause
"""What a model was trained on, and checks of new objects against it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentError, ArgumentTypeError, warn
from d2ke.distances.distance import Distance
from d2ke.distances.registry import BY_NAME
from d2ke.models.distance_blocks import FittedBlock
from d2ke.objects.compatibility import in_order
from d2ke.objects.container import Objects, of_kind
from d2ke.objects.record_packing import as_categories, naming_rows, pack_table
from d2ke.objects.records import Column, Records, check_use
from d2ke.objects.tables import is_table
from d2ke.objects.tokens import letters_of
from d2ke.objects.typed import NOTES
from d2ke.objects.values import column_names


@dataclass(frozen=True, eq=False)
class InputKind:
    """The kind of the training objects, or of one column of records.

    Attributes
    ----------
    kind : str
        Of `Objects` or `Column`; "records", or "any" for Python functions as distances.
    channels : int
        Of vectors; else 0.
    alphabet : ndarray or None
        The letters of the training strings.
    letters : {"str", "bytes", "int", "token"} or None
        What the letters are.
    channel_names : tuple of str, or None
        The names of the channels, as those of `Objects`.
    """

    kind: str
    channels: int = 0
    alphabet: np.ndarray | None = None
    letters: str | None = None
    channel_names: tuple[str, ...] | None = None

    @classmethod
    def of(cls, X: Any, blocks: Sequence[Any]) -> InputKind:
        """Return the kind of packed objects, of records, of a list or of a column.

        Series that only distances of sets compare are sets.
        """
        X = X.values if isinstance(X, Column) and isinstance(X.values, Objects) else X
        if isinstance(X, (Records, Column)):
            return cls(X.kind)
        if isinstance(X, list):
            return cls("any")
        compared = {row.kind for row in _registered(blocks)}
        kind = "sets" if X.kind == "series" and compared == {"sets"} else X.kind
        channels = 0 if X.kind == "strings" else X.dim
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
        """Return packed objects with channels in the model's order; refuse those of another kind.

        `items` are what was packed, and `rows` the rows of a column's objects. Letters that no
        training string has are an error if `refuse`, else a warning; for None they are not looked
        for.
        """
        taken = of_kind(objects, self.kind)
        if taken is None:
            raise ArgumentTypeError(
                name, f"holds {objects.kind}, but the model was trained on {self.kind}"
            )
        objects = in_order(taken, self.channel_names, name, "the training data")
        if self.kind != "strings":
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
    """Return the registry's rows of the distances of blocks; windows compare series, as DTW."""
    distances = {block.distance for block in blocks if isinstance(block, FittedBlock)}
    names = sorted(name for name in distances if isinstance(name, str))
    return [BY_NAME.get(name, BY_NAME["dtw"]) for name in names]


def input_kinds(X: Any, blocks: Sequence[Any]) -> dict[str, InputKind]:
    """Return the kind of each column of records; nothing for objects of one kind."""
    if not isinstance(X, Records):
        return {}
    return {
        name: InputKind.of(column, [block for block in blocks if block.column == name])
        for name, column in X.columns.items()
    }


def columns_of_records(X: Any) -> dict[str, Any]:
    """Return the names of columns and the uses of numbers, as a model keeps them."""
    if not isinstance(X, Records):
        return {}
    uses = {name: column.use for name, column in X.columns.items() if column.use in NOTES}
    return {"objects": list(X), **({"uses": uses} if uses else {})}


def check_records(
    X: Any,
    inputs: Mapping[str, InputKind],
    blocks: Sequence[Any],
    refuse: bool | None,
    uses: Mapping[str, str],
) -> Records:
    """Pack records; refuse those that a model was not trained for.

    Columns may be in another order, and their entries missing in any row. `uses` are the numbers
    that are dates, times or durations.
    """
    if not is_table(X):
        names = ", ".join(map(repr, inputs))
        raise ArgumentTypeError(
            "X", f"must be a dict or a frame of the columns {names}, got {type(X).__name__}"
        )
    kinds = {name: kind.kind for name, kind in inputs.items()} | dict(uses)
    held = list(X) if isinstance(X, (Records, Mapping)) else column_names(X)
    check_columns(held, inputs)
    if len(held) > len(inputs):
        X = Records({n: X[n] for n in inputs}, X.ids) if isinstance(X, Records) else X
        X = X if isinstance(X, Records) else {n: X[n] for n in inputs}
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
    """Refuse columns without one that a model was trained on; name others in a warning."""
    names = ", ".join(map(repr, inputs))
    for name in inputs:
        if name not in columns:
            raise ArgumentError("X", f"has no column {name!r}; the model was trained on {names}")
    others = [name for name in columns if name not in inputs]
    if others:
        listed = ", ".join(map(repr, others[:20])) + ", ..." * (len(others) > 20)
        warn(f"X: the columns {listed} are not used; the model was trained on {names}")


def _check_letters(
    name: str, objects: Objects, alphabet: Any, refuse: bool, rows: np.ndarray | None
) -> None:
    unseen = ~np.isin(objects.alphabet, alphabet)
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
