# SPDX-License-Identifier: BSD-3-Clause
"""The L1 distance of the shares of letters."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import d2ke
from tests.reference import bag

STRINGS = st.lists(st.text("abcdé\U0001f600", max_size=9), min_size=1, max_size=9)


def exact(x, y):
    """The rounded value of the exact distance."""
    x, y = list(x), list(y)
    if not x or not y:
        return float(len(x) != len(y))
    a, b = Counter(x), Counter(y)
    apart = (abs(Fraction(a[k], len(x)) - Fraction(b[k], len(y))) for k in a | b)
    return float(sum(apart))


def matrix(X, Y=None, **options):
    return d2ke.distance_matrix(X, Y, distance="bag", **options)


@given(STRINGS, STRINGS)
def test_exact(X, Y):
    assert matrix(X, Y).tolist() == [[exact(x, y) for y in Y] for x in X]
    D = matrix(X)
    assert D.tolist() == [[exact(x, y) for y in X] for x in X]
    assert (D[:, None] <= D[:, :, None] + D + 1e-12).all()


@pytest.mark.parametrize(("n_letters", "n_strings"), [(1, 1100), (3, 1100), (70_000, 300)])
def test_many_strings_of_any_alphabet(n_letters, n_strings):
    rng = np.random.default_rng(n_letters)
    X, Y = (
        d2ke.pack(
            [rng.integers(0, n_letters, rng.integers(0, 60)) for _ in range(n)], kind="strings"
        )
        for n in (5, n_strings)
    )
    wanted = [[bag(x.tolist(), y.tolist()) for y in Y] for x in X]
    got = matrix(X, Y)
    np.testing.assert_allclose(got, wanted, atol=1e-14)
    np.testing.assert_array_equal(got, matrix(X, Y, n_threads=3))
    np.testing.assert_array_equal(got, matrix(Y, X).T)
    np.testing.assert_array_equal(matrix(Y)[:5], matrix(Y[:5], Y))
