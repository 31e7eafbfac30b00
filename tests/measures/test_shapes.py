# SPDX-License-Identifier: BSD-3-Clause
"""Curves and surfaces as measures."""

import math

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

import d2ke


def test_curve():
    circle = np.stack([np.cos(np.arange(40) / 20 * np.pi), np.sin(np.arange(40) / 20 * np.pi)], 1)
    c = d2ke.curve(circle, closed=True)
    assert c.vectors.sum(axis=0) == pytest.approx([0, 0], abs=1e-12)
    back = d2ke.curve(circle[::-1], closed=True)
    K = reference.kernel_values(c.points, c.points, 0.5)
    expected = (K * (c.vectors @ c.vectors.T)).sum()
    assert d2ke.measures.kernel_norm(c, sigma=0.5) ** 2 == pytest.approx(expected)
    # The same path backwards is minus the current, and the same varifold.
    assert d2ke.kernel_distance(c, back, sigma=0.5) == pytest.approx(2 * math.sqrt(expected))
    one, other = (d2ke.curve(p, closed=True, oriented=False) for p in (circle, circle[::-1]))
    assert d2ke.kernel_distance(one, other, sigma=0.5) == pytest.approx(0, abs=1e-7)
    t = c.vectors / np.sqrt(np.linalg.norm(c.vectors, axis=1))[:, None]
    expected = (K * (t @ t.T) ** 2).sum()
    assert d2ke.measures.kernel_norm(one, sigma=0.5) ** 2 == pytest.approx(expected)


def test_curve_by_gap_and_by_samples():
    P = d2ke.curve([[0.0, 0.0], [3.0, 0.0], [3.0, 1.0]], gap=0.1)
    assert P.vectors.sum(axis=0) == pytest.approx([3, 1])
    assert P.gap <= 0.1
    assert len(P) == 20
    fine = d2ke.curve([[0.0, 0.0], [3.0, 0.0], [3.0, 1.0]], gap=1e-3)
    for kernel in ("gaussian", "laplace"):
        coarse = d2ke.kernel_distance(P, fine, sigma=0.5, kernel=kernel)
        assert coarse <= coarse.discretisation
    random = [d2ke.curve([[0, 0], [3, 0], [3, 1]], n_samples=400, seed=s) for s in range(20)]
    infos = [d2ke.kernel_distance(P, fine, sigma=0.5, delta=0.1) for P in random]
    assert sum(i > i.discretisation for i in infos) <= 2
    mean = np.mean([i.squared for i in infos])
    # E D^2 = (W^2 - |P|^2) / m for vectors of one length.
    expected = (4.0**2 - d2ke.measures.kernel_norm(fine, sigma=0.5) ** 2) / 400
    assert mean == pytest.approx(expected, rel=0.5)


def icosphere(n):
    rng = np.random.default_rng(n)
    from scipy.spatial import ConvexHull

    points = rng.standard_normal((n, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    hull = ConvexHull(points)
    faces = hull.simplices.copy()
    a, b, c = (points[faces[:, k]] for k in range(3))
    inward = (np.cross(b - a, c - a) * a).sum(axis=1) < 0
    faces[inward] = faces[inward][:, ::-1]
    return points, faces


def test_mesh():
    vertices, faces = icosphere(100)
    m = d2ke.mesh(vertices, faces)
    assert m.vectors.sum(axis=0) == pytest.approx([0, 0, 0], abs=1e-12)
    fine = d2ke.mesh(vertices, faces, gap=0.05)
    assert fine.gap <= 0.05
    assert fine.vectors.sum(axis=0) == pytest.approx([0, 0, 0], abs=1e-12)
    assert fine.total == pytest.approx(m.total)
    middle = (np.abs(m.vectors).sum(axis=1)[:, None] * m.points).sum(axis=0)
    assert (np.abs(fine.vectors).sum(axis=1)[:, None] * fine.points).sum(axis=0) == pytest.approx(
        middle
    )
    info = d2ke.kernel_distance(m, fine, sigma=0.5)
    assert info <= info.discretisation
    sampled = d2ke.mesh(vertices, faces, n_samples=4000, seed=1)
    assert sampled.total == pytest.approx(m.total)
    info = d2ke.kernel_distance(sampled, fine, sigma=0.5)
    assert 0 < info <= info.discretisation
    assert np.linalg.norm(sampled.points, axis=1).max() <= 1 + 1e-12


@given(seed=st.integers(0, 10**6), d=st.sampled_from([2, 3, 4, 6]), oriented=st.booleans())
def test_meshes_in_any_dimension(seed, d, oriented):
    """Pairs of triangles count by the inner product of their planes, a determinant."""
    rng = np.random.default_rng(seed)
    corners, faces = rng.normal(size=(7, d)), np.array([[0, 1, 2], [3, 4, 5], [1, 6, 2]])
    m = d2ke.mesh(corners, faces, oriented=oriented)
    assert m.kind == ("surface" if oriented else "unoriented surface")
    edges = [(corners[b] - corners[a], corners[c] - corners[a]) for a, b, c in faces]
    kappa = 0.0
    for i in range(3):
        for j in range(3):
            gap = corners[faces[i]].mean(axis=0) - corners[faces[j]].mean(axis=0)
            (u, v), (s, t) = edges[i], edges[j]
            inner = np.linalg.det([[u @ s, u @ t], [v @ s, v @ t]]) / 4
            if not oriented:
                areas = [np.sqrt(max((a @ a) * (b @ b) - (a @ b) ** 2, 0)) / 2
                         for a, b in ((u, v), (s, t))]  # fmt: skip
                inner = inner**2 / (areas[0] * areas[1])
            kappa += np.exp(-(gap @ gap) / 2) * inner
    assert d2ke.measures.kernel_norm(m, sigma=1.0) == pytest.approx(math.sqrt(kappa), rel=1e-6)
    # A plane turned into more dimensions is the same surface.
    wide = np.linalg.qr(rng.normal(size=(d + 2, d)))[0]
    turned = d2ke.mesh(corners @ wide.T, faces, oriented=oriented, gap=0.5)
    cut = d2ke.mesh(corners, faces, oriented=oriented, gap=0.5)
    norms = [d2ke.measures.kernel_norm(one, sigma=1.0) for one in (turned, cut)]
    assert norms[0] == pytest.approx(norms[1], rel=1e-6)
    sampled = d2ke.mesh(corners, faces, oriented=oriented, n_samples=9)
    assert sampled.total == pytest.approx(m.total)


def test_degenerate_shapes():
    flat = d2ke.mesh([[0, 0, 0], [1, 0, 0], [2, 0, 0]], [[0, 1, 2], [0, 0, 1]])
    assert flat.total == 0
    assert d2ke.measures.kernel_norm(flat, sigma=1.0) == 0.0
    info = d2ke.kernel_distance(flat, flat, sigma=1.0, method="ifgt", eps=0.1)
    assert (info.squared, info.total, info.bound) == (0.0, 0.0, 0.0)
    unoriented = d2ke.mesh([[0, 0, 0], [1, 0, 0], [2, 0, 0]], [[0, 1, 2]], oriented=False)
    assert np.isfinite(unoriented.vectors).all()
    with pytest.raises(ValueError, match=r"size 0\.0 cannot be sampled"):
        d2ke.curve([[1.0, 1.0], [1.0, 1.0]], n_samples=5)
