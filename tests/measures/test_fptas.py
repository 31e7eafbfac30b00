# SPDX-License-Identifier: BSD-3-Clause
"""Alignment by a lattice, and the search against it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from measure_cases import kappa, some_rotation
from reference import examples

import d2ke
from d2ke.measures import (
    fptas,
    rotations,
)
from d2ke.measures.quasi_newton import Ascent, Pair


@st.composite
def small_sets(draw, most=8, motion="rigid"):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, m = draw(st.integers(1, most)), draw(st.integers(1, most))
    P = rng.standard_normal((n, 2)) * draw(st.sampled_from([0.3, 1.0, 3.0]))
    Q = rng.standard_normal((m, 2)) * draw(st.sampled_from([0.3, 1.0, 3.0]))
    if draw(st.booleans()):
        P, Q = np.round(P), np.round(Q)
    if motion != "rotation":
        Q = Q + 20 * rng.standard_normal(2)
    w = draw(st.sampled_from([None, rng.random(n), rng.integers(0, 3, n).astype(float)]))
    return P, Q, w


def unless_refused(call):
    """What the call returns, or None if there would be too many candidates."""
    try:
        return call()
    except ValueError as error:
        if "would try up to" not in str(error):
            raise
        return None


def brute_force(P, Q, sigma, w):
    """Best kappa of translations of a fine grid around all that can be best."""
    best = 0.0
    side = np.linspace(-4 * sigma, 4 * sigma, 33)
    offsets = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    for p in P:
        for q in Q:
            for T in p - q + offsets:
                best = max(best, kappa(P, Q + T, sigma, w))
    return best


@given(sets=small_sets(3))
@settings(max_examples=examples(8))
def test_exhaustive_translation_is_not_beaten_by_a_grid(sets):
    P, Q, w = sets
    found = d2ke.kernel_align(
        P, Q, sigma=1.0, weights_p=w, motion="translation", method="fptas", eps=0.3
    )
    assert found.kappa >= brute_force(P, Q, 1.0, w) * (1 - 1e-9)


@given(sets=small_sets(6), motion=st.sampled_from(["translation", "rotation", "rigid"]))
@settings(max_examples=examples(20))
def test_lattice_holds_what_is_promised(sets, motion):
    P, Q, w = sets
    eps, w = 0.5, np.ones(len(P)) if w is None else w
    Q = Q - Q.mean(axis=0)  # or the net of rotations about the origin is too fine
    pair = Pair(P, w[:, None], Q, np.ones((len(Q), 1)), 1.0)
    ascent = Ascent(rotations.Action("points", 2), motion != "translation",
                    motion != "rotation", Q, np.ones(len(Q)), 1)  # fmt: skip
    slack = eps * w.sum() * len(Q)
    found = unless_refused(lambda: fptas.candidates(pair, ascent, slack))
    if found is None or not w.any():
        return
    lattice, _ = found
    best = d2ke.kernel_align(P, Q, sigma=1.0, motion=motion, weights_p=w).kappa
    # D_K^2 counts kappa twice.
    assert ascent.values(pair, lattice.R, lattice.t).max() >= best - slack / 2 - 1e-9


@given(sets=small_sets(6), motion=st.sampled_from(["translation", "rotation", "rigid"]))
@settings(max_examples=examples(25))
def test_auto_is_as_good_as_the_exhaustive_search(sets, motion):
    P, Q, w = sets
    if motion == "rotation":
        Q = Q - Q.mean(axis=0)
    given = {"sigma": 1.0, "motion": motion, "weights_p": w}
    oracle = unless_refused(lambda: d2ke.kernel_align(P, Q, method="fptas", eps=0.4, **given))
    if oracle is None:
        return
    auto = d2ke.kernel_align(P, Q, **given)
    assert auto.distance**2 <= oracle.distance**2 + 1e-9 * (1 + oracle.distance_before**2)
    assert (oracle.method, oracle.eps, auto.method, auto.eps) == ("fptas", 0.4, "auto", None)
    assert oracle.counts["candidates"] > 0


def test_exhaustive_of_many_points():
    rng = np.random.default_rng(6)
    P, Q = 4 * rng.standard_normal((16, 2)), 4 * rng.standard_normal((16, 2)) + 30
    given = {"sigma": 1.0, "motion": "translation"}
    oracle = d2ke.kernel_align(P, Q, method="fptas", eps=0.1, **given)
    auto = d2ke.kernel_align(P, Q, **given)
    assert auto.distance == pytest.approx(oracle.distance, rel=1e-9)


def test_exhaustive_in_space():
    rng = np.random.default_rng(6)
    P = rng.standard_normal((3, 3))
    Q = P @ some_rotation(rng, 3).T
    found = d2ke.kernel_align(P, Q, sigma=2.0, motion="rotation", method="fptas", eps=0.5)
    assert found.distance < 1e-5
