# SPDX-License-Identifier: BSD-3-Clause
"""What the kernel distance compares: weighted points, curves and surfaces, all as one container."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from d2ke._base import arrays
from d2ke._base.checks import flag, generator, integer, positive_number
from d2ke._base.memory import needs, require_memory
from d2ke.objects.packing import pack

_MOST_SAMPLES = 2**31


@dataclass(frozen=True, eq=False)
class Measure:
    """Points that carry vectors: weighted points, or samples of a curve or a surface.

    A pair of points counts as K(p, q) <u, v>. Made by `curve`, `mesh`, or from an
    array by the functions that take one.

    Attributes
    ----------
    points : ndarray of float64, shape (n, d)
        Where the samples are.
    vectors : ndarray of float64, shape (n, r)
        What they carry: one weight (r = 1), a tangent or a normal (r = d), or the
        r = d(d+1)/2 entries of an unoriented one.
    kind : str
        "points", "curve", "surface", "unoriented curve" or "unoriented surface"; only
        measures of one kind are compared.
    gap : float
        No point of the shape is farther than this from its sample; 0 for points.
    n_samples : int or None
        Number of random samples, for a shape that was sampled at random.
    """

    points: np.ndarray
    vectors: np.ndarray
    kind: str = "points"
    gap: float = 0.0
    n_samples: int | None = None

    def __post_init__(self) -> None:
        """Check what the kernels rely on, where the parts are not from `curve` or `mesh`."""
        for name, array in (("points", self.points), ("vectors", self.vectors)):
            if not isinstance(array, np.ndarray) or array.dtype != np.float64 or array.ndim != 2:
                raise TypeError(f"{name} must be a two-dimensional array of float64")
            if 0 in array.shape or len(array) != len(self.points):
                raise ValueError(
                    f"points and vectors must have as many rows, at least one, and columns; got "
                    f"{self.points.shape} and {np.shape(self.vectors)}"
                )
            if not np.isfinite(array).all():
                raise ValueError(f"{name} must be finite throughout")

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


needs("curve", "48 d S + 24 r S + 32 S", "a larger gap, or fewer n_samples")


def curve(
    points: np.ndarray,
    *,
    closed: bool = False,
    oriented: bool = True,
    gap: float | None = None,
    n_samples: int | None = None,
    seed: Any = 0,
) -> Measure:
    """Make a polyline an oriented measure, for the current distance of curves.

    Each segment (a, b) becomes its centre (a + b)/2 with the vector b - a; a pair
    of segments then counts as K(p, q) <b - a, b' - a'>, and reversing a curve
    changes its sign.

    Parameters
    ----------
    points : array_like of shape (n, d)
        The vertices in order, n >= 2.
    closed : bool
        Whether a last segment leads back to the first vertex.
    oriented : bool
        False: a pair counts as K <t, t'>^2 / (|t| |t'|), whatever the directions
        (varifolds).
    gap : float, optional
        Cut the segments until no point of the curve is farther than this from its
        sample; for an error of eps in units of the kernel, eps sqrt(2) sigma.
    n_samples : int, optional
        Instead: that many points at random, uniformly along the curve.
    seed : int or numpy.random.Generator
        Of the random samples.

    Returns
    -------
    Measure
        Segments of length 0 carry the vector 0 and count for nothing.

    Raises
    ------
    TypeError, ValueError
        Points that are no finite (n, d) array with n >= 2, arguments out of range.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    References
    ----------
    Joshi, Kommaraju, Phillips, Venkatasubramanian, "Comparing Distributions and
    Shapes using the Kernel Distance", SoCG 2011, section 2.

    Examples
    --------
    >>> import d2ke
    >>> P = d2ke.curve([[0, 0], [2, 0], [2, 1]])
    >>> P.points.tolist(), P.vectors.tolist()
    ([[1.0, 0.0], [2.0, 0.5]], [[2.0, 0.0], [0.0, 1.0]])
    """
    closed, oriented = flag("closed", closed), flag("oriented", oriented)
    vertices = coordinates("points", points)
    if len(vertices) < 2:
        raise ValueError("points must hold at least 2 vertices, got 1")
    starts = vertices if closed else vertices[:-1]
    vectors = (np.roll(vertices, -1, axis=0) if closed else vertices[1:]) - starts
    size = np.linalg.norm(vectors, axis=1)
    d = vectors.shape[1]
    require = partial(require_memory, "curve", d=d, r=0 if oriented else d * (d + 1) // 2)
    if n_samples is not None:
        segment, rng = _sampled(require, size, gap, n_samples, seed)
        place = starts[segment] + rng.random((len(segment), 1)) * vectors[segment]
        return _shape(place, _shared(vectors, size, segment), "curve", oriented, 0.0, n_samples)
    pieces = _pieces(require, size / 2, gap)
    segment = np.repeat(np.arange(len(size)), pieces)
    within = np.arange(len(segment)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    share = vectors[segment] / pieces[segment, None]
    centres = starts[segment] + share * (within[:, None] + 0.5)
    reach = float((size / (2 * pieces)).max())
    return _shape(centres, share, "curve", oriented, reach, None)


needs("mesh", "288 S + 40 r S", "a larger gap")
needs("mesh", {"n_samples": "320 n + 128 S + 40 r S"}, "fewer n_samples")


def mesh(
    vertices: np.ndarray,
    faces: np.ndarray,
    *,
    oriented: bool = True,
    gap: float | None = None,
    n_samples: int | None = None,
    seed: Any = 0,
) -> Measure:
    """Make a triangle mesh an oriented measure, for the current distance of surfaces.

    Each triangle (a, b, c) becomes its centroid with the vector (b-a) x (c-a) / 2,
    its normal times its area.

    Parameters
    ----------
    vertices : array_like of shape (n, 3)
        Corners.
    faces : array_like of int, shape (m, 3)
        Each triangle's three indices into `vertices`, counter-clockwise seen from
        outside.
    oriented : bool
        False: a pair counts as K <t, t'>^2 / (|t| |t'|), whatever the orientations
        (varifolds).
    gap : float, optional
        Cut the triangles into equal similar ones until no point of the surface is
        farther than this from its sample.
    n_samples : int, optional
        Instead: that many points at random, uniformly over the surface.
    seed : int or numpy.random.Generator
        Of the random samples.

    Returns
    -------
    Measure
        Degenerate triangles carry the vector 0 and count for nothing.

    Raises
    ------
    TypeError, ValueError
        Arrays of other shapes or types, indices out of range, arguments out of range.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    References
    ----------
    Joshi, Kommaraju, Phillips, Venkatasubramanian, "Comparing Distributions and
    Shapes using the Kernel Distance", SoCG 2011, section 2.

    Examples
    --------
    >>> import d2ke
    >>> P = d2ke.mesh([[0, 0, 0], [3, 0, 0], [0, 3, 0]], [[0, 1, 2]])
    >>> P.points.tolist(), P.vectors.tolist()
    ([[1.0, 1.0, 0.0]], [[0.0, 0.0, 4.5]])
    """
    oriented = flag("oriented", oriented)
    corners = coordinates("vertices", vertices)
    if corners.shape[1] != 3:
        raise ValueError(f"vertices must have shape (n, 3), got {corners.shape}")
    triangles = np.asarray(faces)
    if triangles.ndim != 2 or triangles.shape[1] != 3 or len(triangles) == 0:
        raise ValueError(f"faces must have shape (m, 3) with m >= 1, got {triangles.shape}")
    if triangles.dtype.kind not in "iu":
        raise TypeError(f"faces must hold integers, got dtype {triangles.dtype}")
    outside = (triangles < 0) | (triangles >= len(corners))
    if outside.any():
        i, j = np.argwhere(outside)[0]
        raise ValueError(
            f"faces[{i}, {j}] is {triangles[i, j]}; there are vertices 0 to {len(corners) - 1}"
        )
    a, b, c = (corners[triangles[:, k]] for k in range(3))
    vectors = np.cross(b - a, c - a) / 2
    case = "" if n_samples is None else "n_samples"
    require = partial(require_memory, "mesh", case, n=len(a), r=0 if oriented else 6)
    if n_samples is not None:
        size = np.linalg.norm(vectors, axis=1)
        face, rng = _sampled(require, size, gap, n_samples, seed)
        s, t = rng.random((2, len(face), 1))
        s, t = np.where(s + t > 1, 1 - s, s), np.where(s + t > 1, 1 - t, t)
        place = a[face] + s * (b - a)[face] + t * (c - a)[face]
        return _shape(place, _shared(vectors, size, face), "surface", oriented, 0.0, n_samples)
    centroid = (a + b + c) / 3
    reach = np.max([np.linalg.norm(corner - centroid, axis=1) for corner in (a, b, c)], axis=0)
    cuts = _pieces(require, reach, gap, squared=True)
    centres, shares = [], []
    for k in np.unique(cuts).tolist():
        which = cuts == k
        # Row i has k - i triangles with the corner (i, j) below, and one less standing on its head.
        up = [(i + 1 / 3, j + 1 / 3) for i in range(k) for j in range(k - i)]
        down = [(i + 2 / 3, j + 2 / 3) for i in range(k) for j in range(k - i - 1)]
        grid = np.array(up + down) / k
        edges = (b - a)[which], (c - a)[which]
        place = a[which][:, None] + sum(grid[:, i, None] * edges[i][:, None] for i in range(2))
        centres.append(place.reshape(-1, 3))
        shares.append(np.repeat(vectors[which] / k**2, k**2, axis=0))
    farthest = float((reach / cuts).max())
    return _shape(
        np.concatenate(centres), np.concatenate(shares), "surface", oriented, farthest, None
    )


def as_measure(name: str, given: Any, weights_name: str = "", weights: Any = None) -> Measure:
    """Return a measure from a Measure or an array of points, with the weights given or 1."""
    if isinstance(given, Measure):
        measure = given
    else:
        points = coordinates(name, given)
        measure = Measure(points, np.ones((len(points), 1)))
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
        raise TypeError(f"{name} is one Measure; a sequence of sets is needed")
    items = None
    if isinstance(sets, (list, tuple)) and any(isinstance(item, Measure) for item in sets):
        items = list(sets)
    else:
        items = list(pack(sets, kind="vectors", name=name))
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
        as_measure(f"{name}[{i}]", item, f"{weights_name}[{i}]", given)
        for i, (item, given) in enumerate(zip(items, weights, strict=True))
    ]
    for i, measure in enumerate(measures):
        check_comparable(f"{name}[0]", measures[0], f"{name}[{i}]", measure)
    return measures


def check_comparable(name: str, one: Measure, other_name: str, other: Measure) -> None:
    """Raise unless the two can be compared."""
    if one.points.shape[1] != other.points.shape[1]:
        raise ValueError(
            f"{name} has points of {one.points.shape[1]} dimensions but {other_name} has "
            f"{other.points.shape[1]}"
        )
    if one.kind != other.kind:
        raise TypeError(
            f"{name} is a measure of kind {one.kind!r} but {other_name} of kind {other.kind!r}"
        )


def coordinates(name: str, given: Any) -> np.ndarray:
    """Return points as a C-contiguous (n, d) float64 array; 1-D input is n points on a line."""
    if isinstance(given, (str, bytes)):
        raise TypeError(f"{name} must be an array of points, got {type(given).__name__}")
    array = np.asarray(given)
    if array.ndim == 1 and array.dtype.kind in "biuf":
        array = array[:, None]
    array = arrays.matrix(name, array)
    if len(array) == 0:
        raise ValueError(f"{name} is empty: at least one point is needed")
    if array.shape[1] == 0:
        raise ValueError(f"{name} has shape {array.shape}: its points have no coordinates")
    return np.ascontiguousarray(array, dtype=np.float64)


def merged(points: np.ndarray, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct points in lexicographic order with the sums of their vectors.

    Points whose sum is 0 are left out. What two sets have in common thus costs nothing
    and rounds nothing. The order of the points does not change a bit of the result.
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


def _shape(centres, vectors, kind, oriented, gap, n_samples) -> Measure:
    if not np.isfinite(vectors).all():
        raise ValueError("the shape is too large: lengths or areas overflow")
    if not oriented:
        kind = f"unoriented {kind}"
        size = np.linalg.norm(vectors, axis=1)
        direction = vectors / np.where(size > 0, np.sqrt(size), 1)[:, None]
        # <t t', s s'> = <t, s>^2: the products off the diagonal count twice.
        i, j = np.triu_indices(vectors.shape[1])
        vectors = direction[:, i] * direction[:, j] * np.where(i == j, 1, math.sqrt(2))
    return Measure(np.ascontiguousarray(centres), np.ascontiguousarray(vectors), kind, gap,
                   n_samples)  # fmt: skip


def _pieces(
    require: Callable[..., int], reach: np.ndarray, gap: float | None, squared: bool = False
) -> np.ndarray:
    """Into how many parts each element must be cut so that its reach is at most the gap."""
    if gap is None:
        require(S=len(reach))
        return np.ones(len(reach), dtype=np.int64)
    cuts = np.maximum(np.ceil(reach / positive_number("gap", gap)), 1)
    needed = float((cuts**2 if squared else cuts).sum())
    if needed > _MOST_SAMPLES:
        raise ValueError(f"gap={gap} would need {needed:.3g} samples; use a larger one")
    require(S=int(needed))
    return cuts.astype(np.int64)


def _sampled(require, size, gap, n_samples, seed):
    """Return the elements of random samples, drawn by their sizes, and the generator."""
    if gap is not None:
        raise TypeError("give gap or n_samples, not both")
    rng = generator(seed)
    count = integer("n_samples", n_samples, 1, _MOST_SAMPLES)
    require(S=count)
    total = size.sum()
    if not 0 < total < math.inf:
        raise ValueError(f"a shape of size {total} cannot be sampled")
    return rng.choice(len(size), count, p=size / total), rng


def _shared(vectors, size, chosen):
    """Every sample carries the direction of its element and an equal share of the whole."""
    return vectors[chosen] * (size.sum() / len(chosen) / size[chosen])[:, None]
