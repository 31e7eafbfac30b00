# SPDX-License-Identifier: BSD-3-Clause
"""Measures of curves and surfaces."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from d2ke._base.checks import flag, generator, integer, positive_number
from d2ke._base.keywords import hinted
from d2ke.measures.measure import Measure, coordinate_names, coordinates

_MAX_SAMPLES = 2**31


@hinted
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
        Points that are not a finite (n, d) array with n >= 2, arguments out of range.

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
    vertices, names = coordinates("points", points), coordinate_names("points", points)
    if len(vertices) < 2:
        raise ValueError("points must hold at least 2 vertices, got 1")
    starts = vertices if closed else vertices[:-1]
    vectors = (np.roll(vertices, -1, axis=0) if closed else vertices[1:]) - starts
    size = np.linalg.norm(vectors, axis=1)
    if n_samples is not None:
        segment, rng = _sampled(size, gap, n_samples, seed)
        samples = starts[segment] + rng.random((len(segment), 1)) * vectors[segment]
        return _shape(
            samples, _shared(vectors, size, segment), "curve", oriented, 0.0, n_samples, names
        )
    pieces = _pieces(size / 2, gap)
    segment = np.repeat(np.arange(len(size)), pieces)
    within = np.arange(len(segment)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    share = vectors[segment] / pieces[segment, None]
    centres = starts[segment] + share * (within[:, None] + 0.5)
    reach = float((size / (2 * pieces)).max())
    return _shape(centres, share, "curve", oriented, reach, None, names)


@hinted
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
    its normal times its area. In other dimensions than 3 the vector
    holds the d(d-1)/2 numbers (u_i v_j - u_j v_i) / 2, i < j, of u = b-a and v = c-a
    (a bivector); it is as long as the triangle is large, and its inner
    products are inner products of planes.

    Parameters
    ----------
    vertices : array_like of shape (n, d)
        Corners, d >= 2.
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
    corners, names = coordinates("vertices", vertices), coordinate_names("vertices", vertices)
    d = corners.shape[1]
    if d < 2:
        raise ValueError(f"vertices must have shape (n, d) with d >= 2, got {corners.shape}")
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
    vectors = _area_vectors(b - a, c - a)
    if n_samples is not None:
        size = np.linalg.norm(vectors, axis=1)
        face, rng = _sampled(size, gap, n_samples, seed)
        s, t = rng.random((2, len(face), 1))
        s, t = np.where(s + t > 1, 1 - s, s), np.where(s + t > 1, 1 - t, t)
        samples = a[face] + s * (b - a)[face] + t * (c - a)[face]
        return _shape(
            samples, _shared(vectors, size, face), "surface", oriented, 0.0, n_samples, names
        )
    centroid = (a + b + c) / 3
    reach = np.max([np.linalg.norm(corner - centroid, axis=1) for corner in (a, b, c)], axis=0)
    cuts = _pieces(reach, gap, squared=True)
    centres, shares = [], []
    for k in np.unique(cuts).tolist():
        which = cuts == k
        # Row i has k - i triangles with the corner (i, j) below, and one less upside down.
        up = [(i + 1 / 3, j + 1 / 3) for i in range(k) for j in range(k - i)]
        down = [(i + 2 / 3, j + 2 / 3) for i in range(k) for j in range(k - i - 1)]
        grid = np.array(up + down) / k
        edges = (b - a)[which], (c - a)[which]
        centroids = a[which][:, None] + sum(grid[:, i, None] * edges[i][:, None] for i in range(2))
        centres.append(centroids.reshape(-1, d))
        shares.append(np.repeat(vectors[which] / k**2, k**2, axis=0))
    farthest = float((reach / cuts).max())
    return _shape(
        np.concatenate(centres), np.concatenate(shares), "surface", oriented, farthest, None, names
    )


def _area_vectors(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return each triangle's normal times its area; its bivector where d is not 3."""
    if u.shape[1] == 3:
        return np.cross(u, v) / 2
    i, j = np.triu_indices(u.shape[1], 1)
    return (u[:, i] * v[:, j] - u[:, j] * v[:, i]) / 2


def _shape(
    centres: np.ndarray,
    vectors: np.ndarray,
    kind: str,
    oriented: bool,
    gap: float,
    n_samples: int | None,
    names: tuple[str, ...] | None,
) -> Measure:
    """Return the measure of samples; if not oriented, of the products t t' / |t|."""
    if not np.isfinite(vectors).all():
        raise ValueError("the shape is too large: lengths or areas overflow")
    if not oriented:
        kind = f"unoriented {kind}"
        size = np.linalg.norm(vectors, axis=1)
        direction = vectors / np.where(size > 0, np.sqrt(size), 1)[:, None]
        # <t t', s s'> = <t, s>^2: the products off the diagonal count twice.
        i, j = np.triu_indices(vectors.shape[1])
        vectors = direction[:, i] * direction[:, j] * np.where(i == j, 1, math.sqrt(2))
    arrays = np.ascontiguousarray(centres), np.ascontiguousarray(vectors)
    return Measure(*arrays, kind, gap, n_samples, names)


def _pieces(reach: np.ndarray, gap: float | None, squared: bool = False) -> np.ndarray:
    """Return how many parts to cut each element into so that its reach is at most the gap."""
    if gap is None:
        return np.ones(len(reach), dtype=np.int64)
    cuts = np.maximum(np.ceil(reach / positive_number("gap", gap)), 1)
    needed = float((cuts**2 if squared else cuts).sum())
    if needed > _MAX_SAMPLES:
        raise ValueError(f"gap={gap} would need {needed:.3g} samples; use a larger one")
    return cuts.astype(np.int64)


def _sampled(
    size: np.ndarray,
    gap: float | None,
    n_samples: int | None,
    seed: Any,
) -> tuple[np.ndarray, np.random.Generator]:
    """Draw random elements by their sizes; return them and the generator."""
    if gap is not None:
        raise TypeError("give gap or n_samples, not both")
    rng = generator(seed)
    count = integer("n_samples", n_samples, 1, _MAX_SAMPLES)
    total = size.sum()
    if not 0 < total < math.inf:
        raise ValueError(f"a shape of size {total} cannot be sampled")
    return rng.choice(len(size), count, p=size / total), rng


def _shared(vectors: np.ndarray, size: np.ndarray, elements: np.ndarray) -> np.ndarray:
    """Give every sample the direction of its element and an equal share of the total."""
    return vectors[elements] * (size.sum() / len(elements) / size[elements])[:, None]
