# SPDX-License-Identifier: BSD-3-Clause
"""The matrix of distances between two collections."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import LowLevelCallable

from d2ke._base.checks import element_type
from d2ke._base.errors import ArgumentTypeError
from d2ke._base.keywords import hinted
from d2ke._base.memory import check_fits
from d2ke._base.progress import progress_bar
from d2ke._base.threads import team_size
from d2ke.distances.equal_distances import FEW, warn_of_equal_distances
from d2ke.distances.problem import DEFAULT_NAMES, UNCHANGED, PairwiseProblem, Transform
from d2ke.distances.record_pairs import check_any_pairs


@hinted
def distance_matrix(
    X: Any,
    Y: Any = None,
    distance: str | Callable[..., float] | LowLevelCallable | Mapping[str, Any] | None = None,
    *,
    n_threads: int | None = None,
    out: np.ndarray | None = None,
    dtype: Any = None,
    progress: bool | None = None,
    **params: Any,
) -> NDArray[np.floating[Any]]:
    """Compute the distances between all objects of X and all objects of Y.

    Parameters
    ----------
    X : Objects or what `pack` takes; Records or what `pack_records` takes
        n objects, or n records of several columns.
    Y : Objects or what `pack` takes, optional
        m objects or records. None stands for X itself: each pair is computed once, since d(x, y) =
        d(y, x) (not for directed distances, for ``"levenshtein"`` with another mode than "global",
        or for costs that differ by direction).
    distance : str, callable, scipy.LowLevelCallable or dict, optional
        By default ``"levenshtein"`` for strings, ``"dtw"`` for series and ``"mhd"`` for sets; for
        records these of all columns, ``"absolute"`` of numbers and ``"equal"`` of categories. Else

        - of records a dict with the distance of each compared column, or a tuple of the distance
          and its parameters: ``{"name": "osa", "track": ("dtw", {"window": 9})}``; of numbers
          ``"absolute"`` (their difference), of categories and text ``"equal"`` (0 where they are,
          else 1). The distance is the weighted sum over the columns; see docs/columns.md;
        - ``"dtw"``, ``"levenshtein"``, ``"mhd"``, ``"hausdorff"``, ``"chamfer"``,
          ``"directed_mhd"``, ``"directed_hausdorff"``, ``"emd"``, ``"kernel"``, ``"window"``;
          see Notes; of strings also ``"osa"``, ``"damerau_levenshtein"``, ``"hamming"``,
          ``"indel"``, ``"jaccard"``, ``"bag"``, ``"weighted_levenshtein"``, ``"jaro"``,
          ``"jaro_winkler"``, ``"token_sort"``, ``"token_set"``, ``"gapped"``, see
          docs/string_distances.md;
        - a Python callable ``f(x, y, **params) -> float``, called for every
          pair on one thread; X and Y may then be sequences of anything;
        - a compiled function of one of these C signatures, called on all
          threads without the GIL (float64 vectors, or strings as code points)::

              double f(const double *x, intptr_t n_x, const double *y,
                       intptr_t n_y, intptr_t dim, void *user_data)
              double f(const int32_t *x, intptr_t n_x, const int32_t *y,
                       intptr_t n_y, void *user_data)
    n_threads : int, optional
        Threads to use; None for all that this process may use. The result does
        not depend on it.
    out : ndarray of float32 or float64, shape (n, m), optional
        C-contiguous array to fill.
    dtype : {float64, float32}, optional
        Of the result, where `out` is None; by default as under Returns.
    progress : bool, optional
        Whether to show progress; by default on a terminal or in a notebook, where work takes more
        than two seconds.
    **params
        Parameters of the distance. For ``"dtw"``: ``window`` (None; an integer
        >= 0, the Sakoe-Chiba radius; or ``"rws"``, max(min(40, ceil(longer /
        10)), difference), the rule of the Random Warping Series code) and
        ``ground`` (``"euclidean"``, ``"sqeuclidean"``, ``"manhattan"`` or
        ``"haversine"``, of latitudes and longitudes in degrees, on a sphere of
        ``sphere_radius`` metres) and ``missing`` (``"error"``; ``"arow"``: NaN marks missing
        vectors, see Notes). The other elastic distances of series take
        ``window`` too; for ``"ddtw"`` it counts slopes, and ``"rws"`` takes their numbers as
        lengths; docs/distances.md lists their parameters. For ``"window"``: ``normalize`` (True)
        and ``dilation`` (1). For ``"levenshtein"``:
        ``mode`` (``"global"``; ``"prefix"`` or ``"infix"``), and as for ``"osa"``,
        ``"damerau_levenshtein"``, ``"hamming"`` and ``"indel"`` ``normalize`` (False; True: divided
        by the longer length, for ``"indel"`` by the sum of both). For
        ``"weighted_levenshtein"``: ``mode``, ``substitution``, ``alphabet``, ``mismatch``,
        ``insertion``, ``deletion``, ``gap_open``, ``gap_extend``, ``transposition``. For
        ``"jaro_winkler"``: ``prefix_weight`` (0.1). For ``"gapped"``: ``strands`` (``"one"``;
        ``"both"``: words of the reverse complements of DNA count too). For ``"emd"``: ``ground``.
        For ``"kernel"``: ``sigma`` (positive, needed), ``kernel``
        (``"gaussian"`` or ``"laplace"``) and ``normalize`` (False; True: the
        weights of each object are first divided by their sum, which compares sets
        of different sizes as distributions). For records: ``weights``, a dict of the weight of
        each compared column; by default `column_weights` of Y, or of X where Y is None.

    Returns
    -------
    ndarray, shape (n, m)
        float32 if X and Y are float32 vectors, else (and for records) float64; `out` if given. The
        values depend neither on the number of threads nor on further rows and columns.

    Raises
    ------
    TypeError, ValueError
        Unknown distance or parameter, objects of the wrong kind, NaN, empty
        objects where the distance is undefined, mixed numbers of channels,
        weights that the distance does not use, an `out` that does not fit.
    KeyboardInterrupt
        On Ctrl-C, within a second.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    Warns
    -----
    UserWarning
        If all distances between different objects are equal, and the distance has a name.

    Notes
    -----
    ``"dtw"``: least sum of |x_i - y_j| (Euclidean, not squared, no
    normalisation) over warping paths; a window narrower than the difference of
    the lengths is widened to it. With ``missing="arow"``, DTW-AROW [3]_: a vector without one of
    its channels is missing; ground distances to it are 0, and a path pairs it with one vector,
    which it pairs with no other; the sum is multiplied by (n + m) / the number of vectors of both
    that are not missing. It is infinite if no such path exists, and has the same bits as without
    if nothing is missing. ``"msm"``, ``"erp"``, ``"twe"``, ``"edr"``, ``"lcss"``,
    ``"adtw"``, ``"wdtw"``, ``"ddtw"`` and ``"frechet"`` are as their authors define
    them, computed in float64; docs/distances.md has a table. The window of ``"lcss"`` is for
    matches alone; any vector may be left out. ``"window"``: the distance of the
    short series y to the nearest window of x, min_p sqrt(sum_channels mean_j
    (y_j - x_(p + j dilation))^2). With ``normalize`` y and each window of x first get mean 0 and
    deviation 1 in each channel. Constant windows become 0: their deviation is at most 1e-6 (8 eps
    of float32) of the largest deviation of their series from its mean, or 2 eps of its largest
    value, where eps belongs to the type of the values. Where y with its dilation is longer than x,
    y is stretched over x. It is computed in float32: values without their mean (with
    ``normalize``; else as they are) are rounded, and distances are within 1e-5 of their value,
    relative to itself and to the largest values; it is not symmetric.
    ``"levenshtein"``: unit costs; with ``mode="infix"`` the least distance of y to any substring of
    x, with ``mode="prefix"`` to any prefix of x, the empty one included, so that it is at most the
    length of y; these are not symmetric. ``"gapped"``: sqrt(k(x, x) + k(y, y) - 2 k(x, y)) with the
    mean k of eight kernels of words of 1 to 8 letters on 54 masks with wildcards: inner
    products of the roots of counts of words, divided by the norms. ``"mhd"``:
    max(mean_j min_i |u_i - v_j|, mean_i min_j |u_i - v_j|) [1]_, eq. (2);
    ``"chamfer"`` is the sum of the two means, ``"hausdorff"`` has maxima instead
    of the means. ``"emd"``: the least sum_ij f_ij |u_i - v_j| over flows f >= 0
    whose row sums are the weights of x and whose column sums are the weights of y,
    both first divided by their sums (objects without weights: equal weights). It
    is a metric of such measures, 0 for x = y whatever the order of the vectors;
    with squared ground distances it is not a metric. Levenshtein distances are
    exact; all others, but for ``"window"`` and ``"gapped"`` (the error of whose square is at most
    2e-15 times the number of letters of the longer string), are within 1e-12 (float64) or 1e-5
    (float32) of the exact value, relatively; ``"emd"`` also within max(1e-14, 2e-18 n)
    of the largest distance of two vectors, n being the vectors of the smaller set. ``"kernel"``:
    `kernel_distance` of the vectors with their weights, 1 each where objects have
    none [2]_; the error of its square is at most (8 + dim) 2.3e-16 times the square
    of the sum of all weights of x and y, and far smaller where the sets are up to 2000
    pairs of nearly equal points (see `kernel_distance`).

    References
    ----------
    .. [1] Wu, Yen, Xu, Ravikumar, Witbrock, "D2KE: From Distance to Kernel and
       Embedding", 2018.
    .. [2] Joshi, Kommaraju, Phillips, Venkatasubramanian, "Comparing Distributions
       and Shapes using the Kernel Distance", SoCG 2011.
    .. [3] Yurtman, Soenen, Meert, Blockeel, "Estimating Dynamic Time Warping Distance Between
       Time Series with Missing Data", ECML-PKDD 2023.

    Examples
    --------
    >>> import d2ke
    >>> d2ke.distance_matrix(["kitten", "sitting"], ["mitten", ""], "levenshtein")
    array([[1., 6.],
           [3., 7.]])
    >>> d2ke.distance_matrix(["kitten", "sitting"], ["mit", "sit"], "levenshtein", mode="infix")
    array([[1., 1.],
           [1., 0.]])
    >>> d2ke.distance_matrix([[0.0, 1, 2], [0.0, 2]], distance="dtw")
    array([[0., 1.],
           [1., 0.]])
    >>> people = {"name": ["Ada", "Adam", "Bo"], "age": [36, 46, 56]}
    >>> d2ke.distance_matrix(people, distance={"name": "levenshtein", "age": "absolute"},
    ...                      weights={"name": 1, "age": 0.1})
    array([[0., 2., 5.],
           [2., 0., 5.],
           [5., 5., 0.]])
    >>> d2ke.distance_matrix([3, 5], [4], lambda a, b: abs(a - b))
    array([[1.],
           [1.]])
    """
    n_threads = team_size(n_threads)
    dtype = None if dtype is None else element_type("dtype", dtype)
    pairs = check_any_pairs(X, Y, distance, params, DEFAULT_NAMES)
    D = fill_array(pairs, out, dtype, n_threads, progress)
    # Nearly always the first row shows that distances differ.
    if D.size >= FEW and (D[0, 1:] == D.flat[1]).all():
        warn_of_equal_distances(pairs, D)
    return D


def fill_array(
    pairs: PairwiseProblem,
    out: Any,
    dtype: np.dtype | None,
    n_threads: int,
    progress: bool | None,
    transform: Transform = UNCHANGED,
) -> np.ndarray:
    """Compute all pairs into `out`, or into a new array for None.

    Parameters
    ----------
    pairs : PairwiseProblem
        The result of `check_pairs`.
    out : ndarray or None
        The user's array, which is checked here.
    dtype : numpy.dtype or None
        The dtype of a new array; None for the dtype of the pairs.
    n_threads : int
        The result of `team_size`.
    progress : bool or None
        As for `distance_matrix`.
    transform : Transform
        What to write instead of the distances.
    """
    if out is None:
        dtype = pairs.dtype if dtype is None else dtype
        n, m = len(pairs.x), len(pairs.y)
        n_bytes = dtype.itemsize * n * m
        if n_bytes > 1 << 16:  # less always fits
            check_fits(
                n_bytes,
                f"{pairs.names.function}: {n} x {m} values of {dtype}",
                f"d2ke.write_{transform.name} writes them to a file by blocks of rows",
            )
        out = np.empty((n, m), dtype)
    elif dtype is not None and isinstance(out, np.ndarray) and out.dtype != dtype:
        raise TypeError(f"out holds {out.dtype}, but dtype is {dtype}")
    else:
        output_array(out, pairs.shape, pairs.dtype, f"d2ke.write_{transform.name}")
    with progress_bar(progress, transform.name) as report:
        pairs.compiled().run(out, n_threads, report, transform)
    return out


def output_array(
    out: Any, shape: tuple[int, int], dtype: np.dtype, to_file: str = "d2ke.write_features"
) -> np.ndarray:
    """Return `out` if results of this shape can be written into it, or a new array for None."""
    if out is None:
        return np.empty(shape, dtype=dtype)
    if not isinstance(out, np.ndarray) or out.dtype not in (np.float32, np.float64):
        got = out.dtype if isinstance(out, np.ndarray) else type(out).__name__
        path = f"; {to_file} writes to a file" * isinstance(out, (str, os.PathLike))
        raise ArgumentTypeError("out", f"must be an ndarray of float32 or float64, got {got}{path}")
    if out.shape != shape:
        raise ValueError(f"out must have shape {shape}, got {out.shape}")
    if not (out.flags.c_contiguous and out.flags.writeable):
        raise ValueError("out must be C-contiguous and writeable")
    return out
