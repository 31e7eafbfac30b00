# SPDX-License-Identifier: BSD-3-Clause
"""The distance of a short series to the nearest place of a long one."""

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

import d2ke

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


@pytest.mark.parametrize("dim", [1, 3])
def test_a_piece_is_found_where_it_was_cut(dim):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(5000, dim))
    for dilation, length in [(1, 9), (4, 30), (1, 1000)]:
        piece = x[1234 : 1234 + length * dilation : dilation]
        path = d2ke.align(x, 3 * piece + 7, "window", dilation=dilation)
        assert path.pairs[:, 0].tolist() == list(range(1234, 1234 + length * dilation, dilation))
        assert path.pairs[:, 1].tolist() == list(range(length))
        assert path.value < 1e-5
        raw = d2ke.align(x, piece, "window", dilation=dilation, normalize=False)
        assert raw.pairs.tolist() == path.pairs.tolist()
        assert raw.value == 0


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


def test_it_is_directed():
    rng = np.random.default_rng(2)
    X = [rng.normal(size=n) for n in (200, 150, 10)]
    D = d2ke.distance_matrix(X, distance="window")
    assert (D != D.T).any()
    np.testing.assert_array_equal(np.diag(D), 0)
