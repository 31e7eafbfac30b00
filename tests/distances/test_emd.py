# SPDX-License-Identifier: BSD-3-Clause
"""The earth mover's distance against the linear program, an assignment, and other packages."""

import math

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from scipy.stats import wasserstein_distance

import d2ke
from d2ke._ext import isa as instruction_sets

# Tiny arrays, which are meant as they are.
pytestmark = pytest.mark.filterwarnings("ignore:every item of .* has shape")

GROUNDS = ("euclidean", "sqeuclidean")


def emd(x, y, a=None, b=None, **options):
    X = d2ke.pack([x], weights=None if a is None else [a])
    Y = d2ke.pack([y], weights=None if b is None else [b])
    return float(d2ke.distance_matrix(X, Y, "emd", **options)[0, 0])


def assignment(x, y, a, b, ground="euclidean"):
    """EMD for small integer weights: so many copies of each vector, matched one to one."""
    common = math.lcm(int(a.sum()), int(b.sum()))
    x = np.repeat(x, a * (common // a.sum()), axis=0)
    y = np.repeat(y, b * (common // b.sum()), axis=0)
    cost = cdist(x, y, ground)
    return cost[linear_sum_assignment(cost)].mean()


def tolerance(x, y, wanted, ground="euclidean"):
    return 1e-12 * wanted + 1e-14 * cdist(x, y, ground).max()


@st.composite
def integer_problems(draw, most=8, dims=(1, 2, 3, 5, 17)):
    """Vectors with ties and duplicates, integer weights of small sum, zeros among them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, m = draw(st.integers(1, most)), draw(st.integers(1, most))
    d = draw(st.sampled_from(dims))
    style = draw(st.sampled_from(["grid", "normal", "shared", "one", "far"]))
    base = rng.integers(-2, 3, (n + m, d)).astype(float)
    if style == "normal":
        base = rng.standard_normal((n + m, d))
    elif style == "shared":
        base = rng.standard_normal((3, d))[rng.integers(0, 3, n + m)]
    elif style == "one":
        base[:] = base[0]
    elif style == "far":
        base = rng.standard_normal((n + m, d)) + 1e3 * rng.integers(0, 2, (n + m, 1))
    a, b = rng.integers(0, 4, n), rng.integers(0, 4, m)
    if draw(st.booleans()):
        a[:], b[:] = 1, 1
    a[rng.integers(0, n)] += 1
    b[rng.integers(0, m)] += 1
    return base[:n], base[n:], a, b


@pytest.mark.parametrize("ground", GROUNDS)
@settings(max_examples=reference.examples(150))
@given(problem=integer_problems())
def test_assignment(ground, problem):
    x, y, a, b = problem
    wanted = assignment(x, y, a, b, ground)
    before = instruction_sets.selected()
    try:
        for name in instruction_sets.supported():
            instruction_sets.select(name)
            got = emd(x, y, a, b, ground=ground)
            assert abs(got - wanted) <= tolerance(x, y, wanted, ground)
            assert got == emd(y, x, b, a, ground=ground)
    finally:
        instruction_sets.select(before)


@pytest.mark.parametrize("ground", GROUNDS)
@given(problem=integer_problems(), seed=st.integers(0, 99))
def test_linear_program(ground, problem, seed):
    x, y, a, b = problem
    rng = np.random.default_rng(seed)
    a, b = a * rng.random(len(a)), b * rng.random(len(b)) * 7
    wanted = reference.emd(x, y, a, b, ground)
    # The program's own answer is no better than its tolerances of 1e-10.
    assert abs(emd(x, y, a, b, ground=ground) - wanted) <= tolerance(x, y, wanted, ground) + 1e-10


@pytest.mark.sample(3)
@pytest.mark.parametrize("style", ["normal", "grid", "weights"])
@pytest.mark.parametrize(("n", "m", "d"), [(20, 20, 3), (20, 17, 20), (2, 20, 2), (20, 3, 300)])
def test_larger_ones(isa, n, m, d, style):
    rng = np.random.default_rng(n + m + d)
    x, y = rng.standard_normal((n, d)), rng.standard_normal((m, d)) + 0.3
    if style == "grid":
        x, y = rng.integers(0, 3, (n, d)).astype(float), rng.integers(0, 3, (m, d)).astype(float)
    a, b = rng.integers(0, 3, n), rng.integers(0, 3, m)
    a[0], b[0] = 1, 1
    if style != "weights":
        a[:], b[:] = 1, 1
    for ground in GROUNDS:
        wanted = assignment(x, y, a, b, ground)
        assert abs(emd(x, y, a, b, ground=ground) - wanted) <= tolerance(x, y, wanted, ground)


def test_one_dimension():
    rng = np.random.default_rng(0)
    for n, m in ((1, 1), (1, 9), (30, 30), (200, 37), (1000, 1001)):
        for x, y in (
            (rng.standard_normal(n), rng.standard_normal(m)),
            (rng.integers(0, 9, n).astype(float), rng.integers(0, 9, m).astype(float)),
        ):
            a, b = rng.random(n), rng.random(m)
            wanted = wasserstein_distance(x, y, a, b)
            assert emd(x, y, a, b) == pytest.approx(wanted, rel=1e-11, abs=1e-14)
            assert emd(x, y) == pytest.approx(wasserstein_distance(x, y), rel=1e-11, abs=1e-14)
            assert emd(x, y, a, b) == emd(y, x, b, a)
            # The same numbers on a line in the plane: the other algorithm.
            plane = [np.outer(v, [0.6, 0.8]) for v in (x, y)]
            assert emd(*plane, a, b) == pytest.approx(wanted, rel=1e-11, abs=1e-14)


def test_one_dimension_squared():
    x, y = np.array([0.0, 1.0, 5.0]), np.array([2.0, 1.0])
    wanted = reference.emd(x[:, None], y[:, None], ground="sqeuclidean")
    assert emd(x, y, ground="sqeuclidean") == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize(("n", "m", "d"), [(200, 300, 2), (200, 300, 50), (250, 250, 5)])
def test_another_network_simplex(isa, n, m, d):
    ot = pytest.importorskip("ot")
    rng = np.random.default_rng(d)
    x, y = rng.standard_normal((n, d)), rng.standard_normal((m, d)) + 0.2
    a, b = rng.random(n), rng.random(m)
    for ground in GROUNDS:
        for weights in ((a / a.sum(), b / b.sum()), (np.full(n, 1 / n), np.full(m, 1 / m))):
            wanted = ot.emd2(*weights, cdist(x, y, ground), numItermax=10**7)
            assert emd(x, y, *weights, ground=ground) == pytest.approx(wanted, rel=1e-11)


# A measure is what counts: order, duplicates, zeros and the scale of weights do not


@given(problem=integer_problems(), seed=st.integers(0, 99))
def test_zero_for_the_same_measure(problem, seed):
    x, _, a, _ = problem
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(x))
    assert emd(x, x, a, a) == 0
    assert emd(x, x) == 0
    assert emd(x, x[order], a, a[order]) == 0
    assert emd(x, x, a, 8 * a) == 0
    split = np.repeat(np.arange(len(x)), 2)
    assert emd(x, x[split], a, np.repeat(a, 2)) == 0
    assert emd(np.vstack([x, x + 7]), x, np.append(a, 0 * a), a) == 0
    assert emd(x * 0.0, -x * 0.0, a, a) == 0  # -0.0 is 0.0


@given(problem=integer_problems(), seed=st.integers(0, 99))
def test_same_bits_for_any_order_of_the_vectors(problem, seed):
    x, y, a, b = problem
    rng = np.random.default_rng(seed)
    p, q = rng.permutation(len(x)), rng.permutation(len(y))
    for ground in GROUNDS:
        assert emd(x, y, a, b, ground=ground) == emd(x[p], y[q], a[p], b[q], ground=ground)


def documents(rng, n, longest, d, dtype=np.float64):
    """Documents that share words, with unequal numbers of different words."""
    words = rng.standard_normal((60, d)).astype(dtype)
    items = [words[rng.integers(0, 60, k)] for k in rng.integers(1, longest, n)]
    return d2ke.pack(items, weights=[rng.integers(1, 5, len(item)) for item in items])


def test_float32_is_float64_rounded():
    rng = np.random.default_rng(0)
    X, Y = documents(rng, 6, 20, 5, np.float32), documents(rng, 5, 20, 5, np.float32)
    wide = [
        d2ke.pack(
            [v.astype(np.float64) for v in Z],
            weights=[Z.weights[s:e] for s, e in zip(Z.offsets[:-1], Z.offsets[1:], strict=True)],
        )
        for Z in (X, Y)
    ]
    exact = d2ke.distance_matrix(*wide, "emd")
    np.testing.assert_array_equal(d2ke.distance_matrix(X, Y, "emd"), exact.astype(np.float32))


# Extremes


@pytest.mark.parametrize("scale", [1e-320, 1e-300, 1e-160, 1e-100, 1e100, 1e154, 1e200, 1e300])
@pytest.mark.parametrize("d", [1, 2, 30])
def test_values_whose_squares_leave_the_range(isa, scale, d):
    rng = np.random.default_rng(d)
    x, y = rng.integers(-9, 10, (6, d)), rng.integers(-9, 10, (7, d))
    # Exact multiples of the scale, also where it is subnormal.
    unit = 2.0 ** round(math.log2(scale))
    wanted = emd(x, y) * unit
    got = emd(x * unit, y * unit)
    assert got == pytest.approx(wanted, rel=1e-12, abs=5e-324)
    assert emd(x * unit, x[::-1] * unit) == 0


def test_near_and_far_vectors():
    """What is small next to the largest distance is not lost in its digits."""
    rng = np.random.default_rng(0)
    near = rng.standard_normal((6, 2))
    x = np.vstack([near, [[1e9, 1e9]]])
    y = np.vstack([near + 1e-3, [[1e9, 1e9]]])
    assert emd(x, y) == pytest.approx(6 / 7 * 1e-3 * 2**0.5, rel=1e-9)


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("gap", [1e9, 1e12, 1e13, 1e15])
def test_clusters_far_apart(isa, ground, gap):
    """What moves within two clusters keeps its digits, however far apart they are."""
    rng = np.random.default_rng(0)
    for n in (2, 3, 8):
        near = rng.integers(-99, 100, (2, 2 * n, 2)).astype(float)
        far = near.copy()
        far[:, n:] += gap
        options = {} if ground == "euclidean" else {"ground": ground}
        wanted = [assignment(*near[:, part], *np.ones((2, n), int), ground)
                  for part in (slice(n), slice(n, None))]  # fmt: skip
        assert emd(*far, **options) == pytest.approx(np.mean(wanted), rel=1e-9)


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1.0, 1e300])
def test_weights_of_any_scale(scale):
    x, y = [[0.0, 1.0], [2.0, 5.0]], [[1.0, 1.0], [3.0, 2.0], [0.0, 0.0]]
    a, b = np.array([1.0, 2.0]), np.array([3.0, 1.0, 2.0])
    assert emd(x, y, a * scale, b) == pytest.approx(emd(x, y, a, b), rel=1e-14)


def test_weights_far_apart():
    x, y = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]], [[0.0, 0.0], [1.0, 1.0]]
    assert emd(x, y, [1, 1e-12, 1e-30], [1, 0]) == pytest.approx(1e-12, rel=1e-5)
    assert emd(x, y, [1e-30, 1e-30, 1], [1e-40, 1]) == pytest.approx(2**0.5)


@pytest.mark.parametrize("ground", GROUNDS)
def test_degenerate_ones_come_to_an_end(ground):
    rng = np.random.default_rng(0)
    grid = np.stack(np.meshgrid(np.arange(16.0), np.arange(16.0)), -1).reshape(-1, 2)
    moved = grid[rng.permutation(256)] + [1, 0]
    # On a grid the whole of it moves by its edge, in however many steps.
    wanted = 1.0 if ground == "sqeuclidean" else pytest.approx(1.0)
    assert emd(grid, moved, ground=ground) == wanted
    corners = np.eye(150)
    assert emd(corners[:75], corners[75:], ground=ground) == pytest.approx(
        2**0.5 if ground == "euclidean" else 2
    )
    circle = np.exp(2j * np.pi * np.arange(360) / 360).view(np.float64).reshape(-1, 2)
    half = np.repeat([1.0, 0.0], 180)
    got = emd(circle, circle, half + 1e-3, half[::-1] + 1e-3, ground=ground)
    assert 0 < got <= 4


# Through the rest of d2ke
