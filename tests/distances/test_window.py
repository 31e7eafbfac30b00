# SPDX-License-Identifier: BSD-3-Clause
"""The distance of a short series to the nearest place of a long one."""

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

import d2ke
from d2ke._ext import isa

# Tiny arrays, which are meant as they are.
pytestmark = pytest.mark.filterwarnings("ignore:every item of .* has shape")


def pack(items):
    return d2ke.pack(items, channels_first=False)


@settings(max_examples=reference.examples(60), deadline=None)
@given(
    pair=reference.vector_pairs(dims=(1, 2, 3), longest=40, most=12),
    normalize=st.booleans(),
    dilation=st.sampled_from([1, 2, 5, 100]),
)
def test_definition(pair, normalize, dilation):
    X, Y = pair
    params = {"normalize": normalize, "dilation": dilation}
    D = d2ke.distance_matrix(pack(X), pack(Y), "window", **params)
    wanted = reference.matrix(reference.window, X, Y, **params)
    np.testing.assert_allclose(D, wanted, 1e-6, 1e-5)


@given(seed=st.integers(0, 2**32 - 1), normalize=st.booleans(), long=st.booleans())
def test_costs_add_up_to_the_square(seed, normalize, long):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(50 if long else 8, 2)), rng.normal(size=(12, 2))
    for dilation in (1, 3, 9):
        params = {"normalize": normalize, "dilation": dilation}
        path = d2ke.align(x, y, "window", **params)
        D = d2ke.distance_matrix(pack([x]), pack([y]), "window", **params)
        assert path.value == D[0, 0]
        assert path.costs.sum() == pytest.approx(path.value**2, rel=1e-5)
        assert len(path.pairs) == 12
        assert (path.pairs[:, 0] < len(x)).all()
    assert "window" in str(path)


def test_a_level_far_from_zero_costs_no_digits():
    rng = np.random.default_rng(1)
    x = 1e6 + 0.01 * rng.normal(size=300)
    y = x[100:120] + 5e5
    assert d2ke.align(x, y, "window").pairs[0, 0] == 100
    assert d2ke.distance_matrix([x], [y], "window")[0, 0] < 1e-4


def with_a_rest(rng, dtype, level=0.0):
    """Return two noisy shapes and between them 40 steps that vary by rounding alone."""
    x = np.concatenate([np.sin(np.arange(50) / 5), np.zeros(40), np.cos(np.arange(50) / 3) ** 3])
    x += 0.1 * rng.normal(size=140) + level
    x[50:90] = (1.25 + level) * (1 + np.finfo(dtype).eps * rng.uniform(-1, 1, 40))
    return x.astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("unit", [1e-30, 1e-5, 1e5, 1e30])
def test_units_do_not_matter(unit, normalize, dtype):
    X = [with_a_rest(np.random.default_rng(seed), dtype) for seed in range(4)]
    Y = [x[start : start + 12] for x, start in zip(X, (3, 30, 55, 100), strict=True)]
    D = d2ke.distance_matrix(X, Y, "window", normalize=normalize)
    assert (D > 1e-3).sum() >= 9
    scaled = [[(np.float64(unit) * item).astype(dtype) for item in items] for items in (X, Y)]
    found = d2ke.distance_matrix(*scaled, "window", normalize=normalize)
    np.testing.assert_allclose(found / (1 if normalize else unit), D, rtol=1e-4, atol=1e-5)
    path = d2ke.align(scaled[0][0], scaled[1][0], "window", normalize=normalize)
    assert path.pairs[0, 0] == 3
    far = d2ke.align(scaled[0][0], scaled[1][3], "window", normalize=normalize)
    assert far.costs.sum() == pytest.approx(far.value**2, rel=1e-4)


@pytest.mark.parametrize("instructions", isa.supported())
@pytest.mark.parametrize(
    ("dtype", "level"), [(np.float32, 0), (np.float32, 1e6), (np.float64, 1e8)]
)
def test_what_varies_by_rounding_is_constant(dtype, level, instructions):
    """A window of a constant stretch is as far from a shape as zeros are."""
    before = isa.selected()
    isa.select(instructions)
    try:
        x = with_a_rest(np.random.default_rng(3), dtype, level)
        rest, shape = x[55:85], np.sin(np.arange(12)).astype(dtype)
        one = d2ke.distance_matrix([x[40:100]], [shape], "window", n_threads=1)
        again = d2ke.distance_matrix([x[40:100]] * 9, [shape], "window", n_threads=4)
        reference.same(again, np.repeat(one, 9, axis=0))
        assert d2ke.distance_matrix([rest], [shape], "window")[0, 0] == pytest.approx(1, rel=1e-6)
        assert d2ke.distance_matrix([rest], [rest[:12]], "window")[0, 0] == 0
        assert d2ke.distance_matrix([x], [rest[:12]], "window")[0, 0] == 0
    finally:
        isa.select(before)


@pytest.mark.parametrize("level", [0, 1e3, 1e6])
def test_a_level_in_float32_leaves_shapes(level):
    """At a level of 1e6 steps of float32 are 1/16, a tenth of the smallest deviations here."""
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(300, 1)).cumsum(axis=0), rng.normal(size=(9, 1)).cumsum(axis=0)
    wanted = d2ke.distance_matrix(pack([x]), pack([y]), "window")[0, 0]
    moved = pack([(x + level).astype(np.float32)]), pack([(y - level).astype(np.float32)])
    assert d2ke.distance_matrix(*moved, "window")[0, 0] == pytest.approx(wanted, rel=0.1)
