# SPDX-License-Identifier: BSD-3-Clause
"""Checks of scalars, and what all result classes have in common."""

import copy
import dataclasses
from fractions import Fraction

import numpy as np
import pytest

import d2ke
from d2ke._base.checks import positive_number


@pytest.mark.parametrize("value", [10**400, Fraction(10**400, 3)])
def test_numbers_beyond_floats_are_refused(value):
    with pytest.raises(ValueError, match=r"gamma must be less than 1\.8e308"):
        positive_number("gamma", value)


RNG = np.random.default_rng(0)
K = np.exp(-((RNG.random((12, 1)) - RNG.random((1, 12))) ** 2))
K = K @ K.T
Y = np.arange(12) % 2
RESULTS = [
    d2ke.train(Y, K),
    d2ke.svmtrain(Y, K),
    d2ke.cdsk(K, 2, seed=0),
    d2ke.gdk_led(np.abs(np.subtract.outer(Y, Y)) * 1.0, 1),
    d2ke.embedding.Scaling.fit(K),
    d2ke.embedding.SpectrumRepair.fit(K, "clip"),
]


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: type(result).__name__)
def test_results_compare_by_identity(result):
    """Those that hold arrays: == of arrays is an array, which has no truth value."""
    assert dataclasses.is_dataclass(result)
    assert result == result
    assert result != copy.deepcopy(result)
    assert hash(result) == hash(result)
