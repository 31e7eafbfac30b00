# SPDX-License-Identifier: BSD-3-Clause
"""Positions of a model's windows in a series."""

from __future__ import annotations

import numpy as np

from d2ke.distances.window_rows import normalized_windows
from d2ke.models.distance_blocks import FittedBlock
from d2ke.models.shapelets import RADIUS, Shapelet, Shapelets
from d2ke.models.views import apply_views, difference, standardize, view_name
from d2ke.objects.container import Objects


def is_slope(block: FittedBlock) -> bool:
    """Return whether a block compares differences."""
    return difference in map(_function, block.views)


def find_shapelets(
    block: FittedBlock, x: Objects, shares: np.ndarray
) -> tuple[list[range], np.ndarray] | None:
    """Find the nearest position of each window of a block in one series.

    Parameters
    ----------
    block : FittedBlock
        A block of windows.
    x : Objects
        One series.
    shares : ndarray of shape (block.R,)
        Shares of the random objects, to be divided among steps.

    Returns
    -------
    tuple of list of range and ndarray of shape (n_steps, n_channels), or None
        For each random object the steps of x that its values are compared with (for differences,
        the first step of each); and the shares by steps and channels. The share of a "rare" window
        is divided among all positions within its threshold, and of a "longest" window among its
        longest run. None if a view of the block moves steps.
    """
    omega, functions = block.omega, list(map(_function, block.views))
    if not isinstance(omega, Shapelets) or not set(functions) <= {standardize, difference}:
        return None
    if functions.count(difference) > 1:
        return None
    series = np.asarray(apply_views(block.views, x)[0], np.float64)
    positions = [range(0)] * len(omega)
    steps = np.zeros(series.shape)
    n, first = len(omega.places), 0
    for group, (length, dilation) in enumerate(zip(omega.lengths, omega.dilations, strict=True)):
        numbers = np.arange(omega.first[group], omega.first[group + 1])
        channels = omega.channels[omega.channel_offsets[group] : omega.channel_offsets[group + 1]]
        size = len(numbers) * len(channels) * length
        windows = omega.values[first : first + size].reshape(len(numbers), -1)
        first += size
        limits = omega.limits[channels] if omega.normalize else None
        D = _profiles(series[:, channels], windows, length, dilation, limits)
        span = min((length - 1) * dilation + 1, len(series))
        step = dilation if D.shape[1] + (length - 1) * dilation == len(series) else 1
        share = np.zeros(D.shape[1])
        is_near = omega.thresholds[numbers, None] >= D
        for kind, name in enumerate(omega.kinds):
            near, within = D, is_near
            if name == "nearby":
                centres = omega.places[numbers, None].astype(np.float64) * (D.shape[1] - 1)
                away = np.abs(np.arange(D.shape[1]) - centres)
                allowed = away <= np.maximum(RADIUS * len(series), away.min(axis=1, keepdims=True))
                near = np.where(allowed, D, np.inf)
            if name == "longest":
                within = _longest_runs(is_near)
                near = np.where(within | ~within.any(axis=1, keepdims=True), D, np.inf)
            nearest = near.argmin(axis=1)
            weights = shares[kind * n + numbers]
            if name in ("rare", "longest"):
                share += weights / np.maximum(within.sum(axis=1), 1) @ within
            else:
                np.add.at(share, nearest, weights)
            for number, start in zip(numbers.tolist(), nearest.tolist(), strict=True):
                positions[kind * n + number] = range(start, start + span, step)
        covered = range(0, span, step)
        for j in covered:
            steps[j : j + len(share), channels] += (share / (len(covered) * len(channels)))[:, None]
    if is_slope(block) and len(series) < len(x.values):  # a difference is between two steps
        steps = (np.pad(steps, ((0, 1), (0, 0))) + np.pad(steps, ((1, 0), (0, 0)))) / 2
    return positions, steps


def values_at(block: FittedBlock, window: Shapelet, steps: range, x: np.ndarray) -> np.ndarray:
    """Return the values, or differences, of a window in the units of x.

    A shape gets the level and scale of x at `steps`.
    """
    channels = list(window.channels)
    if window.normalize:
        base = np.diff(x, axis=0) if is_slope(block) and len(x) > 1 else x
        local = base[:, channels][steps]
        return window.values * local.std(axis=0) + local.mean(axis=0)
    values, slope = window.values.astype(np.float64), False
    for view in reversed(block.views):
        name, moments = view_name(view)
        if name == "difference":
            slope = True
            continue
        values = values * np.asarray(moments["sd"])[channels]
        if not slope:
            values += np.asarray(moments["mean"])[channels]
    return values


def _longest_runs(within: np.ndarray) -> np.ndarray:
    """Return a mask of the first longest run of true values in each row."""
    positions = np.arange(within.shape[1])
    lengths = positions - np.maximum.accumulate(np.where(within, -1, positions), axis=1)
    last = lengths.argmax(axis=1)[:, None]
    return (positions <= last) & (positions > last - lengths.max(axis=1, keepdims=True))


def _function(view: object) -> object:
    return getattr(view, "func", view)


def _profiles(
    x: np.ndarray, windows: np.ndarray, length: int, dilation: int, limits: np.ndarray | None
) -> np.ndarray:
    """Return mean squared distances of windows to all positions, (n_windows, n_positions)."""
    span = (length - 1) * dilation + 1
    if len(x) < span:
        at = np.linspace(0, len(x) - 1, length)
        x = np.stack([np.interp(at, np.arange(len(x)), channel) for channel in x.T], axis=1)
        span, dilation = length, 1
    pieces = np.lib.stride_tricks.sliding_window_view(x, span, axis=0)[:, :, ::dilation]
    if limits is not None:
        pieces = normalized_windows(pieces, limits[:, None])
    pieces = pieces.reshape(len(pieces), -1)
    windows = windows.astype(np.float64)
    D = (windows**2).sum(axis=1)[:, None] + (pieces**2).sum(axis=1) - 2 * windows @ pieces.T
    return np.maximum(D, 0) / length
