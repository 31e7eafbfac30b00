# SPDX-License-Identifier: BSD-3-Clause
"""Missing values of series filled in, linearly in time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentTypeError
from d2ke.objects.container import Objects, fields_of, objects_of
from d2ke.objects.gaps import interpolate
from d2ke.objects.packing import as_objects
from d2ke.objects.record_packing import pack_table
from d2ke.objects.records import Records
from d2ke.objects.tables import is_table


def fill_missing(X: Any, name: str, kinds: Any = None) -> tuple[Any, dict[str, Any]]:
    """Pack objects or records, and fill in the missing values of series.

    Returns
    -------
    Objects or Records
        Without missing values.
    dict
        The rule, and how many values of how many series were filled, as a model keeps them.
    """
    counts = {"rule": "interpolate", "values": 0, "series": 0}
    if not is_table(X):
        objects = as_objects(name, X, missing=True)
        if objects.kind != "series":
            raise ArgumentTypeError("missing", f"is for series, but {name} holds {objects.kind}")
        return _filled(objects, name, counts), counts
    records = pack_table(X, name, kinds or {}, missing=True)
    columns = dict(records.columns)
    for column_name, column in columns.items():
        if isinstance(column.values, Objects):
            where = f"{name}[{column_name!r}]"
            columns[column_name] = replace(column, values=_filled(column.values, where, counts))
    return Records(columns, records.ids), counts


def _filled(objects: Objects, name: str, counts: dict[str, Any]) -> Objects:
    if not objects.missing:
        return objects
    gaps, rows = np.isnan(objects.values), np.flatnonzero(np.isnan(objects.values).any(axis=1))
    numbers = np.unique(np.searchsorted(objects.offsets, rows, side="right") - 1)
    values = objects.values.copy()
    for i in numbers.tolist():
        series = values[objects.offsets[i] : objects.offsets[i + 1]]
        called = "" if objects.ids is None else f" ({objects.ids[i].item()!r})"
        interpolate(series, np.arange(len(series)), name, i, called)
    counts["values"] += int(gaps.sum())
    counts["series"] += len(numbers)
    return objects_of(fields_of(objects)._replace(values=values, missing=False))
