# SPDX-License-Identifier: BSD-3-Clause
"""Settings that are small for a test."""

import pytest
from experiment_cases import SMALL

from papers.settings import SETTINGS


@pytest.fixture
def small(monkeypatch):
    for name, setting in SMALL.items():
        monkeypatch.setitem(SETTINGS, name, setting)
