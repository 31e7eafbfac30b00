# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures shared by all tests."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from d2ke._ext import isa as instruction_sets

# `isa` is set once for all examples of a test, which is what is meant; kernels
# share the machine with other work, so that a deadline would only fail at random.
settings.register_profile(
    "d2ke",
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("d2ke")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Return the folder with the papers' original data files; skip the test without it."""
    folder = os.environ.get("D2KE_DATA")
    if not folder:
        pytest.skip("needs real data: set D2KE_DATA to the folder of the original data files")
    if not Path(folder).is_dir():
        pytest.fail(f"D2KE_DATA={folder} is not a folder")
    return Path(folder)


@pytest.fixture(scope="session", autouse=True)
def session_cache(tmp_path_factory):
    """Keep what loaders keep for themselves away from the user's own cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("D2KE_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(params=instruction_sets.supported())
def isa(request) -> str:
    """Run the test once with the kernels of each instruction set of this processor."""
    before = instruction_sets.selected()
    instruction_sets.select(request.param)
    yield request.param
    instruction_sets.select(before)
