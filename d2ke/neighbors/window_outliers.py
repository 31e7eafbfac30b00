# SPDX-License-Identifier: BSD-3-Clause
"""The most unusual windows of long series, and a score for each step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import correlate1d

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
        windows over it, or NaN.
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
        missing values.
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
        Windows at most ``exclusion * length`` steps apart are not compared.
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
    modes = [True, False]
    if not (isinstance(normalize, str) and normalize == "both"):
        modes = [flag("normalize", normalize)]
    if length is None:
        length = find_period(objects)
        warn(f"length={length} was chosen, the first peak of the autocorrelation")
    length = check_length(objects, "X", integer("length", length, 1))
    zone = int(not_negative("exclusion", exclusion) * length)
    width = max(1, round(not_negative("smooth", smooth) * length))
    # Each step has the score of the window that begins there: the last ones of a series have none.
    profiles = np.full((len(modes), len(objects.values)), np.nan)
    with progress_bar(progress, "windows", "diagonal") as report:
        for mode, profile in zip(modes, profiles, strict=True):
            taken = objects
            if objects.dim > 1 and not mode:
                units = np.array([_spread(channel) for channel in objects.values.T], objects.dtype)
                taken = with_fields(objects, values=objects.values / units)
            windows = find_profile(taken, None, length, k, mode, zone, team_size(n_threads), report)
            for begin, distances in zip(objects.offsets, windows.distances, strict=False):
                profile[begin : begin + len(distances)] = distances
            if len(modes) > 1:
                profile -= np.nanmedian(profile)
                profile /= _spread(profile)
    scores, steps = profiles.max(axis=0), []
    for chunk in np.split(scores, objects.offsets[1:-1]):
        chunk[:] = np.where(np.isnan(chunk), np.nan, _moving_means(chunk, width, (width - 1) // 2))
        steps.append(_moving_means(chunk, length, length - 1))
    left = np.where(np.isnan(scores), -np.inf, scores)
    at: list[int] = []
    while len(at) < n and left.max() > -np.inf:
        at.append(int(left.argmax()))
        left[max(at[-1] - length + 1, 0) : at[-1] + length] = -np.inf
    series = np.searchsorted(objects.offsets, at, side="right") - 1
    starts = np.array(at) - objects.offsets[series]
    return WindowOutliers(starts, series, scores[at], steps if len(steps) > 1 else steps[0], length)


def _spread(values: NDArray[Any]) -> float:
    """Return the difference of the quartiles; if it is 0 the deviation, or 1."""
    low, high = np.nanquantile(values, [0.25, 0.75])
    return float(high - low) or float(np.nanstd(values)) or 1.0


def _moving_means(values: NDArray[np.float64], width: int, before: int) -> NDArray[np.float64]:
    """Return moving means of `width` values without NaN, from `before` values earlier on.

    Sums are never updated by subtraction, so a large value leaves no error in other means.
    """
    present, origin = ~np.isnan(values), before - width // 2
    sums, counts = (
        correlate1d(array, np.ones(width), mode="constant", origin=origin)
        for array in (np.where(present, values, 0), present.astype(np.float64))
    )
    return np.asarray(sums / np.where(counts > 0, counts, np.nan))


def find_period(objects: Objects) -> int:
    """Return the first high peak of the autocorrelation of the longest series."""
    from scipy.signal import correlate, detrend, find_peaks  # slow to import

    i = int(objects.lengths.argmax())
    x = filled(objects).values[objects.offsets[i] : objects.offsets[i + 1]].astype(np.float64)
    n, peaks = len(x), np.empty(0, np.int64)
    if n > 3:
        x = detrend(x, axis=0)
        x /= np.where(x.std(axis=0) == 0, 1, x.std(axis=0))
        sums = np.sum([correlate(c, c, method="fft") for c in x.T], axis=0)[n - 1 :]
        correlation = (sums / np.arange(n, 0, -1) / objects.dim)[: n // 3]
        peaks, _ = find_peaks(correlation, prominence=0.05)
        peaks = peaks[(correlation[peaks] > 0) & (peaks >= 8)]  # fewer steps have no shape
    if not len(peaks):
        raise ArgumentError("length", "is None, but the autocorrelation of X has no peak")
    return int(peaks[correlation[peaks] >= 0.8 * correlation[peaks].max()][0])
