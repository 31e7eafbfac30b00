# SPDX-License-Identifier: BSD-3-Clause
"""Dynamic time warping by the names of MATLAB and of Random Warping Series (Wu et al. 2018)."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from d2ke import Objects, distance_matrix, pack
from d2ke._base.checks import choice
from d2ke._base.errors import ArgumentError
from d2ke._base.keywords import hinted
from d2ke.objects.compatibility import matched
from matlab_compat._cells import scalar, series_cell, whole
from matlab_compat._outputs import Outputs


@hinted
def dtw(x: Any, y: Any, maxsamp: float | None = None, metric: str = "euclidean") -> float:
    """Compute the DTW distance of two series; of matrices, channels are rows.

    Parameters
    ----------
    x, y : array_like, 1 x n, n x 1 or d x n
        The series: vectors, or matrices of d channels.
    maxsamp : int, optional
        Window: how far the path may be from the diagonal; at least the difference of the lengths.
    metric : {"euclidean", "absolute", "squared"}
        The distance of two samples.

    Returns
    -------
    float
        The least sum along a warping path, which is ``d2ke.align(x, y, "dtw").pairs``.

    Raises
    ------
    TypeError, ValueError
        Series of different numbers of channels, NaN, an unknown metric.

    Examples
    --------
    >>> dtw([1, 2, 3, 3], [1, 1, 2, 4])
    2.0
    >>> dtw([[0, 1, 2], [0, 0, 0]], [[0, 2], [0, 0]], metric="squared")
    1.0
    """
    # MATLAB's metrics of samples.
    grounds = {"euclidean": "euclidean", "absolute": "manhattan", "squared": "sqeuclidean"}
    choice("metric", metric, grounds)
    x, y = (np.asarray(series) for series in (x, y))
    x, y = (s.reshape(1, -1) if s.size == max(s.shape, default=0) else s for s in (x, y))
    new, base = series_cell("x", [x]), series_cell("y", [y])
    base = matched(new, base, "x", "y")
    if maxsamp is not None:
        maxsamp = max(whole("maxsamp", maxsamp, 0), abs(x.shape[1] - y.shape[1]))
    D = distance_matrix(new, base, "dtw", window=maxsamp, ground=grounds[metric])
    return float(D[0, 0])


@hinted
def dtw_c(s: Any, t: Any, w: float = -1) -> float:
    """Compute the DTW distance of two series; time in ROWS here, unlike in the cells.

    Parameters
    ----------
    s : array_like, shape (ns, k)
        A series of k channels.
    t : array_like, shape (nt, k)
        Another.
    w : int, default -1
        Window; one below abs(ns - nt) is widened to it. -1 or inf: no window.

    Returns
    -------
    float
        The least sum of Euclidean distances along a warping path.

    Raises
    ------
    TypeError, ValueError
        Series that do not fit to each other, NaN, a window that is not an integer of at least -1.

    Examples
    --------
    >>> dtw_c([[0.0], [1.0], [2.0]], [[0.0], [2.0]])
    1.0
    """
    w = scalar(w)
    window = None if w in (-1, np.inf) else whole("w (-1 for no window)", w, 0)
    x, y = (
        pack([series], kind="series", channels_first=False, name=name)
        for name, series in (("s", s), ("t", t))
    )
    y = matched(x, y, "s", "t")
    return float(distance_matrix(x, y, "dtw", window=window)[0, 0])


@hinted
def dtw_m(s: Any, t: Any, w: float = -1) -> float:
    """Return what `dtw_c` does; in MATLAB this was the slow form.

    Parameters
    ----------
    s : array_like, shape (ns, k)
        A series of k channels.
    t : array_like, shape (nt, k)
        Another.
    w : int, default -1
        Window, -1 for none.

    Returns
    -------
    float

    Raises
    ------
    TypeError, ValueError
        As `dtw_c`.

    Examples
    --------
    >>> dtw_m([[0.0], [1.0], [2.0]], [[0.0], [2.0]], 1)
    1.0
    """
    return dtw_c(s, t, w)


@hinted
def dtw_similarity_cell(
    newX: Any, baseX: Any, *, n_threads: int | None = None
) -> tuple[np.ndarray, float]:
    """Compute DTW distances of univariate series to random ones, window 0.

    The published code computes a window and then sets it to 0, which `dtw_c` widens to the
    difference of the lengths; so does this.

    Parameters
    ----------
    newX : array_like, shape (m, L), or Objects
        One series in each row.
    baseX : cell of n matrices 1 x D, or Objects
        The random series.
    n_threads : int, optional
        Threads; None for all.

    Returns
    -------
    KMat : ndarray, shape (m, n)
        The distances (not similarities, in spite of the name).
    t : float
        Seconds that it took.

    Raises
    ------
    TypeError, ValueError
        Series with NaN, none, or of more than one channel.

    Examples
    --------
    >>> K, _ = dtw_similarity_cell([[0.0, 1.0, 2.0]], [[[0.0, 2.0]], [[1.0]]])
    >>> K
    array([[1., 2.]])
    """
    started = time.perf_counter()
    if not isinstance(newX, Objects):
        newX = np.asarray(newX)
        if newX.ndim != 2 or newX.dtype == object:
            raise ArgumentError(
                "newX",
                "must be an m x L matrix of numbers (cells are for dtw_similarity_cell_mulvar), "
                f"got {newX.dtype} of shape {newX.shape}",
            )
    new, base = pack(newX, kind="series", name="newX"), series_cell("baseX", baseX)
    base = matched(new, base, "newX", "baseX")
    K = distance_matrix(new, base, "dtw", window=0, n_threads=n_threads)
    return Outputs("dtw_similarity_cell", KMat=K, t=time.perf_counter() - started)


@hinted
def dtw_similarity_cell_mulvar(
    newX: Any, baseX: Any, *, n_threads: int | None = None
) -> tuple[np.ndarray, float]:
    """Compute DTW distances of series of several channels to random ones.

    The window is max(min(40, ceil(longer / 10)), difference of the lengths).

    Parameters
    ----------
    newX : cell of m matrices d x L, or Objects
        Channels in rows, time in columns.
    baseX : cell of n matrices d x D, or Objects
        The random series.
    n_threads : int, optional
        Threads; None for all.

    Returns
    -------
    KMat : ndarray, shape (m, n)
        The distances.
    t : float
        Seconds that it took.

    Raises
    ------
    TypeError, ValueError
        Series with NaN, none, or of different numbers of channels.

    Examples
    --------
    >>> K, _ = dtw_similarity_cell_mulvar([[[0.0, 3.0], [0.0, 4.0]]], [[[0.0], [0.0]]])
    >>> K
    array([[5.]])
    """
    started = time.perf_counter()
    new, base = series_cell("newX", newX), series_cell("baseX", baseX)
    base = matched(new, base, "newX", "baseX")
    K = distance_matrix(new, base, "dtw", window="rws", n_threads=n_threads)
    return Outputs("dtw_similarity_cell_mulvar", KMat=K, t=time.perf_counter() - started)
