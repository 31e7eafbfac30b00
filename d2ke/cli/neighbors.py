# SPDX-License-Identifier: BSD-3-Clause
"""The graph of neighbours of the objects in a file: `d2ke neighbors`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scipy import sparse

from d2ke._base.files import atomic_write, check_writable
from d2ke.cli.matrix_files import InputError
from d2ke.cli.object_files import Job, reported_warnings
from d2ke.cli.result_files import input_errors
from d2ke.distances.registry import check_parameters, find_distance, usual_distance
from d2ke.neighbors.graph import neighbor_graph
from d2ke.neighbors.info import NeighborsInfo

_ENDING = ".npz"


@dataclass(frozen=True)
class Query:
    """Which neighbours are wanted.

    Attributes
    ----------
    k : int, optional
        How many nearest objects; or
    radius : float, optional
        the largest distance of a neighbour.
    distance : str, optional
        By default ``"levenshtein"`` for strings and ``"dtw"`` for vectors.
    parameters : mapping
        Of the distance.
    include_self : bool
        Whether each object is a candidate of its own.
    """

    k: int | None = None
    radius: float | None = None
    distance: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    include_self: bool = False


@input_errors()
def neighbors(job: Job, query: Query) -> sparse.csr_array:
    """Find the neighbours of each object of a file among the others, and write their graph.

    Parameters
    ----------
    job : Job
        The objects, and the file of the graph, .npz.
    query : Query
        Which neighbours, and by which distance.

    Returns
    -------
    scipy.sparse.csr_array
        The distances; each row has the nearest first.

    Raises
    ------
    InputError
        A file or an argument is unusable.
    """
    out = Path(job.out)
    if out.suffix != _ENDING:
        raise InputError(f"out must end in {_ENDING}, got {os.fspath(job.out)!r}")
    check_writable(out)
    if query.distance is not None:
        find_distance(query.distance)
    objects, _ = job.read()
    row = find_distance(query.distance or usual_distance(objects.kind))
    check_parameters(row, query.parameters)
    with reported_warnings(job.session):
        graph, info = neighbor_graph(
            objects,
            k=query.k,
            radius=query.radius,
            distance=row.name,
            include_self=query.include_self,
            **query.parameters,
            **job.computing,
        )
    job.session.report(_summary(row.name, graph, info))
    with atomic_write(out) as stream:
        sparse.save_npz(stream, graph)
    job.session.report(f"graph: {os.fspath(job.out)}")
    return graph


def _summary(distance: str, graph: sparse.csr_array, info: NeighborsInfo) -> str:
    """Say in a line what was found, and how much of it was computed."""
    share = 100 * info.computed / info.pairs if info.pairs else 0.0
    return (
        f"{distance}: {graph.nnz} neighbours of {graph.shape[0]} objects; {info.computed} of "
        f"{info.pairs} distances computed ({share:.1f} %)"
    )
