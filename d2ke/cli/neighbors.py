# SPDX-License-Identifier: BSD-3-Clause
"""The graph of neighbours of the objects in a file: `d2ke neighbors`."""

from __future__ import annotations

import argparse
import io
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from d2ke._base.files import write_file
from d2ke.cli.matrix_files import InputError
from d2ke.cli.object_files import read, reported_warnings
from d2ke.cli.options import (
    FILES,
    add_distance,
    add_objects,
    positive,
    radius,
    session_of,
)
from d2ke.cli.result_files import check_results, input_errors, write_columns
from d2ke.distances.pairs import check_pairs
from d2ke.distances.problem import ArgumentNames
from d2ke.distances.registry import check_parameters, find_distance, usual_distance
from d2ke.neighbors.graph import neighbor_graph
from d2ke.neighbors.runs import SearchOptions

_ENDINGS = ".npz", ".csv"

_DESCRIPTION = """\
The nearest objects of each object in a file, those within a radius, or the nearest of those,
exactly: a sparse matrix of their distances, as scipy.sparse.load_npz reads it. Each row has the
nearest first, and with --radius fewer than K where fewer are near. Distances of 0 are stored
entries; what is not stored is no neighbour. A .csv file has a row for each neighbour: item,
neighbor, distance, with items counted from 0. With --checkpoint the same command resumes a run
that was killed.
"""
_EXAMPLES = """\
examples:
  d2ke neighbors genes.fasta --k 15 --out graph.npz
  d2ke neighbors genes.fasta --k 15 --out graph.csv
  d2ke neighbors words.csv --k 5 --radius 3 --out graph.csv
  d2ke neighbors words.csv --radius 2 --include-self --out graph.npz
  d2ke neighbors reads.fasta --radius 10 --out graph.npz --checkpoint reads-10
  d2ke neighbors gestures.ts --k 5 --distance dtw --parameter window=10 --out graph.npz
"""


def add_neighbors_command(commands: Any, common: argparse.ArgumentParser) -> None:
    """Add the command to the subparsers of `d2ke`."""
    parser = commands.add_parser(
        "neighbors",
        parents=[common],
        help="a sparse graph of the neighbours of the objects of a file",
        description=f"{_DESCRIPTION}\n{FILES}",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("file", metavar="FILE", help="the objects")
    add("--out", required=True, metavar="FILE", help="where to write, .npz or .csv")
    add("--k", type=positive, metavar="K", help="the K nearest others of each object")
    add(
        "--radius",
        type=radius,
        metavar="R",
        help="all others at distances up to R; with --k, at most K of them",
    )
    add_distance(parser)
    add(
        "--include-self",
        action="store_true",
        help="each object is its own neighbour, beside the K others",
    )
    add("--checkpoint", metavar="FOLDER", help="where finished blocks of rows are kept")
    add_objects(parser)
    parser.set_defaults(run=neighbors)


@input_errors()
def neighbors(options: argparse.Namespace) -> None:
    """Find the neighbours of each object of a file among the others, and write their graph.

    Each row has the nearest first.

    Raises
    ------
    InputError
        A file or an argument is unusable.
    """
    out, session = Path(options.out), session_of(options)
    if options.k is None and options.radius is None:
        raise InputError("k or radius is needed: how many neighbours, or how far they may be")
    check_results(options, _ENDINGS, {"the file of objects": options.file})
    if options.distance is not None:
        find_distance(options.distance)
    objects = read(options, session).objects
    row = find_distance(options.distance or usual_distance(objects.kind))
    parameters = dict(options.parameter)
    check_parameters(row, parameters)
    search = SearchOptions(
        include_self=options.include_self,
        n_threads=session.n_threads,
        progress=session.progress,
        checkpoint=options.checkpoint,
    )
    with reported_warnings(session):
        names = ArgumentNames("nearest" if options.k else "within")
        pairs = check_pairs(objects, None, row.name, parameters, names)
        graph, info = neighbor_graph(pairs, True, search, k=options.k, radius=options.radius)
    share = 100 * info.computed / info.pairs if info.pairs else 0.0
    session.report(
        f"{row.name}: {graph.nnz} neighbours of {len(objects)} objects; {info.computed} of "
        f"{info.pairs} distances computed ({share:.1f} %)"
    )
    write_graph(out, graph)
    session.report(f"graph: {options.out}")


def write_graph(out: Path, graph: sparse.csr_array) -> None:
    """Write a graph as a matrix, or as a table of its entries by rows."""
    if out.suffix == ".csv":
        items = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
        columns = {"item": items, "neighbor": graph.indices, "distance": graph.data}
        write_columns(out, columns)
        return
    content = io.BytesIO()  # some versions of numpy leave an archive open on a full disk
    sparse.save_npz(content, graph)
    write_file(out, content.getbuffer())
