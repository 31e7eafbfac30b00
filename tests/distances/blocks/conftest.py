# SPDX-License-Identifier: BSD-3-Clause
"""Files that are not waited for, and the features that they shall hold."""

import os

import pytest
from block_cases import HOW, OMEGA, STRINGS

import d2ke
from d2ke.distances import blocks as blocks_module
from d2ke.io.store import layout


@pytest.fixture
def file(tmp_path):
    return tmp_path / "features.h5"


@pytest.fixture(scope="module")
def features():
    return d2ke.d2ke_embed(STRINGS, OMEGA, **HOW)


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    """The disk is not waited for: what a kill leaves is the same, and a power cut is not tested."""
    monkeypatch.setattr(os, "fsync", lambda fd: None)


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of a few rows, so that few rows make many of them."""
    monkeypatch.setattr(layout, "_BLOCK_ROWS", 8)
    monkeypatch.setattr(blocks_module, "_RUN_SECONDS", 0.0)
