# SPDX-License-Identifier: BSD-3-Clause
"""Distances of a query to windows of long series: bounds of many, distances of a few.

Products of the query with all windows of a block come from its Fourier transform, means and
deviations from running sums. Their errors are bounded by the size of the block's values, and taken
off: values that are too uncertain have the bound 0. Blocks are shifted to their mean and scaled by
a power of two, so that levels and units do not matter.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy import fft

from d2ke._ext import alignment, elastic

_EPS = 2.0**-52
_BLOCK = 1 << 13  # values of a block, at least
_UNSURE = 1e-2  # relative error of a variance; above, a window has the bound 0
_GATHERED = 1 << 21  # values of windows in memory at a time


class Moments(NamedTuple):
    """Normalisation of the windows of one channel of a block.

    `error` bounds the error of the mean, `ratio` the relative error of the variance;
    windows that are constant have the deviation 0, exactly. Where errors leave it open which
    windows are constant, the ratio is infinite.
    """

    mean: np.ndarray
    deviation: np.ndarray
    error: np.ndarray
    ratio: np.ndarray


class Query:
    """A short series, (length, dim), prepared for the search of its nearest windows.

    Bounds and distances are those of ``distance``: "euclidean", or "dtw" with a window. Windows
    that deviate in a channel by at most its limit are constant; `limits` belong to the query.
    """

    def __init__(
        self,
        values: np.ndarray,
        normalize: bool,
        distance: str,
        window: int,
        limits: np.ndarray | float = 0.0,
    ):
        self.length, self.dim = values.shape
        self.normalize, self.distance, self.window = normalize, distance, window
        self.values = values.T.astype(np.float64)
        if normalize:
            self.values = standardized(self.values, limits)
        self._means = self.values.mean(axis=1)
        self._away = self.values - self._means[:, None]
        self._rest = 8 * _EPS * np.abs(self.values).max(axis=1)  # of the means of `_away`
        self.block = max(_BLOCK, 1 << (8 * self.length - 1).bit_length())
        self._spectra = np.conj(fft.rfft(self._away, self.block))
        if distance == "dtw":
            radius = alignment.series_radius(window, self.length, self.length)
            padded = np.pad(self.values, ((0, 0), (radius, radius)), mode="edge")
            around = sliding_window_view(padded, 2 * radius + 1, axis=1)
            self._low, self._high = around.min(axis=2), around.max(axis=2)
            # Far from the mean an envelope leaves out the most.
            self._order = np.argsort(-np.abs(self._away).sum(axis=0), kind="stable")

    # ---- lower bounds of all windows of a block

    def bounds(self, x: np.ndarray, limits: np.ndarray | float = 0.0) -> np.ndarray:
        """Bound the keys (see `keys`) of all windows of a block, (count, dim), from below."""
        limits = np.broadcast_to(limits if self.normalize else 0.0, self.dim)
        with np.errstate(all="ignore"):
            function = self._warping_bounds if self.distance == "dtw" else self._squares
            bounds = function(x, limits)
        bounds[np.isnan(bounds)] = 0  # of differences that overflowed
        # The bounds are kept in float32: they are rounded down.
        bounds = np.minimum(np.maximum(bounds, 0), np.finfo(np.float32).max)
        return (bounds * (1 - 2.0**-22)).astype(np.float32)

    def _squares(self, x: np.ndarray, limits: np.ndarray) -> np.ndarray:
        """Squared distances less their errors, added up over channels.

        For a query q of length m and a window w with means q', w' and deviations s_q, s_w::

            |q - w|^2 = m ((q' - w')^2 + s_q^2 + s_w^2) - 2 (q - q').w
            |z(q) - z(w)|^2 = 2 m (1 - (q - q').w / (m s_q s_w))

        with z(w) = (w - w') / s_w, and m where one of the two is constant (Mueen et al. 2017).
        """
        m, n = self.length, len(x)
        total = np.zeros(n - m + 1)
        for c in range(self.dim):
            y, shift, scale = _scaled(x[:, c])
            spectrum = fft.rfft(y, self.block)
            spectrum *= self._spectra[c]
            dot = fft.irfft(spectrum, self.block)[: n - m + 1]
            norm = np.sqrt((self._away[c] ** 2).sum() * (y**2).sum())
            error = 20.0 * np.log2(self.block) * _EPS * norm  # of a product by three transforms
            moments = _moments(x[:, c], y, m, limits[c] * scale)
            constant = moments.deviation == 0
            if self.normalize:
                if not self._away[c].any():
                    total += np.where(constant | (moments.ratio == np.inf), 0, m)
                    continue
                dot /= m * moments.deviation
                lost = (error / m + self._rest[c] * np.abs(moments.mean)) / moments.deviation
                lost += np.abs(dot) * moments.ratio
                bound = 2 * m * (1 - dot - lost)
                bound[moments.ratio > _UNSURE] = 0
                total += np.where(constant, m, np.maximum(bound, 0))
                continue
            away = (self._away[c] ** 2).mean() * scale**2
            variance, level = moments.deviation**2, (self._means[c] - shift) * scale - moments.mean
            bound = away + variance - 2 * dot * (scale / m) + level**2
            lost = 2 * error * scale / m + variance * moments.ratio + 8 * _EPS * (away + level**2)
            off = moments.error + scale * (self._rest[c] + 8 * _EPS * abs(shift))
            lost += 2 * (np.abs(level) + np.abs(moments.mean)) * off + off**2
            bound = np.maximum(bound - lost, 0) * (m / scale**2)
            bound[moments.ratio > _UNSURE] = 0
            total += bound
        return total

    def _warping_bounds(self, x: np.ndarray, limits: np.ndarray) -> np.ndarray:
        """Sum up the distances of some steps to the envelopes of the query."""
        m, count = self.length, len(x) - self.length + 1
        by_channel = []
        for c in range(self.dim):
            y, shift, scale = _scaled(x[:, c])
            moments = _moments(x[:, c], y, m, limits[c] * scale)
            sure = (moments.ratio <= _UNSURE) | (moments.deviation == 0)
            inverse = np.where(moments.deviation > 0, 1 / moments.deviation, 0)
            slack = np.sqrt(m) * moments.ratio + moments.error * inverse + 1e-12
            by_channel.append(
                (y, moments.mean, inverse, np.where(sure, slack, np.inf), shift, scale)
            )
        total = np.zeros(count)
        for j in self._order[: max(64, m // 2)]:
            square = np.zeros(count)
            for c, (y, mean, inverse, slack, _, _) in enumerate(by_channel):
                if self.normalize:
                    z = (y[j : j + count] - mean) * inverse
                    outside = np.maximum(z - self._high[c, j], self._low[c, j] - z) - slack
                else:
                    z = x[j : j + count, c]
                    outside = np.maximum(z - self._high[c, j], self._low[c, j] - z)
                square += np.maximum(outside, 0) ** 2
            total += np.sqrt(square)
        return total * (1 - 1e-12)

    # ---- of a few windows

    def keys(self, distances: Any) -> Any:
        """Return the keys that bounds are compared with: squares of Euclidean distances."""
        return distances if self.distance == "dtw" else distances * distances

    def distances(
        self,
        x: np.ndarray,
        starts: np.ndarray,
        limit: float,
        n_threads: int,
        limits: np.ndarray | float = 0.0,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the distances of some windows of a series; bounds above the limit.

        Two arrays: distances, infinity if only a bound was computed, and bounds.
        """
        distances, bounds = np.empty((2, len(starts)))
        windows = sliding_window_view(x, self.length, axis=0)
        step = max(1, _GATHERED // (self.length * self.dim))
        for begin in range(0, len(starts), step):
            taken = windows[starts[begin : begin + step]].astype(np.float64, order="C")
            if self.normalize:
                taken = standardized(taken, limits)
            chunk = slice(begin, begin + step)
            if self.distance == "dtw":
                distances[chunk], bounds[chunk] = self._warped(taken, limit, n_threads)
            else:
                distances[chunk] = bounds[chunk] = self._euclidean(taken)
        return distances, bounds

    def _euclidean(self, windows: np.ndarray) -> np.ndarray:
        away = np.abs(windows - self.values).reshape(len(windows), -1)
        # The unit is a power of two: squares of whole numbers are exact, and equal sums tie.
        exponents = np.frexp(away.max(axis=1))[1]
        squares = np.ldexp(away, -exponents[:, None]) ** 2
        return np.ldexp(np.sqrt(squares.sum(axis=1)), exponents)

    def _warped(
        self, windows: np.ndarray, limit: float, n_threads: int
    ) -> tuple[np.ndarray, np.ndarray]:
        outside = np.maximum(windows - self._high, self._low - windows)
        bounds = np.sqrt((np.maximum(outside, 0) ** 2).sum(axis=1)).sum(axis=1)
        bounds *= 1 - 1e-9
        near = np.flatnonzero(bounds <= limit)
        distances = np.full(len(windows), np.inf)
        if len(near):
            x, y = np.ascontiguousarray(self.values.T), windows[near].transpose(0, 2, 1)
            out = np.empty((1, len(near)))
            ends = np.arange(len(near) + 1) * self.length
            y = np.ascontiguousarray(y).reshape(-1, self.dim)
            pairs = elastic.dtw(x, ends[:2], y, ends, self.window, False, False)
            pairs.run(out, n_threads, False)
            distances[near] = out[0]
        return distances, bounds


def standardized(windows: np.ndarray, limits: np.ndarray | float = 0.0) -> np.ndarray:
    """Return windows, (..., dim, length), with mean 0 and deviation 1; constant ones as zeros.

    A window that deviates by at most the limit of its channel is constant.
    """
    # The first value is taken off, and the unit is the largest: neither costs digits.
    away = windows - windows[..., :1]
    largest = np.abs(away).max(axis=-1, keepdims=True)
    largest = np.where(largest == 0, 1, largest)
    away = away / largest
    away -= away.mean(axis=-1, keepdims=True)
    deviation = np.sqrt((away**2).mean(axis=-1, keepdims=True))
    constant = deviation * largest <= np.asarray(limits)[..., None]
    return np.where(constant, 0, away / np.where(constant, 1, deviation))


def _scaled(x: np.ndarray) -> tuple[np.ndarray, float, np.float64]:
    """Return (x - shift) * scale of absolute values up to 1; the scale is a power of two."""
    x = x.astype(np.float64)
    shift = float(x.mean())
    y = x - shift
    largest = max(float(y.max()), -float(y.min()))
    exponent = int(np.clip(np.frexp(largest)[1], -1000, 1000)) if largest > 0 else 0
    return np.ldexp(y, -exponent), shift, np.ldexp(np.float64(1), -exponent)


def _moments(x: np.ndarray, y: np.ndarray, m: int, limit: float) -> Moments:
    """Return the moments of all windows of m values of y.

    Windows of equal values of x, or that deviate by at most the limit, are constant.
    """
    mean, square = _running_mean(y, m), _running_mean(y**2, m)
    rounding = len(y) * _EPS / m
    error = np.full(len(mean), rounding * np.abs(y).sum())
    lost = rounding * (y**2).sum() + 2 * np.abs(mean) * error + 4 * _EPS * square
    variance = square - mean**2
    changes = np.concatenate([[0], np.cumsum(x[1:] != x[:-1])])
    constant = changes[m - 1 :] == changes[: len(changes) - m + 1]
    if limit:  # with room for the rounding of deviations where they are compared with it
        constant |= variance + lost < limit**2 * (1 - 1e-9)
    variance[constant] = 0
    ratio = np.where(variance > 0, lost / variance, np.inf)
    if limit:
        ratio[variance - lost <= limit**2 * (1 + 1e-9)] = np.inf
    deviation = np.sqrt(np.maximum(variance, 0))
    deviation[~constant & (deviation == 0)] = np.finfo(np.float64).tiny
    ratio[constant] = 0
    return Moments(mean, deviation, error, ratio)


def _running_mean(y: np.ndarray, m: int) -> np.ndarray:
    sums = np.cumsum(y)
    means = sums[m - 1 :].copy()
    means[1:] -= sums[:-m]
    means /= m
    return means
