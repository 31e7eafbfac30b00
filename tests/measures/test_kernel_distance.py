# SPDX-License-Identifier: BSD-3-Clause
"""The kernel distance against its definition."""

import math
import pickle

import numpy as np
import pytest
import reference
from hypothesis import assume, given
from hypothesis import strategies as st
from measure_cases import pairs, total

import d2ke
from d2ke.measures.kernels import Accuracy, Kernel, NormProblem, bandwidth
from d2ke.measures.measure import as_measures
from d2ke.measures.norm_methods import choose


@given(pair=pairs((1, 2, 3, 4, 7, 30)), kernel=st.sampled_from(["gaussian", "laplace"]))
def test_exact(isa, pair, kernel):
    P, Q, w, v, sigma = pair
    expected = reference.kernel_distance_squared(P, Q, sigma, kernel, w, v)
    info = d2ke.kernel_distance(
        P, Q, sigma=sigma, kernel=kernel, weights_p=w, weights_q=v, method="exact"
    )
    # The reference takes differences of far coordinates as they are, and so does d2ke.
    assert abs(info.squared - expected) <= info.bound + 1e-15 * total(P, Q, w, v) ** 2
    assert info == math.sqrt(info.squared)
    assert info.total == pytest.approx(total(P, Q, w, v))


@pytest.mark.parametrize("sizes", [(700, 1100), (64, 65), (1, 300)])
def test_exact_over_many_tiles(isa, sizes):
    rng = np.random.default_rng(1)
    P, Q = (rng.standard_normal((n, 3)) for n in sizes)
    expected = reference.kernel_distance_squared(P, Q, 0.7)
    assert d2ke.kernel_distance(P, Q, sigma=0.7) ** 2 == pytest.approx(expected, rel=1e-12)


@pytest.mark.filterwarnings("ignore:every item of .* has shape")
@given(
    seed=st.integers(0, 2**32),
    n=st.integers(1, 6),
    dim=st.integers(1, 3),
    grid=st.booleans(),
    step=st.sampled_from([1e-15, 1e-13, 1e-10, 1e-8, 1e-6, 1e-4]),
    sigma=st.sampled_from([0.05, 1.0, 20.0]),
    kernel=st.sampled_from(["gaussian", "laplace"]),
    weighted=st.booleans(),
)
def test_nearly_equal_sets(seed, n, dim, grid, step, sigma, kernel, weighted):
    """What is far below the rounding of kappa(P, P) has all its digits, by each function."""
    rng = np.random.default_rng(seed)
    P = np.indices((2, 3, 1))[:dim].reshape(dim, -1).T[:n] * 0.5 if grid and dim > 1 else None
    P = np.unique(P, axis=0) if P is not None else np.sort(rng.uniform(-1, 1, (n, dim)), axis=0)
    moved = P + step * sigma * rng.standard_normal(P.shape)
    w = rng.uniform(0.5, 2, len(P)) if weighted else np.ones(len(P))
    order = rng.permutation(len(P))
    Q, v = moved[order], w[order]
    apart = np.linalg.norm(P[:, None] - P, axis=2) + np.eye(len(P))
    assume(apart.min() > 100 * step * sigma)
    options = {"sigma": sigma, "kernel": kernel}
    expected = reference.precise_kernel_distance(P, Q, sigma, kernel, w, v)
    found = d2ke.kernel_distance(P, Q, weights_p=w, weights_q=v, **options)
    assert found == pytest.approx(expected, rel=1e-7, abs=1e-25)
    assert found == d2ke.kernel_distance(Q, P, weights_p=v, weights_q=w, **options)
    sets = {"weights_x": [w, v], **options}
    D = d2ke.kernel_distance_matrix([P, Q], **sets)
    assert D[0, 1] == D[1, 0] == pytest.approx(expected, rel=1e-7, abs=1e-25)
    across = d2ke.kernel_distance_matrix([P, Q], [Q], weights_y=[v], **sets)
    np.testing.assert_allclose(across, [[expected], [0]], rtol=1e-7, atol=1e-25)
    X = d2ke.pack([P, Q], channels_first=False, weights=[w, v])
    D = d2ke.distance_matrix(X, distance="kernel", **options)
    assert D[0, 1] == D[1, 0] == pytest.approx(expected, rel=1e-7, abs=1e-25)


@pytest.mark.filterwarnings("ignore:every item of .* has shape")
@given(
    seed=st.integers(0, 2**32),
    sizes=st.tuples(st.integers(1, 6), st.integers(1, 6)),
    dim=st.sampled_from([1, 2, 3, 20]),
    style=st.sampled_from(["any", "masses", "means", "turned"]),
    sigma=st.sampled_from([3.0, 100.0, 1e5, 1e8, 1e12]),
    kernel=st.sampled_from(["gaussian", "laplace"]),
)
def test_wide_kernels(seed, sizes, dim, style, sigma, kernel):
    """What K near 1 leaves of masses, means and squares that agree has its digits."""
    rng = np.random.default_rng(seed)
    P, Q = (rng.integers(-9, 10, (n, dim)) / 4 + 1.0 for n in sizes)
    w, v = (rng.integers(1, 5, len(X)) / 1.0 for X in (P, Q))
    if style != "any":  # of whole numbers, so that the masses agree to the bit
        w, v = w * v.sum(), v * w.sum()
    if style == "means":
        P, Q = np.concatenate([P, -P]), np.concatenate([Q, -Q])
        w, v = np.tile(w, 2), np.tile(v, 2)
    if style == "turned":
        Q, v = P[:, ::-1] + 0.25, w
    options = {"sigma": sigma, "kernel": kernel}
    expected = reference.precise_kernel_distance(P, Q, sigma, kernel, w, v)
    assume(expected == 0 or expected > 1e-26 * w.sum())  # what 60 digits tell from 0
    found = d2ke.kernel_distance(P, Q, weights_p=w, weights_q=v, **options)
    assert found == pytest.approx(expected, rel=1e-7)
    assert abs(found.squared - expected**2) <= found.bound + 1e-14 * expected**2
    assert found == d2ke.kernel_distance(Q, P, weights_p=v, weights_q=w, **options)
    points, vectors = np.concatenate([P, Q]), np.concatenate([w, -v])
    norm = d2ke.measures.kernel_norm(points, weights_p=vectors, **options)
    assert norm == pytest.approx(expected, rel=1e-7)
    D = d2ke.kernel_distance_matrix([P, Q], weights_x=[w, v], **options)
    assert D[0, 1] == D[1, 0] == pytest.approx(expected, rel=1e-7)
    X = d2ke.pack([P, Q], channels_first=False, weights=[w, v])
    D = d2ke.distance_matrix(X, distance="kernel", **options)
    assert D[0, 1] == D[1, 0] == pytest.approx(expected, rel=1e-7)


def test_many_sets_under_a_wide_kernel():
    rng = np.random.default_rng(0)
    sets = [rng.standard_normal((5, 2)) for _ in range(30)]
    D = d2ke.kernel_distance_matrix(sets, sigma=1e8)
    for i, j in ((0, 1), (3, 29)):
        assert (
            D[i, j]
            == D[j, i]
            == pytest.approx(d2ke.kernel_distance(sets[i], sets[j], sigma=1e8), rel=1e-12)
        )
    across = d2ke.kernel_distance_matrix(sets, sets[:20], sigma=1e8)
    np.testing.assert_allclose(across, D[:, :20], rtol=1e-12, atol=0)


def test_sets_that_are_no_pairs_of_near_points():
    """One point less, other weights, two points at one, and more points than are paired."""
    P = np.array([[0.0], [1e-9], [5.0]])
    for Q, v in ((P[:2], [1, 1]), (P + 1e-9, [1, 1, 2]), (P[[0, 0, 2]] + 1e-9, [1, 1, 1])):
        squared = reference.kernel_distance_squared(P, Q, 1.0, v=v)
        found = d2ke.kernel_distance(P, Q, sigma=1.0, weights_q=v)
        assert found.squared == pytest.approx(squared, abs=1e-14)
    many = np.linspace(0, 100, 2001)
    assert d2ke.kernel_distance(many, many + 1e-9, sigma=1.0) < 1e-5


@given(pair=pairs((1, 2, 3)))
def test_trivial_and_linear_kernels(pair):
    P, Q, w, v, _ = pair
    D = d2ke.kernel_distance(P, Q, kernel="trivial", weights_p=w, weights_q=v)
    expected = reference.kernel_distance_squared(P, Q, None, "trivial", w, v)
    assert pytest.approx(expected, abs=1e-9) == D**2
    assert (D.method, D.sigma) == ("closed form", None)
    if w is None:
        w, v = np.full(len(P), 1 / len(P)), np.full(len(Q), 1 / len(Q))
    D = d2ke.kernel_distance(P, Q, kernel="linear", weights_p=w, weights_q=v)
    assert pytest.approx(np.linalg.norm(w @ P - v @ Q), rel=1e-9, abs=1e-9) == D


@given(pair=pairs((2, 3)), seed=st.integers(0, 100))
def test_invariance_symmetry_triangle(pair, seed):
    P, Q, w, v, sigma = pair
    rng = np.random.default_rng(seed)
    d = P.shape[1]
    given = {"sigma": sigma, "weights_p": w, "weights_q": v}
    D = d2ke.kernel_distance(P, Q, **given)
    back = d2ke.kernel_distance(Q, P, sigma=sigma, weights_p=v, weights_q=w)
    slack = 1e-7 * (1 + total(P, Q, w, v))
    assert pytest.approx(back, abs=slack) == D
    rotation, _ = np.linalg.qr(rng.standard_normal((d, d)))
    shift = rng.standard_normal(d)
    moved = d2ke.kernel_distance(P @ rotation + shift, Q @ rotation + shift, **given)
    # Coordinates of 1e4 lose digits in the rotation, which a narrow kernel sees.
    lost = 1e-11 * np.abs(P).max() / sigma
    assert moved**2 == pytest.approx(D**2, abs=slack**2 + lost * total(P, Q, w, v) ** 2)
    R = rng.standard_normal((5, d))
    one = d2ke.kernel_distance(P, R, sigma=sigma, weights_p=w)
    other = d2ke.kernel_distance(R, Q, sigma=sigma, weights_q=v)
    assert one + other + slack >= D
    assert d2ke.kernel_distance(P, P[::-1], sigma=sigma) == 0.0


@pytest.mark.parametrize("method", ["exact", "dualtree", "wspd", "fourier", "rff", "ifgt"])
def test_weights_are_repetition(method):
    rng = np.random.default_rng(5)
    P, Q = rng.standard_normal((12, 2)), rng.standard_normal((9, 2))
    times = rng.integers(1, 4, 12)
    given = {"sigma": 1.0, "method": method}
    if method != "exact":
        given["eps"] = 0.01
    repeated = d2ke.kernel_distance(np.repeat(P, times, axis=0), Q, **given)
    assert repeated == pytest.approx(d2ke.kernel_distance(P, Q, weights_p=times, **given))
    assert d2ke.kernel_distance(P, P, **given) == 0.0
    assert d2ke.kernel_distance(P, P, weights_p=2 * np.ones(12), **given) == pytest.approx(
        d2ke.measures.kernel_norm(P, **given), abs=1e-9 if method == "exact" else 0.05
    )


# ---- auto, information


def test_auto_says_what_it_picks():
    rng = np.random.default_rng(0)
    few = d2ke.kernel_distance(rng.random((50, 2)), rng.random((50, 2)), sigma=1, eps=0.1)
    assert few.method == "exact"
    assert "few" in few.reason
    points = rng.random((20000, 2))
    u = np.ones((20000, 1))
    narrow, wide = (
        choose(NormProblem(points, u, Kernel("gaussian", sigma), Accuracy(2.5e-4)))
        for sigma in (0.003, 1.0)
    )
    assert narrow[0] == "dualtree"
    assert wide[0] == "fourier"
    assert "seconds" in wide[1]
    assert not any("wspd" in reason for _, reason, *_ in (narrow, wide))
    assert choose(NormProblem(points, u, Kernel("gaussian", 1.0), Accuracy(None)))[0] == "exact"
    high = rng.standard_normal((20000, 20))
    assert choose(NormProblem(high, u, Kernel("gaussian", 5.0), Accuracy(2.5e-2)))[0] == "rff"


def test_information():
    P = np.random.default_rng(0).random((30, 2))
    info = d2ke.kernel_distance(P, P + 0.1, sigma=1.0, method="rff", eps=0.1)
    assert (info.delta, info.eps, info.sigma, info.discretisation) == (0.01, 0.1, 1.0, 0.0)
    assert info.standard_error < info.bound
    assert info.counts["points"] == 60
    copied = pickle.loads(pickle.dumps(info))
    assert (copied, vars(copied)) == (info, vars(info))
    same = d2ke.kernel_distance(P, P, sigma=1.0, method="rff", eps=0.1)
    assert (same.squared, same.method) == (0.0, "closed form")


# ---- the scale


def test_median_heuristic():
    P, Q = [[0.0, 0.0], [0.0, 0.0], [3.0, 4.0]], [[0.0, 0.0]]
    assert d2ke.kernel_distance(P, Q, sigma="median").sigma == 5.0
    assert d2ke.kernel_distance([[1.0]] * 5, [[1.0]], sigma="median").sigma == 1.0
    assert d2ke.kernel_distance([[1.0]] * 5, [[1.0]], sigma="median") == pytest.approx(4.0)
    # Most points equal: 0 must not come out.
    heavy = np.zeros((1000, 2))
    heavy[0] = 2, 0
    assert d2ke.measures.kernel_norm(heavy, sigma="median").sigma == 2.0
    rng = np.random.default_rng(0)
    many = rng.standard_normal((30000, 3))
    assert bandwidth("median", as_measures("P", [many])) == pytest.approx(2.18, rel=0.05)
    one, other = as_measures("P", [many[:9], many[9:]])
    assert bandwidth("median", [one, other]) == bandwidth("median", [other, one])
    for scale in (1e-300, 1e300, 5e-324):
        sigma = bandwidth(
            "median", as_measures("P", [np.array([[0.0, 1], [1, 1], [1, 0]]) * scale])
        )
        assert 0 < sigma < math.inf
    assert bandwidth("median", as_measures("P", [np.array([[-1.7e308], [1.7e308]])])) < math.inf


def test_scales_far_from_one():
    P, Q = np.array([[0.0, 1.0], [2.0, 0.5]]), np.array([[1.0, 1.0]])
    D = d2ke.kernel_distance(P, Q, sigma=1.5)
    for factor in (2.0**-600, 2.0**600):
        for method in ("exact", "dualtree", "wspd", "fourier", "rff", "ifgt"):
            given = {} if method == "exact" else {"eps": 0.001}
            if method == "rff":
                given["eps"] = 0.1
            found = d2ke.kernel_distance(
                P * factor, Q * factor, sigma=1.5 * factor, method=method, **given
            )
            assert found == pytest.approx(D, abs=given.get("eps", 1e-12) * 5)


@pytest.mark.parametrize("far", [1e160, 1e300])
def test_points_beyond_all_features(far):
    """Squares of the radius overflow; ifgt is refused, the others are exact."""
    P, Q = np.zeros((1, 2)), np.array([[far, 0.0]])
    with pytest.raises(ValueError, match=r"ifgt.* would need at least .* features"):
        d2ke.kernel_distance(P, Q, sigma=1.0, method="ifgt", eps=0.1)
    for method in ("exact", "dualtree", "wspd", "auto"):
        found = d2ke.kernel_distance(P, Q, sigma=1.0, method=method, eps=0.1)
        assert found == pytest.approx(2**0.5)
