# SPDX-License-Identifier: BSD-3-Clause
"""Lazy matrices of distances and of features."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import dask.array as da
import numpy as np
from scipy import LowLevelCallable

from d2ke._base.checks import element_type, integer
from d2ke._base.errors import ArgumentTypeError
from d2ke._base.keywords import hinted
from d2ke._base.threads import team_size
from d2ke.dask.partitions import Partitions, is_lazy, partitions_of, row_array
from d2ke.dask.workers import later, shared
from d2ke.distances.matrix import fill_array
from d2ke.distances.pairs import check_pairs
from d2ke.distances.problem import ArgumentNames
from d2ke.distances.registry import check_parameters, find_distance, usual_distance
from d2ke.embedding.features import check_embedding, check_link, feature_transform
from d2ke.objects.packing import as_objects


@hinted
def distance_matrix(
    X: Any,
    Y: Any = None,
    distance: str | Callable[..., float] | None = None,
    *,
    chunks: Any = None,
    n_threads: int = 1,
    dtype: Any = None,
    **params: Any,
) -> da.Array:
    """Compute the distances between all objects of X and all objects of Y, lazily.

    Parameters
    ----------
    X : Objects, what `pack` takes, dask collection or list of Delayed
        n objects, see `d2ke.dask`.
    Y : Objects, what `pack` takes, dask collection or list of Delayed, optional
        m objects. In memory they are sent to each worker once; of a dask collection every
        partition meets every partition of X. None stands for X itself; then each pair of
        partitions is computed once if d(x, y) = d(y, x).
    distance : str or callable, optional
        As for `d2ke.distance_matrix`; functions of a module must be importable by the workers. By
        default, where X or Y is in memory, ``"levenshtein"`` for strings, ``"dtw"`` for series and
        ``"mhd"`` for sets.
    chunks : int or sequence of int, optional
        For an X in memory, the number of rows of all or of each partition; by default four
        partitions for each thread, of at most dask's ``array.chunk-size``. For a dask collection,
        the lengths of its partitions, if you have them; otherwise the result has blocks of
        unknown length, which ``Z.compute_chunk_sizes()`` finds.
    n_threads : int
        Threads of a task; by default 1, as a worker runs as many tasks as it has threads.
    dtype : {float64, float32}, optional
        Of the result. By default as for `d2ke.distance_matrix` if X and Y are in memory, else
        float64.
    **params
        Parameters of the distance.

    Returns
    -------
    dask.array.Array, shape (n, m)
        With the bits of `d2ke.distance_matrix`.

    Raises
    ------
    TypeError, ValueError
        As `d2ke.distance_matrix`; invalid objects in a dask collection raise when the result is
        computed, and the item's index counts from the start of its partition.
    RuntimeError
        Workers with another version of d2ke, when the result is computed.

    Examples
    --------
    >>> import d2ke.dask
    >>> D = d2ke.dask.distance_matrix(["kitten", "sitting", "mitten"], ["mit"], "levenshtein",
    ...                               chunks=2)
    >>> D.chunks
    ((2, 1), (1,))
    >>> D.compute(scheduler="threads").ravel()
    array([4., 5., 3.])
    """
    names = ArgumentNames("d2ke.dask.distance_matrix")
    distance = chosen_distance(distance, X, Y, names)
    x, y, default = open_collections(X, Y, distance, params, names, chunks)
    dtype = default if dtype is None else element_type("dtype", dtype)
    columns = x if y is None else y
    compute = partial(
        _distances, distance=distance, params=params, dtype=dtype,
        n_threads=integer("n_threads", n_threads, 1),
    )  # fmt: skip
    symmetric = y is None and _is_symmetric(distance, params)
    grid: list[list[Any]] = []
    for i, x_i in enumerate(x.partitions):
        row = []
        for j, other in enumerate(columns.partitions):
            if symmetric and j < i:
                row.append(grid[j][i].T)
                continue
            pair = (x_i, None) if symmetric and j == i else (x_i, other)
            block = later(compute, *pair, where=x.where(i))
            row.append(da.from_delayed(block, (x.lengths[i], columns.lengths[j]), dtype))
        grid.append(row)
    rows = [da.concatenate(row, axis=1, allow_unknown_chunksizes=True) for row in grid]
    return da.concatenate(rows, axis=0, allow_unknown_chunksizes=True)


@hinted
def d2ke_embed(
    X: Any,
    omega: Any,
    *,
    distance: str | Callable[..., float] | None = None,
    gamma: float | None = None,
    link: str = "exp",
    chunks: Any = None,
    n_threads: int = 1,
    dtype: Any = None,
    **params: Any,
) -> da.Array:
    """Embed objects by their distances to random objects, lazily.

    Sums over rows, such as ``Z.T @ Z``, need memory for some blocks, however many rows there are.

    Parameters
    ----------
    X, chunks, n_threads, dtype
        As for `d2ke.dask.distance_matrix`.
    omega : Objects or what `pack` takes
        R random objects, in memory; they are sent to each worker once.
    distance, gamma, link, **params
        As for `d2ke.d2ke_embed`.

    Returns
    -------
    dask.array.Array, shape (n, R)
        With the bits of `d2ke.d2ke_embed`.

    Raises
    ------
    TypeError, ValueError, RuntimeError
        As `d2ke.d2ke_embed` and `d2ke.dask.distance_matrix`.

    Examples
    --------
    >>> import d2ke.dask
    >>> omega = d2ke.samplers.random_strings(4, "ACGT", length=(2, 8), seed=0)
    >>> Z = d2ke.dask.d2ke_embed(["ACGT", "AGGT"], omega, distance="levenshtein", gamma=0.5)
    >>> (Z.T @ Z).compute(scheduler="threads").shape
    (4, 4)
    """
    names = ArgumentNames("d2ke.dask.d2ke_embed", "X", "omega")
    if omega is None:
        raise ArgumentTypeError("omega", "is None; draw random objects first")
    gamma = check_link(gamma, link)
    distance = chosen_distance(distance, X, omega, names)
    x, y, default = open_collections(X, omega, distance, params, names, chunks)
    assert y is not None
    if y.local is None:
        raise ArgumentTypeError("omega", "must be in memory, not a dask collection")
    dtype = default if dtype is None else element_type("dtype", dtype)
    embed = partial(
        _embed, distance=distance, params=params, gamma=gamma, dtype=dtype,
        n_threads=integer("n_threads", n_threads, 1),
    )  # fmt: skip
    empty = np.empty((0, len(y.local)), dtype)
    return row_array(x.map(embed, y.partitions[0], empty=empty), x.lengths, empty)


def chosen_distance(distance: Any, X: Any, Y: Any, names: ArgumentNames) -> Any:
    """Return the distance, by default the usual one for objects in memory."""
    if distance is not None:
        return distance
    for name, side in ((names.x, X), (names.y, Y)):
        if side is not None and not is_lazy(side):
            return usual_distance(as_objects(name, side).kind)
    raise ArgumentTypeError(
        "distance", "is None, but nobody knows yet what the dask collection holds; name it"
    )


def open_collections(
    X: Any,
    Y: Any,
    distance: Any,
    params: Mapping[str, Any],
    names: ArgumentNames,
    chunks: Any,
    width: int | None = None,
) -> tuple[Partitions, Partitions | None, np.dtype]:
    """Check the local arguments; return the partitions of X and Y, and the result's dtype.

    A Y in memory is one partition; a Y of None has None. `width` is the number of values in
    a row of the result; None for one in each column.
    """
    if isinstance(distance, LowLevelCallable):
        raise ArgumentTypeError(
            "distance",
            "is a scipy.LowLevelCallable, an address that means nothing to other processes; give a "
            "distance's name or a Python function",
        )
    anything = callable(distance)
    kind = None
    if not anything:
        row = find_distance(distance)
        check_parameters(row, params)
        kind = row.kind
    options: dict[str, Any] = {"kind": kind, "anything": anything}
    y = None if Y is None else partitions_of(names.y, Y, **options)
    if y is not None and y.local is not None:
        y = Partitions(names.y, [shared(y.local)], (len(y.local),), y.local)
    if width is None:
        width = 4096 if y is None or y.local is None else len(y.local)  # blocks of 128 MB
    x = partitions_of(names.x, X, chunks, row_bytes=8 * width, **options)
    dtype = np.dtype(np.float64)
    if x.local is not None and (y is None or y.local is not None):
        dtype = check_pairs(x.local, None if y is None else y.local, distance, params, names).dtype
    else:
        for side in (x, y):
            if side is not None and side.local is not None:
                called = ArgumentNames(names.function, side.name, side.name)
                check_pairs(side.local, None, distance, params, called)
    return x, y, dtype


def _is_symmetric(distance: Any, params: Mapping[str, Any]) -> bool:
    if callable(distance):
        return True  # what `d2ke.distance_matrix` supposes too
    row = find_distance(distance)
    return row.is_symmetric(check_parameters(row, params))


# ---------------------------------------------------------------- on workers


def _distances(
    x: Any, y: Any, *, distance: Any, params: Any, dtype: Any, n_threads: int
) -> np.ndarray:
    """Compute the distances of two partitions; y is None for distances within x."""
    columns = x if y is None else y
    if not (len(x) and len(columns)):
        return np.empty((len(x), len(columns)), dtype)
    pairs = check_pairs(x, y, distance, params)
    return fill_array(pairs, None, dtype, team_size(n_threads), False)


def _embed(
    x: Any, omega: Any, *, distance: Any, params: Any, gamma: float | None, dtype: Any,
    n_threads: int,
) -> np.ndarray:  # fmt: skip
    """Compute the features of a partition."""
    pairs = check_embedding(x, omega, distance, params, ArgumentNames("d2ke_embed", "X", "omega"))
    transform = feature_transform(gamma, len(omega))
    return fill_array(pairs, None, dtype, team_size(n_threads), False, transform)
