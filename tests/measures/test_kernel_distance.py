# SPDX-License-Identifier: BSD-3-Clause
"""The kernel distance against its definition, and every method against its promised accuracy."""

import dataclasses
import itertools
import math
import os
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

import d2ke
from d2ke._ext import expansions
from d2ke.measures import (
    dual_tree,
    fast_gauss,
    fourier_series,
    measure,
    median_scale,
    pair_sums,
    random_fourier,
)
from d2ke.measures.kernels import Accuracy, Kernel
from d2ke.measures.norm_methods import choose

EPS = (1e-1, 1e-2, 1e-3)


@st.composite
def pairs(draw, dims=(1, 2, 3, 5), most=40):
    """Draw two sets, weights (or None), and a scale from narrow to wide."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    d = draw(st.sampled_from(dims))
    n, m = draw(st.integers(1, most)), draw(st.integers(1, most))
    style = draw(st.sampled_from(["normal", "grid", "far", "clusters"]))
    P, Q = rng.standard_normal((n, d)), rng.standard_normal((m, d)) + 0.3
    if style == "grid":
        P, Q = np.round(P), np.round(Q)
    elif style == "far":
        P, Q = P + 1e4, Q + 1e4
    elif style == "clusters":
        P, Q = P * 0.01 + rng.integers(0, 3, (n, 1)), Q * 0.01 + rng.integers(0, 3, (m, 1))
    w, v = rng.standard_normal(n), rng.random(m)
    if draw(st.booleans()):
        w = v = None
    return P, Q, w, v, draw(st.sampled_from([0.05, 0.5, 2.0, 20.0]))


def total(P, Q, w, v):
    return (np.abs(np.ones(len(P)) if w is None else w).sum()
            + np.abs(np.ones(len(Q)) if v is None else v).sum()) / 2  # fmt: skip


# ---- the exact sums


@given(pair=pairs((1, 2, 3, 4, 7, 30)), kernel=st.sampled_from(["gaussian", "laplace"]))
def test_exact(isa, pair, kernel):
    P, Q, w, v, sigma = pair
    expected = reference.kernel_distance_squared(P, Q, sigma, kernel, w, v)
    info = d2ke.kernel_distance(
        P, Q, sigma=sigma, kernel=kernel, weights_p=w, weights_q=v, method="exact", info=True
    )
    # The reference takes differences of far coordinates as they are, and so does d2ke.
    assert abs(info.squared - expected) <= info.bound + 1e-15 * total(P, Q, w, v) ** 2
    assert info.value == math.sqrt(info.squared)
    assert info.total == pytest.approx(total(P, Q, w, v))


@pytest.mark.parametrize("sizes", [(700, 1100), (64, 65), (1, 300)])
def test_exact_over_many_tiles(isa, sizes):
    rng = np.random.default_rng(1)
    P, Q = (rng.standard_normal((n, 3)) for n in sizes)
    expected = reference.kernel_distance_squared(P, Q, 0.7)
    assert d2ke.kernel_distance(P, Q, sigma=0.7) ** 2 == pytest.approx(expected, rel=1e-12)


def test_near_sets_keep_their_digits():
    # K is 1 to 20 digits everywhere but in the last distance.
    P = np.random.default_rng(0).random((500, 2))
    Q = P.copy()
    Q[7] += 1e-4
    d = d2ke.kernel_distance(P, Q, sigma=1.0)
    assert d == pytest.approx(math.sqrt(-2 * math.expm1(-1e-8)), rel=1e-6)


@given(pair=pairs((1, 2, 3)))
def test_trivial_and_linear_kernels(pair):
    P, Q, w, v, _ = pair
    D = d2ke.kernel_distance(P, Q, kernel="trivial", weights_p=w, weights_q=v)
    expected = reference.kernel_distance_squared(P, Q, None, "trivial", w, v)
    assert pytest.approx(expected, abs=1e-9) == D**2
    if w is None:
        w, v = np.full(len(P), 1 / len(P)), np.full(len(Q), 1 / len(Q))
    D = d2ke.kernel_distance(P, Q, kernel="linear", weights_p=w, weights_q=v)
    assert pytest.approx(np.linalg.norm(w @ P - v @ Q), rel=1e-9, abs=1e-9) == D


def test_trivial_kernel_is_the_symmetric_difference():
    P = [[i, 0] for i in range(10)]
    Q = [[i, 0] for i in range(7, 15)]
    info = d2ke.kernel_distance(P, Q, kernel="trivial", info=True)
    assert (info.squared, info.method, info.sigma) == (12.0, "closed form", None)


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
        d2ke.kernel_norm(P, **given), abs=1e-9 if method == "exact" else 0.05
    )


def test_norm():
    rng = np.random.default_rng(5)
    P, w = rng.standard_normal((30, 2)), rng.standard_normal(30)
    expected = w @ reference.kernel_values(P, P, 0.8) @ w
    assert d2ke.kernel_norm(P, weights_p=w, sigma=0.8) ** 2 == pytest.approx(expected)
    info = d2ke.kernel_norm(P, weights_p=w, sigma=0.8, method="dualtree", eps=0.1, info=True)
    assert abs(info.squared - expected) <= info.bound <= 0.1 * info.total**2 * (1 + 1e-12)


# ---- accuracy of the approximations


@settings(max_examples=40)
@given(pair=pairs((1, 2, 3, 5), 60), eps=st.sampled_from(EPS),
       kernel=st.sampled_from(["gaussian", "laplace"]))  # fmt: skip
def test_dual_tree_keeps_its_promise(pair, eps, kernel):
    check(pair, "dualtree", eps, kernel)


@settings(max_examples=40)
@given(pair=pairs((1, 2, 3, 5), 60), eps=st.sampled_from(EPS))
def test_separated_pairs_keep_their_promise(pair, eps):
    check(pair, "wspd", eps, "gaussian")


@settings(max_examples=40)
@given(pair=pairs((1, 2, 3, 5)), eps=st.sampled_from(EPS))
def test_taylor_features_keep_their_promise(pair, eps):
    try:
        check(pair, "ifgt", eps, "gaussian")
    except ValueError as refusal:
        if not re.search('would need .* features .* use method="dualtree"', str(refusal)):
            raise


@settings(max_examples=60)
@given(pair=pairs((1, 2, 3, 5)), eps=st.sampled_from([*EPS, 1e-9]))
def test_fourier_series_keep_their_promise(pair, eps):
    try:
        check(pair, "fourier", eps, "gaussian")
    except ValueError as refusal:
        if not re.search('would need .* features .* use method="dualtree"', str(refusal)):
            raise


def test_fourier_series_of_all_shapes(isa):
    rng = np.random.default_rng(3)
    for d, sigma, channels in itertools.product((1, 2, 3, 4), (0.1, 0.4, 3.0), (1, 2, 3)):
        points = rng.random((300, d)) * rng.integers(0, 3, d)  # extents of 0 too
        vectors = rng.standard_normal((300, channels))
        K = reference.kernel_values(points, points, sigma)
        exact = np.sum(K * (vectors @ vectors.T))
        square = np.linalg.norm(vectors, axis=1).sum() ** 2
        for eps in (1.0, 0.1, 1e-4, 1e-12):
            try:
                asked = points, vectors, Kernel("gaussian", sigma), Accuracy(eps)
                found = fourier_series.series_norm(*asked, 2)
            except ValueError:
                assert (d, eps) == (4, 1e-12) or sigma == 0.1
                continue
            assert abs(found.value - exact) <= found.bound <= (eps + 1e-12) * square
            assert fourier_series.series_norm(*asked, 1) == found


@given(
    extent=st.floats(0, 50), eps=st.floats(1e-14, 1), where=st.lists(st.floats(0, 1), min_size=2)
)
def test_fourier_series_of_one_coordinate(extent, eps, where):
    x = np.array([0.0, 1.0, *where]) * extent
    chosen = fourier_series.plan_series(x[:, None], 1.0, eps)
    k = np.arange(1, chosen.degrees[0] + 1)
    step = 2 * math.pi / chosen.periods[0]
    c = 2 * step / math.sqrt(2 * math.pi) * np.exp(-((k * step) ** 2) / 2)
    gaps = np.subtract.outer(x, x)
    found = step / math.sqrt(2 * math.pi) + np.cos(gaps[..., None] * k * step) @ c
    assert np.abs(found - np.exp(-(gaps**2) / 2)).max() <= chosen.error + 1e-14
    assert chosen.error <= eps * (1 + 1e-12)


def check(pair, method, eps, kernel):
    P, Q, w, v, sigma = pair
    expected = reference.kernel_distance_squared(P, Q, sigma, kernel, w, v)
    info = d2ke.kernel_distance(
        P, Q, sigma=sigma, kernel=kernel, weights_p=w, weights_q=v, method=method, eps=eps,
        info=True,
    )  # fmt: skip
    W = total(P, Q, w, v)
    rounding = 1e-12 * W**2
    if info.method != "closed form":
        assert info.method == method
        assert info.bound <= eps * W**2 + rounding
    assert abs(info.squared - max(expected, 0)) <= info.bound + rounding


@pytest.mark.parametrize("n", [300, 2500])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_trees_of_many_boxes(isa, n, d):
    rng = np.random.default_rng(n + d)
    P, Q = rng.random((n, d)), rng.random((n, d)) ** 2
    for sigma in (0.01, 0.2):
        exact = d2ke.kernel_distance(P, Q, sigma=sigma, method="exact", info=True).squared
        for eps in (0.3, 0.03):
            for method in ("dualtree", "wspd") if n < 1000 else ("dualtree",):
                info = d2ke.kernel_distance(P, Q, sigma=sigma, method=method, eps=eps, info=True)
                assert abs(info.squared - exact) <= info.bound <= eps * n**2 * (1 + 1e-9)
                # (1: all pairs of boxes and points that there are.)
                assert info.counts["box_pairs"] + info.counts["point_pairs"] <= 4 * n * n


def test_pairs_that_tie_and_boxes_without_extent():
    # Powers of two down to the least number: a tree as deep as there are exponents.
    P = np.ldexp(1.0, -np.arange(0, 1070, 10))
    assert d2ke.kernel_norm(P, sigma=1.0, method="wspd", eps=0.1) > 0
    exact = d2ke.kernel_norm(P, sigma=1.0) ** 2
    for method in ("dualtree", "wspd"):
        found = d2ke.kernel_norm(P, sigma=1.0, method=method, eps=0.01) ** 2
        assert abs(found - exact) <= 0.01 * len(P) ** 2
    tree = dual_tree.Tree(np.zeros((50, 2)), np.ones((50, 1)), 1)
    assert tree.n_nodes == 1
    close = np.array([[1.0], [np.nextafter(1.0, 2)]] * 40)
    assert dual_tree.Tree(close, np.ones((80, 1)), 1).n_nodes == 3


@pytest.mark.parametrize("d", [1, 2, 3, 5, 10, 100])
@pytest.mark.parametrize("eps", EPS)
def test_random_features_keep_their_promise(d, eps):
    # At most delta of the seeds may miss; 200 are counted where that is quick. For the smaller
    # eps the sets are near each other, where fewer frequencies are enough.
    rng = np.random.default_rng(d)
    P, Q = rng.standard_normal((2, 2, d))
    if eps < 0.1:
        Q = P + 0.2 * Q
    seeds, delta = 200 if eps > 1e-3 and d < 100 else 20, 0.05
    sigma = math.sqrt(d)
    exact = d2ke.kernel_distance(P, Q, sigma=sigma, info=True).squared
    W = 2.0
    missed = stopped = 0
    for seed in range(seeds):
        info = d2ke.kernel_distance(
            P, Q, sigma=sigma, method="rff", eps=eps, delta=delta, seed=seed, info=True
        )
        missed += abs(info.squared - exact) > eps * W**2
        stopped += info.counts["features"] < 2 * random_fourier.needed(eps / 4, delta)
        assert info.bound <= eps * W**2 * (1 + 1e-9)
        assert abs(info.squared - exact) <= 7 * info.standard_error
    assert missed <= delta * seeds
    assert stopped == seeds or eps == 0.1


def test_random_features_have_the_right_mean_and_error():
    rng = np.random.default_rng(3)
    P, Q = rng.standard_normal((4, 2)), rng.standard_normal((5, 2)) + 1
    for kernel in ("gaussian", "laplace"):
        exact = d2ke.kernel_distance(P, Q, sigma=1.3, kernel=kernel, info=True).squared
        infos = [
            d2ke.kernel_distance(
                P, Q, sigma=1.3, kernel=kernel, method="rff", eps=0.1, seed=seed, info=True
            )
            for seed in range(200)
        ]
        errors = np.array([(i.squared - exact) / i.standard_error for i in infos])
        assert abs(errors.mean()) < 0.4
        assert 0.7 < errors.std() < 1.3


def test_far_arguments_of_the_features():
    # Arguments beyond 2^20 take another way, with the same results near it.
    rng = np.random.default_rng(0)
    points, omega = rng.standard_normal((40, 2)), rng.standard_normal((2, 70)) * 100
    vectors, offsets = rng.standard_normal((40, 3)), np.array([0, 15, 40])
    Z = random_fourier.transforms(points, vectors, offsets, omega, 1)
    phases = np.exp(1j * points @ omega)
    for i in range(2):
        part = slice(offsets[i], offsets[i + 1])
        expected = vectors[part].T @ phases[part]
        np.testing.assert_allclose(Z[i, :, 0] + 1j * Z[i, :, 1], expected, atol=1e-12)
    huge = random_fourier.transforms(points * 1e7, vectors, offsets, omega, 1)
    expected = vectors[15:].T @ np.exp(1j * ((points[15:] * 1e7) @ omega))
    np.testing.assert_allclose(huge[1, :, 0] + 1j * huge[1, :, 1], expected, atol=1e-4)


def test_sine_and_cosine(isa):
    arguments = np.concatenate(
        [np.linspace(-20, 20, 999), np.random.default_rng(0).uniform(-(2**20), 2**20, 5000),
         np.arange(-40, 40) * np.pi / 4, [0.0, 1e-300, 2.0**20 - 1]]
    )  # fmt: skip
    width = expansions.FREQUENCIES
    arguments = np.resize(arguments, -(-len(arguments) // width) * width)
    found = expansions.fourier(
        np.ones((1, 1)), np.ones((1, 1)), np.array([0, 1]), arguments[None], False, 1
    )[0, 0]
    np.testing.assert_allclose(found[0], np.cos(arguments), rtol=0, atol=3e-16)
    np.testing.assert_allclose(found[1], np.sin(arguments), rtol=0, atol=3e-16)


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_taylor_features_are_the_expansion(isa, d):
    rng = np.random.default_rng(d)
    degree = 6
    points, vectors = rng.standard_normal((37, d)) * 0.5, rng.standard_normal((37, 2))
    terms = fast_gauss.terms_of(d, degree)
    powers = expansions.exponents(d, degree, terms)
    assert len({tuple(p) for p in powers}) == terms
    assert powers.sum(axis=1).max() == degree - 1
    found = fast_gauss.features(points, vectors, np.array([0, 10, 37]), degree, 1)
    factorials = np.prod([[math.factorial(int(k)) for k in row] for row in powers], axis=1)
    scale = np.sqrt(2.0 ** powers.sum(axis=1) / factorials)
    phi = np.exp(-np.square(points).sum(axis=1))[:, None] * scale * np.prod(
        points[:, None, :] ** powers, axis=2
    )  # fmt: skip
    np.testing.assert_allclose(found[0], vectors[:10].T @ phi[:10], rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(found[1], vectors[10:].T @ phi[10:], rtol=1e-11, atol=1e-13)


def test_degree_is_the_least():
    from scipy.stats import poisson

    for radius in (0.0, 0.3, 1.0, 3.0):
        for eps in (0.5, 1e-3, 1e-9):
            t = fast_gauss.degree_needed(radius, eps)
            assert poisson.sf(t - 1, 2 * radius**2) <= eps
            assert t == 1 or poisson.sf(t - 2, 2 * radius**2) > eps * (1 - 1e-6)
            paper = max(4 * math.e * (2 * radius) ** 2, math.log2(1 / eps))
            assert t <= max(paper, 1) + 1


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("eps", EPS)
def test_taylor_features_about_many_centres(d, eps):
    rng = np.random.default_rng(d)
    points = rng.random((800, d)) + (rng.random((800, 1)) < 0.3)
    vectors = rng.standard_normal((800, 2))
    for sigma in (0.02, 0.1):
        kernel = Kernel("gaussian", sigma)
        exact = pair_sums.norm(points, vectors, kernel, 1)
        total = np.linalg.norm(vectors, axis=1).sum()
        unit = math.sqrt(2) * sigma
        for cluster in (0.25, 1.0, 2.0):
            degree = fast_gauss.degree_of_clusters(cluster, eps)
            chosen = fast_gauss.ExpansionPlan(degree, fast_gauss.terms_of(d, degree), cluster, 0.0)
            if chosen.terms > 3000:
                continue
            found = fast_gauss._clustered(points / unit, vectors, chosen, eps, 1)
            assert found.bound == pytest.approx(eps * total**2)
            # The absolute sum would be as far off as the bound; a random one is nearer.
            assert abs(found.value - exact) <= 0.1 * found.bound
            positive = np.abs(vectors[:, :1])
            found = fast_gauss._clustered(points / unit, positive, chosen, eps, 1)
            exact_positive = pair_sums.norm(points, positive, kernel, 1)
            assert abs(found.value - exact_positive) <= found.bound
            assert found.counts["centres"] > 1


@pytest.mark.parametrize("cluster", [0.3, 1.0, 2.5])
def test_degree_of_clusters_bounds_every_pair(cluster):
    from scipy.stats import poisson

    for eps in (0.1, 1e-3, 1e-6):
        t = fast_gauss.degree_of_clusters(cluster, eps)
        x, y = np.meshgrid(np.linspace(0, cluster, 60), np.linspace(0, 12, 700))
        worst = (np.exp(-np.square(x - y)) * poisson.sf(t - 1, 2 * x * y)).max()
        assert worst <= eps
        less = (np.exp(-np.square(x - y)) * poisson.sf(t - 2, 2 * x * y)).max()
        assert less > 0.8 * eps or t <= math.ceil(2 * cluster**2)


def test_plan_of_centres():
    rng = np.random.default_rng(0)
    points = rng.random((20000, 2))
    assert fast_gauss.plan_expansion(points, 1.0, 1e-3).cluster == 0
    assert fast_gauss.plan_expansion(points, 0.01, 1e-3).cluster > 0
    exact = d2ke.kernel_norm(points[:5000], sigma=0.02, info=True).squared
    info = d2ke.kernel_norm(points[:5000], sigma=0.02, method="ifgt", eps=1e-4, info=True)
    assert info.counts["centres"] > 1
    assert abs(info.squared - exact) <= info.bound <= 1e-4 * 5000**2 * (1 + 1e-9)


# ---- threads, bits, interruption


@pytest.mark.parametrize("method", ["exact", "dualtree", "wspd", "fourier", "rff", "ifgt"])
def test_same_bits_for_any_number_of_threads(method):
    rng = np.random.default_rng(2)
    P, Q = rng.random((900, 2)), rng.random((1300, 2))
    given = {"sigma": 0.2 if method != "ifgt" else 1.0, "method": method}
    if method != "exact":
        given["eps"] = 0.05
    one = d2ke.kernel_distance(P, Q, n_threads=1, info=True, **given)
    assert one == d2ke.kernel_distance(P, Q, n_threads=3, info=True, **given)


INTERRUPT = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
import d2ke
import threading, os, time
P = np.random.default_rng(0).random(({n}, 3))
at = []
def interrupt():
    at.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)
threading.Timer(0.7, interrupt).start()
try:
    d2ke.kernel_norm(P, {call})
except KeyboardInterrupt:
    print("interrupted" if time.perf_counter() - at[0] < 1 else "late")
print("usable" if d2ke.kernel_norm(P[:1], sigma=1.0) == 1 else "broken")
"""


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
@pytest.mark.parametrize(
    ("n", "call"),
    [
        (10**6, "sigma=0.1, method='exact', n_threads=2"),
        (10**6, "sigma=0.1, method='exact', n_threads=1, kernel='laplace'"),
        (300_000, "sigma=10.0, method='dualtree', eps=1e-9, n_threads=2"),
        (100_000, "sigma=10.0, method='wspd', eps=1e-6, n_threads=1"),
        (10**6, "sigma=0.01, method='rff', eps=1e-4, n_threads=2"),
    ],
)
def test_interrupt(n, call):
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPT.format(n=n, call=call)],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.stdout.split() == ["interrupted", "usable"], done.stderr


# ---- auto, information


def test_auto_says_what_it_picks():
    rng = np.random.default_rng(0)
    few = d2ke.kernel_distance(
        rng.random((50, 2)), rng.random((50, 2)), sigma=1, eps=0.1, info=True
    )
    assert few.method == "exact"
    assert "few" in few.reason
    points = rng.random((20000, 2))
    u = np.ones((20000, 1))
    narrow, wide = (
        choose(points, u, Kernel("gaussian", sigma), Accuracy(2.5e-4)) for sigma in (0.003, 1.0)
    )
    assert narrow[0] == "dualtree"
    assert wide[0] == "fourier"
    assert "seconds" in wide[1]
    assert choose(points, u, Kernel("gaussian", 1.0), Accuracy(None))[0] == "exact"
    high = rng.standard_normal((20000, 20))
    assert choose(high, u, Kernel("gaussian", 5.0), Accuracy(2.5e-2))[0] == "rff"


def test_information():
    P = np.random.default_rng(0).random((30, 2))
    info = d2ke.kernel_distance(P, P + 0.1, sigma=1.0, method="rff", eps=0.1, info=True)
    assert (info.delta, info.eps, info.sigma, info.discretisation) == (0.01, 0.1, 1.0, 0.0)
    assert info.standard_error < info.bound
    assert info.counts["points"] == 60
    with pytest.raises(dataclasses.FrozenInstanceError):
        info.value = 1.0
    assert pickle.loads(pickle.dumps(info)) == info
    same = d2ke.kernel_distance(P, P, sigma=1.0, method="rff", eps=0.1, info=True)
    assert (same.squared, same.method) == (0.0, "closed form")


# ---- the scale


def test_median_heuristic():
    P, Q = [[0.0, 0.0], [0.0, 0.0], [3.0, 4.0]], [[0.0, 0.0]]
    assert d2ke.kernel_distance(P, Q, sigma="median", info=True).sigma == 5.0
    assert d2ke.kernel_distance([[1.0]] * 5, [[1.0]], sigma="median", info=True).sigma == 1.0
    assert d2ke.kernel_distance([[1.0]] * 5, [[1.0]], sigma="median") == pytest.approx(4.0)
    # Most points equal: 0 must not come out.
    heavy = np.zeros((1000, 2))
    heavy[0] = 2, 0
    assert d2ke.kernel_norm(heavy, sigma="median", info=True).sigma == 2.0
    rng = np.random.default_rng(0)
    many = rng.standard_normal((30000, 3))
    assert median_scale.bandwidth("median", [many]) == pytest.approx(2.18, rel=0.05)
    assert median_scale.bandwidth("median", [many[:9], many[9:]]) == median_scale.bandwidth(
        "median", [many[9:], many[:9]]
    )
    for scale in (1e-300, 1e300, 5e-324):
        sigma = median_scale.bandwidth("median", [np.array([[0.0, 1], [1, 1], [1, 0]]) * scale])
        assert 0 < sigma < math.inf
    assert median_scale.bandwidth("median", [np.array([[-1.7e308], [1.7e308]])]) < math.inf


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
    with pytest.raises(ValueError, match="sigma = 1e-300 is too small for coordinates"):
        d2ke.kernel_distance(P * 1e200, Q, sigma=1e-300)


# ---- curves and surfaces


def test_curve():
    circle = np.stack([np.cos(np.arange(40) / 20 * np.pi), np.sin(np.arange(40) / 20 * np.pi)], 1)
    c = d2ke.curve(circle, closed=True)
    assert c.vectors.sum(axis=0) == pytest.approx([0, 0], abs=1e-12)
    back = d2ke.curve(circle[::-1], closed=True)
    K = reference.kernel_values(c.points, c.points, 0.5)
    expected = (K * (c.vectors @ c.vectors.T)).sum()
    assert d2ke.kernel_norm(c, sigma=0.5) ** 2 == pytest.approx(expected)
    # The same path backwards is minus the current, and the same varifold.
    assert d2ke.kernel_distance(c, back, sigma=0.5) == pytest.approx(2 * math.sqrt(expected))
    one, other = (d2ke.curve(p, closed=True, oriented=False) for p in (circle, circle[::-1]))
    assert d2ke.kernel_distance(one, other, sigma=0.5) == pytest.approx(0, abs=1e-7)
    t = c.vectors / np.sqrt(np.linalg.norm(c.vectors, axis=1))[:, None]
    expected = (K * (t @ t.T) ** 2).sum()
    assert d2ke.kernel_norm(one, sigma=0.5) ** 2 == pytest.approx(expected)


@pytest.mark.parametrize("method", ["dualtree", "wspd", "fourier", "rff", "ifgt"])
@pytest.mark.parametrize("oriented", [True, False])
def test_methods_on_curves(method, oriented):
    s = np.linspace(0, 2, 60)
    P = d2ke.curve(np.stack([s, np.sin(3 * s), s**2], 1), oriented=oriented)
    Q = d2ke.curve(np.stack([s, np.sin(3 * s + 0.5), s], 1), oriented=oriented)
    exact = d2ke.kernel_distance(P, Q, sigma=2.0, info=True)
    eps = 0.02
    info = d2ke.kernel_distance(P, Q, sigma=2.0, method=method, eps=eps, info=True)
    assert abs(info.squared - exact.squared) <= info.bound + 1e-12
    assert info.bound <= eps * info.total**2 * (1 + 1e-9)


def test_curve_by_gap_and_by_samples():
    P = d2ke.curve([[0.0, 0.0], [3.0, 0.0], [3.0, 1.0]], gap=0.1)
    assert P.vectors.sum(axis=0) == pytest.approx([3, 1])
    assert P.gap <= 0.1
    assert len(P) == 20
    fine = d2ke.curve([[0.0, 0.0], [3.0, 0.0], [3.0, 1.0]], gap=1e-3)
    for kernel in ("gaussian", "laplace"):
        coarse = d2ke.kernel_distance(P, fine, sigma=0.5, kernel=kernel, info=True)
        assert coarse.value <= coarse.discretisation
    random = [d2ke.curve([[0, 0], [3, 0], [3, 1]], n_samples=400, seed=s) for s in range(20)]
    infos = [d2ke.kernel_distance(P, fine, sigma=0.5, delta=0.1, info=True) for P in random]
    assert sum(i.value > i.discretisation for i in infos) <= 2
    mean = np.mean([i.squared for i in infos])
    # E D^2 = (W^2 - |P|^2) / m for vectors of one length.
    expected = (4.0**2 - d2ke.kernel_norm(fine, sigma=0.5) ** 2) / 400
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
    inside_out = d2ke.mesh(vertices, faces[:, ::-1])
    assert d2ke.kernel_distance(m, inside_out, sigma=0.5) == pytest.approx(
        2 * d2ke.kernel_norm(m, sigma=0.5)
    )
    both = [d2ke.mesh(vertices, f, oriented=False) for f in (faces, faces[:, ::-1])]
    assert d2ke.kernel_distance(*both, sigma=0.5) == pytest.approx(0, abs=1e-7)
    fine = d2ke.mesh(vertices, faces, gap=0.05)
    assert fine.gap <= 0.05
    assert fine.vectors.sum(axis=0) == pytest.approx([0, 0, 0], abs=1e-12)
    assert fine.total == pytest.approx(m.total)
    middle = (np.abs(m.vectors).sum(axis=1)[:, None] * m.points).sum(axis=0)
    assert (np.abs(fine.vectors).sum(axis=1)[:, None] * fine.points).sum(axis=0) == pytest.approx(
        middle
    )
    info = d2ke.kernel_distance(m, fine, sigma=0.5, info=True)
    assert info.value <= info.discretisation
    sampled = d2ke.mesh(vertices, faces, n_samples=4000, seed=1)
    assert sampled.total == pytest.approx(m.total)
    info = d2ke.kernel_distance(sampled, fine, sigma=0.5, info=True)
    assert 0 < info.value <= info.discretisation
    assert np.linalg.norm(sampled.points, axis=1).max() <= 1 + 1e-12


def test_subdivided_triangle():
    m = d2ke.mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]], gap=0.3)
    k = math.isqrt(len(m))
    assert k * k == len(m) > 1
    assert len(np.unique(m.points.round(9), axis=0)) == len(m)
    assert m.points.mean(axis=0) == pytest.approx([1 / 3, 1 / 3, 0])
    assert (m.points.sum(axis=1) < 1).all()


def test_degenerate_shapes():
    flat = d2ke.mesh([[0, 0, 0], [1, 0, 0], [2, 0, 0]], [[0, 1, 2], [0, 0, 1]])
    assert flat.total == 0
    assert d2ke.kernel_norm(flat, sigma=1.0) == 0.0
    info = d2ke.kernel_distance(flat, flat, sigma=1.0, method="ifgt", eps=0.1, info=True)
    assert (info.squared, info.total, info.bound) == (0.0, 0.0, 0.0)
    unoriented = d2ke.mesh([[0, 0, 0], [1, 0, 0], [2, 0, 0]], [[0, 1, 2]], oriented=False)
    assert np.isfinite(unoriented.vectors).all()
    with pytest.raises(ValueError, match=r"size 0\.0 cannot be sampled"):
        d2ke.curve([[1.0, 1.0], [1.0, 1.0]], n_samples=5)


# ---- many sets


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32), kernel=st.sampled_from(["gaussian", "laplace", "trivial",
                                                           "linear"]))  # fmt: skip
def test_matrix(isa, seed, kernel):
    rng = np.random.default_rng(seed)
    sets = [np.round(rng.standard_normal((n, 2)), 1) for n in rng.integers(1, 150, 6)]
    sets.append(sets[2])
    weights = [rng.standard_normal(len(s)) for s in sets]
    weights[-1] = weights[2]
    given = {"kernel": kernel} | ({"sigma": 0.7} if kernel in ("gaussian", "laplace") else {})
    D = d2ke.kernel_distance_matrix(sets, weights_x=weights, **given)
    assert D.shape == (7, 7)
    assert (D == D.T).all()
    assert (D.diagonal() == 0).all()
    assert D[2, 6] == 0
    both = d2ke.kernel_distance_matrix(
        sets[:3], sets[1:], weights_x=weights[:3], weights_y=weights[1:], **given
    )
    np.testing.assert_allclose(both, D[:3, 1:], atol=1e-6)
    assert both[1, 0] == both[2, 1] == both[2, 5] == 0
    for i, j in [(0, 1), (3, 5), (4, 2)]:
        expected = d2ke.kernel_distance(
            sets[i], sets[j], weights_p=weights[i], weights_q=weights[j], **given
        )
        assert D[i, j] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_matrix_same_bits_for_any_number_of_threads():
    rng = np.random.default_rng(0)
    sets = [rng.random((n, 3)) for n in rng.integers(1, 200, 40)]
    for options in ({}, {"method": "rff", "n_features": 128}, {"method": "ifgt", "eps": 1e-3}):
        one, three = (
            d2ke.kernel_distance_matrix(sets, sigma=0.8, n_threads=t, **options) for t in (1, 3)
        )
        assert (one == three).all()


@pytest.mark.parametrize("method", ["rff", "ifgt", "auto"])
def test_features_keep_their_promise(method):
    rng = np.random.default_rng(1)
    sets = [rng.random((n, 2)) for n in (3, 8, 20, 5)]
    exact = d2ke.kernel_distance_matrix(sets, sigma=0.9)
    Z = d2ke.kernel_features(sets, sigma=0.9, method=method, eps=0.05)
    D = np.linalg.norm(Z[:, None] - Z, axis=2)
    W = np.array([(a + b) / 2 for a in map(len, sets) for b in map(len, sets)]).reshape(4, 4)
    assert (np.abs(D**2 - exact**2) <= 0.05 * W**2 + 1e-12).all()
    found = d2ke.kernel_distance_matrix(sets, sigma=0.9, method=method, eps=0.05)
    np.testing.assert_allclose(found, D, atol=1e-9)


def test_feature_map():
    rng = np.random.default_rng(1)
    sets = [rng.random((n, 2)) for n in (3, 8, 20)]
    phi = d2ke.kernel_feature_map(sets, sigma=0.5, n_features=40)
    assert (phi.method, phi.n_features) == ("rff", 40)
    np.testing.assert_array_equal(phi(sets[:2]), phi(sets)[:2])
    copied = pickle.loads(pickle.dumps(phi))
    np.testing.assert_array_equal(copied(sets), phi(sets))
    Z = d2ke.kernel_features(sets, sigma=0.5, n_features=80)
    # A longer map begins with the same frequencies.
    np.testing.assert_allclose(Z.reshape(3, 2, 40)[:, :, :20] * math.sqrt(2),
                               phi(sets).reshape(3, 2, 20))  # fmt: skip
    taylor_map = d2ke.kernel_feature_map(sets, sigma=0.5, eps=1e-3, method="ifgt")
    with pytest.raises(ValueError, match=r"sets\[1\] has a point at distance"):
        taylor_map([sets[0], sets[1] + 5])
    with pytest.raises(ValueError, match="the map is for measures of kind 'points' in 2"):
        phi([rng.random((4, 3))])
    curves = [d2ke.curve(s) for s in sets]
    Z = d2ke.kernel_features(curves, sigma=0.5, eps=1e-6)
    exact = d2ke.kernel_distance_matrix(curves, sigma=0.5)
    np.testing.assert_allclose(np.linalg.norm(Z[:, None] - Z, axis=2), exact, atol=0.05)


@pytest.mark.parametrize("dim", [1, 2, 3, 5])
def test_a_uniform_map_holds_for_sets_not_seen_yet(dim):
    rng = np.random.default_rng(dim)
    seen = [rng.random((4, dim)), rng.random((3, dim))]
    phi = d2ke.kernel_feature_map(seen, sigma=0.4, method="rff", eps=0.2, uniform=True)
    per_set = d2ke.kernel_feature_map(seen, sigma=0.4, method="rff", eps=0.2)
    assert phi.n_features > per_set.n_features
    # All kernel values of points of the ball at once, against the promise for one pair of them.
    points = rng.normal(size=(400, dim))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    points *= phi.radius * rng.random((400, 1)) ** (1 / dim)
    points += phi.centre
    Z = phi(list(points[:, None, :]))
    exact = reference.kernel_values(points, points, 0.4)
    assert np.abs(Z @ Z.T - exact).max() <= 0.2 / 4
    with pytest.raises(ValueError, match=r"sets\[0\] has a point at distance"):
        phi([seen[0] + 2])


@pytest.mark.parametrize("kernel", ["gaussian", "trivial"])
def test_a_set_is_at_distance_zero_from_itself_in_any_order(kernel):
    rng = np.random.default_rng(0)
    P = rng.integers(0, 3, (40, 2)).astype(float)
    w = rng.normal(size=40)
    order = rng.permutation(40)
    sigma = 1.0 if kernel == "gaussian" else None
    given = {"sigma": sigma, "kernel": kernel, "weights_p": w}
    assert d2ke.kernel_distance(P, P, weights_q=w, **given) == 0
    assert d2ke.kernel_distance(P, P[order], weights_q=w[order], **given) == 0


def test_uniform_maps_are_gaussian_and_need_eps():
    for arguments in ({"kernel": "laplace", "eps": 0.1}, {"n_features": 64}):
        with pytest.raises(ValueError, match="uniform=True is for the Gaussian kernel, and needs"):
            d2ke.kernel_feature_map([[0.0, 1.0]], sigma=1.0, uniform=True, **arguments)
    with pytest.raises(TypeError, match="uniform must be True or False, got 1"):
        d2ke.kernel_feature_map([[0.0, 1.0]], sigma=1.0, uniform=1, eps=0.1)


def test_euclidean_distances_of_long_features():
    rng = np.random.default_rng(0)
    base = rng.random((20, 2))
    sets = [base + 1e-9 * rng.random((20, 2)) for _ in range(80)] + [base, base]
    D = d2ke.kernel_distance_matrix(sets, sigma=0.3, n_features=64, method="rff")
    Z = d2ke.kernel_features(sets, sigma=0.3, n_features=64)
    np.testing.assert_allclose(D, np.linalg.norm(Z[:, None] - Z, axis=2), rtol=1e-6)
    assert D[80, 81] == 0


def test_neighbors():
    rng = np.random.default_rng(4)
    sets = [rng.random((12, 2)) + rng.random(2) for _ in range(25)]
    queries = [s + 0.01 for s in sets[:5]]
    full = d2ke.kernel_distance_matrix(queries, sets, sigma=0.4)
    distances, indices = d2ke.kernel_neighbors(queries, sets, 3, sigma=0.4)
    np.testing.assert_array_equal(indices, np.argsort(full, axis=1, kind="stable")[:, :3])
    np.testing.assert_array_equal(distances, np.sort(full, axis=1)[:, :3])
    assert (indices[:, 0] == np.arange(5)).all()
    for options in ({"method": "ifgt", "eps": 1e-4}, {"method": "rff", "n_features": 400},
                  {"method": "rff", "n_features": 16}):  # fmt: skip
        distances, indices = d2ke.kernel_neighbors(queries, sets, 25, sigma=0.4, **options)
        assert distances.shape == indices.shape == (5, 25)
        assert (np.diff(distances, axis=1) >= 0).all()
        assert (indices[:, 0] == np.arange(5)).all()


# ---- bad input


@pytest.mark.parametrize(
    ("P", "Q", "given", "error", "message"),
    [
        ([], [1.0], {}, ValueError, "P is empty: at least one point"),
        (np.zeros((3, 0)), [1.0], {}, ValueError, "P has shape"),
        ([[0.0, 1.0]], np.zeros((0, 2)), {}, ValueError, "Q is empty"),
        ([[0.0, np.nan]], [[0.0, 1.0]], {}, ValueError, r"P has nan at position \(0, 1\)"),
        ([[0.0, 1.0]], [[0.0, np.inf]], {}, ValueError, "Q has inf"),
        ([[0.0, 1.0]], [[0.0]], {}, ValueError, "P has points of 2 dimensions but Q has 1"),
        ("abc", [[0.0]], {}, TypeError, "P must be an array of points"),
        ([[1j]], [[0.0]], {}, TypeError, "P must hold real numbers"),
        ([0.0], [1.0], {"sigma": 0.0}, ValueError, "sigma must be a positive finite number"),
        ([0.0], [1.0], {"sigma": -1.0}, ValueError, "sigma must be a positive finite number"),
        ([0.0], [1.0], {"sigma": math.nan}, ValueError, "sigma must be a positive finite"),
        ([0.0], [1.0], {"sigma": "mean"}, ValueError, 'sigma must be a positive number or "med'),
        ([0.0], [1.0], {"sigma": None}, TypeError, "the gaussian kernel needs sigma"),
        ([0.0], [1.0], {"kernel": "linear"}, TypeError, "the linear kernel has no scale"),
        ([0.0], [1.0], {"kernel": "cubic"}, ValueError, "kernel must be one of"),
        ([0.0], [1.0], {"method": "fgt"}, ValueError, "method must be one of"),
        ([0.0], [1.0], {"method": "rff"}, TypeError, "needs eps"),
        ([0.0], [1.0], {"eps": 0.0}, ValueError, "eps must be a positive"),
        ([0.0], [1.0], {"eps": 1.0}, ValueError, "eps must be between 0 and 1"),
        ([0.0], [1.0], {"delta": 2.0}, ValueError, "delta must be between 0 and 1"),
        ([0.0], [1.0], {"method": "rff", "eps": 0.1, "seed": -1}, ValueError, "seed must be"),
        ([0.0], [1.0], {"method": "ifgt", "eps": 0.1, "kernel": "laplace"}, ValueError, "Gaussian"),
        ([0.0], [1.0], {"n_threads": 0}, ValueError, "n_threads must be"),
        ([0.0], [1.0], {"weights_p": [1.0, 2.0]}, ValueError, r"weights_p must have shape \(1,\)"),
        ([0.0], [1.0], {"weights_q": [math.nan]}, ValueError, r"weights_q\[0\] is nan"),
        ([0.0], [1.0], {"weights_q": ["a"]}, TypeError, "weights_q must hold real numbers"),
        ([0.0], [1.0], {"weights_q": [1e200]}, ValueError, "the weights are too large"),
        (d2ke.curve([[0, 0], [1, 1]]), [[0.0, 1.0]], {}, TypeError, "P is a measure of kind 'curv"),
        (np.eye(12), np.eye(12) * 9, {"method": "ifgt", "eps": 1e-3}, ValueError,
         r'method="ifgt" would need .* features .* use method="dualtree"'),
        (np.eye(60) * 1e5, np.eye(60) * 9, {"method": "ifgt", "eps": 1e-3}, ValueError,
         "would need .* features"),
    ],
)  # fmt: skip
def test_bad_input(P, Q, given, error, message):
    with pytest.raises(error, match=message):
        d2ke.kernel_distance(P, Q, **({"sigma": 1.0} | given))


def test_weights_zero():
    info = d2ke.kernel_distance(
        [0.0, 1.0], [2.0], sigma=1.0, weights_p=[0, 0], weights_q=[0], method="dualtree", eps=0.1,
        info=True,
    )  # fmt: skip
    assert (info.squared, info.total, info.bound) == (0.0, 0.0, 0.0)
    assert d2ke.kernel_distance([0.0], [2.0], sigma=1.0, weights_p=[0.0]) == 1.0
    tiny = d2ke.kernel_norm([0.0], sigma=1.0, weights_p=[1e-200], method="rff", eps=0.1)
    assert tiny == pytest.approx(0, abs=1e-190)


def test_bad_shapes_and_sets():
    square = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    cases = [
        (lambda: d2ke.mesh(square, [[0, 1, 3]]), ValueError, r"faces\[0, 2\] is 3"),
        (lambda: d2ke.mesh(square, [[0, 1, -1]]), ValueError, r"faces\[0, 2\] is -1"),
        (lambda: d2ke.mesh(square, [[0.0, 1, 2]]), TypeError, "faces must hold integers"),
        (lambda: d2ke.mesh(square, [[0, 1]]), ValueError, "faces must have shape"),
        (lambda: d2ke.mesh([[0, 0]], [[0, 0, 0]]), ValueError, r"vertices must have shape \(n, 3"),
        (lambda: d2ke.curve([[0, 0]]), ValueError, "at least 2 vertices"),
        (lambda: d2ke.curve([[0, 0], [1, 1]], gap=0.0), ValueError, "gap must be a positive"),
        (lambda: d2ke.curve([[0, 0], [1, 1]], gap=1e-12), ValueError, "would need"),
        (lambda: d2ke.curve([[0, 0], [1, 1]], gap=1, n_samples=2), TypeError, "not both"),
        (lambda: d2ke.kernel_distance_matrix([[[1.0]], np.zeros((0, 1))], sigma=1), ValueError,
         r"X\[1\] is empty"),
        (lambda: d2ke.kernel_distance_matrix([[[1.0]]], [[[1.0, 2]]], sigma=1), ValueError,
         r"X\[0\] has points of 1 dim"),
        (lambda: d2ke.kernel_distance_matrix([[1.0]], sigma=1, eps=0.1), TypeError,
         "eps has no meaning"),
        (lambda: d2ke.kernel_distance_matrix([[1.0]], sigma=1, weights_y=[[1]]), TypeError,
         "weights_y is given"),
        (lambda: d2ke.kernel_distance_matrix([[1.0]], sigma=1, weights_x=[]), ValueError,
         "weights_x must hold 1 arrays"),
        (lambda: d2ke.kernel_features([[1.0]], sigma=1), TypeError, "one of the two"),
        (lambda: d2ke.kernel_features([[1.0]], sigma=1, n_features=3), ValueError, "multiple of 2"),
        (lambda: d2ke.kernel_features(np.ones((2, 3, 40)), sigma=1, eps=1e-6, method="rff"),
         ValueError, "would need"),
        (lambda: d2ke.kernel_features([[1.0]], sigma=1, n_features=4, method="ifgt"), ValueError,
         "needs eps"),
        (lambda: d2ke.kernel_neighbors([[1.0]], [[1.0]], 2, sigma=1), ValueError, "k must be"),
        (lambda: d2ke.kernel_distance_matrix(d2ke.curve([[0, 0], [1, 1]]), sigma=1), TypeError,
         "X is one Measure"),
    ]  # fmt: skip
    for call, error, message in cases:
        with pytest.raises(error, match=message):
            call()


def test_merging():
    points = np.array([[0.0, 1.0], [-0.0, 1.0], [2.0, 2.0], [0.0, 0.0]])
    merged, vectors = measure.merged(points, np.array([[1.0], [2.0], [0.0], [-1.0]]))
    assert merged.tolist() == [[0.0, 0.0], [0.0, 1.0]]
    assert vectors.tolist() == [[-1.0], [3.0]]


@pytest.mark.parametrize("far", [1e160, 1e300])
def test_points_beyond_all_features(far):
    """Squares of the radius overflow; ifgt is refused, the others are exact."""
    P, Q = np.zeros((1, 2)), np.array([[far, 0.0]])
    with pytest.raises(ValueError, match=r"ifgt.* would need at least .* features"):
        d2ke.kernel_distance(P, Q, sigma=1.0, method="ifgt", eps=0.1)
    for method in ("exact", "dualtree", "wspd", "auto"):
        found = d2ke.kernel_distance(P, Q, sigma=1.0, method=method, eps=0.1)
        assert found == pytest.approx(2**0.5)
