# SPDX-License-Identifier: BSD-3-Clause
"""The command `d2ke neighbors`: its arguments."""

from __future__ import annotations

import argparse
from typing import Any

from d2ke.cli.options import (
    FILES,
    add_distance,
    add_max_memory,
    add_objects,
    job_of,
    positive,
    radius,
)

_DESCRIPTION = """\
The nearest objects of each object in a file, or those within a radius, exactly: a sparse matrix
of their distances, as scipy.sparse.load_npz reads it. Each row has the nearest first. Distances
of 0 are stored entries; what is not stored is no neighbour. A file that ends in .h5 is written by
blocks of rows, is resumed after a kill, and may be larger than memory; d2ke.load_neighbors reads
it, and rows of --radius are sorted by index there. A .csv file has a row for each neighbour: item,
neighbor, distance, with items counted from 0.
"""
_EXAMPLES = """\
examples:
  d2ke neighbors genes.fasta --k 15 --out graph.npz
  d2ke neighbors genes.fasta --k 15 --out graph.csv
  d2ke neighbors words.csv --radius 2 --include-self --out graph.npz
  d2ke neighbors reads.fasta --radius 10 --out graph.h5 --resume
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
    add("--out", required=True, metavar="FILE", help="where to write, .npz, .h5 or .csv")
    kind = parser.add_mutually_exclusive_group(required=True).add_argument
    kind("--k", type=positive, metavar="K", help="the K nearest others of each object")
    kind("--radius", type=radius, metavar="R", help="all others at distances up to R")
    add_distance(parser)
    add(
        "--include-self",
        action="store_true",
        help="each object is its own neighbour, beside the K others",
    )
    add("--resume", action="store_true", help="complete a .h5 file that was interrupted")
    add_objects(parser)
    add_max_memory(parser)
    parser.set_defaults(run=_neighbors)


def _neighbors(options: argparse.Namespace) -> None:
    from d2ke.cli.neighbors import Query, neighbors

    query = Query(
        options.k,
        options.radius,
        options.distance,
        dict(options.parameter),
        options.include_self,
        options.resume,
    )
    neighbors(job_of(options), query)
