# SPDX-License-Identifier: BSD-3-Clause
"""The graph of neighbours of the objects in a file: `d2ke neighbors`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from d2ke._base.files import atomic_write, check_writable
from d2ke.cli.matrix_files import InputError
from d2ke.cli.object_files import Job, reported_warnings
from d2ke.cli.result_files import check_apart, input_errors, write_columns
from d2ke.distances.registry import check_parameters, find_distance, usual_distance
from d2ke.neighbors.graph import neighbor_graph
from d2ke.neighbors.search import nearest, within

_ENDINGS = ".npz", ".h5", ".csv"


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
    resume : bool
        Whether a .h5 file of an equal call that was interrupted is completed.
    """

    k: int | None = None
    radius: float | None = None
    distance: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    include_self: bool = False
    resume: bool = False

    @property
    def function(self) -> Callable[..., Any]:
        """`nearest` or `within`, with its argument."""
        if self.radius is None:
            return partial(nearest, k=self.k)
        return partial(within, radius=self.radius)


@input_errors()
def neighbors(job: Job, query: Query) -> sparse.csr_array | Path:
    """Find the neighbours of each object of a file among the others, and write their graph.

    Parameters
    ----------
    job : Job
        The objects, and the file of the graph, .npz, .h5 or .csv.
    query : Query
        Which neighbours, and by which distance.

    Returns
    -------
    scipy.sparse.csr_array or Path
        The distances; each row has the nearest first. For .h5 the file, whose graph need not fit
        into memory.

    Raises
    ------
    InputError
        A file or an argument is unusable.
    """
    out = Path(job.out)
    if out.suffix not in _ENDINGS:
        raise InputError(f"out must end in {', '.join(_ENDINGS)}, got {os.fspath(job.out)!r}")
    if query.resume and out.suffix != ".h5":
        raise InputError(f"resume is for files that end in .h5, got {os.fspath(job.out)!r}")
    check_apart({"out": out}, {"the file of objects": job.file})
    check_writable(out)
    if query.distance is not None:
        find_distance(query.distance)
    objects = job.read().objects
    row = find_distance(query.distance or usual_distance(objects.kind))
    check_parameters(row, query.parameters)
    options = {"distance": row.name, "include_self": query.include_self, **query.parameters}
    options |= {**job.session.computing, "max_memory": job.max_memory}
    graph: sparse.csr_array | Path
    with reported_warnings(job.session):
        if out.suffix == ".h5":
            graph, info = query.function(
                objects, out=out, resume=query.resume, info=True, **options
            )
            what = "neighbours"
        else:
            graph, info = neighbor_graph(objects, k=query.k, radius=query.radius, **options)
            what = f"{graph.nnz} neighbours"
    share = 100 * info.computed / info.pairs if info.pairs else 0.0
    job.session.report(
        f"{row.name}: {what} of {len(objects)} objects; {info.computed} of {info.pairs} distances "
        f"computed ({share:.1f} %)"
    )
    if not isinstance(graph, Path):
        _write(out, graph)
    job.session.report(f"graph: {os.fspath(job.out)}")
    return graph


def _write(out: Path, graph: sparse.csr_array) -> None:
    """Write a graph as a matrix, or as a table of its entries by rows."""
    if out.suffix == ".csv":
        items = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
        columns = {"item": items, "neighbor": graph.indices, "distance": graph.data}
        write_columns(out, columns)
        return
    with atomic_write(out) as stream:
        sparse.save_npz(stream, graph)
