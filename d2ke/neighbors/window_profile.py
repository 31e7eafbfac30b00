# SPDX-License-Identifier: BSD-3-Clause
"""The distance of each window of long series to its nearest other window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from d2ke._base.checks import flag, integer, not_negative
from d2ke._base.errors import ArgumentError, warn
from d2ke._base.keywords import hinted
from d2ke._base.memory import check_fits
from d2ke._base.progress import progress_bar
from d2ke._base.threads import team_size, worker_pool
from d2ke._ext import window_profile as kernel
from d2ke.distances.window_rows import constant_limits
from d2ke.objects.compatibility import matched, refuse_weights
from d2ke.objects.container import Objects, with_fields
from d2ke.objects.packing import as_objects

_GATHERED = 1 << 17  # values of windows in memory at a time


@dataclass(frozen=True, eq=False)
class WindowProfile:
    """The result of `window_profile`: arrays for one series, lists of arrays for several.

    Attributes
    ----------
    distances : ndarray of float64 or list
        The distance of the window at each step to its k-th nearest, or NaN.
    series, starts : ndarray of int64 or list
        The series of the k-th nearest, and the step where it begins, or -1.
    """

    distances: NDArray[np.float64] | list[NDArray[np.float64]]
    series: NDArray[np.int64] | list[NDArray[np.int64]]
    starts: NDArray[np.int64] | list[NDArray[np.int64]]


@hinted
def window_profile(
    X: Any,
    length: int,
    *,
    Y: Any = None,
    k: int = 1,
    normalize: bool = True,
    exclusion: float = 0.5,
    n_threads: int | None = None,
    progress: bool | None = None,
) -> WindowProfile:
    """Find the k-th nearest other window of each window of long series, exactly.

    Parameters
    ----------
    X : array_like, Objects or what `pack` takes
        A series of numbers, or n series of unequal lengths and one or more channels. NaN stands for
        missing values.
    length : int
        Steps of a window.
    Y : array_like, Objects or what `pack` takes, optional
        Other series: the windows of X are compared with those of Y. Default: with each other.
    k : int
        Which of the nearest windows. The work grows with it.
    normalize : bool
        Bring each window to mean 0 and deviation 1 in each channel: shapes are compared. Constant
        ones become 0, as in `nearest_windows`. False: values are compared.
    exclusion : float
        Windows at most ``exclusion * length`` steps apart count as one: none is compared with
        itself, and the k nearest are k different ones.
    n_threads : int, optional
        Threads to use; None for all that this process may use. The result does not depend on it.
    progress : bool, optional
        Whether to show progress; by default on a terminal or in a notebook, where work takes more
        than two seconds.

    Returns
    -------
    WindowProfile
        For each window of each series `distances`, `series` and `starts`. Windows with a missing
        value in any channel have no distance.

    Raises
    ------
    TypeError, ValueError
        Strings, weights; other numbers of channels; no series of so many steps; no window that has
        k others; values above 1e300.
    KeyboardInterrupt
        On Ctrl-C, within a second.
    MemoryError
        If the lists of all windows do not fit.

    Warns
    -----
    UserWarning
        Series of fewer steps than a window; windows with missing values.

    See Also
    --------
    window_outliers : The most unusual windows.
    nearest_windows : The windows that are nearest to a given series.

    Notes
    -----
    Distances are the root of the sum of squared differences of all values. The nearest is found
    first, then the nearest outside of its exclusion zone, and so on; ties go to the
    first series and step. All pairs of windows are compared, in memory that grows with the number
    of steps: sums of products go along the diagonals of the table of all pairs, from anchors
    `length` steps apart outwards, so that values outside of two windows never enter their sum. By
    rounding, the square of a distance may exceed the least one by at most
    ``4 * length**2 * (length + 10) * 2**-53`` for each channel if windows are normalised, mostly by
    1/length of that, and by a relative ``(length + 3) * 2**-52`` if not. Lengths, levels and units
    of the series do not matter. The distance to the window that was found is then summed up value
    by value.

    Examples
    --------
    >>> import numpy as np
    >>> import d2ke
    >>> x = np.sin(np.arange(400) / 5)
    >>> x[200:206] = 0
    >>> profile = d2ke.window_profile(x, 30)
    >>> bool(170 < profile.distances.argmax() < 206)
    True
    """
    objects, y_objects = read_series("X", X), None
    if Y is not None:
        y_objects = matched(objects, read_series("Y", Y), "X", "Y")
    length = check_length(objects, "X", integer("length", length, 1))
    if y_objects is not None:
        check_length(y_objects, "Y", length)
    k, normalize = integer("k", k, 1), flag("normalize", normalize)
    zone = int(not_negative("exclusion", exclusion) * length)
    with progress_bar(progress, "windows", "diagonal") as report:
        profile = find_profile(
            objects, y_objects, length, k, normalize, zone, team_size(n_threads), report
        )
    if len(objects) > 1:
        return profile
    return WindowProfile(profile.distances[0], profile.series[0], profile.starts[0])


def read_series(name: str, X: Any) -> Objects:
    """Read one series of numbers or a frame of channels, or what `pack` takes; NaN is missing."""
    if not isinstance(X, Objects):
        one_axis = hasattr(X, "__len__") and getattr(X, "ndim", 1) == 1
        if type(X).__name__ == "DataFrame" or (one_axis and isinstance(next(iter(X), None), Real)):
            X = [np.asarray(X, np.float64) if isinstance(X, (list, tuple)) else X]
    objects = as_objects(name, X, "series", True)
    refuse_weights(objects, name, "a window profile")
    if np.nanmax(np.abs(objects.values), initial=0) > 1e300:  # their differences may be infinite
        raise ArgumentError(name, "has values above 1e+300")
    return objects


def check_length(objects: Objects, name: str, length: int) -> int:
    """Refuse windows longer than all series; warn of short series and missing values."""
    longest = int(objects.lengths.max(initial=0))
    if length > longest:
        hint = f"; [{name}] is one series, (steps, channels)" if len(objects) > 1 else ""
        raise ArgumentError(
            "length", f"is {length}, but the longest series of {name} has {longest} steps{hint}"
        )
    short = int((objects.lengths < length).sum())
    if short:
        warn(f"{short} of {len(objects)} series of {name} have fewer than {length} steps")
    if objects.missing:
        ends = np.arange(len(objects.values)) + length
        at = np.flatnonzero(ends <= np.repeat(objects.offsets[1:], objects.lengths))
        missing = np.append(0, np.cumsum(np.isnan(objects.values).any(axis=1)))
        lost = np.count_nonzero(missing[at + length] > missing[at])
        if lost:
            warn(f"{lost} of {len(at)} windows of {name} hold a missing value and have no distance")
    return length


class _Windows:
    """Concatenated series in the layout of the kernel; see its header.

    `begins` are their offsets, and `counts` their numbers of windows; a series shorter than a
    window is left out.
    """

    def __init__(self, objects: Objects, length: int, zone: int, normalize: bool, exponent: int,
                 n_threads: int):  # fmt: skip
        gap = max(1, zone + 1 - length)  # no zone spans two series
        self.length, self.normalize, self.n_threads = length, normalize, n_threads
        self.counts = np.maximum(objects.lengths - length + 1, 0)
        spaces = np.where(self.counts, objects.lengths + gap, 0)
        ends = length + kernel.FRONT + np.cumsum(spaces)
        self.begins, n = ends - spaces, int(ends[-1]) + kernel.FRONT
        self.first, self.last = length + kernel.FRONT, n - kernel.FRONT - length - gap
        self.values, self.constants = np.full((objects.dim, n), np.nan), np.zeros(n)
        self.limits = np.zeros((objects.dim, n if normalize else 0))
        limits = np.ldexp(constant_limits(filled(objects), objects.dtype), -exponent)
        for i in np.flatnonzero(self.counts):
            values = objects.values[objects.offsets[i] : objects.offsets[i + 1]].astype(np.float64)
            at = slice(self.begins[i], self.begins[i] + len(values))
            self.values[:, at] = np.ldexp(values.T, -exponent)
            self.limits[:, at] = limits[i][:, None]
        self.windows = sliding_window_view(self.values, length, axis=1)
        self.means = self.inverses = self.values
        if normalize:
            self.means, self.inverses = np.full((2, objects.dim, n), np.nan)
            self._in_chunks(self._normalize, self.first, self.last + 1)

    def _in_chunks(self, work: Callable[[slice], None], begin: int, end: int) -> None:
        """Call a function with chunks of windows that stay in the cache."""
        step = max(1, _GATHERED // (self.length * len(self.values)))
        chunks = [slice(at, min(at + step, end)) for at in range(begin, end, step)]
        with worker_pool(self.n_threads) as pool:
            list(pool.map(work, chunks))

    def _normalize(self, chunk: slice) -> None:
        """Compute means and inverse deviations; the first value is subtracted to save digits."""
        away = self.windows[:, chunk] - self.values[:, chunk, None]
        self.means[:, chunk] = away.mean(axis=2)
        away -= self.means[:, chunk, None]
        deviations = np.sqrt((away**2).mean(axis=2))
        constant = deviations <= self.limits[:, chunk]
        self.constants[chunk] = constant.sum(axis=0) / 2
        self.inverses[:, chunk] = 1 / np.where(constant, np.inf, deviations * np.sqrt(self.length))

    def distances(self, starts: NDArray[np.int64], other: _Windows,
                  other_starts: NDArray[np.int64]) -> NDArray[np.float64]:  # fmt: skip
        """Return the distances of windows to windows of the other side, value by value."""
        result = np.empty(len(starts))

        def compute(chunk: slice) -> None:
            away = self._taken(starts[chunk]) - other._taken(other_starts[chunk])
            result[chunk] = np.sqrt((away**2).sum(axis=2).sum(axis=0))

        self._in_chunks(compute, 0, len(starts))
        return result

    def _taken(self, starts: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return windows, normalised if requested: (dim, n, length)."""
        if not self.normalize:
            return self.windows[:, starts]
        away = self.windows[:, starts] - self.values[:, starts, None] - self.means[:, starts, None]
        return np.asarray(away * (self.inverses[:, starts, None] * np.sqrt(self.length)))

    def split(self, values: NDArray[Any]) -> list[NDArray[Any]]:
        """Return the values of the windows of each series."""
        return [values[at : at + n] for at, n in zip(self.begins, self.counts, strict=True)]


def filled(objects: Objects) -> Objects:
    """Return series with missing values replaced by the mean of their channel."""
    if not objects.missing:
        return objects
    values = objects.values.copy()
    for series in np.split(values, objects.offsets[1:-1]):
        present = np.ma.masked_invalid(series)
        series[:] = np.where(present.mask, np.ma.filled(present.mean(axis=0), 0), series)
    return with_fields(objects, values=values, missing=False)


def find_profile(
    objects: Objects,
    others: Objects | None,
    length: int,
    k: int,
    normalize: bool,
    zone: int,
    n_threads: int,
    report: Callable[[int, int], None] | None = None,
) -> WindowProfile:
    """Return the profiles of all series, at least one of which has `length` steps."""
    sides = [objects] if others is None else [objects, others]
    steps = sum(len(side.values) + len(side) for side in sides)
    # Values, limits, means and deviations, then a list of each thread and of each neighbour.
    per_step = 8 * (6 * objects.dim + 2 * n_threads + k + 4)
    check_fits(per_step * steps + n_threads * 512 * length, "the lists of all windows",
               "use fewer threads, or a part of X at a time")  # fmt: skip
    largest = max(float(np.nanmax(np.abs(side.values), initial=0)) for side in sides)
    exponent = int(np.clip(np.frexp(largest)[1], -1000, 1000))
    layouts = [_Windows(side, length, zone, normalize, exponent, n_threads) for side in sides]
    x, y = layouts[0], layouts[-1]
    previous = np.empty((0, len(x.constants)), np.int64)
    for done in range(k):

        def visit(count: int, total: int, done: int = done) -> None:
            if report is not None:
                report(done * total + count, k * total)

        last = kernel.nearest_places(x, y, length, normalize, zone, previous, n_threads, visit)
        previous = np.vstack([previous, last])
    rows = np.flatnonzero(last >= 0)
    if not len(rows):
        apart = "" if others is not None and k == 1 else f", more than {zone} steps apart"
        near = "another one" if k == 1 else f"{k} others"
        raise ArgumentError("length", f"is {length}: no window of X has {near}{apart}")
    distances = np.full(len(last), np.nan)
    values = x.distances(rows, y, last[rows])
    distances[rows] = np.ldexp(values, 0 if normalize else exponent)
    series, starts = np.full((2, len(last)), -1)
    at = np.searchsorted(y.begins, last[rows], side="right") - 1
    series[rows], starts[rows] = at, last[rows] - y.begins[at]
    return WindowProfile(x.split(distances), x.split(series), x.split(starts))
