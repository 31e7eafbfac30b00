# SPDX-License-Identifier: BSD-3-Clause
"""Weighted points, curves and surfaces in one container, for the kernel distance."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from d2ke._base import arrays
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.results import result
from d2ke.objects.compatibility import channel_order
from d2ke.objects.packing import as_objects
from d2ke.objects.values import channel_labels, channel_names


@result
class Measure:
    """Points that carry vectors: weighted points, or samples of a curve or a surface.

    A pair of points counts as K(p, q) <u, v>. Made by `curve`, `mesh`, or from an
    array by the functions that take one.

    Attributes
    ----------
    points : ndarray of float64, shape (n, d)
        Positions of the samples.
    vectors : ndarray of float64, shape (n, r)
        Values at the samples: a weight (r = 1), a tangent or a normal (r = d), or the r = d(d+1)/2
        entries of an unoriented one.
    kind : str
        "points", "curve", "surface", "unoriented curve" or "unoriented surface"; only
        measures of one kind are compared.
    gap : float
        No point of the shape is farther than this from its sample; 0 for points.
    n_samples : int or None
        Number of random samples, for a shape that was sampled at random.
    channel_names : tuple of str, or None
        The names of the coordinates, where the points were a data frame; two measures with names
        are compared by name.
    """

    points: np.ndarray
    vectors: np.ndarray
    kind: str = "points"
    gap: float = 0.0
    n_samples: int | None = None
    channel_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        """Check the fields that the compiled functions trust; the measure may be a user's."""
        for name, array in (("points", self.points), ("vectors", self.vectors)):
            if not isinstance(array, np.ndarray) or array.dtype != np.float64 or array.ndim != 2:
                raise ArgumentTypeError(name, "must be a two-dimensional array of float64")
            if 0 in array.shape or len(array) != len(self.points):
                raise ValueError(
                    f"points and vectors must have as many rows, at least one, and columns; got "
                    f"{self.points.shape} and {np.shape(self.vectors)}"
                )
            if not np.isfinite(array).all():
                raise ArgumentError(name, "must be finite throughout")

    def __len__(self) -> int:
        return len(self.points)

    @property
    def total(self) -> float:
        """Total measure: the sum of the vectors' lengths (of the absolute weights)."""
        return float(lengths(self.vectors).sum())

    def discretisation(self, kernel: str, sigma: float, delta: float) -> float:
        """Bound on the D_K between the shape and its samples (with 1 - delta for random ones)."""
        if self.n_samples is not None:
            return self.total * (1 + math.sqrt(2 * math.log(1 / delta))) / math.sqrt(self.n_samples)
        ratio = self.gap / sigma
        # |phi(p) - phi(q)|^2 = 2 - 2 K(p, q).
        exponent = ratio if kernel == "laplace" else 0.5 * ratio * ratio
        return self.total * math.sqrt(-2 * math.expm1(-exponent))


def lengths(vectors: np.ndarray) -> np.ndarray:
    """Return the length of each row."""
    return np.abs(vectors[:, 0]) if vectors.shape[1] == 1 else np.linalg.norm(vectors, axis=1)


def as_measure(name: str, value: Any, weights_name: str = "", weights: Any = None) -> Measure:
    """Return a measure from a Measure or an array of points, whose weights are 1 by default."""
    if isinstance(value, Measure):
        measure = value
    else:
        points = coordinates(name, value)
        names = coordinate_names(name, value)
        measure = Measure(points, np.ones((len(points), 1)), channel_names=names)
    if weights is None:
        return measure
    factors = np.asarray(weights)
    if factors.dtype.kind not in "biuf":
        raise TypeError(f"{weights_name} must hold real numbers, got dtype {factors.dtype}")
    if factors.shape != (len(measure),):
        raise ValueError(
            f"{weights_name} must have shape ({len(measure)},), one for each point; got "
            f"{factors.shape}"
        )
    factors = factors.astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(factors))
    if bad.size:
        raise ValueError(
            f"{weights_name}[{bad[0]}] is {factors[bad[0]]}; every weight must be finite"
        )
    return replace(measure, vectors=measure.vectors * factors[:, None])


def as_measures(
    name: str, sets: Any, weights_name: str = "weights", weights: Any = None
) -> list[Measure]:
    """Return measures from a sequence of arrays and Measures, or from what `pack` takes."""
    if isinstance(sets, Measure):
        raise ArgumentTypeError(name, "is one Measure; a sequence of sets is needed")
    names = None
    if not (isinstance(sets, (list, tuple)) and any(isinstance(item, Measure) for item in sets)):
        sets = as_objects(name, sets, "sets")
        names = sets.channel_names
    items = list(sets)
    if weights is None:
        weights = [None] * len(items)
    elif not hasattr(weights, "__len__"):
        raise TypeError(f"{weights_name} must be a sequence of arrays, got {weights!r}")
    elif len(weights) != len(items):
        raise ValueError(
            f"{weights_name} must hold {len(items)} arrays, one for each of {name}; "
            f"got {len(weights)}"
        )
    measures = [
        as_measure(f"{name}[{i}]", item, f"{weights_name}[{i}]", factors)
        for i, (item, factors) in enumerate(zip(items, weights, strict=True))
    ]
    if names is not None:
        measures = [replace(measure, channel_names=names) for measure in measures]
    return [matched(measures[0], m, f"{name}[0]", f"{name}[{i}]") for i, m in enumerate(measures)]


def matched(measure: Measure, other: Measure, name: str, other_name: str) -> Measure:
    """Return the other measure with the first's order of coordinates; refuse other kinds."""
    names, theirs = measure.channel_names, other.channel_names
    if names is not None and theirs is not None:
        order = channel_order(theirs, names, other_name, name)
        if order is not None and other.kind != "points":  # vectors turn with the coordinates
            raise ArgumentError(
                other_name, f"has the coordinates {theirs}, but {name} has {names}; use one order"
            )
        if order is not None:
            points = np.ascontiguousarray(other.points[:, order])
            other = replace(other, points=points, channel_names=names)
    if measure.points.shape[1] != other.points.shape[1]:
        raise ArgumentError(
            name,
            f"has points of {measure.points.shape[1]} dimensions but {other_name} has "
            f"{other.points.shape[1]}",
        )
    if measure.kind != other.kind:
        raise ArgumentTypeError(
            name, f"is a measure of kind {measure.kind!r} but {other_name} of kind {other.kind!r}"
        )
    return other


def coordinate_names(name: str, value: Any) -> tuple[str, ...] | None:
    """Return the names of the coordinates of points that are a data frame; else None."""
    return channel_names(channel_labels(value, False), name)


def coordinates(name: str, value: Any) -> np.ndarray:
    """Return points as a C-contiguous (n, d) float64 array; 1-D input is n points on a line."""
    if isinstance(value, (str, bytes)):
        raise ArgumentTypeError(name, f"must be an array of points, got {type(value).__name__}")
    array = np.asarray(value)
    if array.ndim == 1 and array.dtype.kind in "biuf":
        array = array[:, None]
    array = arrays.matrix(name, array)
    if len(array) == 0:
        raise ArgumentError(name, "is empty: at least one point is needed")
    if array.shape[1] == 0:
        raise ArgumentError(name, f"has shape {array.shape}: its points have no coordinates")
    return np.ascontiguousarray(array, dtype=np.float64)


def merged(points: np.ndarray, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct points in lexicographic order with the sums of their vectors.

    Points whose sum is 0 are left out, so that common points of two sets cost no time and no
    accuracy. The result does not depend on the order of the points.
    """
    points = points + 0.0  # -0 becomes 0
    order = np.argsort(points[:, 0], kind="stable")
    if (np.diff(points[order, 0]) == 0).any():
        order = np.lexsort((*vectors.T, *points.T[::-1]))
    points, vectors = points[order], vectors[order]
    first = np.ones(len(points), dtype=bool)
    first[1:] = (points[1:] != points[:-1]).any(axis=1)
    if not first.all():
        points, vectors = points[first], np.add.reduceat(vectors, np.flatnonzero(first), axis=0)
    counts = vectors.any(axis=1)
    if not counts.all():
        points, vectors = points[counts], vectors[counts]
    return points, np.ascontiguousarray(vectors)
