# SPDX-License-Identifier: BSD-3-Clause
"""Blocks: features of objects seen through views, by distances to random objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from d2ke._base.checks import flag, integer, not_negative, positive_number
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.memory import check_fits
from d2ke._base.progress import progress_bar, stages
from d2ke._base.threads import team_size
from d2ke._ext import pairwise
from d2ke.distances.pairs import check_pairs
from d2ke.distances.registry import BY_NAME
from d2ke.models.plain_blocks import PlainBlock
from d2ke.models.views import FITTED, View, apply_views
from d2ke.models.windows import Windows
from d2ke.objects.container import Objects
from d2ke.objects.records import Column

if TYPE_CHECKING:
    from d2ke.models.piece_scores import PieceScores

# Whatever training needs of single objects comes from a sample of so many rows, which the seed and
# the number of objects determine: it is the same wherever the objects are.
SAMPLE = 4096
_ROUNDING = 1e-5  # of the usual median distance: smaller distances are 0 but for rounding


@dataclass(frozen=True)
class Block:
    """One D2KE kernel of a model: views, a distance, and a law of the random objects.

    Its features are exp(-gamma_j d(v(x), omega_j)) for R random objects omega_j; gamma_j is 1 over
    the median distance of the training objects to omega_j. Blocks side by side are a sum of
    positive definite kernels.

    Attributes
    ----------
    name : str
        For reports.
    distance : str or callable
        As for `distance_matrix`.
    sampler : callable
        ``sampler(R, X, seed=seed)`` returns up to R random objects; X are the training objects as
        the views show them. `segments`, `noise`, `resampled` and `training_objects` of
        `d2ke.samplers`, or a function of the user's. A sampler of training objects
        returns their places too.
    R : int
        Number of random objects, at least 1.
    views : tuple of callables
        Functions Objects -> Objects, applied one after another; see `d2ke.models.views`.
    parameters : mapping
        Of the distance.
    from_omega : bool
        Whether the distance goes from omega to x, for distances that are not symmetric.
    gamma_scale : float
        gamma_j is this over the median distance.
    sd_power : float
        Features are divided by their standard deviations to this power: 1 standardises them, less
        gives less of the kernel to random objects that few objects are near.
    family : str
        Blocks of one family have one share of the kernel, which training chooses.
    column : str
        Of records, the column of objects that the block sees; empty for objects of one kind.

    Examples
    --------
    >>> from functools import partial
    >>> import d2ke
    >>> from d2ke.samplers import segments
    >>> start = partial(d2ke.views.part, start=0.0, stop=0.5)
    >>> block = d2ke.Block("first half", "levenshtein", segments, 64, (start,))
    >>> y, X = ["a", "b"] * 9, ["aaaabb", "bbbbaa", "aaabbb", "bbaaaa"] * 4 + ["ab", "ba"]
    >>> model = d2ke.d2ke_train(y, X, blocks=[block], seed=0)
    >>> d2ke.d2ke_predict(None, ["aaaaab"], model)[0].tolist()
    ['a']
    """

    name: str
    distance: str | Callable[..., float]
    sampler: Callable[..., Any]
    R: int
    views: tuple[View, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    from_omega: bool = False
    gamma_scale: float = 1.0
    sd_power: float = 1.0
    family: str = ""
    column: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ArgumentTypeError("name", f"of a block must be a string, got {self.name!r}")
        for key in ("family", "column"):
            if not isinstance(getattr(self, key), str):
                raise ArgumentTypeError(
                    key, f"of block {self.name!r} must be a string, got {getattr(self, key)!r}"
                )
        if not callable(self.sampler):
            raise ArgumentTypeError(
                "sampler", f"of block {self.name!r} must be callable: {self.sampler!r}"
            )
        integer(f"R of block {self.name!r}", self.R, 1)
        positive_number(f"gamma_scale of block {self.name!r}", self.gamma_scale)
        not_negative(f"sd_power of block {self.name!r}", self.sd_power)
        flag("from_omega", self.from_omega)
        if not isinstance(self.views, (list, tuple)):
            raise ArgumentTypeError(
                "views", f"of block {self.name!r} must be a tuple, got {self.views!r}"
            )
        if not isinstance(self.parameters, Mapping):
            raise TypeError(
                f"parameters of block {self.name!r} must be a dict, got {self.parameters!r}"
            )
        object.__setattr__(self, "views", tuple(self.views))
        for view in self.views:
            if not callable(view):
                raise TypeError(f"a view of block {self.name!r} must be callable, got {view!r}")

    def fit(self, X: Any, seed: Any) -> tuple[FittedBlock, Any]:
        """Draw the random objects; return the block without gammas, and X through the views."""
        views = []
        for view in self.views:
            views.append(partial(view, **FITTED[view](X)) if view in FITTED else view)
            X = apply_views((views[-1],), X)
        omega, sources = self.sampler(self.R, X, seed=seed), None
        if isinstance(omega, tuple):
            omega, sources = omega
        if not isinstance(omega, (Objects, Windows, list)):
            raise ArgumentTypeError(
                "sampler",
                f"of block {self.name!r} must return Objects or a list of random objects, "
                f"got {omega!r}",
            )
        if len(omega) > self.R:
            raise ArgumentError(
                "sampler", f"of block {self.name!r} drew {len(omega)} objects where R is {self.R}"
            )
        row = BY_NAME.get(self.distance) if isinstance(self.distance, str) else None
        if row is not None and isinstance(omega, Objects) and row.shortest:
            kept = omega.lengths >= row.shortest
            if not kept.all():
                omega = omega[kept]
                sources = None if sources is None else sources[kept]
        block = FittedBlock(
            self.name, self.distance, omega, np.ones(len(omega)), tuple(views),
            dict(self.parameters), self.from_omega, sources, family=self.family,
            sd_power=self.sd_power, column=self.column,
        )  # fmt: skip
        return block, X

    def fit_features(
        self, X: Any, rows: np.ndarray, seed: Any, n_threads: int | None, progress: bool
    ) -> tuple[FittedBlock, np.ndarray]:
        """Fit the block to the sample X, rows `rows` of all; return the features of X too."""
        column = X[self.column] if self.column else None
        if column is not None:
            X, rows = column.values, rows[column.rows]
        block, viewed = self.fit(X, seed)
        if not block.R:
            return block, np.empty((len(rows), 0), np.float32)
        D = block.distances(viewed, n_threads, progress)
        block = block.with_gamma(D, self.gamma_scale)
        features = block.features(D, n_threads)
        if block.sources is not None:
            columns = np.flatnonzero(block.sources >= 0)
            at_sources = block.sources[columns], columns
            if len(features) > 1:
                features[at_sources] = -np.inf
                features[at_sources] = features[:, columns].max(axis=0)
            hidden, sources = np.zeros(block.R, np.float32), np.full(block.R, -1)
            hidden[columns], sources[columns] = features[at_sources], rows[at_sources[0]]
            block = replace(block, sources=sources, hidden=hidden)
        if column is None:
            return block, features
        block = replace(block, fill=features.mean(axis=0, dtype=np.float64).astype(np.float32))
        return block, spread(features, column, block.fill)

    def resized(self, R: int) -> Block:
        """Return the block with R random objects."""
        return replace(self, R=R)


@dataclass(frozen=True, eq=False)
class FittedBlock:
    """A block with its random objects and gammas.

    Attributes
    ----------
    name, distance, views, parameters, from_omega, family, sd_power, column
        Of the `Block`; the views have their arguments.
    omega : Objects, Windows or list
        R random objects.
    gamma : ndarray of float64, shape (R,)
        One for each of them.
    sources : ndarray of int64, shape (R,), or None
        The training object that each random object is or was cut from, where it must not be
        compared with it; -1 for none.
    hidden : ndarray of float32, shape (R,), or None
        The features of these training objects: as if the random object that each of them is were
        as far as the nearest other object.
    share : float
        Of the family in the kernel; see `d2ke.models.shares`.
    fill : ndarray of float32, shape (R,), or None
        Of a column: the features of a row whose entry is missing, the means of the training rows.
    """

    name: str
    distance: str | Callable[..., float]
    omega: Any
    gamma: np.ndarray
    views: tuple[View, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    from_omega: bool = False
    sources: np.ndarray | None = None
    hidden: np.ndarray | None = None
    family: str = ""
    share: float = 1.0
    sd_power: float = 1.0
    column: str = ""
    fill: np.ndarray | None = None

    supervised: ClassVar[bool] = False  # whether features are computed from labels

    @property
    def R(self) -> int:
        """Number of features."""
        return len(self.omega)

    def distances(self, viewed: Any, n_threads: int | None, progress: bool = False) -> np.ndarray:
        """Compute the distances of objects, as the views show them, to the random objects.

        They are float32, and the random objects are the columns.
        """
        if isinstance(self.omega, Windows):
            return self.omega.distances(viewed, n_threads)
        x, y = (self.omega, viewed) if self.from_omega else (viewed, self.omega)
        D = np.empty((len(x), len(y)), np.float32)
        with np.errstate(over="ignore"), progress_bar(progress, "distances") as report:
            check_pairs(x, y, self.distance, self.parameters).fill(D, team_size(n_threads), report)
        if not np.isfinite(D).all():
            raise ValueError(
                f"distances of block {self.name!r} are beyond the range of float32: scale X"
            )
        return np.ascontiguousarray(D.T) if self.from_omega else D

    def with_gamma(self, D: np.ndarray, scale: float) -> FittedBlock:
        """Return the block with gammas, scale over the median distances of the training objects."""
        middle = np.median(D, axis=0).astype(np.float64)
        positive = middle[middle > 0] if middle.any() else D[D > 0]
        usual = float(np.median(positive)) if len(positive) else 1.0
        nothing = np.float32(_ROUNDING * usual)
        low = middle <= nothing
        if low.any():
            # Most training objects are at distance 0, to rounding: the mean over the others sets
            # the scale, or the usual median.
            others = D[:, low] > nothing
            count = others.sum(axis=0)
            sums = np.where(others, D[:, low], 0.0).sum(axis=0, dtype=np.float64)
            middle[low] = np.where(count > 0, sums / np.maximum(count, 1), usual)
        return replace(self, gamma=scale / middle)

    def features(self, D: np.ndarray, n_threads: int | None) -> np.ndarray:
        """Turn distances into features, in place."""
        np.multiply(D, self.gamma, out=D, casting="same_kind")
        flat = D.reshape(1, -1)
        pairwise.exp_features(flat, flat, 1.0, 1 / np.sqrt(D.shape[1]), team_size(n_threads))
        return D

    def features_of(
        self, X: Any, n_threads: int | None, rows: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the features of objects or records; `rows` as for `block_features`."""
        column = X[self.column] if self.column else None
        if column is not None:
            X, rows = column.values, None if rows is None else rows[column.rows]
            if not len(column.rows):
                return spread(np.empty((0, self.R), np.float32), column, self.fill)
        D = self.distances(apply_views(self.views, X), n_threads)
        features = self.features(D, n_threads)
        if rows is not None and self.sources is not None and self.hidden is not None:
            places = np.minimum(np.searchsorted(rows, self.sources), len(rows) - 1)
            columns = np.flatnonzero(rows[places] == self.sources)
            features[places[columns], columns] = self.hidden[columns]
        return features if column is None else spread(features, column, self.fill)


AnyBlock: TypeAlias = "Block | PlainBlock | PieceScores"  # before it is fitted
AnyFitted: TypeAlias = "FittedBlock | PlainBlock | PieceScores"


def spread(features: np.ndarray, column: Column, fill: np.ndarray | None) -> np.ndarray:
    """Return the features of all rows of a column; `features` are those of its entries."""
    if not column.missing.any():
        return features
    result = np.empty((len(column), features.shape[1]), np.float32)
    result[column.rows], result[column.missing] = features, fill
    return result


def entropy_of(seed: Any) -> Any:
    """Return what a seed of any kind gives to `numpy.random.SeedSequence`."""
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(2**63))
    if isinstance(seed, np.random.SeedSequence):
        return seed.entropy
    return integer("seed", seed, 0)


def sample_rows(n: int, entropy: Any, needed: int | Sequence[Block] | None) -> np.ndarray:
    """Return the sorted rows of the sample: all of up to `SAMPLE`, or R of a block if that is more.

    `wanted` is R, None for its default, or the blocks.
    """
    if not isinstance(needed, int):
        needed = max(map(attrgetter("R"), needed or ()), default=0)
    size = max(SAMPLE, needed)
    if n <= size:
        return np.arange(n)
    rng = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(SAMPLE,)))
    return np.sort(rng.choice(n, size, replace=False, shuffle=False))


def take(X: Any, rows: np.ndarray) -> Any:
    """Return some of the objects, packed or in a list."""
    if isinstance(X, list):
        return X if len(rows) == len(X) else [X[i] for i in rows.tolist()]
    return X if isinstance(X, Objects) and len(rows) == len(X) else X[rows]


def fit_blocks(
    blocks: Sequence[AnyBlock],
    X: Any,
    rows: np.ndarray,
    entropy: Any,
    n_threads: int | None,
    progress: bool = False,
) -> tuple[tuple[AnyFitted, ...], np.ndarray]:
    """Draw the random objects of all blocks from the sample X; return these and X's features.

    `rows` are the rows of the sample among all training objects.
    """
    seeds, R = np.random.SeedSequence(entropy).spawn(len(blocks)), sum(map(attrgetter("R"), blocks))
    check_fits(4 * len(X) * R, f"{R} features of {len(X)} objects", "take a smaller R")
    Z = np.empty((len(X), R), np.float32)
    fitted, first = [], 0
    for block, seed in stages(list(zip(blocks, seeds, strict=True)), "blocks", progress):
        ready, features = block.fit_features(X, rows, seed, n_threads, progress)
        if not ready.R:
            continue
        Z[:, first : first + ready.R] = features
        first += ready.R
        fitted.append(ready)
    if not fitted:
        raise ArgumentError("blocks", "have no random objects: their samplers drew none")
    return tuple(fitted), np.ascontiguousarray(Z[:, :first])  # samplers may draw fewer objects


def block_features(
    blocks: Sequence[AnyFitted],
    X: Any,
    n_threads: int | None,
    rows: np.ndarray | None = None,
) -> np.ndarray:
    """Return the features of all blocks side by side, float32.

    With `rows`, X are the training objects of these rows, in rising order. One that is a random
    object gets the distance of the nearest other object of the sample: new objects are never at
    distance 0 of their own random object, so that a model must not learn from it. On 339 sets, that
    cost 6 to 12 points of accuracy.
    """
    Z = np.empty((len(X), sum(map(attrgetter("R"), blocks))), np.float32)
    first = 0
    for block in blocks:
        Z[:, first : first + block.R] = block.features_of(X, n_threads, rows)
        first += block.R
    return Z


def feature_names(blocks: Sequence[AnyFitted]) -> list[str]:
    """Return a name for each feature: the block's and a number."""
    return [f"{block.name}.{j}" for block in blocks for j in range(block.R)]
