# SPDX-License-Identifier: BSD-3-Clause
"""Blocks of distances: features of objects, after views, by their distances to random objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from d2ke._base import arrays
from d2ke._base.checks import flag, integer, not_negative, positive_number
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.progress import progress_bar
from d2ke._base.text import entries
from d2ke._base.threads import team_size
from d2ke._ext import pairwise
from d2ke.distances.pairs import check_pairs
from d2ke.distances.registry import BY_NAME, check_parameters, find_distance
from d2ke.models.blocks import FittedFeatures, Sample, UnfittedBlock
from d2ke.models.loo import own_values
from d2ke.models.shapelets import Shapelets
from d2ke.models.views import View, apply_views, fit_view
from d2ke.objects.container import Objects, as_kind


@dataclass(frozen=True)
class Block(UnfittedBlock):
    """One D2KE kernel of a model: views, a distance, and the distribution of the random objects.

    Its features are exp(-gamma_j d(x, omega_j)) / sqrt(R) of viewed objects x, for R random objects
    omega_j; gamma_j is `gamma_scale` over the median distance of the training objects to omega_j.
    Blocks side by side are a sum of positive definite kernels.

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
        returns their indices too.
    R : int
        Number of random objects, at least 1.
    views : tuple of callables
        Functions Objects -> Objects, applied in order; see `d2ke.models.views`.
    parameters : mapping
        Parameters of the distance.
    from_omega : bool
        Whether the distance goes from omega to x, for distances that are not symmetric.
    gamma_scale : float
        Numerator of gamma_j.
    sd_power : float
        Features are divided by their standard deviations to this power: 1 standardises them, a
        smaller power gives a smaller part of the kernel to random objects with few near objects.
    family : str
        Blocks of one family have one weight in the kernel, which training chooses.
    column : str
        Of records, the column of objects that the block sees; empty for objects of one kind.
    members : tuple of str
        Names of the candidate kernels that the family is in. Training stacks candidates: the means
        of the kernels of all families that have a name in common (in one column of records). A
        family without names is a candidate by itself, and then the mean of all families is one too.
    first : int
        Number of random objects that training begins with, for slow distances; 0 for all R. Then
        it draws up to R, in proportion to the weight that the family has with these.

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
    members: tuple[str, ...] = ()
    first: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ArgumentTypeError("name", f"of a block must be a string, got {self.name!r}")
        views, members = self.views, self.members
        has_views = isinstance(views, (list, tuple)) and all(map(callable, views))
        has_members = isinstance(members, (list, tuple)) and all(
            isinstance(name, str) and name for name in members
        )
        for key, is_right, needed in (
            ("family", isinstance(self.family, str), "a string"),
            ("column", isinstance(self.column, str), "a string"),
            ("sampler", callable(self.sampler), "callable"),
            ("views", has_views, "a tuple of callables"),
            ("parameters", isinstance(self.parameters, Mapping), "a dict"),
            ("members", has_members, "a tuple of strings"),
        ):
            if not is_right:
                raise ArgumentTypeError(
                    key, f"of block {self.name!r} must be {needed}, got {getattr(self, key)!r}"
                )
        integer(f"R of block {self.name!r}", self.R, 1)
        integer(f"first of block {self.name!r}", self.first, 0)
        positive_number(f"gamma_scale of block {self.name!r}", self.gamma_scale)
        not_negative(f"sd_power of block {self.name!r}", self.sd_power)
        flag("from_omega", self.from_omega)
        object.__setattr__(self, "views", tuple(views))
        object.__setattr__(self, "members", tuple(members))

    def fit(self, sample: Sample, seed: Any) -> FittedBlock:
        """Draw random objects from a sample; set gammas by the sample's distances to them."""
        return self.fit_features(sample, seed)[0]

    def fit_features(self, sample: Sample, seed: Any) -> tuple[FittedBlock, np.ndarray]:
        """Return the fitted block, and the features of the sample."""
        X, views = sample.objects, []
        for view in self.views:
            views.append(fit_view(view, X))
            X = apply_views((views[-1],), X)
        omega, sources = self.sampler(self.R, X, seed=seed), None
        if isinstance(omega, tuple):
            omega, sources = omega
        if not isinstance(omega, (Objects, Shapelets, list)):
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
            is_defined = omega.lengths >= row.shortest
            if not is_defined.all():
                omega = omega[is_defined]
                sources = None if sources is None else sources[is_defined]
        block = FittedBlock(
            self.distance, omega, np.ones(len(omega)), tuple(views), dict(self.parameters),
            self.from_omega, name=self.name, family=self.family, column=self.column,
            members=self.members, sd_power=self.sd_power, sources=sources,
        )  # fmt: skip
        if not block.R:
            return block, np.empty((len(sample.rows), 0), np.float32)
        D = block.distances(X, sample.n_threads, sample.progress)
        block = block.with_gamma(D, self.gamma_scale)
        features = block.features_from(D, sample.n_threads)
        if len(features) <= sample.labels.task.fewest:
            # The deviation of a few values may be near 0 by chance. Divided by it, features
            # would give predictions far from the targets.
            block = replace(block, sd_power=0.0)
        if sources is not None:
            columns = np.flatnonzero(sources >= 0)
            rows, own_rows = sources[columns], np.full(block.R, -1)
            values = np.zeros((2, block.R), np.float32)
            few = sample.labels.task.few
            values[:, columns] = own_values(features, rows, columns, few)
            own_rows[columns] = sample.rows[rows]
            block = replace(block, sources=own_rows, hidden=values[0], own=values[1])
        return block, features

    def resized(self, R: int) -> Block:
        """Return the block with R random objects."""
        block = copy(self)  # without the checks of __post_init__
        object.__setattr__(block, "R", R)
        return block


@dataclass(frozen=True, eq=False)
class FittedBlock(FittedFeatures):
    """A block of distances with its random objects and gammas.

    Attributes
    ----------
    distance, views, parameters, from_omega, name, family, column, members, sd_power
        As in the `Block`; the views have their arguments.
    omega : Objects, Shapelets or list
        R random objects.
    gamma : ndarray of float64, shape (R,)
        Factor of the distance to each random object.
    sources : ndarray of int64, shape (R,), or None
        The training object that each random object is or was cut from, if its feature must be
        replaced in training; -1 for none.
    hidden : ndarray of float32, shape (R,), or None
        Largest feature of any other training object in the column.
    own : ndarray of float32, shape (R,), or None
        Feature of the source in training, see `d2ke.models.loo`.
    """

    distance: str | Callable[..., float]
    omega: Any
    gamma: np.ndarray
    views: tuple[View, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    from_omega: bool = False

    @property
    def R(self) -> int:
        """Number of features."""
        return len(self.omega)

    @property
    def kinds(self) -> int:
        """Number of kinds of distances: one or several of shapelets, else 1."""
        return len(self.omega.kinds) if isinstance(self.omega, Shapelets) else 1

    def check(self, n_channels: int) -> None:
        """Refuse inconsistent arrays of a file."""
        arrays.check_array("gamma", self.gamma, np.float64, (self.R,))
        if isinstance(self.omega, Shapelets):
            self.omega.check(n_channels)
        elif not callable(self.distance):
            row = find_distance(self.distance)
            check_parameters(row, self.parameters)
            omega = as_kind(self.omega, row.kind) if self.R else None
            if omega is None or (omega.lengths < row.shortest).any():
                raise ValueError(f"{row.name!r} cannot compare the random objects of {self.name}")

    def describe(self) -> str:
        """Return the distance and its parameters."""
        name = self.distance if isinstance(self.distance, str) else "a function"
        options = ", ".join(f"{key}={entries(value)}" for key, value in self.parameters.items())
        return name + (f" ({options})" if options else "")

    def distances(
        self, viewed: Any, n_threads: int | None, progress: bool | None = False
    ) -> np.ndarray:
        """Return the distances of viewed objects (rows) to the random objects, in float32."""
        if isinstance(self.omega, Shapelets):
            return self.omega.distances(viewed, n_threads)
        x, y = (self.omega, viewed) if self.from_omega else (viewed, self.omega)
        D = np.empty((len(x), len(y)), np.float32)
        with np.errstate(over="ignore"), progress_bar(progress, "distances") as report:
            pairs = check_pairs(x, y, self.distance, self.parameters)
            pairs.compiled().run(D, team_size(n_threads), report)
        if not np.isfinite(D).all():
            raise ValueError(
                f"distances of block {self.name!r} are beyond the range of float32: scale X"
            )
        return np.ascontiguousarray(D.T) if self.from_omega else D

    def with_gamma(self, D: np.ndarray, scale: float) -> FittedBlock:
        """Return the block with gammas, from distances D of the training objects.

        gamma_j = scale / middle_j, where middle_j is the median over i of d(x_i, omega_j).
        Distances of at most 1e-5 of `usual`, the median of the middle_j above 0, are rounding. If
        middle_j is that small, most training objects are at distance 0: middle_j is then the mean
        of the larger distances, or `usual`.
        """
        middle = np.median(D, axis=0).astype(np.float64)
        positive = middle[middle > 0] if middle.any() else D[D > 0]
        usual = float(np.median(positive)) if len(positive) else 1.0
        nothing = np.float32(1e-5 * usual)
        low = middle <= nothing
        if low.any():
            is_apart = D[:, low] > nothing
            count = is_apart.sum(axis=0)
            sums = np.where(is_apart, D[:, low], 0.0).sum(axis=0, dtype=np.float64)
            middle[low] = np.where(count > 0, sums / np.maximum(count, 1), usual)
        return replace(self, gamma=scale / middle)

    def features_from(self, D: np.ndarray, n_threads: int | None) -> np.ndarray:
        """Compute features from distances, in place."""
        np.multiply(D, self.gamma, out=D, casting="same_kind")
        flat = D.reshape(1, -1)
        pairwise.exp_features(flat, flat, 1.0, 1 / np.sqrt(D.shape[1]), team_size(n_threads))
        return D

    def put_own(self, features: np.ndarray, rows: np.ndarray) -> None:
        """Replace the features of training objects at themselves, see `d2ke.models.loo`.

        `rows` are sorted.
        """
        if self.sources is None or self.own is None:
            return
        positions = np.minimum(np.searchsorted(rows, self.sources), len(rows) - 1)
        columns = np.flatnonzero(rows[positions] == self.sources)
        features[positions[columns], columns] = self.own[columns]

    def features(
        self, X: Any, n_threads: int | None = None, rows: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the features of objects."""
        D = self.distances(apply_views(self.views, X), n_threads)
        features = self.features_from(D, n_threads)
        if rows is not None:
            self.put_own(features, rows)
        return features
