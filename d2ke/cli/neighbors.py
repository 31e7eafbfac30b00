# SPDX-License-Identifier: BSD-3-Clause
"""The graph of neighbours of the objects in a file: `d2ke neighbors`."""

from __future__ import annotations

import argparse
import io
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
from scipy import sparse

from d2ke._base.files import write_file
from d2ke.cli.index import Graph, neighbors_in
from d2ke.cli.object_files import read_compared, reported_warnings
from d2ke.cli.result_files import InputError, write_columns
from d2ke.cli.session import Session
from d2ke.distances.pairs import check_pairs
from d2ke.distances.problem import ArgumentNames
from d2ke.frames import columns_of
from d2ke.neighbors.graph import neighbor_graph
from d2ke.neighbors.runs import SearchOptions


def neighbors(options: argparse.Namespace, session: Session) -> None:
    """Write the graph of the neighbours of a file's objects, in the file itself or in an index.

    Each row has the nearest first.
    """
    if options.k is None and options.radius is None:
        raise InputError("k or radius is needed: how many neighbours, or how far they may be")
    find = _neighbors_in_file if options.index is None else neighbors_in
    write_graph(Path(options.out), *find(options, session))
    session.report(f"graph: {options.out}")


def _neighbors_in_file(options: argparse.Namespace, session: Session) -> Graph:
    """Return the graph of the neighbours of the objects of a file, and their ids."""
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
    return graph, data.ids, data.ids


def write_graph(
    out: Path, graph: sparse.csr_array, ids: np.ndarray | None, other_ids: np.ndarray | None
) -> None:
    """Write a graph as a matrix, or as a table of its entries by rows, with ids of both sides."""
    if out.suffix == ".csv":
        write_columns(out, columns_of(graph, ids, other_ids))
        return
    content = io.BytesIO()  # some versions of numpy leave an archive open on a full disk
    sparse.save_npz(content, graph)
    sides = {"ids": ids, "neighbor_ids": None if other_ids is ids else other_ids}
    with ZipFile(content, "a", ZIP_DEFLATED) as archive:
        for name, values in sides.items():
            if values is not None:
                with archive.open(f"{name}.npy", "w") as entry:
                    np.lib.format.write_array(entry, values, allow_pickle=False)
    write_file(out, content.getbuffer())
