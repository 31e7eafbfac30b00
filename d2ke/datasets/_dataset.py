# SPDX-License-Identifier: BSD-3-Clause
"""A loaded data set, and the published facts about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from d2ke._base.checks import generator
from d2ke.objects.container import Objects


@dataclass(frozen=True)
class Source:
    """The published facts about a data set: one row of the registry.

    Attributes
    ----------
    name : str
        The name that `load` takes.
    loader : callable
        ``loader() -> (objects, labels)``.
    domain : {"series", "strings", "sets"}
        Kind of the objects.
    distance : str
        The distance that the paper uses on it.
    rounding : {"floor", "round"}
        How the paper rounds the size of the training part.
    title, page : str
        The name of the distribution, and the page where it is found.
    alphabet : str or None
        For strings, the letters of random strings.
    n_train : int, optional
        The distribution's own division: its first `n_train` objects are for training, all
        others for test. None: divided at random.
    """

    name: str
    loader: Callable[..., tuple[Objects, np.ndarray]]
    domain: str
    distance: str
    rounding: str
    title: str
    page: str
    alphabet: str | None = None
    n_train: int | None = None


# What the paper does with the objects of each domain.
SERIES: dict[str, Any] = {"domain": "series", "distance": "dtw", "rounding": "floor"}
STRINGS: dict[str, Any] = {"domain": "strings", "distance": "levenshtein", "rounding": "floor"}
SETS: dict[str, Any] = {"domain": "sets", "distance": "mhd", "rounding": "round"}


@dataclass(frozen=True, eq=False)
class Dataset:
    """Labelled objects with a distance and a division.

    Attributes
    ----------
    name : str
        Its name in the registry.
    objects : Objects
        The n objects, in the order that the loader documents.
    labels : ndarray of shape (n,), str or int64
        The class of each object; read-only.
    source : Source
        Where the data come from.

    Examples
    --------
    >>> from d2ke.datasets import load
    >>> digits = load("digits-points")
    >>> digits
    Dataset('digits-points', 1797 sets of length 13 to 30, 10 classes, distance 'mhd')
    >>> train, test = digits.split(seed=0)
    >>> len(train), len(test)
    (1258, 539)
    >>> X_train, y_train = digits.objects[train], digits.labels[train]
    """

    name: str
    objects: Objects
    labels: np.ndarray
    source: Source

    @property
    def domain(self) -> str:
        """Kind of the objects: "series", "strings" or "sets"."""
        return self.source.domain

    @property
    def distance(self) -> str:
        """The distance that the paper uses on these objects."""
        return self.source.distance

    @property
    def alphabet(self) -> str | None:
        """For strings, the letters of random strings."""
        return self.source.alphabet

    @property
    def classes(self) -> np.ndarray:
        """The distinct labels in sorted order."""
        return np.unique(self.labels)

    @property
    def n_train(self) -> int:
        """Number of training objects: the distribution's own, or 0.7 n, rounded as in the paper."""
        up = 5 if self.source.rounding == "round" else 0
        return self.source.n_train or (7 * len(self.objects) + up) // 10

    def split(self, seed: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return training and test indices: the distribution's own, or random ones.

        Parameters
        ----------
        seed : int, SeedSequence or Generator
            Random seed.

        Returns
        -------
        train, test : ndarray of int64
            The indices of the two parts, in random order: the first m of either are a random
            sample of it. In the distribution's own division, only the order within the two parts
            is random.
        """
        order = generator(seed).permutation(len(self.objects))
        if self.source.n_train is not None:
            first = order < self.n_train
            return order[first], order[~first]
        return order[: self.n_train], order[self.n_train :]

    def __repr__(self) -> str:
        low, high = int(self.objects.lengths.min()), int(self.objects.lengths.max())
        length = f"{low}" if low == high else f"{low} to {high}"
        return (
            f"Dataset({self.name!r}, {len(self.objects)} {self.domain} of length {length}, "
            f"{len(self.classes)} classes, distance {self.distance!r})"
        )
