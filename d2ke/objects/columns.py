# SPDX-License-Identifier: BSD-3-Clause
"""Types of columns of any container: one interpretation of text, Arrow and frames."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentTypeError
from d2ke._base.labels import is_missing
from d2ke.objects.arrow_columns import plain, pyarrow, read_column
from d2ke.objects.arrow_packing import holds_objects
from d2ke.objects.container import Objects
from d2ke.objects.fields import GAPS, NANO, counts_of_fields, is_naive, use_of_fields
from d2ke.objects.records import Column
from d2ke.objects.typed import CLOCKS, NUMERIC, Fields, Typed
from d2ke.objects.values import list_of

_UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": NANO, "ps": 10**12, "fs": 10**15, "as": 10**18}
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def type_column(
    items: Any, name: str, needed: str = "", where: Callable[[int], str] | None = None
) -> Typed:
    """Return the entries of a column and their use; `needed` is its use or kind in a model.

    Parameters
    ----------
    items : Fields, column of pandas, polars or pyarrow, ndarray, Objects or sequence
        The column.
    name : str
        What errors call it.
    where : function, optional
        Returns what errors call a row.
    needed : str
        A use of `Typed`, or a kind of `Column`. Text is read as that. Columns of other types keep
        their use, unless the conversion is unambiguous: of anything to categories, of dates to
        times, and of categories to strings.

    Returns
    -------
    Typed
        Entries and gaps.

    Raises
    ------
    TypeError, ValueError
        No column, or text of another kind than needed.
    """
    typed = _type_fields(items, needed) if isinstance(items, Fields) else _type(items, name)
    typed = replace(typed, name=name, where=where)
    if typed.fields is not None and typed.use in (*CLOCKS, "booleans", "durations"):
        counts, wrong = counts_of_fields(typed.fields, typed.use.removeprefix("naive "))
        if wrong is not None:
            raise typed.error(
                f"is {typed.fields[wrong]!r} in a column of {typed.use}", typed.rows[wrong]
            )
        typed = replace(typed, values=np.array(counts))
    if needed == "categories" and typed.use == "other" and typed.row is not None:
        return replace(typed, use="categories")  # of several types
    if needed == "categories" and typed.use not in ("categories", "missing", "other"):
        return replace(typed, use="categories", values=typed.categories(), fields=None)
    if needed in ("times", "naive times") and typed.use == "dates":
        return replace(typed, use="naive times", values=np.asarray(typed.values) * 86400)
    if needed == "strings" and typed.use == "categories":
        return replace(typed, use="objects")
    return typed


def _type(items: Any, name: str) -> Typed:
    if isinstance(items, Column):  # of Records
        use = "objects" if isinstance(items.values, Objects) else items.use or items.kind
        values = items.values.tolist() if use == "categories" else items.values
        return Typed(use, values, items.missing)
    if isinstance(items, Objects):
        return _typed("objects", items)
    if isinstance(items, np.ndarray):
        return _type_array(items, name)
    library = type(items).__module__.partition(".")[0]
    arrow = type(getattr(items, "dtype", None)).__name__ == "ArrowDtype"
    if library == "pandas" and hasattr(items, "isna") and not arrow:
        gaps = np.asarray(items.isna(), bool)
        read, entries = _type_pandas, items[~gaps]
    elif library == "polars" and hasattr(items, "drop_nulls"):
        gaps = np.asarray(items.is_null(), bool)
        read, entries = _type_polars, items.drop_nulls()
    else:
        column = read_column(items, name)
        if column is None:
            return _type_list(list_of(name, items), name)
        column = plain(column) if str(column.type).endswith("_view") else column
        gaps = np.asarray(column.is_null(), bool)
        read, entries = _type_arrow, column.drop_null()
    if gaps.all() and len(gaps):
        return Typed("missing", None, gaps)
    return _with_gaps(read(entries, name), gaps)


def _typed(use: str, entries: Any, unit: int = 1, **fields: Any) -> Typed:
    """Return a column without missing entries."""
    return Typed(use, entries, np.zeros(len(entries), bool), unit, **fields)


def _with_gaps(typed: Typed, gaps: np.ndarray) -> Typed:
    """Add the missing rows, which were left out before typing; NaN is a gap already."""
    rows, missing = np.flatnonzero(~gaps), gaps.copy()
    missing[rows[typed.missing]] = True
    return replace(typed, missing=missing, row=None if typed.row is None else int(rows[typed.row]))


def _type_fields(items: Fields, needed: str) -> Typed:
    """Type a column of text by its fields, or as needed."""
    use = needed.removeprefix("naive ")
    if use not in (*NUMERIC, *CLOCKS):
        as_text = use in ("strings", "objects")
        use = "strings" if as_text else use_of_fields([x for x in items if x is not None])
    elif use in ("numbers", "booleans"):  # 0 and 1 are both
        inferred = use_of_fields([x for x in items if x is not None])
        use = "booleans" if inferred == "booleans" else "numbers"
    absent = () if use == "strings" else GAPS
    gaps = [x is None or x.lower() in absent for x in items]
    missing = np.array(gaps, bool)
    fields = [x for x, gap in zip(items, gaps, strict=True) if not gap] if any(gaps) else items
    if not fields:
        return Typed("missing", None, missing, fields=[], all_fields=items)
    if use == "times" and any(map(is_naive, fields)):
        use = "naive times"
    unit = 1 if use == "dates" else NANO
    use = "objects" if use == "strings" else use
    return Typed(use, fields, missing, unit, fields=fields, all_fields=items)


def _type_array(items: np.ndarray, name: str, zone: bool = False) -> Typed:
    """Type an array; rows of a multidimensional array are objects. Times may have a zone."""
    if items.ndim == 0:
        raise ArgumentTypeError(
            name, f"is {items.item()!r}, an array without an axis; an entry for each row is needed"
        )
    kind = items.dtype.kind
    if kind in "OT":
        return _type_list(list_of(name, items), name)
    if items.ndim > 1 or kind in "US":
        return _typed("objects", items)
    if kind == "V":
        return _typed("other", items, type=str(items.dtype))
    missing, values = np.ma.getmaskarray(items).copy(), np.asarray(items)
    if kind in "fmM":
        missing |= np.isnan(values) if kind == "f" else np.isnat(values)
    entries = values[~missing]
    if not len(entries) and len(items):
        return Typed("missing", None, missing)
    if kind in "mM":
        return _with_gaps(_type_clock(entries, zone), missing)
    if kind not in "biuf" or items.dtype.itemsize > 8:
        return Typed("other", entries, missing, type=str(items.dtype))
    return Typed("booleans" if kind == "b" else "numbers", entries, missing)


def _type_clock(entries: np.ndarray, zone: bool = False) -> Typed:
    """Type entries of datetime64 or timedelta64."""
    unit, _ = np.datetime_data(entries.dtype)
    kind = entries.dtype.kind
    days = kind == "M" and unit in "YMWD"
    if unit == "generic" or (kind == "m" and unit in "YM"):
        return _typed("other", entries, type=f"{entries.dtype}, of no fixed length")
    to = "D" if days else unit if unit in _UNITS else "s"
    try:
        converted = entries.astype(f"{kind}8[{to}]")
        wrong = np.flatnonzero(converted.astype(entries.dtype) != entries)
    except OverflowError:  # before numpy 2.5 it wraps around
        wrong = np.array([np.abs(entries.astype(np.int64)).argmax()])
    if len(wrong):
        row = int(wrong[0])
        problem = f"is {entries[row].astype(np.int64)} of {entries.dtype}, out of range"
        return _typed("other", entries, type=problem, row=row)
    counts = converted.astype(np.int64)
    if days:
        return _typed("dates", counts)
    use = "durations" if kind == "m" else "times" if zone else "naive times"
    return _typed(use, counts, _UNITS[to])


def _type_pandas(entries: Any, name: str) -> Typed:
    """Type entries of pandas, which need no pyarrow."""
    dtype = entries.dtype
    if str(dtype) == "category":
        return _type_categories(entries.tolist(), name)
    if getattr(dtype, "kind", "O") in "biufcmM":
        zone = getattr(dtype, "tz", None) is not None
        entries = getattr(entries, "dt", entries).tz_convert(None) if zone else entries
        return _type_array(np.asarray(entries, getattr(dtype, "numpy_dtype", None)), name, zone)
    if type(dtype).__name__ in ("IntervalDtype", "PeriodDtype"):
        return _typed("other", entries, type=str(dtype))
    if str(dtype) == "object":
        return _type_list(entries.tolist(), name)
    return _typed("objects", entries)


def _type_polars(entries: Any, name: str) -> Typed:
    """Type entries of polars, which need no pyarrow."""
    kind = str(entries.dtype).partition("(")[0]
    if kind == "Object":
        return _type_list(entries.to_list(), name)
    if kind in ("Date", "Datetime", "Duration", "Time"):
        unit = "D" if kind == "Date" else getattr(entries.dtype, "time_unit", "ns")
        form = f"{'M' if kind.startswith('Date') else 'm'}8[{unit}]"
        counts = entries.to_physical().to_numpy().astype(np.int64).view(form)
        return _type_clock(counts, getattr(entries.dtype, "time_zone", None) is not None)
    if kind in ("Categorical", "Enum"):
        return _typed("categories", entries.to_list())
    if kind in ("Decimal", "Int128", "UInt128"):
        return _typed("numbers", entries.to_list())
    if kind == "Boolean" or kind.startswith(("Int", "UInt", "Float")):
        return _type_array(entries.to_numpy(), name)
    if kind in ("Struct", "Unknown"):
        return _typed("other", entries, type=str(entries.dtype))
    return _typed("objects", entries)


def _type_arrow(entries: Any, name: str) -> Typed:
    """Type a chunked array of pyarrow."""
    pa = pyarrow(f"reading {name}")
    types, kind = pa.types, entries.type
    if types.is_dictionary(kind):
        return _type_categories(entries.to_pylist(), name)
    if types.is_temporal(kind) and not types.is_interval(kind):
        date_or_time = types.is_date(kind) or types.is_timestamp(kind)
        entries = entries.cast(pa.date32()) if types.is_date(kind) else entries
        counts = entries.cast(pa.int32() if kind.bit_width == 32 else pa.int64()).to_numpy()
        form = f"{'M' if date_or_time else 'm'}8[{getattr(kind, 'unit', 'D')}]"
        counts = counts.astype(np.int64).view(form)
        return _type_clock(counts, getattr(kind, "tz", None) is not None)
    if types.is_decimal(kind):
        return _typed("numbers", entries.to_pylist())
    if types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind):
        return _type_array(np.asarray(entries.to_numpy()), name)
    if holds_objects(entries):
        return _typed("objects", entries)
    return _typed("other", entries, type=str(kind))


def _type_categories(entries: list[Any], name: str) -> Typed:
    """Type entries of a categorical type; dates, times and durations become text."""
    typed = _type_list(entries, name)
    timed = typed.use in (*CLOCKS, "durations")
    return _typed("categories", typed.categories() if timed else entries)


def _type_list(items: list[Any], name: str) -> Typed:
    """Type Python objects; the first entry sets the type."""
    missing = np.array([is_missing(item) for item in items], bool)
    entries = [item for item, gap in zip(items, missing.tolist(), strict=True) if not gap]
    if not entries:
        return Typed("missing", None, missing)
    uses = {kind: _use_of(kind) for kind in set(map(_kind_of, entries))}
    first = uses[_kind_of(entries[0])]
    for row, entry in zip(np.flatnonzero(~missing).tolist(), entries, strict=True):
        if first == "objects":  # `pack` compares their types
            break
        both = {first, uses[_kind_of(entry)]}
        if len(both) > 1 and not (both <= {"numbers", "booleans"} or both <= {"dates", "times"}):
            kind = f"is {entry!r} in a column of {first}, as {entries[0]!r} is one"
            return Typed("other", entries, missing, type=kind, row=row)
    use = max(uses.values())  # numbers beside booleans, times beside dates
    if use == "booleans":
        return Typed(use, np.array(entries, bool), missing)
    if first in ("objects", "other"):
        return Typed(first, entries, missing, type=type(entries[0]).__name__)
    if use == "numbers":
        return Typed(use, entries, missing)
    zones = [getattr(entry, "tzinfo", None) for entry in entries]
    if use == "durations" and any(zones):
        return Typed("other", entries, missing, type="times of a day with a zone")
    units = [
        _UNITS.get(np.datetime_data(kind)[0], 1) for kind in uses if not isinstance(kind, type)
    ]
    unit = max([NANO, *units])
    counts = [_count(entry, unit) for entry in entries]
    if use == "dates":
        counts, unit = [count // (86400 * unit) for count in counts], 1
    if use == "times" and None in zones:
        use = "naive times"
    return Typed(use, np.array(counts), missing, unit)


def _kind_of(entry: Any) -> Any:
    """Return the type of an entry, or the dtype of numpy's dates and durations."""
    is_clock = isinstance(entry, (np.datetime64, np.timedelta64))
    return entry.dtype if is_clock else type(entry)


def _count(entry: Any, unit: int) -> int:
    """Return the exact number of 1 / `unit` seconds since 1970-01-01."""
    if isinstance(entry, (np.datetime64, np.timedelta64)):
        typed = _type_clock(np.array([entry]))
        return int(typed.values[0]) * (86400 * unit if typed.use == "dates" else unit // typed.unit)
    if isinstance(entry, datetime):  # also of pandas, which has nanoseconds
        clock, zone = entry.time().replace(fold=entry.fold), entry.tzinfo or timezone.utc
        span = datetime.combine(entry.date(), clock, zone) - _EPOCH
    elif isinstance(entry, date):
        span = timedelta(entry.toordinal() - _EPOCH.toordinal())
    elif isinstance(entry, time):
        span = datetime.combine(_EPOCH, entry.replace(tzinfo=timezone.utc)) - _EPOCH
    else:
        span = timedelta(entry.days, entry.seconds, entry.microseconds)
    rest = getattr(entry, "nanosecond", getattr(entry, "nanoseconds", 0))
    return (1000 * (span // timedelta(microseconds=1)) + rest) * (unit // NANO)


def _use_of(kind: Any) -> str:
    """Return the use of a column whose entries are of a kind, see `_kind_of`."""
    if isinstance(kind, np.dtype):
        use = _type_clock(np.ones(1, kind)).use
        return use.removeprefix("naive ")
    for classes, use in (
        ((bool, np.bool_), "booleans"),
        ((numbers.Real, Decimal), "numbers"),
        ((numbers.Complex, Mapping), "other"),
        ((datetime,), "times"),
        ((date,), "dates"),
        ((timedelta, time), "durations"),
    ):
        if issubclass(kind, classes):
            return use
    signs = ("__len__", "__array__", "__iter__", "__arrow_array__")
    return "objects" if any(hasattr(kind, sign) for sign in signs) else "other"
