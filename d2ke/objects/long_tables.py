# SPDX-License-Identifier: BSD-3-Clause
"""Series in long tables: a vector on each row, and a column with the name of its series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentError, ArgumentTypeError, warn
from d2ke._base.text import listed
from d2ke.objects.column_names import LABELS
from d2ke.objects.compatibility import fill_gaps
from d2ke.objects.container import Objects, from_owned, offsets_of
from d2ke.objects.tables import Table, arrow_index, check_lengths, columns_of
from d2ke.objects.typed import CLOCKS, NUMERIC


def read_long(
    table: Table,
    ids: str,
    time: str | None,
    channels: Sequence[str],
    uses: Mapping[str, str],
    missing: bool | str = False,
) -> tuple[Objects, list[list[int]], dict[str, Any]]:
    """Return the series whose names are in one column, ordered by another, and their rows.

    `uses` are a model's. With ``missing="interpolate"``, missing values are filled in by the
    times, and the dict counts them, see `fill_gaps`.
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
                        f"{clock.row_name(last)}: the series {str(names[last])!r} has the time "
                        f"{shown} twice"
                    )
    row_lists = list(members.values())
    objects = from_owned(
        "series", values[np.concatenate(row_lists)], offsets_of(list(map(len, row_lists))),
        missing=bool(missing), ids=names[list(map(min, row_lists))], channel_names=tuple(channels),
    )  # fmt: skip
    if missing != "interpolate" or not objects.missing:
        return objects, row_lists, {}
    # Times are exact integers, whose differences float64 may not represent.
    since = (
        None
        if clock is None
        else [np.array([float(times[row] - times[rows[0]]) for row in rows]) for rows in row_lists]
    )
    objects, filled = fill_gaps(objects, str(table.path), since)
    return objects, row_lists, filled


def refuse_targets(series: Objects, argument: str, name: str) -> None:
    """Refuse columns that may hold labels or targets, if the channels were not named.

    Its name is a usual one of labels, or it has one value in each series.
    """
    channels = series.channel_names or ()
    lower = list(map(str.lower, channels))
    usual = [c for c in LABELS if c in lower and not (c == "y" and {"x", "z"} & set(lower))]
    asked, reason = [channels[lower.index(c)] for c in usual], "by the name"
    if not asked and series.lengths.max() > 1:
        first = series.values[series.offsets[:-1]]
        same = (series.values == np.repeat(first, series.lengths, axis=0)).all(axis=0)
        same &= (first != first[0]).any(axis=0)
        asked, reason = [channels[i] for i in np.flatnonzero(same)], "as each series has one value"
    remaining = [channel for channel in channels if channel not in asked]
    if asked and remaining:
        raise ArgumentError(
            argument,
            f"must name the channels of {name}: {listed(asked)} may hold labels or "
            f"targets, {reason}. {argument}=[{listed(remaining)}] leaves it out, "
            f"{argument}=[{listed(channels)}] "
            "makes a channel of it",
        )


def series_of_frame(
    frame: Any, ids: str, time: str | None, requested: Any, name: str, missing: bool | str
) -> Objects:
    """Return the series of a dict or a data frame, of `requested` or all suitable channels.

    An index that was written with the frame is not a channel.
    """
    columns = columns_of(frame, name, (ids, time))
    if requested is not None and (isinstance(requested, str) or not len(requested)):
        raise ArgumentTypeError("channels", f"must be names of columns, got {requested!r}")
    named = [("ids", ids), ("time", time), *(("channels", column) for column in requested or ())]
    for argument, column_name in named:
        if column_name is not None and column_name not in columns:
            raise ArgumentError(
                argument, f"must name one of the columns [{listed(columns)}], got {column_name!r}"
            )
    table = Table(name, columns, argument=True, index=arrow_index(frame))
    typed = {column_name: table.typed(column_name) for column_name in table.names}
    check_lengths({column_name: len(column) for column_name, column in typed.items()}, name)
    channels, unused = [], []
    candidates = [c for c in table.names if c not in (ids, time) and not table.is_index(c)]
    for column_name in candidates if requested is None else requested:
        column = typed[column_name]
        if column.use in NUMERIC or column.use == "missing":
            channels.append(column_name)
        elif column.use in (*CLOCKS, "other"):
            unused.append(column_name)
        else:
            rows = "frame" if time is None else f"frame.sort_values({time!r})"
            tokens = f"{rows}.groupby({ids!r})[{column_name!r}].agg(list)"
            raise column.refuse(f"a channel holds numbers; events are strings of tokens, {tokens}")
    if not channels:
        raise ArgumentError(name, f"has no column of values beside {ids!r} and {time!r}")
    if unused:
        noted = listed(unused, lambda c: f"{c!r} ({typed[c].note})")
        warn(f"{name}: {noted} not used; time names the column by which rows are ordered")
    series, _, _ = read_long(table, ids, time, channels, {}, missing)
    if requested is None:
        refuse_targets(series, "channels", name)
    return series
