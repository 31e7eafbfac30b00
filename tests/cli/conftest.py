# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures of the tests of commands."""

import pytest

from d2ke.cli.main import main


@pytest.fixture
def refused(capsys):
    """Return a function that runs a command given something wrong: its one line of error."""

    def refused(*words):
        assert main([str(word) for word in words]) == 2
        error = capsys.readouterr().err
        assert error.startswith("d2ke: ")
        assert error.count("\n") == 1
        return error

    return refused
