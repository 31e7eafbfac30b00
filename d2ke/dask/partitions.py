# SPDX-License-Identifier: BSD-3-Clause
"""Collections of objects as partitions: tasks that return packed objects."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import dask
import dask.array as da
import numpy as np
from dask.base import is_dask_collection
from dask.delayed import Delayed
from dask.utils import parse_bytes

from d2ke._base.checks import integer
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.labels import label_array, nested_rows
from d2ke.dask.workers import later, shared, thread_count
from d2ke.objects.container import Objects, offsets_of, span_of
from d2ke.objects.packing import as_objects
from d2ke.objects.record_packing import pack_records
from d2ke.objects.tables import is_table
from d2ke.objects.values import list_of


class Partitions(NamedTuple):
    """A collection that is cut into parts.

    Attributes
    ----------
    name : str
        The argument's name.
    partitions : list of Delayed
        Packed objects or records; lists if objects may be anything. A partition may be empty.
    lengths : tuple
        Numbers of objects; nan if unknown before the partitions are computed.
    local : Objects, Records, list or None
        The full collection, if it is in this process.
    """

    name: str
    partitions: list[Delayed]
    lengths: tuple[float, ...]
    local: Any = None

    @property
    def has_lengths(self) -> bool:
        """True if the lengths are known."""
        return not any(map(math.isnan, self.lengths))

    def where(self, i: int) -> str:
        """Return the name of a partition in notes of errors."""
        return f"partition {i} of {self.name}" if len(self.partitions) > 1 else ""

    def starts(self) -> Delayed:
        """Return a task of the index of each partition's first object, and the total.

        Unknown lengths are needed only here; each partition is then computed for them.
        """
        if self.has_lengths:
            return shared(offsets_of(np.asarray(self.lengths, np.int64)))
        return later(_starts, *self.map(len))

    def map(
        self, function: Callable[..., Any], *arguments: Any, empty: Any = None
    ) -> list[Delayed]:
        """Return a task for each partition, ``function(partition, *arguments)``, or `empty`."""
        return [
            later(function, partition, *arguments, where=self.where(i), empty=empty)
            for i, partition in enumerate(self.partitions)
        ]


def partitions_of(
    name: str,
    X: Any,
    chunks: Any = None,
    *,
    kind: str | None = None,
    anything: bool = False,
    row_bytes: int = 8,
) -> Partitions:
    """Cut a collection into partitions, or find its own.

    Parameters
    ----------
    name : str
        The argument's name, for errors.
    X : Objects, what `pack` takes, dask collection or list of Delayed
        The argument.
    chunks : int or sequence of int, optional
        As in the public functions.
    kind : {"series", "sets", "strings", "records", "any"}, optional
        The kind that is needed; None for any of objects, "any" for records too.
    anything : bool
        Whether objects may be anything, as for Python functions.
    row_bytes : int
        Bytes of a row of the result.
    """
    frames = kind == "records" or (kind == "any" and is_frame(X))
    lazy = lazy_tasks(name, X, frames=frames)
    if lazy is None:
        local = _packed(name, kind, anything, X)
        lengths = _row_chunks(len(local), chunks, row_bytes)
        bounds = offsets_of(lengths)
        spans = [span_of(local, *bounds[i : i + 2]) for i in range(len(lengths))]
        return Partitions(name, [shared(span) for span in spans], lengths, local)
    tasks, sizes = lazy
    if chunks is not None:
        if not isinstance(chunks, (list, tuple)) or len(chunks) != len(tasks):
            raise ArgumentTypeError(
                "chunks",
                f"must be the lengths of the {len(tasks)} partitions that {name} has, got "
                f"{chunks!r}",
            )
        sizes = tuple(integer(f"chunks[{i}]", rows, 0) for i, rows in enumerate(chunks))
    read = partial(_read, name, kind, anything)
    tasks = [
        later(partial(read, rows), task, where=f"partition {i} of {name}")
        for i, (task, rows) in enumerate(zip(tasks, sizes, strict=True))
    ]
    return Partitions(name, tasks, sizes)


def is_lazy(X: Any) -> bool:
    """Return whether an argument is a dask collection or a list of Delayed."""
    return is_dask_collection(X) or (
        isinstance(X, (list, tuple)) and any(isinstance(item, Delayed) for item in X)
    )


def is_frame(X: Any) -> bool:
    """Return whether a dask collection has named columns."""
    return is_dask_collection(X) and hasattr(type(X), "columns") and X.ndim == 2


def lazy_tasks(
    name: str, X: Any, *, frames: bool = False
) -> tuple[list[Delayed], tuple[float, ...]] | None:
    """Return the tasks of a dask collection and their lengths; None for data in memory.

    If `frames`, the collection has several columns: it is a frame or a list of Delayed.
    """
    if not is_lazy(X):
        return None
    if isinstance(X, da.Array) and not frames:
        X = X.rechunk(dict.fromkeys(range(1, X.ndim), -1))
        return list(X.to_delayed().ravel()), X.chunks[0]
    if isinstance(X, Delayed):
        X = [X]
    if isinstance(X, (list, tuple)):
        for i, item in enumerate(X):
            if not isinstance(item, Delayed):
                raise ArgumentTypeError(name, f"must be delayed as others are, got {item!r}", i)
        tasks = list(X)
    elif not hasattr(X, "to_delayed") or is_frame(X) != frames:
        needed = "a DataFrame" if frames else "a column of dask.dataframe, a bag, an array"
        raise ArgumentTypeError(
            name, f"is a {type(X).__name__}; {needed} or a list of delayed parts is needed"
        )
    else:
        tasks = list(X.to_delayed())
    return tasks, (math.nan,) * len(tasks)


def row_tasks(name: str, values: Any, x: Partitions) -> list[Any]:
    """Return tasks of the labels or weights of each partition's rows."""
    lazy = lazy_tasks(name, values, frames=is_frame(values))
    if lazy is not None:
        tasks, _ = lazy
        if len(tasks) != len(x.partitions):
            raise ArgumentError(
                name,
                f"has {len(tasks)} partitions, but X has {len(x.partitions)}; cut both alike",
            )
        return tasks
    if nested_rows(values) is None and not hasattr(values, "columns"):
        values = label_array(name, values)
    if x.has_lengths and len(values) != sum(x.lengths):
        n = int(sum(x.lengths))
        raise ArgumentError(name, f"has {len(values)} labels, but X has {n} rows")
    shared_values, starts = shared(values), x.starts()
    return [later(partial(_cut, name, i), shared_values, starts) for i in range(len(x.partitions))]


def _cut(name: str, i: int, values: Any, starts: np.ndarray) -> Any:
    if len(values) != starts[-1]:
        raise ArgumentError(name, f"has {len(values)} labels, but X has {starts[-1]} rows")
    values = values.iloc if hasattr(values, "iloc") else values  # of pandas
    return values[starts[i] : starts[i + 1]]


def _read(name: str, kind: str | None, anything: bool, rows: float, items: Any) -> Any:
    """Pack a partition on a worker."""
    if _holds_records(kind, items):  # the length of a dict is not that of its columns
        items = pack_records(items, name=name)
    if not math.isnan(rows) and len(items) != rows:
        raise ArgumentError("chunks", f"has {rows} for a partition of {len(items)} objects")
    if not len(items):
        return []
    return _packed(name, kind, anything, items)


def _holds_records(kind: str | None, X: Any) -> bool:
    return kind == "records" or (kind == "any" and is_table(X))


def _packed(name: str, kind: str | None, anything: bool, X: Any) -> Any:
    if _holds_records(kind, X):
        return pack_records(X, name=name)
    if anything:
        return X if isinstance(X, Objects) else list_of(name, X)
    return as_objects(name, X, None if kind == "any" else kind, missing=True)


def _starts(*lengths: int) -> np.ndarray:
    return offsets_of(lengths)


def _row_chunks(n: int, chunks: int | Sequence[int] | None, row_bytes: int) -> tuple[int, ...]:
    """Return the lengths of the partitions of n objects."""
    if isinstance(chunks, (list, tuple)):
        lengths = tuple(integer(f"chunks[{i}]", rows, 0) for i, rows in enumerate(chunks))
        if sum(lengths) != n:
            raise ArgumentError("chunks", f"has {sum(lengths)} rows in all, but there are {n}")
        return lengths
    if chunks is None:
        limit = parse_bytes(dask.config.get("array.chunk-size")) // max(1, row_bytes)
        # With four tasks for each thread, all have work to the end.
        chunks = max(1, min(limit, math.ceil(n / (4 * thread_count()))))
    step = integer("chunks", chunks, 1)
    return tuple(min(step, n - first) for first in range(0, n, step)) or (0,)


def row_array(tasks: list[Delayed], lengths: Sequence[float], empty: np.ndarray) -> da.Array:
    """Return a dask array with the rows of all tasks; `empty` is an array without rows."""
    blocks = [
        da.from_delayed(task, (rows, *empty.shape[1:]), meta=empty)
        for task, rows in zip(tasks, lengths, strict=True)
    ]
    return da.concatenate(blocks, axis=0, allow_unknown_chunksizes=True)
