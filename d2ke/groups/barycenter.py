# SPDX-License-Identifier: BSD-3-Clause
"""Averages of series under elastic distances, and medians of strings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from d2ke._base.arrays import item_weights
from d2ke._base.checks import generator, integer, not_negative
from d2ke._base.errors import ArgumentError
from d2ke._base.keywords import hinted
from d2ke._base.memory import check_fits
from d2ke._base.results import result
from d2ke._base.threads import team_size
from d2ke._ext import alignment, elastic
from d2ke.distances.alignment.align import ELASTIC, one_object
from d2ke.distances.pairs import check_pairs
from d2ke.distances.problem import ArgumentNames, PairBlock, PairwiseProblem
from d2ke.distances.registry import check_parameters, find_distance, usual_distance
from d2ke.groups.median_string import EDITS, edited_strings
from d2ke.groups.series_average import SeriesAverage
from d2ke.objects.compatibility import concatenate
from d2ke.objects.container import Objects, from_owned, take
from d2ke.objects.packing import as_objects

_SAMPLE = 2000  # objects among which the medoid is searched


@result
class Barycenter:
    """The result of `barycenter`.

    Attributes
    ----------
    center : ndarray of float64, shape (length, dim), or str, bytes or array of letters
        The average of series, or the median of strings.
    distances : ndarray of float64, shape (n,)
        The distance of each object to it.
    inertia : float
        The weighted sum of these distances.
    n_iter : int
        Iterations that were done.
    """

    center: Any = field(repr=False)
    distances: NDArray[np.float64] = field(repr=False)
    inertia: float
    n_iter: int


@hinted
def barycenter(
    X: Any,
    *,
    distance: str | None = None,
    initial: Any = None,
    weights: Any = None,
    max_iter: int = 30,
    tol: float = 1e-5,
    seed: Any = 0,
    n_threads: int | None = None,
    **params: Any,
) -> Barycenter:
    """Find a series or string with a small sum of distances to all objects.

    Series are averaged as by DTW barycenter averaging [1]_: all are aligned with the present
    average, and each of its vectors moves to the mean of the vectors that lie on it. Strings are
    improved by single edits [2]_. No iteration raises the sum of distances.

    Parameters
    ----------
    X : Objects or what `pack` takes
        n series, of equal or different lengths, or n strings.
    distance : str, optional
        An elastic distance of series, ``"dtw"`` by default; or ``"levenshtein"``, the default for
        strings, ``"osa"``, ``"damerau_levenshtein"``, ``"indel"`` or ``"weighted_levenshtein"``;
        symmetric.
    initial : array_like, str or bytes, optional
        Where to start, of the length of the average of series. By default the medoid, the object
        with the least sum of distances to the others; of more than 2,000 objects, the medoid of a
        random sample.
    weights : array_like of float, shape (n,), optional
        The weight of each object's distance, >= 0, not all 0; by default 1.
    max_iter : int
        Most iterations, 0 or more.
    tol : float
        Stop when an iteration lowers the sum by no more than this share of it.
    seed : int, SeedSequence or Generator
        Of the sample.
    n_threads : int, optional
        Threads to use; None for all that this process may use. The result does not depend on it.
    **params
        Parameters of the distance, as for `distance_matrix`.

    Returns
    -------
    Barycenter

    Raises
    ------
    TypeError, ValueError
        As `distance_matrix`; a distance without an average; a parameter out of range.
    MemoryError
        If the tables of directions of each thread, 2 bytes for each pair of vectors of the average
        and the longest series, do not fit.
    KeyboardInterrupt
        On Ctrl-C, within a second.

    Notes
    -----
    The mean has the least sum of squares, not of distances. Where a distance adds up absolute
    differences or Euclidean distances (``"dtw"`` but with ``ground="sqeuclidean"``, ``"msm"``,
    ``"erp"``, ``"twe"``), means that no longer lower the sum are followed by means in which each
    vector counts inversely to its distance. A step that raises the sum is halved up to three
    times. Independent channels of ``"msm"`` are averaged one by one.

    A median of strings has no single deletion, insertion or substitution that lowers the sum; the
    exact median, which is hard to find, may be better.

    References
    ----------
    .. [1] Petitjean, Ketterlin, Gancarski, "A global averaging method for dynamic time warping,
       with applications to clustering", Pattern Recognition 44, 2011.
    .. [2] Martinez-Hinarejos, Juan, Casacuberta, "Median strings for k-nearest neighbour
       classification", Pattern Recognition Letters 24, 2003.

    Examples
    --------
    >>> import d2ke
    >>> d2ke.barycenter(["abxd", "abcx", "xbcd", "axcd"]).center
    'abcd'
    >>> X = [[0.0, 0, 1, 2, 0], [0, 1, 2, 2, 0], [0, 1, 3, 0, 0]]
    >>> average = d2ke.barycenter(X, distance="dtw", ground="sqeuclidean")
    >>> average.center[:, 0].tolist(), average.inertia
    ([0.0, 0.0, 1.0, 2.25, 0.0], 0.75)
    """
    if distance is None:
        X = as_objects("X", X)
        distance = usual_distance(X.kind)
    names = ArgumentNames("barycenter", "X", "initial")
    row = None if callable(distance) else find_distance(distance)
    averaged = ("dtw", *ELASTIC, "ddtw", *EDITS)
    if row is None or row.name not in averaged:
        raise ArgumentError("distance", f"must be one of {', '.join(averaged)}; got {distance!r}")
    pairs = check_pairs(X, None, row.name, params, names)
    parameters = check_parameters(row, params)
    if not pairs.same:
        raise ArgumentError("distance", f"must be symmetric; {row.name!r} is not, with {params}")
    if pairs.x.missing:
        raise ArgumentError("missing", "must be 'error': a mean needs all values of each vector")
    if parameters.get("ground") == "haversine":
        raise ArgumentError("ground", "must not be 'haversine': points of a sphere have no mean")
    max_iter, tol = integer("max_iter", max_iter, 0), not_negative("tol", tol)
    weights = item_weights(weights, len(pairs.x))
    rng, n_threads = generator(seed), team_size(n_threads)
    if initial is None:
        start = _medoid(pairs, weights, rng, n_threads)
    else:
        start = one_object("initial", initial, row.kind)
        start = check_pairs(pairs.x, start, row.name, params, names).y
        if row.kind == "strings":  # of one alphabet
            start = concatenate([start, pairs.x])[:1]
    if row.kind == "strings":
        edits = partial(edited_strings, n_objects=len(pairs.x))
        return _descend(pairs, start, weights, max_iter, tol, n_threads, edits)
    lengths, m = pairs.x.lengths, int(start.lengths[0])
    window = parameters.get("window", elastic.NO_WINDOW)
    ends = int(lengths.min()), int(lengths.max())
    radius = max(alignment.series_radius(window, length, m) for length in ends)
    n_bytes = 2 * m * min(ends[1], 2 * radius + 7) * n_threads
    check_fits(n_bytes, "the tables of the alignments", "use shorter series or fewer threads")
    channels = [pairs]
    if row.name == "msm" and parameters.get("independent", True):
        channels = [replace(pairs, x=side) for side in _channels(pairs.x)]
    results = []
    for side, first in zip(channels, _channels(start, len(channels)), strict=True):
        average = SeriesAverage(row.name, side.x, weights, n_threads, parameters)
        results.append(_descend(side, first, weights, max_iter, tol, n_threads, average.candidates))
    distances = np.sum([result.distances for result in results], axis=0)
    return Barycenter(
        np.concatenate([result.center for result in results], axis=1),
        distances,
        float((distances * weights).sum()),
        max(result.n_iter for result in results),
    )


def _medoid(
    pairs: PairwiseProblem, weights: np.ndarray, rng: np.random.Generator, n_threads: int
) -> Objects:
    """Return the medoid, of many objects the medoid of a sample."""
    n = len(pairs.x)
    sample = np.arange(n) if n <= _SAMPLE else np.sort(rng.choice(n, _SAMPLE, replace=False))
    x = take(pairs.x, sample)
    D = pairs.distances(PairBlock(x, x, True), n_threads, np.float64)
    return x[[int((D * weights[sample]).sum(axis=1).argmin())]]


def _channels(series: Objects, n: int | None = None) -> list[Objects]:
    """Cut series into n parts of equally many channels, by default of one."""
    columns = np.split(series.values.astype(np.float64), n or series.dim, axis=1)
    return [from_owned("series", column, series.offsets) for column in columns]


def _descend(
    pairs: PairwiseProblem,
    center: Objects,
    weights: np.ndarray,
    max_iter: int,
    tol: float,
    n_threads: int,
    candidates: Callable[[Objects], Iterable[Objects]],
) -> Barycenter:
    """Go on to the best of the first candidates among which one lowers the sum of distances."""
    (distances,) = _distances(pairs, center, n_threads)
    inertia, n_iter, improved = float((distances * weights).sum()), 0, True
    while improved and n_iter < max_iter:
        n_iter, improved = n_iter + 1, False
        for centers in candidates(center):
            D = _distances(pairs, centers, n_threads)
            sums = (D * weights).sum(axis=1)
            best = int(sums.argmin())
            improved = bool(sums[best] < inertia * (1 - tol))
            if improved:
                center, distances, inertia = centers[[best]], D[best], float(sums[best])
                break
    return Barycenter(center[0], distances, inertia, n_iter)


def _distances(pairs: PairwiseProblem, candidates: Objects, n_threads: int) -> np.ndarray:
    """Return the distances of the candidates (rows) to all objects."""
    few = len(candidates) < len(pairs.x)  # columns share the kernels' lanes
    block = PairBlock(candidates, pairs.x) if few else PairBlock(pairs.x, candidates)
    D = pairs.distances(block, n_threads, np.float64)
    return D if few else D.T
