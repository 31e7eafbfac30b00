# SPDX-License-Identifier: BSD-3-Clause
"""Errors of damaged files."""

import gc
import weakref

import pytest

from d2ke._base.damage import Damaged, damage_of


class Content:
    """Stands for a file in memory."""


@pytest.mark.parametrize("kind", [Damaged, KeyError])
def test_what_was_read_is_let_go(kind):
    """Without a collection of garbage: Windows replaces no file that is in memory."""
    held = []

    def read():
        content = Content()
        held.append(weakref.ref(content))
        raise kind("at byte 3")

    gc.disable()
    try:
        try:
            with damage_of("names.d2ke", "segment 2, "):
                read()
        except ValueError as error:
            message = str(error)
        assert held[0]() is None
    finally:
        gc.enable()
    assert message.startswith("names.d2ke is damaged: segment 2, ")
    assert "at byte 3" in message
