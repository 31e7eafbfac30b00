# SPDX-License-Identifier: BSD-3-Clause
"""Shapelets: short dilated pieces of training series as random objects.

The distance of a series x to a shapelet w of l values at position p is

    d_p = sqrt(sum_channels mean_j (w[j] - x[p + j dilation])^2).

With `normalize`, the values of x at each position are first shifted to mean 0 and scaled to
deviation 1. A shapelet is up to four random objects, for four directed distances of a series to it:

    nearest  min_p d_p
    nearby   min d_p over positions p near the shapelet's own
    rare     |{p: d_p^2 > threshold}| / P, where P is the number of positions
    longest  1 - sqrt(L / P), where L is the longest run of positions with d_p^2 <= threshold
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from d2ke._base.checks import generator
from d2ke._base.keywords import hinted
from d2ke._base.rounding import plain_deviations
from d2ke._base.threads import team_size
from d2ke._ext import windows as kernel
from d2ke.distances.window_rows import normalized_windows
from d2ke.embedding.scaling import moments
from d2ke.objects.container import Objects

KINDS = ("nearest", "nearby", "rare", "longest")
RADIUS = 0.1  # of "nearby", as a fraction of the length of a series


@dataclass(frozen=True, eq=False)
class Shapelet:
    """One random object of `Shapelets`.

    Attributes
    ----------
    values : ndarray of float32, shape (length, n_channels)
        The values.
    dilation : int
        Steps from one value to the next.
    channels : tuple of int
        The channels of the series that it is compared with.
    kind : {"nearest", "nearby", "rare", "longest"}
        The distance, see the module's docstring.
    place : float
        Position of the cut, as a fraction of all positions.
    threshold : float
        A mean squared distance, between the distances of two positions of a training series.
    normalize : bool
        Whether values are compared with mean 0 and deviation 1: shapes only.
    """

    values: np.ndarray
    dilation: int
    channels: tuple[int, ...]
    kind: str
    place: float
    threshold: float
    normalize: bool

    def __str__(self) -> str:
        step = f", every {self.dilation} steps" * (self.dilation > 1)
        name = "shape" if self.normalize else "window"
        kind = "longest run" if self.kind == "longest" else self.kind
        return f"{name} of {len(self.values)} values{step}, {kind}"


@dataclass(frozen=True, eq=False)
class Shapelets:
    """Groups of shapelets; shapelets of a group have one length, dilation and set of channels.

    Attributes
    ----------
    values : ndarray of float32
        Concatenated values of all shapelets, channel by channel in each shapelet.
    first : ndarray of int64, shape (n_groups + 1,)
        The first shapelet of each group.
    lengths, dilations : ndarray of int64, shape (n_groups,)
        Length and dilation of the shapelets of each group.
    channel_offsets, channels : ndarray of int64
        The channels of group g are ``channels[channel_offsets[g]:channel_offsets[g + 1]]``.
    places, thresholds : ndarray of float32, shape (n_shapelets,)
        As in `Shapelet`.
    limits : ndarray of float32, shape (n_channels,)
        A shapelet whose deviation in a channel is at most this counts as constant: 1e-4 of the
        channel's deviation in the training series, or of 1 if that deviation is rounding.
    normalize : bool
        Whether shapelets have mean 0 and deviation 1.
    kinds : tuple of str
        A subset of `KINDS`: the distances, each to all shapelets.
    """

    values: np.ndarray
    first: np.ndarray
    lengths: np.ndarray
    dilations: np.ndarray
    channel_offsets: np.ndarray
    channels: np.ndarray
    places: np.ndarray
    thresholds: np.ndarray
    limits: np.ndarray
    normalize: bool
    kinds: tuple[str, ...] = KINDS

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Shapelets):
            return NotImplemented
        names = [field.name for field in fields(self)]
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)

    def __len__(self) -> int:
        return len(self.kinds) * len(self.places)

    def __getitem__(self, index: int) -> Shapelet:
        kind, number = divmod(range(len(self))[index], len(self.places))
        group = int(np.searchsorted(self.first, number, side="right")) - 1
        sizes = self.lengths * np.diff(self.channel_offsets)
        start = (sizes * np.diff(self.first))[:group].sum()
        start += (number - self.first[group]) * sizes[group]
        channels = self.channels[self.channel_offsets[group] : self.channel_offsets[group + 1]]
        values = self.values[start : start + sizes[group]].reshape(len(channels), -1)
        return Shapelet(
            values.T, int(self.dilations[group]), tuple(channels.tolist()), self.kinds[kind],
            float(self.places[number]), float(self.thresholds[number]), self.normalize,
        )  # fmt: skip

    def compiled(self) -> kernel.Windows:
        """Return the shapelets prepared for the kernel, for many calls of `distances`."""
        n_channels = len(self.limits)
        return kernel.Windows(
            np.zeros((n_channels, 1), np.float32), np.array([0, 1]), self.limits[:, None],
            self.values, self.first, self.lengths, self.dilations, self.channel_offsets,
            self.channels, self.normalize,
        )  # fmt: skip

    def distances(
        self, X: Objects, n_threads: int | None, compiled: kernel.Windows | None = None
    ) -> np.ndarray:
        """Return the distances of series to all shapelets, float32, shape (len(X), len(self)).

        `compiled` is the result of the method `compiled`.
        """
        compiled = self._beside(X, compiled)
        runs = "longest" in self.kinds
        D = compiled.rows(self.places, self.thresholds, RADIUS, runs, team_size(n_threads))
        if self.kinds == KINDS:
            return D
        n, columns = len(self.places), map(KINDS.index, self.kinds)
        return np.concatenate([D[:, k * n : (k + 1) * n] for k in columns], axis=1)

    def _beside(self, X: Objects, compiled: kernel.Windows | None = None) -> kernel.Windows:
        """Return the shapelets and series prepared for the kernel."""
        series = np.ascontiguousarray(X.values.T, np.float32)
        limits = np.repeat(self.limits[:, None], len(X), axis=1)
        return (compiled or self.compiled()).of_series(series, X.offsets, limits)

    def check(self, n_channels: int) -> None:
        """Refuse inconsistent arrays of a file."""
        n_groups, n_shapelets = len(self.lengths), len(self.places)
        sizes = self.lengths * np.diff(self.channel_offsets)
        sound = (
            0 < n_groups == len(self.dilations) == len(self.first) - 1
            and n_groups == len(self.channel_offsets) - 1
            and n_shapelets == len(self.thresholds) == self.first[-1]
            and not (self.first[0] or self.channel_offsets[0])
            and (np.diff(self.first) > 0).all()
            and (np.diff(self.channel_offsets) > 0).all()
            and self.channel_offsets[-1] == len(self.channels)
            and (self.lengths > 0).all() and (self.lengths < 1 << 20).all()
            and (self.dilations > 0).all() and (self.dilations < 1 << 40).all()
            and ((self.channels >= 0) & (self.channels < n_channels)).all()
            and len(self.values) == (sizes * np.diff(self.first)).sum()
            and np.isfinite(self.values).all() and np.isfinite(self.thresholds).all()
            and self.limits.shape == (n_channels,) and (self.limits >= 0).all()
            and ((self.places >= 0) & (self.places <= 1)).all()
            and self.kinds and set(self.kinds) <= set(KINDS)
        )  # fmt: skip
        if not sound:
            raise ValueError("the shapelets of a block do not fit together")


@hinted
def shapelets(
    R: int,
    X: Objects,
    *,
    normalize: bool = True,
    kinds: tuple[str, ...] = ("nearest", "rare"),
    seed: Any,
) -> tuple[Shapelets, np.ndarray]:
    """Draw shapelets of training series; each is a random object of every kind.

    Four of five shapelets have 7, 9 or 11 values. The steps between these are 2^u, with u uniform
    from 0 to the largest that fits the median length. Every fifth shapelet has 15, 21, 31 or 51
    consecutive values. No shapelet is longer than the median series. With several channels, each
    shapelet has a random subset. The threshold of a shapelet is between its distances to two
    positions of another training series, so rounding does not decide which positions are within
    it.

    Parameters
    ----------
    R : int
        Number of random objects: shapelets times kinds.
    X : Objects
        The training series.
    normalize : bool
        Whether shapelets are compared by their shapes alone: shifted to mean 0 and scaled to
        deviation 1 in each channel.
    kinds : tuple of str
        The distances: ``"nearest"``, ``"nearby"``, ``"rare"``, ``"longest"``; see `Shapelet`.
    seed : int, SeedSequence or Generator
        Where the randomness comes from.

    Returns
    -------
    tuple of Shapelets and ndarray of int64
        The random objects, and the training series that each was cut from; -1 for kinds "rare" and
        "longest".

    References
    ----------
    Ye, Keogh, "Time series shapelets", KDD 2009; Guillaume, Vrain, Elloumi, "Random dilated
    shapelet transform", ICPRAI 2022.

    Examples
    --------
    >>> import d2ke
    >>> from d2ke.models.shapelets import shapelets
    >>> omega, sources = shapelets(24, d2ke.pack([[0.0, 1.0] * 20, [1.0, 2.0] * 20]), seed=0)
    >>> len(omega), omega[0].kind, omega[12].kind
    (24, 'nearest', 'rare')
    """
    rng = generator(seed)
    limits = 1e-4 * plain_deviations(*moments(X.values)[1:], X.dtype).astype(np.float32)
    middle, n_shapelets = float(np.median(X.lengths)), max(1, R // len(kinds))
    # Eight shapelets of one length, dilation and set of channels share sums.
    first = np.append(np.arange(0, n_shapelets, 8), n_shapelets)
    n_groups = len(first) - 1
    is_long = rng.random(n_groups) < 0.2
    long, short = rng.choice((15, 21, 31, 51), n_groups), rng.choice((7, 9, 11), n_groups)
    lengths = np.where(is_long, long, short)
    lengths = np.minimum(lengths, max(1, int(middle)))
    room = np.maximum(1.0, (middle - 1) / np.maximum(1, lengths - 1))
    room[is_long] = 1.0
    dilations = (2 ** (rng.random(n_groups) * np.log2(room))).astype(np.int64)
    n_channels = 2 ** (rng.random(n_groups) * np.log2(min(X.dim, 9) + 1))
    n_channels = np.minimum(n_channels.astype(np.int64), X.dim)
    is_seen = rng.random((n_groups, X.dim)).argsort(axis=1) < n_channels[:, None]
    sources = rng.integers(len(X), size=n_shapelets)
    other = rng.integers(max(1, len(X) - 1), size=n_shapelets)  # series than `sources`
    other = (other + (other >= sources)) % len(X)
    group = np.repeat(np.arange(n_groups), np.diff(first))
    last = X.lengths[sources] - 1 - ((lengths - 1) * dilations)[group]  # start; may be negative
    starts = (rng.random(n_shapelets) * (np.maximum(last, 0) + 1)).astype(np.int64)
    # Series that are too short are resampled to one shapelet.
    resampled = (X.lengths[sources] - 1) / np.maximum(1, lengths - 1)[group]
    steps = np.where(last < 0, resampled, dilations[group])
    shapelet, channel = np.nonzero(is_seen[group])  # a row for each channel of each shapelet
    # values[r, j] is x(at[r, j]), where x(t) is linear between the steps of its series.
    at = starts[shapelet, None] + steps[shapelet, None] * np.arange(lengths.max())
    source = sources[shapelet, None]
    final = X.lengths[source] - 1
    before = np.minimum(at.astype(np.int64), final)
    left = X.values[X.offsets[source] + before, channel[:, None]].astype(float)
    after = X.offsets[source] + np.minimum(before + 1, final)
    right = X.values[after, channel[:, None]].astype(float)
    values = left + (at - before) * (right - left)
    inside = np.arange(lengths.max()) < lengths[group][shapelet, None]
    if normalize:
        row_lengths = lengths[group][shapelet]
        for length in np.unique(lengths):
            rows = row_lengths == length
            pieces = values[rows, :length]
            values[rows, :length] = normalized_windows(pieces, limits[channel[rows], None])
    thresholds = np.empty(n_shapelets, np.float32)
    omega = Shapelets(
        values[inside].astype(np.float32), first, lengths, dilations,
        np.append(0, np.cumsum(n_channels)), np.flatnonzero(is_seen) % X.dim,
        (starts / np.maximum(1, last)).astype(np.float32), thresholds, limits, normalize,
        tuple(kinds),
    )  # fmt: skip
    # The threshold lies between two of a shapelet's distances to 256 positions of series `other`:
    # the distance of rank 5 to 10 %, and the next larger one. Distances that may differ by rounding
    # only are equal.
    n_positions = 256
    profile = omega._beside(X).sample(other, rng.random((n_shapelets, n_positions), np.float32))
    profile = np.sort(profile, axis=1)
    rank = (rng.uniform(0.05, 0.10, n_shapelets) * n_positions).astype(int)
    rows = np.arange(n_shapelets)
    lower, tied = profile[rows, rank], 1e-5 * profile[:, -1]
    is_above = profile > (lower + tied)[:, None]
    upper = np.where(is_above[:, -1], profile[rows, is_above.argmax(axis=1)], lower + 2 * tied)
    below = np.where(is_above, -np.inf, profile).max(axis=1)
    # Not the midpoint, which may be a distance between series of integers.
    thresholds[:] = below + 0.381966 * (upper - below)
    # A shapelet has distance 0 to the series that it was cut from.
    none = np.full(n_shapelets, -1)
    has_source = [kind in ("nearest", "nearby") for kind in kinds]
    return omega, np.concatenate([sources if is_cut else none for is_cut in has_source])
