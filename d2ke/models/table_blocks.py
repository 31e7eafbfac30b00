# SPDX-License-Identifier: BSD-3-Clause
"""Features of columns of records that need no distance: numbers, categories, missing entries.

They have their own families. A row without an entry, or with a category of no training row, has
the mean features of the training rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentError, warn
from d2ke._base.rounding import constant
from d2ke.embedding.scaling import moments
from d2ke.models.blocks import AnyBlock, FeatureBlock, Sample
from d2ke.objects.container import Objects
from d2ke.objects.records import Column, Records

_MOST_LABELS = 4096


class _OneFeature(FeatureBlock):
    """A block of one feature, which has the block's description in explanations."""

    R = 1

    @property
    def omega(self) -> list[str]:
        """Describe the feature."""
        return [self.describe()]


@dataclass(frozen=True, eq=False)
class Numbers(_OneFeature):
    """Standardised numbers.

    Attributes
    ----------
    mean, sd : float
        Mean and deviation of the training numbers; the deviation is 1 if they are constant up to
        rounding.
    rounding : float
        Differences from the mean up to this count as 0: the largest difference, if the training
        numbers are constant up to rounding; else 0.
    """

    mean: float = 0.0
    sd: float = 1.0
    rounding: float = 0.0

    def fit(self, sample: Sample, seed: Any) -> Numbers:
        """Return the block with the moments of the sample."""
        values = sample.objects
        scale = float(np.abs(values).max()) or 1.0  # its square may overflow
        (mean,), (sd,), (largest,) = moments(values[:, None] / scale)
        mean, sd, fill = float(scale * mean), float(scale * sd), np.zeros(1, np.float32)
        with np.errstate(over="ignore"):
            fits = (values.astype(np.float32) == values).all()
        # Float32 rounded the numbers if it holds them, and fractions occur.
        precision = np.float32 if fits and (values % 1).any() else np.float64
        if constant(sd, scale * largest, precision):
            away = float(np.abs(values - mean).max())
            return replace(self, mean=mean, sd=1.0, rounding=away, fill=fill)
        return replace(self, mean=mean, sd=sd or 1.0, fill=fill)

    def features(
        self, X: Any, n_threads: int | None = None, rows: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the standardised numbers."""
        z = np.clip(self.standardized(X), -1e6, 1e6)  # in the range of float32
        return z[:, None].astype(np.float32)

    def standardized(self, numbers: np.ndarray) -> np.ndarray:
        """Return the numbers minus the mean, divided by the deviation."""
        away = numbers - self.mean
        away[np.abs(away) <= self.rounding] = 0.0
        return away / self.sd


@dataclass(frozen=True, eq=False)
class NearNumbers(FeatureBlock):
    """Nearness of numbers to quantiles of the training numbers, to fit a curve.

    Features are exp(-gamma |x - c|) for 32 quantiles c, with gamma = 1 / (median distance to c): a
    D2KE kernel.

    Attributes
    ----------
    numbers : Numbers
        The standardised numbers.
    centres, gamma : ndarray of float64
        The standardised quantiles, and 1 over the median distance to each.
    """

    numbers: Numbers
    centres: Any = ()
    gamma: Any = ()

    kinds = 1  # of distances

    @property
    def R(self) -> int:
        """Number of quantiles."""
        return len(self.centres)

    @property
    def omega(self) -> list[str]:
        """The quantiles, for explanations."""
        return [f"{c:.4g}" for c in self.numbers.mean + self.numbers.sd * self.centres]

    def fit(self, sample: Sample, seed: Any) -> NearNumbers:
        """Return the block with the quantiles of the sample."""
        numbers = self.numbers.fit(sample, seed)
        z = numbers.standardized(sample.objects)
        quantiles = (np.arange(32) + 0.5) / 32
        centres = np.unique(np.quantile(z, quantiles, method="nearest"))
        middle = np.median(np.abs(z[:, None] - centres), axis=0)
        gamma = 1 / np.where(middle > 0, middle, 1.0)
        fitted = replace(self, numbers=numbers, centres=centres, gamma=gamma)
        fill = fitted._near(sample.objects).mean(axis=0).astype(np.float32)
        return replace(fitted, fill=fill)

    def features(
        self, X: Any, n_threads: int | None = None, rows: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the nearness of numbers to each quantile."""
        return self._near(X).astype(np.float32)

    def describe(self) -> str:
        """Return the name of the kind."""
        return "near numbers"

    def _near(self, numbers: np.ndarray) -> np.ndarray:
        z = self.numbers.standardized(numbers)
        return np.exp(-self.gamma * np.abs(z[:, None] - self.centres))


@dataclass(frozen=True, eq=False)
class Categories(FeatureBlock):
    """An indicator of each label (one-hot encoding).

    Attributes
    ----------
    labels : ndarray of str
        The labels of the training rows, sorted.
    """

    labels: Any = ()

    @property
    def R(self) -> int:
        """Number of labels."""
        return len(self.labels)

    @property
    def omega(self) -> list[str]:
        """The labels, for explanations."""
        return self.labels.tolist()

    def fit(self, sample: Sample, seed: Any) -> Categories:
        """Return the block with the labels of the sample."""
        labels, counts = np.unique(sample.objects, return_counts=True)
        if len(labels) > _MOST_LABELS:
            raise ArgumentError(
                f"X[{self.column!r}]",
                f"has {len(labels)} categories; at most {_MOST_LABELS} are possible",
            )
        return replace(self, labels=labels, fill=(counts / counts.sum()).astype(np.float32))

    def features(
        self, X: Any, n_threads: int | None = None, rows: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the indicators of the labels."""
        F = np.repeat(np.asarray(self.fill)[None], len(X), axis=0)
        indices = np.minimum(np.searchsorted(self.labels, X), self.R - 1)
        is_label = self.labels[indices] == X
        F[is_label] = 0.0
        F[is_label, indices[is_label]] = 1.0
        return F

    def warn_of_unseen(self, column: Column) -> None:
        """Warn of labels that occur in no training row."""
        if not len(column.rows):
            return
        unseen = np.flatnonzero(~np.isin(column.values, self.labels))
        if unseen.size:
            label, row = str(column.values[unseen[0]]), column.rows[unseen[0]]
            warn(
                f"{unseen.size} of {len(column)} rows have categories that no training row has, "
                f"such as {label!r} in X[{self.column!r}][{row}]; they count as missing"
            )


@dataclass(frozen=True, eq=False)
class Missing(_OneFeature):
    """1 if an entry is missing, else 0."""

    def fit(self, sample: Sample, seed: Any) -> Missing:
        """Return the block with the feature of missing entries."""
        return replace(self, fill=np.ones(1, np.float32))

    def features(
        self, X: Any, n_threads: int | None = None, rows: np.ndarray | None = None
    ) -> np.ndarray:
        """Return zeros: these entries are not missing."""
        return np.zeros((len(X), 1), np.float32)


def plain_blocks(records: Records) -> list[AnyBlock]:
    """Return the blocks of columns of numbers and categories, and of missing entries."""
    blocks: list[AnyBlock] = []
    for name, column in records.columns.items():
        if column.kind == "categories" and len(column.rows):
            blocks.append(Categories(name=name, family=name, column=name))
        if column.kind == "numbers" and len(column.rows):
            blocks.append(numbers := Numbers(name=name, family=name, column=name))
            if len(np.unique(column.values)) > 2:  # two numbers have no curve
                near = f"{name}: near"
                blocks.append(NearNumbers(numbers, name=near, family=near, column=name))
    for name, column in records.columns.items():
        if column.missing.any():
            family = f"{name}: missing" if isinstance(column.values, Objects) else name
            blocks.append(Missing(name=f"{name}: missing", family=family, column=name))
    return blocks
