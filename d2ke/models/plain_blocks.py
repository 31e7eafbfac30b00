# SPDX-License-Identifier: BSD-3-Clause
"""Features of records that need no distance: numbers, categories, missing entries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from d2ke._base.errors import ArgumentError, warn
from d2ke._base.rounding import constant
from d2ke.embedding.scaling import moments
from d2ke.objects.records import Column

PLAIN_KINDS = ("numbers", "near numbers", "categories", "missing")
_MOST_LABELS = 4096
_CENTRES = 32
_FAR = 1e6  # deviations; float32 does not hold any number


@dataclass(frozen=True, eq=False)
class PlainBlock:
    """Features of a column beside those of distances, in families of their own.

    Numbers are standardised. Near numbers are exp(-gamma |x - c|) for 32 quantiles c of the
    training numbers, and gamma 1 over the median distance to c: a D2KE kernel, which sees what is
    no straight line. Categories have a feature for each label, 1 for its rows and else 0.

    A row without an entry has the mean features of the training rows, and so have labels that no
    training row has. Missing entries are a feature too: 1 where there is none, and else 0.

    Attributes
    ----------
    kind : {"numbers", "near numbers", "categories", "missing"}
        What the features are.
    column : str
        The column.
    family : str
        That of blocks with one share of the kernel: the column's, but "<column>: near", and
        "<column>: missing" where the column holds objects.
    mean, sd : float
        Of the training numbers; the deviation of those that are constant to rounding is 1.
    rounding : float
        Differences from the mean of at most that count as 0: the largest one, if the training
        numbers are constant to rounding.
    labels : ndarray of str
        Of the training rows, sorted.
    centres, gamma : ndarray of float64
        Of near numbers, which are standardised.
    fill : ndarray of float32, shape (R,)
        The features of a row without an entry.
    share : float
        Of the family in the kernel.
    """

    kind: str
    column: str
    family: str
    mean: float = 0.0
    sd: float = 1.0
    rounding: float = 0.0
    labels: np.ndarray = field(default_factory=lambda: np.empty(0, "U1"))
    centres: np.ndarray = field(default_factory=lambda: np.empty(0))
    gamma: np.ndarray = field(default_factory=lambda: np.empty(0))
    fill: np.ndarray = field(default_factory=lambda: np.zeros(1, np.float32))
    share: float = 1.0

    @classmethod
    def of(cls, kind: str, name: str, column: Column) -> PlainBlock:
        """Return the block of a column of training rows."""
        if kind == "near numbers":
            numbers = cls.of("numbers", name, column)
            z = numbers._standardized(column.values)
            quantiles = (np.arange(_CENTRES) + 0.5) / _CENTRES
            centres = np.unique(np.quantile(z, quantiles, method="nearest"))
            middle = np.median(np.abs(z[:, None] - centres), axis=0)
            near = replace(
                numbers,
                kind=kind,
                family=f"{name}: near",
                centres=centres,
                gamma=1 / np.where(middle > 0, middle, 1.0),
                fill=np.zeros(len(centres), np.float32),
            )
            return replace(near, fill=near._near(column.values).mean(axis=0).astype(np.float32))
        if kind == "numbers":
            scale = float(np.abs(column.values).max()) or 1.0  # whose square float64 may not hold
            (mean,), (sd,), (largest,) = moments(column.values[:, None] / scale)
            mean, sd = float(scale * mean), float(scale * sd)
            if constant(sd, scale * largest, _precision(column.values)):
                away = np.abs(column.values - mean)
                return cls(kind, name, name, mean, 1.0, float(away.max()))
            return cls(kind, name, name, mean, sd or 1.0)
        if kind == "missing":
            return cls(kind, name, name if column.kind in PLAIN_KINDS else f"{name}: missing")
        labels, counts = np.unique(column.values, return_counts=True)
        if len(labels) > _MOST_LABELS:
            raise ArgumentError(
                f"X[{name!r}]", f"has {len(labels)} categories; at most {_MOST_LABELS} are possible"
            )
        return cls(
            kind, name, name, labels=labels, fill=(counts / len(column.values)).astype(np.float32)
        )

    @property
    def name(self) -> str:
        """For reports: the column, "<column>: near", or "<column>: missing"."""
        ends = {"missing": ": missing", "near numbers": ": near"}
        return self.column + ends.get(self.kind, "")

    supervised: ClassVar[bool] = False
    sd_power = 1.0
    parameters: ClassVar[Mapping[str, Any]] = {}
    sources = hidden = None  # no training object is a random object of it

    @property
    def omega(self) -> list[str]:
        """For explanations, where other blocks have random objects: what each feature is of."""
        if self.kind == "near numbers":
            return [f"{centre:.4g}" for centre in self.mean + self.sd * self.centres]
        return self.labels.tolist() if self.kind == "categories" else [self.kind]

    @property
    def distance(self) -> str:
        """For reports, where other blocks have a distance: the kind."""
        return self.kind

    @property
    def R(self) -> int:
        """Number of features."""
        return len(self.fill)

    def fit_features(
        self, X: Any, rows: np.ndarray, seed: Any, n_threads: int | None, progress: bool
    ) -> tuple[PlainBlock, np.ndarray]:
        """Return itself, and the features of X."""
        return self, self.features_of(X, n_threads)

    def resized(self, R: int) -> PlainBlock:
        """Return itself: the column says how many features there are."""
        return self

    def features_of(
        self, X: Any, n_threads: int | None, rows: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the features of records."""
        column = X[self.column]
        if self.kind == "missing":
            return column.missing[:, None].astype(np.float32)
        Z = np.repeat(self.fill[None], len(column), axis=0)
        if not len(column.rows):
            return Z
        if self.kind == "numbers":
            Z[column.rows, 0] = np.clip(self._standardized(column.values), -_FAR, _FAR)
        elif self.kind == "near numbers":
            Z[column.rows] = self._near(column.values)
        else:
            places = np.minimum(np.searchsorted(self.labels, column.values), self.R - 1)
            known = self.labels[places] == column.values
            Z[column.rows[known]] = 0.0
            Z[column.rows[known], places[known]] = 1.0
        return Z

    def _standardized(self, numbers: np.ndarray) -> np.ndarray:
        away = numbers - self.mean
        away[np.abs(away) <= self.rounding] = 0.0
        return away / self.sd

    def _near(self, numbers: np.ndarray) -> np.ndarray:
        z = self._standardized(numbers)
        return np.exp(-self.gamma * np.abs(z[:, None] - self.centres))

    def warn_of_unseen(self, column: Column) -> None:
        """Warn of labels that no training row has."""
        if self.kind != "categories" or not len(column.rows):
            return
        unseen = np.flatnonzero(~np.isin(column.values, self.labels))
        if unseen.size:
            label, row = str(column.values[unseen[0]]), column.rows[unseen[0]]
            warn(
                f"{unseen.size} of {len(column)} rows have categories that no training row has, "
                f"such as {label!r} in X[{self.column!r}][{row}]; they count as missing"
            )


def _precision(numbers: np.ndarray) -> Any:
    """Return the type that rounded the numbers: float32 holds them all, and they have fractions."""
    with np.errstate(over="ignore"):
        same = (numbers.astype(np.float32) == numbers).all()
    return np.float32 if same and (numbers % 1).any() else np.float64
