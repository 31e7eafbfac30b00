# SPDX-License-Identifier: BSD-3-Clause
"""Series in long tables: a vector of a series on each row, and columns that say of which."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.labels import label_array
from d2ke.objects.values import column_names, is_exact


def rows_of_series(
    ids: Sequence[Any], times: Sequence[Any] | None, where: Callable[[int], str]
) -> dict[Any, list[int]]:
    """Return the rows of each series, by time; series in the order in which they first appear."""
    members: dict[Any, list[int]] = {}
    for row, name in enumerate(ids):
        members.setdefault(name, []).append(row)
    if times is None:
        return members
    for name, rows in members.items():
        rows.sort(key=times.__getitem__)
        for one, other in pairwise(rows):
            if times[one] == times[other]:
                time = str(times[one]).removesuffix(".0")
                raise ValueError(
                    f"{where(max(one, other))}: the series {name!r} has the time {time} twice"
                )
    return members


def series_of_frame(frame: Any, ids: str, time: str | None, name: str) -> list[np.ndarray]:
    """Return the series of a data frame: the channels are all columns but `ids` and `time`."""
    names = column_names(frame)
    for argument, own in (("ids", ids), ("time", time)):
        if own is not None and own not in names:
            raise ArgumentError(argument, f"must name one of the columns {names}, got {own!r}")
    times = None
    if time is not None:
        column = np.asarray(frame[time])
        dates = column.dtype.kind == "M" and not np.isnat(column).any()
        column = label_array("time", column.astype(np.int64) if dates else column)
        if column.dtype.kind not in "iuf":
            raise ArgumentTypeError("time", f"must hold numbers or dates, got {column.dtype}")
        times = column.tolist()
    channels = []
    for own in names:
        column = np.asarray(frame[own])
        if own not in (ids, time):
            if column.dtype.kind not in "biuf" or (
                column.dtype.kind in "iu" and not is_exact(column)
            ):
                problem = f"has in {own!r} what is no channel, or integers that float64 cannot hold"
                raise ArgumentTypeError(name, f"{problem} ({column.dtype})")
            channels.append(column)
    if not channels:
        raise ArgumentError(name, f"has no column of values beside {ids!r} and {time!r}")
    table = np.column_stack(channels)
    members = rows_of_series(label_array("ids", frame[ids]).tolist(), times, "row {}".format)
    return [table[rows] for rows in members.values()]
