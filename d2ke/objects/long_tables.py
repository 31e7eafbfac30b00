# SPDX-License-Identifier: BSD-3-Clause
"""Series in long tables: a vector on each row, and a column with the name of its series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentError, ArgumentTypeError, warn
from d2ke.objects.column_names import LABELS
from d2ke.objects.gaps import interpolate
from d2ke.objects.ids import arrow_index
from d2ke.objects.tables import Table, check_lengths, columns_of
from d2ke.objects.typed import CLOCKS, NUMERIC


@dataclass(frozen=True)
class LongTable:
    """The series of a long table, in the order in which they first appear.

    Attributes
    ----------
    series : list of ndarray, shape (length, channels)
        The rows of each series, in their order.
    channels : tuple of str
        The names of their columns.
    ids : ndarray of int64 or str
        Their names.
    rows : list of list of int
        Where they are in the table.
    filled : (int, int)
        How many missing values were filled in, of how many series.
    """

    series: list[np.ndarray]
    channels: tuple[str, ...]
    ids: np.ndarray
    rows: list[list[int]]
    filled: tuple[int, int] = (0, 0)


def read_long(
    table: Table,
    ids: str,
    time: str | None,
    channels: Sequence[str],
    uses: Mapping[str, str],
    missing: bool | str = False,
) -> LongTable:
    """Return the series whose names are in one column, ordered by another; `uses` are a model's.

    With ``missing="interpolate"``, missing values are filled in by the times.
    """
    named = table.typed(ids, "strings")
    named.need_all("it must name a series", "id")
    groups = named.labels().tolist() if named.fields is None else named.fields
    names = named.ids()
    clock = None if time is None else table.typed(time, uses.get(time, ""))
    values = np.column_stack(
        [table.typed(name, uses.get(name, "")).channel(bool(missing)) for name in channels]
    )
    members: dict[Any, list[int]] = {}
    for row, name in enumerate(groups):
        members.setdefault(name, []).append(row)
    if clock is not None:
        times = clock.keys()
        for rows in members.values():
            rows.sort(key=times.__getitem__)
            for row, later in pairwise(rows):
                if times[row] == times[later]:
                    last = max(row, later)
                    shown = clock.texts()[last].removesuffix(".0")
                    raise ValueError(
                        f"{clock.place(last)}: the series {str(names[last])!r} has the time "
                        f"{shown} twice"
                    )
    rows_of_all = list(members.values())
    first = [min(rows) for rows in rows_of_all]
    series = [values[rows] for rows in rows_of_all]
    n_filled, n_series = 0, 0
    if missing == "interpolate":
        for i, rows in enumerate(rows_of_all):
            n_gaps = int(np.isnan(series[i]).sum())
            n_filled, n_series = n_filled + n_gaps, n_series + bool(n_gaps)
            if n_gaps:
                places = range(len(rows)) if clock is None else [times[row] for row in rows]
                interpolate(series[i], places, str(table.path), i, f"({str(names[first[i]])!r})")
    filled = (n_filled, n_series)
    return LongTable(series, tuple(channels), names[first], rows_of_all, filled)


def refuse_targets(long: LongTable, argument: str, name: str) -> None:
    """Ask what a column is that may hold labels or targets, where nobody named the channels.

    Its name is a usual one of labels, or it has one value in each series.
    """
    channels, lower = long.channels, [channel.lower() for channel in long.channels]
    asked = [c for c in LABELS if c in lower and not (c == "y" and {"x", "z"} & set(lower))]
    asked, reason = [channels[lower.index(c)] for c in asked], "by the name"
    if not asked and max(map(len, long.series)) > 1:
        first = np.array([values[0] for values in long.series])
        same = (first != first[0]).any(axis=0)
        for values in long.series:
            if not same.any():
                break
            same &= (values == values[0]).all(axis=0)
        asked, reason = [channels[i] for i in np.flatnonzero(same)], "as each series has one value"
    others = [channel for channel in channels if channel not in asked]
    if asked and others:
        raise ArgumentError(
            argument,
            f"must name the channels of {name}: {', '.join(map(repr, asked))} may hold labels or "
            f"targets, {reason}. {argument}={others} leaves it out, {argument}={list(channels)} "
            "makes a channel of it",
        )


def series_of_frame(
    frame: Any, ids: str, time: str | None, chosen: Any, name: str, missing: bool | str
) -> LongTable:
    """Return the series of a dict or a data frame: the channels are `chosen`, or all that may be.

    An index that was written with the frame is none.
    """
    columns = columns_of(frame, name, (ids, time))
    if chosen is not None and (isinstance(chosen, str) or not len(chosen)):
        raise ArgumentTypeError("channels", f"must be names of columns, got {chosen!r}")
    named = [("ids", ids), ("time", time), *(("channels", column) for column in chosen or ())]
    for argument, column_name in named:
        if column_name is not None and column_name not in columns:
            raise ArgumentError(
                argument, f"must name one of the columns {list(columns)}, got {column_name!r}"
            )
    table = Table(name, columns, argument=True, index=arrow_index(frame))
    typed = {column_name: table.typed(column_name) for column_name in table.names}
    check_lengths({column_name: len(column) for column_name, column in typed.items()}, name)
    channels, unused = [], []
    for column_name, column in typed.items():
        if column_name in (ids, time) or (chosen is None and table.is_index(column_name)):
            continue
        if chosen is not None and column_name not in chosen:
            continue
        if column.use in NUMERIC or column.use == "missing":
            channels.append(column_name)
        elif column.use in (*CLOCKS, "other"):
            unused.append(column_name)
        else:
            raise column.refuse("a channel holds numbers")
    if not channels:
        raise ArgumentError(name, f"has no column of values beside {ids!r} and {time!r}")
    if unused:
        listed = ", ".join(f"{column_name!r} ({typed[column_name].note})" for column_name in unused)
        warn(f"{name}: {listed} not used; time names the column by which rows are ordered")
    long = read_long(table, ids, time, channels if chosen is None else chosen, {}, missing)
    if chosen is None:
        refuse_targets(long, "channels", name)
    return long
