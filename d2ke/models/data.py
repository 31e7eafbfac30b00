# SPDX-License-Identifier: BSD-3-Clause
"""The training objects: in memory, chunk by chunk, or as a sample.

Training takes a sample, from which it estimates random objects, gammas, divisors and kernel
weights, and it sums functions over chunks of all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import numpy as np

from d2ke._base.errors import ArgumentError
from d2ke._base.progress import stages
from d2ke.models.blocks import Sample, take
from d2ke.models.feature_map import FeatureMap
from d2ke.models.features import Features
from d2ke.models.inputs import block_rows
from d2ke.models.labels import Labels
from d2ke.objects.container import span_of

MAX_KEPT = 1 << 30  # bytes of features that stay in memory

T = TypeVar("T")


@dataclass(eq=False)
class Chunk:
    """Consecutive training objects and their labels.

    Attributes
    ----------
    objects : Objects, Records, StoredObjects or list
        The objects.
    labels : Labels
        Labels of the objects.
    first_row : int
        The row of the first object among all training objects.
    n_threads, progress
        As for `d2ke_train`.
    F : ndarray of float32, shape (n, R), or None
        Inputs of the ridge, see `Features.projected`, if they stay in memory between passes.
    """

    objects: Any
    labels: Labels
    first_row: int = 0
    n_threads: int | None = None
    progress: bool | None = False
    F: np.ndarray | None = field(default=None, repr=False)

    def sample(self, rows: np.ndarray) -> Sample:
        """Return the objects of some rows, numbered among all training objects."""
        indices = rows - self.first_row
        objects = take(self.objects, indices)
        return Sample(objects, rows, self.labels[indices], self.n_threads, self.progress)

    def features(self, features: Features, title: str) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield slices of the chunk with their inputs of the ridge, from memory or computed."""
        feature_map = FeatureMap(features.blocks)
        n, step = len(self.labels), block_rows(feature_map.R)
        for start in stages(range(0, n, step), title, self.progress):
            rows = slice(start, min(start + step, n))
            if self.F is not None:
                yield rows, self.F[rows]
                continue
            objects = span_of(self.objects, rows.start, rows.stop)
            indices = np.arange(rows.start, rows.stop) + self.first_row
            F = feature_map.unscaled(objects, self.n_threads, indices)
            yield rows, features.projected(F, self.n_threads)


class TrainingData(Protocol):
    """Training objects in any container.

    Attributes
    ----------
    n : int
        Number of objects.
    labels : Labels
        Labels of some objects, with the task of all.
    largest_class : float
        Weight of the objects of the largest class; nan for real values.
    """

    labels: Labels

    @property
    def n(self) -> int: ...  # noqa: D102
    @property
    def largest_class(self) -> float: ...  # noqa: D102

    def sample(self, rows: np.ndarray) -> Sample:
        """Return the objects of sorted rows."""

    def sum(self, function: Callable[..., T], *arguments: Any) -> T:
        """Return the merged results of a function applied to each chunk."""

    def keep(self, features: Features, F: np.ndarray, rows: np.ndarray) -> np.ndarray | None:
        """Keep the ridge's inputs of all objects in memory, if they fit; return the features.

        F are the features of `rows`.
        """


class InMemory(Chunk):
    """Training objects in this process: one chunk."""

    @property
    def n(self) -> int:
        """Number of objects."""
        return len(self.labels)

    @property
    def largest_class(self) -> float:
        """Weight of the objects of the largest class; nan for real values."""
        return max(self.labels.counts().values(), default=float("nan"))

    def sum(self, function: Callable[..., T], *arguments: Any) -> T:
        """Return the result of a function applied to all objects."""
        return function(self, *arguments)

    def keep(self, features: Features, F: np.ndarray, rows: np.ndarray) -> np.ndarray | None:
        """Keep the ridge's inputs of all objects, if they fit; groups need them."""
        n, R, F_all = self.n, F.shape[1], F
        if len(F) < n and 4 * n * R <= MAX_KEPT:
            F_all = np.empty((n, R), np.float32)
            F_all[rows] = F
            unsampled = np.setdiff1d(np.arange(n), rows, assume_unique=True)
            step, feature_map = block_rows(R), FeatureMap(features.blocks)
            for start in stages(range(0, len(unsampled), step), "features", self.progress):
                indices = unsampled[start : start + step]
                objects = take(self.objects, indices)
                F_all[indices] = feature_map.unscaled(objects, self.n_threads, indices)
        elif len(F) < n:
            if self.labels.groups is None:
                return None
            raise ArgumentError(
                "groups",
                f"needs all features in memory, at most {MAX_KEPT} bytes: {n} objects have "
                f"R = {R} features, take fewer of either",
            )
        self.F = features.projected(F_all, self.n_threads)
        return F_all
