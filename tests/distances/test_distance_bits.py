# SPDX-License-Identifier: BSD-3-Clause
"""Distances have the same bits on every system, and on every processor that fuses products."""

import runpy
from pathlib import Path

import pytest

import d2ke
from d2ke.distances.registry import BY_NAME

BITS = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "distance_bits.py"))


@pytest.mark.parametrize("name", d2ke.distance_names())
def test_bits(isa, name):
    digests = BITS["digests"](name)
    wanted = {k: digest for k, digest in BITS["listed"](isa).items() if k.split()[0] == name}
    assert digests
    assert digests == wanted


@pytest.mark.parametrize("name", d2ke.distance_names())
def test_every_parameter_is_used(name):
    used = {key for options in BITS["OPTIONS"].get(name, []) for key in options}
    assert used == set(BY_NAME[name].parameters)
