# SPDX-License-Identifier: BSD-3-Clause
"""The graph of neighbours of the objects in a file: `d2ke neighbors`."""

from __future__ import annotations

import argparse
import io
from functools import partial
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
from scipy import sparse

from d2ke._base.files import write_file
from d2ke.cli.index import GraphResult, neighbors_in
from d2ke.cli.object_files import read_compared, reported_warnings
from d2ke.cli.result_files import InputError, write_columns
from d2ke.cli.session import Session
from d2ke.distances.pairs import check_pairs
from d2ke.distances.problem import ArgumentNames
from d2ke.frames import Columns, columns_of
from d2ke.models.blocks import take
from d2ke.neighbors.graph import neighbor_graph
from d2ke.neighbors.runs import SearchOptions


def neighbors(options: argparse.Namespace, session: Session) -> None:
    """Write the graph of a file's objects and their neighbours in the file or in an index.

    Each row has the nearest first.
    """
    if options.k is None and options.radius is None:
        raise InputError("k or radius is needed: how many neighbours, or how far they may be")
    find = _neighbors_in_file if options.index is None else neighbors_in
    write_graph(Path(options.out), find(options, session))
    session.report(f"graph: {options.out}")


def _neighbors_in_file(options: argparse.Namespace, session: Session) -> GraphResult:
    """Return the graph of the neighbours of the objects of a file."""
    data, distance, parameters = read_compared(options, session)
    search = SearchOptions(include_self=options.include_self, **session.computing)
    with reported_warnings(session):
        names = ArgumentNames("nearest" if options.k else "within")
        pairs = check_pairs(data.objects, None, distance, parameters, names)
        graph, info = neighbor_graph(pairs, True, search, k=options.k, radius=options.radius)
    share = 100 * info.computed / info.pairs if info.pairs else 0.0
    session.report(
        f"{distance}: {graph.nnz} neighbours of {len(data.objects)} objects; {info.computed} of "
        f"{info.pairs} distances computed ({share:.1f} %)"
    )
    return GraphResult(graph, data.ids, data.ids, data.objects, partial(take, data.objects))


def write_graph(out: Path, neighbors: GraphResult) -> None:
    """Write a graph as a matrix, or as a table of its entries by rows, with ids of both sides.

    A table also has short strings without ids, as indices alone would identify nothing.
    """
    graph, ids, other_ids = neighbors.graph, neighbors.ids, neighbors.other_ids
    if out.suffix == ".csv":
        columns: Columns = {}
        for name, values in columns_of(graph, ids, other_ids).items():
            columns[name] = values
            used, positions = np.unique(values, return_inverse=True)
            if name == "item" and ids is None and len(used):
                columns |= _texts("text", take(neighbors.objects, used), positions)
            elif name == "neighbor" and other_ids is None and len(used):
                columns |= _texts("neighbor_text", neighbors.take(used), positions)
        write_columns(out, columns)
        return
    content = io.BytesIO()  # some versions of numpy leave an archive open on a full disk
    sparse.save_npz(content, graph)
    sides = {"ids": ids, "neighbor_ids": None if other_ids is ids else other_ids}
    with ZipFile(content, "a", ZIP_DEFLATED) as archive:
        for name, names in sides.items():
            if names is not None:
                with archive.open(f"{name}.npy", "w") as entry:
                    np.lib.format.write_array(entry, names, allow_pickle=False)
    write_file(out, content.getbuffer())


def _texts(name: str, objects: Any, positions: np.ndarray) -> Columns:
    """Return a column of the strings at the positions; none for other objects or long strings."""
    longest = 100
    if not isinstance(objects[0], str) or objects.lengths.max() > longest:
        return {}
    return {name: np.array(list(objects))[positions]}
