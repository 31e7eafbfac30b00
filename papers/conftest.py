# SPDX-License-Identifier: BSD-3-Clause
"""Settings that are small for a test."""

import pytest

from papers.settings import SETTINGS


@pytest.fixture
def small(monkeypatch):
    """Take the settings of `SMALL` in the place of the paper's."""
    from experiment_cases import SMALL

    for name, setting in SMALL.items():
        monkeypatch.setitem(SETTINGS, name, setting)
