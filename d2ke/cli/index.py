# SPDX-License-Identifier: BSD-3-Clause
"""Saved indexes of objects: `d2ke index`, and `d2ke neighbors` and `d2ke inspect` of one."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from d2ke._base.errors import ArgumentTypeError
from d2ke._base.text import listed, show
from d2ke.cli.commands import INDEX
from d2ke.cli.object_files import (
    how_of,
    read,
    read_compared,
    read_records,
    refuse,
    reported_warnings,
)
from d2ke.cli.result_files import InputError
from d2ke.cli.session import Session
from d2ke.io.columns import IDS, LabelledObjects
from d2ke.io.labelled import open_columns
from d2ke.io.manifest import check_replaceable
from d2ke.neighbors.graph import graph_of, nearest_first
from d2ke.neighbors.index import Index
from d2ke.objects.column_names import ColumnNames

Graph: TypeAlias = tuple[sparse.csr_array, np.ndarray | None, np.ndarray | None]  # with both ids


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
    refuse(options, ("distance", "parameter"), f"belongs to the index; {options.file} has its own")
    with _open(options.file, writable=bool(options.add or options.remove)) as held:
        if options.verify:
            session.report(f"{options.file}: all checksums are right")
        gone = None if options.remove is None else _names(options)
        new = None if options.add is None else _read(options.add, held, options, session)
        n = len(held)
        if gone is not None:
            if held.ids is None and gone.dtype.kind == "U":
                raise InputError(
                    f"remove: {options.file} has no ids; a column of {options.remove} must have "
                    "indices, whole numbers"
                )
            by = {"indices": gone} if held.ids is None else {"ids": _as_in(held, gone)}
            held.remove(**by)
            session.report(f"removed: {n - len(held)}")
        if new is not None:
            named = held.ids is not None or options.ids is not None
            held.add(new.objects, ids=_as_in(held, new.ids) if named else None)
            session.report(f"added: {len(new.objects)}")
        session.report(str(held)[1:-1])


def neighbors_in(options: argparse.Namespace, session: Session) -> Graph:
    """Return the graph of the neighbours that objects of a file have in an index, and all ids."""
    more = ("distance", "parameter", *["include_self"] * options.include_self)
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
    return graph, X.ids, near.ids


def is_index(path: Path) -> bool:
    """Return whether a path is that of an index, by its name or by what is there."""
    return path.suffix == INDEX or (path / "manifest.json").exists()


def report_index(path: str, session: Session) -> None:
    """Report what an index is, and the command to type next."""
    held = _open(path, verify=False)
    session.report(f"{str(held)[1:-1]}; {show(held.params)}")
    ids = "none; objects are numbered in the order in which they came"
    if held.ids is not None:
        ids = listed(held.ids[held.indices].tolist(), str)
    session.report(f"ids: {ids}")
    size = sum(file.stat().st_size for file in Path(path).iterdir())
    session.report(f"size: {size / 1e6:.3g} MB")
    k = min(5, len(held))
    session.report(
        f"next: d2ke neighbors FILE --index {shlex.quote(path)} --k {k} --out nearest.csv"
    )


def _build(options: argparse.Namespace, session: Session) -> None:
    out = Path(options.folder)
    if out.suffix != INDEX:
        raise InputError(f"out must end in {INDEX}, got {options.folder!r}")
    if not out.parent.is_dir():
        raise FileNotFoundError(f"cannot write {out}: the folder {out.parent} does not exist")
    if out.exists():
        check_replaceable(out)
    held, distance, parameters = read_compared(options, session)
    with reported_warnings(session):
        built = Index(held.objects, distance=distance, ids=held.ids, **parameters)
        built.save(out, n_threads=session.n_threads)
    session.report(f"index: {out}")


def _open(path: str, writable: bool = False, verify: bool = True) -> Index:
    try:
        return Index.open(path, writable=writable, verify=verify)
    except ArgumentTypeError as error:  # of a Python function, which no option can name
        raise InputError(str(error)) from None


def _read(file: str, held: Index, options: argparse.Namespace, session: Session) -> LabelledObjects:
    """Read objects of the kind that an index has."""
    some = held.objects(held.indices[:1])
    if some.kind == "records":
        kinds = {name: column.kind for name, column in some.columns.items()}
        named = ColumnNames(tuple(kinds), options.labels, rows=options.ids)
        return read_records(file, named, kinds, session, how=how_of(options))
    kind = options.kind or ("sets" if some.kind == "sets" else None)
    given = argparse.Namespace(**{**vars(options), "file": file, "kind": kind})
    return read(given, session, unlabelled=True)


def _names(options: argparse.Namespace) -> np.ndarray:
    """Return the ids in a table of what is to be removed."""
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


def _as_in(held: Index, names: np.ndarray | None) -> np.ndarray | None:
    """Return ids as text where an index has text: a table of few rows may have numbers alone."""
    text = held.ids is not None and held.ids.dtype.kind == "U"
    return names if names is None or not text else names.astype(str)
