# SPDX-License-Identifier: BSD-3-Clause
"""Parameters as short text."""

from d2ke._base.text import show


def test_parameters_are_one_line():
    values = {"gamma": 0.123456, "length": (1, 25), "sampler": None, "R": 64}
    assert show(values) == "gamma 0.1235, length 1 to 25, sampler None, R 64"
    assert show({}) == "no parameters"
