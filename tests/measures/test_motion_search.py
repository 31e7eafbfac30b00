# SPDX-License-Identifier: BSD-3-Clause
"""Alignment: rotations, gradients, columns and grids against the definition."""

import math

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from measure_cases import kappa, some_rotation
from scipy.linalg import expm

import d2ke
from d2ke.measures import (
    cell_columns,
    grid_correlation,
    rotations,
)
from d2ke.measures.quasi_newton import Ascent, Motions, Pair


@pytest.mark.parametrize("d", [2, 3, 4, 6])
def test_small_rotations(d):
    rng = np.random.default_rng(0)
    action = rotations.Action("points", d)
    amounts = 1e-3 * rng.standard_normal((5, d * (d - 1) // 2))
    R = rotations.small(action.turns, amounts)
    for one, amount in zip(R, amounts, strict=True):
        assert np.abs(one @ one.T - np.eye(d)).max() < 1e-15
        assert np.abs(one - expm(np.einsum("p,pij->ij", amount, action.turns))).max() < 1e-8
    assert np.linalg.det(rotations.small(action.turns, 1e3 * amounts)) == pytest.approx(1)


@pytest.mark.parametrize(("d", "angle"), [(2, 0.1), (2, 2.0), (3, 0.35), (3, 0.2)])
def test_net_is_dense(d, angle):
    rng = np.random.default_rng(1)
    net = rotations.net(d, angle)
    assert len(net) == rotations.net_size(d, angle)
    assert np.linalg.det(net) == pytest.approx(1)
    assert np.abs(net @ np.swapaxes(net, 1, 2) - np.eye(d)).max() < 1e-14
    angles = []
    for _ in range(300):
        trace = np.einsum("nij,ij->n", net, some_rotation(rng, d)).max()
        angles.append(math.acos(min(trace / 2 if d == 2 else (trace - 1) / 2, 1)))
    # The net of space is not proved to be so dense everywhere.
    assert max(angles) <= angle * (1 + 1e-9 if d == 2 else 1.2)


@given(seed=st.integers(0, 1000), d=st.sampled_from([2, 3, 5]))
def test_rotation_between_directions(seed, d):
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((2, d))
    if seed % 3 == 0:
        b = -a * 2.0 + (seed % 2) * 1e-9 * b
    R = rotations.between(a, b)
    assert R @ a / np.linalg.norm(a) == pytest.approx(b / np.linalg.norm(b))
    assert np.abs(R @ R.T - np.eye(d)).max() < 1e-12
    assert np.linalg.det(R) == pytest.approx(1)


def test_rotation_vectors_and_nearest():
    rng = np.random.default_rng(0)
    for v in rng.standard_normal((20, 3)):
        A = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
        R = rotations.by_vectors(v[None])[0]
        assert np.abs(R - expm(A)).max() < 1e-12
        noisy = R + 1e-6 * rng.standard_normal((3, 3))
        assert np.abs(rotations.nearest(noisy) - R).max() < 1e-5
    assert np.linalg.det(rotations.nearest(np.diag([1.0, 1.0, -0.1]))) == pytest.approx(1)


@pytest.mark.parametrize(
    ("kind", "d"),
    [("curve", 2), ("curve", 3), ("surface", 3), ("unoriented curve", 2),
     ("unoriented surface", 3), ("unoriented curve", 4)],
)  # fmt: skip
def test_what_is_carried_turns_with_the_points(kind, d):
    rng = np.random.default_rng(2)
    R = some_rotation(rng, d)
    oriented = not kind.startswith("unoriented")
    if kind.endswith("surface"):
        corners, faces = rng.standard_normal((6, 3)), [[0, 1, 2], [1, 2, 3], [2, 4, 5]]
        one, other = (d2ke.mesh(x, faces, oriented=oriented) for x in (corners, corners @ R.T))
    else:
        corners = rng.standard_normal((6, d))
        one, other = (d2ke.curve(x, oriented=oriented) for x in (corners, corners @ R.T))
    action = rotations.Action(kind, d)
    turned = rotations.apply(action.matrices(R), one.vectors)
    assert turned == pytest.approx(other.vectors)
    amount = 1e-6 * rng.standard_normal((1, d * (d - 1) // 2))
    small = rotations.small(action.turns, amount)
    step = np.einsum("p,pab->ab", amount[0], action.generators())
    assert np.abs(action.matrices(small)[0] - np.eye(action.channels) - step).max() < 1e-11


# ---- what is climbed


@pytest.mark.parametrize("d", [2, 3, 5])
@pytest.mark.parametrize("motion", ["translation", "rotation", "rigid"])
@pytest.mark.parametrize("kind", ["points", "curve", "unoriented curve"])
def test_gradient(d, motion, kind):
    rng = np.random.default_rng(3)
    action = rotations.Action(kind, d)
    r = action.channels
    p, u = rng.standard_normal((9, d)), rng.standard_normal((9, r))
    q, v = rng.standard_normal((8, d)), rng.standard_normal((8, r))
    pair = Pair(p, u, q, v, 0.9)
    ascent = Ascent(action, motion != "translation", motion != "rotation", q, np.ones(8), 1)
    R = np.array([some_rotation(rng, d) for _ in range(3)])
    t = 0.2 * rng.standard_normal((3, d))
    values, slopes = ascent.values_and_slopes(pair, R, t)

    def value(R, t):
        carried = rotations.apply(action.matrices(R), v)
        return float((reference.kernel_values(p, q @ R.T + t, 0.9) * (u @ carried.T)).sum())

    assert values == pytest.approx([value(*m) for m in zip(R, t, strict=True)])
    step = 1e-5
    for k in range(slopes.shape[1]):
        ways = np.zeros((3, slopes.shape[1]))
        ways[:, k] = step
        up, down = ascent._moved(R, t, ways, 0.9), ascent._moved(R, t, -ways, 0.9)
        expected = [(value(up[0][c], up[1][c]) - value(down[0][c], down[1][c])) / (2 * step)
                    if motion != "translation" else
                    (value(R[c], up[1][c]) - value(R[c], down[1][c])) / (2 * step)
                    for c in range(3)]  # fmt: skip
        assert slopes[:, k] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("d", [1, 2, 3, 4])
@pytest.mark.parametrize("sigma", [0.01, 0.1, 3.0])
def test_columns_leave_nothing_out_that_counts(d, sigma):
    rng = np.random.default_rng(4)
    points, vectors = rng.random((1500, d)), rng.standard_normal((1500, 2))
    places = rng.random((700, d)) * 1.4 - 0.2
    found = cell_columns.CellColumns(points, vectors, sigma)
    expected = reference.kernel_values(places, points, sigma) @ vectors
    for n_threads in (1, 3):
        assert np.abs(found.potentials(places, n_threads) - expected).max() < 1e-6
    assert 0 < found.share <= 1
    if sigma == 0.01:
        assert found.share < 0.7
        assert found.seen < 2 * 700 * 1500


def test_field_is_kappa_nearly():
    rng = np.random.default_rng(5)
    for d in (1, 2, 3):
        action = rotations.Action("points", d)
        p, q = rng.random((400, d)), rng.random((300, d)) - 0.5
        u, v = rng.random((400, 1)), rng.random((300, 1))
        R = np.array([some_rotation(rng, d) if d > 1 else np.eye(1) for _ in range(4)])
        t = 0.5 + 0.1 * rng.standard_normal((4, d))
        pair = Pair(p, u, q, v, 0.2)
        found = grid_correlation.values_at(pair, action, Motions(R, t), 10**6)
        for value, turn, shift in zip(found, R, t, strict=True):
            expected = kappa(p, q @ turn.T + shift, 0.2, u[:, 0], v[:, 0])
            assert value == pytest.approx(expected, rel=0.02)
        assert grid_correlation.values_at(pair, action, Motions(R, t), 1) is None


@given(seed=st.integers(0, 1000), d=st.sampled_from([1, 2, 3]))
@settings(max_examples=reference.examples(15))
def test_correlations_are_kappa_nearly(seed, d):
    rng = np.random.default_rng(seed)
    action = rotations.Action("points", d)
    p, q = rng.random((30, d)), rng.random((20, d)) - 0.5
    pair = Pair(p, np.ones((30, 1)), q, np.ones((20, 1)), 0.3)
    plan = grid_correlation.plan_grid(pair, d > 1, True, 1e10)
    R = rotations.net(d, plan.angle)[:9] if d > 1 else np.eye(1)[None]
    R, t, values = grid_correlation.translations(pair, plan, action, R, 1, 1)
    for turn, shift, value in list(zip(R, t, values, strict=True))[:9]:
        expected = kappa(p, q @ turn.T + shift, plan.sigma)
        assert value == pytest.approx(expected, rel=0.1)
