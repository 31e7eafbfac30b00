# SPDX-License-Identifier: BSD-3-Clause
"""Saved indexes of objects: `d2ke index`, and `d2ke neighbors` and `d2ke inspect` of one."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from d2ke._base.errors import ArgumentTypeError
from d2ke._base.text import listed, show
from d2ke.cli.commands import INDEX
from d2ke.cli.object_files import (
    DISTANCE_OPTIONS,
    how_of,
    read,
    read_compared,
    read_records,
    refuse,
    reported_warnings,
)
from d2ke.cli.result_files import InputError
from d2ke.cli.session import Session
from d2ke.cli.shell import shell_words
from d2ke.io.columns import IDS, LabelledObjects
from d2ke.io.labelled import open_columns
from d2ke.io.manifest import check_replaceable
from d2ke.neighbors.graph import graph_of, nearest_first
from d2ke.neighbors.index import Index
from d2ke.objects.column_names import ColumnNames


class GraphResult(NamedTuple):
    """A graph of neighbours, the ids of both sides, the objects, and a function for neighbours."""

    graph: sparse.csr_array
    ids: np.ndarray | None
    other_ids: np.ndarray | None
    objects: Any
    take: Callable[[np.ndarray], Any]


def index(options: argparse.Namespace, session: Session) -> None:
    """Build an index of the objects of a file, or change or verify one."""
    if options.folder is not None:
        refuse(options, ("add", "remove", "verify"), "is for an index that exists, without --out")
        _build(options, session)
        return
    if not (options.add or options.remove or options.verify):
        raise InputError(
            "out (--out) is needed: the folder of the new index; or an index in place of a file, "
            "and --add, --remove or --verify"
        )
    refuse(options, DISTANCE_OPTIONS, f"belongs to the index; {options.file} has its own")
    with _open(options.file, writable=bool(options.add or options.remove)) as existing:
        if options.verify:
            session.report(f"{options.file}: all checksums are right")
        # Both files are read before the index is changed.
        names = None if options.remove is None else _names(options)
        added = None if options.add is None else _read(options.add, existing, options, session)
        n, has_ids = len(existing), existing.ids is not None
        if names is not None:
            if not has_ids and names.dtype.kind == "U":
                raise InputError(
                    f"remove: {options.file} has no ids; a column of {options.remove} must have "
                    "indices, whole numbers"
                )
            existing.remove(**{"ids" if has_ids else "indices": _as_in(existing, names)})
            session.report(f"removed: {n - len(existing)}")
        if added is not None:
            ids = _as_in(existing, added.ids) if has_ids or options.ids else None
            existing.add(added.objects, ids=ids)
            session.report(f"added: {len(added.objects)}")
        session.report(str(existing)[1:-1])


def neighbors_in(options: argparse.Namespace, session: Session) -> GraphResult:
    """Return the graph of a file's objects and their neighbours in an index."""
    more = (*DISTANCE_OPTIONS, *["include_self"] * options.include_self)
    refuse(options, more, "does not go with --index")
    near = _open(options.index)
    X = _read(options.file, near, options, session)
    how: dict[str, Any] = {"radius": options.radius, **session.computing}
    n_columns = int(near.indices[-1]) + 1
    with reported_warnings(session):
        if options.k is None:
            graph = nearest_first(near.within(X.objects, **how))
            graph.resize(len(X.objects), n_columns)
        else:
            graph = graph_of(*near.nearest(X.objects, k=options.k, **how), n_columns)
    session.report(f"{graph.nnz} neighbours of {len(X.objects)} objects in {options.index}")
    return GraphResult(graph, X.ids, near.ids, X.objects, near.objects)


def is_index(path: Path) -> bool:
    """Return whether a path is an index, by its name or its files."""
    return path.suffix == INDEX or (path / "manifest.json").exists()


def report_index(path: str, session: Session) -> None:
    """Report the contents of an index, and the command to type next."""
    index = _open(path, verify=False)
    session.report(f"{str(index)[1:-1]}; {show(index.params)}")
    ids = "none; objects are numbered in the order in which they came"
    if index.ids is not None:
        ids = listed(index.ids[index.indices].tolist(), str)
    session.report(f"ids: {ids}")
    size = sum(file.stat().st_size for file in Path(path).iterdir())
    session.report(f"size: {size / 1e6:.3g} MB")
    _report_next(path, len(index), session)


def _report_next(path: str, n: int, session: Session) -> None:
    """Report the command that looks up objects in an index."""
    how = f"--index {shell_words(path)} --k {min(5, n)} --out nearest.csv"
    session.report(f"next: d2ke neighbors FILE {how}")


def _build(options: argparse.Namespace, session: Session) -> None:
    out = Path(options.folder)
    if out.suffix != INDEX:
        raise InputError(f"out must end in {INDEX}, got {options.folder!r}")
    if not out.parent.is_dir():
        raise FileNotFoundError(f"cannot write {out}: the folder {out.parent} does not exist")
    if out.exists():
        check_replaceable(out)
    data, distance, parameters = read_compared(options, session)
    with reported_warnings(session):
        built = Index(data.objects, distance=distance, ids=data.ids, **parameters)
        built.save(out, n_threads=session.n_threads)
    session.report(f"index: {out}")
    _report_next(str(out), len(data.objects), session)


def _open(path: str, writable: bool = False, verify: bool = True) -> Index:
    try:
        return Index.open(path, writable=writable, verify=verify)
    except ArgumentTypeError as error:  # of a Python function, which no option can name
        raise InputError(str(error)) from None


def _read(
    file: str, index: Index, options: argparse.Namespace, session: Session
) -> LabelledObjects:
    """Read objects of the index's kind."""
    sample = index.objects(index.indices[:1])
    if sample.kind == "records":
        kinds = {name: column.kind for name, column in sample.columns.items()}
        named = ColumnNames(tuple(kinds), options.labels, rows=options.ids)
        return read_records(file, named, kinds, session, how=how_of(options))
    kind = options.kind or ("sets" if sample.kind == "sets" else None)
    reading = argparse.Namespace(**{**vars(options), "file": file, "kind": kind})
    return read(reading, session, unlabelled=True)


def _names(options: argparse.Namespace) -> np.ndarray:
    """Return the ids in the table of objects to remove."""
    file, named = Path(options.remove), ColumnNames(ids=options.ids)
    table = open_columns(file, named, how=how_of(options))
    if table is None:
        raise InputError(f"remove (--remove) must be a table with a column of ids, got {file}")
    named.check(file, table.names, "column")
    usual = [name for name in table.names if name.lower() in IDS]
    names = [options.ids] if options.ids else usual or table.names
    if len(names) > 1:
        raise InputError(f"ids (--ids) is needed: {file} has the columns {listed(names)}")
    return table.typed(names[0]).ids()


def _as_in(index: Index, names: np.ndarray | None) -> np.ndarray | None:
    """Return ids as text if the index has text ids; a short table may have numbers only."""
    text = index.ids is not None and index.ids.dtype.kind == "U"
    return names if names is None or not text else names.astype(str)
