# SPDX-License-Identifier: BSD-3-Clause
"""The most unusual windows of long series, and a score for each step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from d2ke._base.checks import flag, integer, not_negative
from d2ke._base.errors import ArgumentError, warn
from d2ke._base.keywords import hinted
from d2ke._base.progress import progress_bar
from d2ke._base.threads import team_size
from d2ke.neighbors.window_profile import check_length, filled, find_profile, read_series
from d2ke.objects.container import Objects, with_fields


@dataclass(frozen=True, eq=False)
class WindowOutliers:
    """The result of `window_outliers`.

    Attributes
    ----------
    starts, series : ndarray of int64
        Where the most unusual windows begin, the most unusual first, and the numbers of their
        series.
    scores : ndarray of float64
        Their scores.
    step_scores : ndarray of float64 or list
        A score for each step, for several series a list of arrays: the mean of the scores of the
        windows over it. NaN where there is none.
    length : int
        Steps of a window.
    """

    starts: NDArray[np.int64]
    series: NDArray[np.int64]
    scores: NDArray[np.float64]
    step_scores: NDArray[np.float64] | list[NDArray[np.float64]]
    length: int


@hinted
def window_outliers(
    X: Any,
    length: int | None,
    *,
    n: int = 5,
    k: int = 1,
    normalize: bool | str = "both",
    smooth: float = 0.25,
    exclusion: float = 0.5,
    n_threads: int | None = None,
    progress: bool | None = None,
) -> WindowOutliers:
    """Find the windows of long series that are least like any other window.

    Parameters
    ----------
    X : array_like, Objects or what `pack` takes
        A series of numbers, or several of unequal lengths and one or more channels. NaN stands for
        values that are missing.
    length : int or None
        Steps of a window: about as long as what is looked for, or a period. None: the first peak of
        the autocorrelation of the longest series, with a warning that says which.
    n : int
        Number of windows, of which no two overlap.
    k : int
        A window is compared with its k-th nearest other window: what is unusual may occur up to
        k times.
    normalize : {"both"} or bool
        True: shapes are compared, False: values, see `window_profile`; channels are divided by the
        difference of their quartiles first. ``"both"``: both are done, and the larger score counts.
    smooth : float
        The scores of ``smooth * length`` windows in a row are averaged; 0: they stay as they are.
    exclusion : float
        Windows whose places differ by at most ``exclusion * length`` steps are not compared.
    n_threads, progress
        As for `window_profile`.

    Returns
    -------
    WindowOutliers
        `starts`, `series` and `scores` of n windows, or of fewer if no more fit beside each other,
        and `step_scores`. Scores are the distances to the k-th nearest window; of ``"both"`` their
        differences from the median of all windows, divided by that of the quartiles.

    Raises
    ------
    TypeError, ValueError, MemoryError, KeyboardInterrupt
        As `window_profile`; no `length`, and no peak.

    Warns
    -----
    UserWarning
        As `window_profile`; which length was chosen.

    See Also
    --------
    window_profile : The nearest other window of each window.
    outlier_scores : Outliers among many objects.

    Examples
    --------
    >>> import numpy as np
    >>> import d2ke
    >>> x = np.sin(np.arange(900) / 8) + 0.1 * np.random.default_rng(0).normal(size=900)
    >>> x[600:625] += 1
    >>> found = d2ke.window_outliers(x, 50, n=1)
    >>> bool(550 < found.starts[0] < 625)
    True
    """
    objects = read_series("X", X)
    n, k = integer("n", n, 1), integer("k", k, 1)
    ways = [True, False]
    if not (isinstance(normalize, str) and normalize == "both"):
        ways = [flag("normalize", normalize)]
    if length is None:
        length = find_period(objects)
        warn(f"length={length} was chosen, the first peak of the autocorrelation")
    length = check_length(objects, "X", integer("length", length, 1))
    zone = int(not_negative("exclusion", exclusion) * length)
    width = max(1, round(not_negative("smooth", smooth) * length))
    profiles = []
    with progress_bar(progress, "windows", "diagonal") as report:
        for way in ways:
            taken = objects if way or objects.dim == 1 else _in_units(objects)
            found = find_profile(taken, None, length, k, way, zone, team_size(n_threads), report)
            profiles.append(np.concatenate(found.distances))
    if len(ways) > 1:
        profiles = [(one - np.nanmedian(one)) / _spread(one) for one in profiles]
    ends = np.cumsum(np.maximum(objects.lengths - length + 1, 0))
    scores = np.split(np.max(profiles, axis=0), ends[:-1])
    left = (width - 1) // 2
    smoothed = [
        np.where(np.isnan(one), np.nan, _moving_means(one, width, left, width - 1 - left))
        for one in scores
    ]
    steps = [
        _moving_means(one, length, length - 1, length - 1) if len(one) else np.full(size, np.nan)
        for one, size in zip(smoothed, objects.lengths, strict=True)
    ]
    at = _apart(np.concatenate(smoothed), ends, length, n)
    series = np.searchsorted(ends, at, side="right")
    starts = at - np.append(0, ends)[series]
    values = np.concatenate(smoothed)[at]
    return WindowOutliers(starts, series, values, steps if len(steps) > 1 else steps[0], length)


def _apart(
    scores: NDArray[np.float64], ends: NDArray[np.int64], length: int, n: int
) -> NDArray[np.int64]:
    """Return the places of the n largest scores, of windows that do not overlap."""
    left = np.where(np.isnan(scores), -np.inf, scores)
    chosen: list[int] = []
    while len(chosen) < n and left.max() > -np.inf:
        at = int(left.argmax())
        i = int(np.searchsorted(ends, at, side="right"))
        begin = max(at - length + 1, int(ends[i - 1]) if i else 0)
        left[begin : min(at + length, int(ends[i]))] = -np.inf
        chosen.append(at)
    return np.array(chosen, np.int64)


def _spread(values: NDArray[Any]) -> float:
    """Return the difference of the quartiles; if it is 0 the deviation, or 1."""
    low, high = np.nanquantile(values, [0.25, 0.75])
    return float(high - low) or float(np.nanstd(values)) or 1.0


def _in_units(objects: Objects) -> Objects:
    """Return series whose channels are divided by their spread."""
    units = [_spread(channel) if len(channel) else 1.0 for channel in objects.values.T]
    return with_fields(objects, values=objects.values / np.array(units, objects.dtype))


def _moving_means(
    values: NDArray[np.float64], width: int, before: int, after: int
) -> NDArray[np.float64]:
    """Return means of `width` values in a row without NaN, with so many NaN at the ends."""
    padded = np.pad(values, (before, after), constant_values=np.nan)
    known = ~np.isnan(padded)
    sums, counts = _moving_sums(np.where(known, padded, 0), width), _moving_sums(known, width)
    return np.where(counts > 0, sums, np.nan) / np.maximum(counts, 1)


def _moving_sums(values: NDArray[Any], width: int) -> NDArray[np.float64]:
    """Sum up `width` values from each place on; nothing is ever taken off a sum."""
    table = np.zeros((len(values) // width + 1, width))
    table.reshape(-1)[: len(values)] = values
    to_end = table[:, ::-1].cumsum(axis=1)[:, ::-1].ravel()
    from_begin = np.append(0, table.cumsum(axis=1).ravel())
    at = np.arange(len(values) - width + 1)
    return to_end[at] + np.where(at % width, from_begin[at + width], 0)


def find_period(objects: Objects) -> int:
    """Return the first high peak of the autocorrelation of the longest series."""
    from scipy.signal import detrend, find_peaks  # slow to import

    i = int(objects.lengths.argmax())
    x = filled(objects).values[objects.offsets[i] : objects.offsets[i + 1]].astype(np.float64)
    n = len(x)
    peaks = np.empty(0, np.int64)
    if n > 3:
        x = detrend(x, axis=0)
        deviations = x.std(axis=0)
        x /= np.where(deviations == 0, 1, deviations)
        spectrum = np.abs(fft.rfft(x, 2 * n, axis=0)) ** 2
        lags = np.arange(n // 3)
        correlation = fft.irfft(spectrum.mean(axis=1))[: n // 3] / (n - lags)
        peaks, _ = find_peaks(correlation, prominence=0.05)
        peaks = peaks[(correlation[peaks] > 0) & (peaks >= 8)]  # fewer steps have no shape
    if not len(peaks):
        raise ArgumentError("length", "is None, but the autocorrelation of X has no peak")
    return int(peaks[correlation[peaks] >= 0.8 * correlation[peaks].max()][0])
