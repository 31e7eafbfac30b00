# SPDX-License-Identifier: BSD-3-Clause
"""Commands that are given something wrong."""

from d2ke.cli.main import main


def refused(capsys, *words):
    """Run a command that is refused, and return its one line of error."""
    assert main([str(word) for word in words]) == 2
    error = capsys.readouterr().err
    assert error.startswith("d2ke: ")
    assert error.count("\n") == 1
    return error
