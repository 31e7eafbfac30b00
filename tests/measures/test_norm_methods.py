# SPDX-License-Identifier: BSD-3-Clause
"""Every method of the kernel distance against its promised accuracy."""

import itertools
import math
import re
from dataclasses import replace

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from measure_cases import pairs, total

import d2ke
from d2ke._ext import expansions
from d2ke.measures import (
    dual_tree,
    fast_gauss,
    fourier_series,
    pair_sums,
    random_fourier,
)
from d2ke.measures.kernels import Accuracy, Kernel, NormProblem

EPS = (1e-1, 1e-2, 1e-3)


@settings(max_examples=reference.examples(40))
@given(pair=pairs((1, 2, 3, 5), 60), eps=st.sampled_from([*EPS, 1e-9]),
       kernel=st.sampled_from(["gaussian", "laplace"]))  # fmt: skip
@pytest.mark.parametrize("method", ["dualtree", "wspd", "ifgt", "fourier"])
def test_methods_keep_their_promise(method, pair, eps, kernel):
    P, Q, w, v, sigma = pair
    kernel = kernel if method == "dualtree" else "gaussian"
    options = {"sigma": sigma, "kernel": kernel, "method": method, "eps": eps}
    try:
        info = d2ke.kernel_distance(P, Q, weights_p=w, weights_q=v, **options)
    except ValueError as refusal:
        many = re.search('would need .* features .* use method="dualtree"', str(refusal))
        if method in ("dualtree", "wspd") or not many:
            raise
        return
    W = total(P, Q, w, v)
    rounding = 1e-12 * W**2
    if info.method != "closed form":
        assert info.method == method
        assert info.bound <= eps * W**2 + rounding
    expected = reference.kernel_distance_squared(P, Q, sigma, kernel, w, v)
    assert abs(info.squared - max(expected, 0)) <= info.bound + rounding


@pytest.mark.sample(2)
def test_fourier_series_of_all_shapes(isa):
    rng = np.random.default_rng(3)
    sizes = itertools.product((1, 2, 3, 4), (0.1, 0.4, 3.0))
    for (d, sigma), channels in zip(sizes, itertools.cycle((1, 2, 3, 2)), strict=False):
        points = rng.random((90, d)) * rng.integers(0, 3, d)  # extents of 0 too
        vectors = rng.standard_normal((90, channels))
        K = reference.kernel_values(points, points, sigma)
        exact = np.sum(K * (vectors @ vectors.T))
        square = np.linalg.norm(vectors, axis=1).sum() ** 2
        for eps in (1.0, 1e-4, 1e-12):
            try:
                problem = NormProblem(points, vectors, Kernel("gaussian", sigma), Accuracy(eps), 2)
                found = fourier_series.series_norm(problem)
            except ValueError:
                assert (d, eps) == (4, 1e-12) or sigma == 0.1
                continue
            assert abs(found.value - exact) <= found.bound <= (eps + 1e-12) * square
            assert fourier_series.series_norm(replace(problem, n_threads=1)) == found


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


@pytest.mark.parametrize("n", [300, 2500])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_trees_of_many_boxes(isa, n, d):
    rng = np.random.default_rng(n + d)
    P, Q = rng.random((n, d)), rng.random((n, d)) ** 2
    for sigma in (0.01, 0.2):
        exact = d2ke.kernel_distance(P, Q, sigma=sigma, method="exact").squared
        for eps in (0.3, 0.03):
            for method in ("dualtree", "wspd") if n < 1000 else ("dualtree",):
                info = d2ke.kernel_distance(P, Q, sigma=sigma, method=method, eps=eps)
                assert abs(info.squared - exact) <= info.bound <= eps * n**2 * (1 + 1e-9)
                # (1: all pairs of boxes and points that there are.)
                assert info.counts["box_pairs"] + info.counts["point_pairs"] <= 4 * n * n


def test_pairs_that_tie_and_boxes_without_extent():
    # Powers of two down to the least number: a tree as deep as there are exponents.
    P = np.ldexp(1.0, -np.arange(0, 1070, 10))
    assert d2ke.measures.kernel_norm(P, sigma=1.0, method="wspd", eps=0.1) > 0
    exact = d2ke.measures.kernel_norm(P, sigma=1.0) ** 2
    for method in ("dualtree", "wspd"):
        found = d2ke.measures.kernel_norm(P, sigma=1.0, method=method, eps=0.01) ** 2
        assert abs(found - exact) <= 0.01 * len(P) ** 2
    tree = dual_tree.Tree(np.zeros((50, 2)), np.ones((50, 1)), 1)
    assert tree.n_nodes == 1
    close = np.array([[1.0], [np.nextafter(1.0, 2)]] * 40)
    assert dual_tree.Tree(close, np.ones((80, 1)), 1).n_nodes == 3


@pytest.mark.sample(3)
@pytest.mark.parametrize("d", [1, 2, 3, 5, 10, 100])
@pytest.mark.parametrize("eps", EPS)
def test_random_features_keep_their_promise(d, eps):
    # At most delta of the seeds may miss; 60 are counted where that is quick. For the smaller
    # eps the sets are near each other, where fewer frequencies are enough.
    rng = np.random.default_rng(d)
    P, Q = rng.standard_normal((2, 2, d))
    if eps < 0.1:
        Q = P + 0.2 * Q
    seeds, delta = 60 if eps > 1e-3 and d < 100 else 20, 0.05
    sigma = math.sqrt(d)
    exact = d2ke.kernel_distance(P, Q, sigma=sigma).squared
    W = 2.0
    missed = stopped = 0
    for seed in range(seeds):
        info = d2ke.kernel_distance(
            P, Q, sigma=sigma, method="rff", eps=eps, delta=delta, seed=seed
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
        exact = d2ke.kernel_distance(P, Q, sigma=1.3, kernel=kernel).squared
        infos = [
            d2ke.kernel_distance(P, Q, sigma=1.3, kernel=kernel, method="rff", eps=0.1, seed=seed)
            for seed in range(80)
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
    points = rng.random((300, d)) + (rng.random((300, 1)) < 0.3)
    vectors = rng.standard_normal((300, 2))
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
