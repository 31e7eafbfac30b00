# SPDX-License-Identifier: BSD-3-Clause
"""Commands that succeed and that are given something wrong, and their tables of results."""

import csv
import ctypes
import os
import shlex

from d2ke.cli.main import main


def run(capsys, *words):
    """Run a command that succeeds, in one thread, and return what it printed."""
    status = main([*map(str, words), "--threads", "1"])
    out, err = capsys.readouterr()
    assert (status, err) == (0, "")
    return out


def refused(capsys, *words):
    """Run a command that is refused, and return its one line of error."""
    assert main([str(word) for word in words]) == 2
    error = capsys.readouterr().err
    assert error.startswith("d2ke: ")
    assert error.count("\n") == 1
    return error


def typed(line):
    """Return the words of a command as the shell of this system reads them."""
    if os.name != "nt":
        return shlex.split(line)
    count, split = ctypes.c_int(), ctypes.windll.shell32.CommandLineToArgvW
    split.restype = ctypes.POINTER(ctypes.c_wchar_p)
    words = split(f"d2ke {line}", ctypes.byref(count))
    return words[1 : count.value]


def rows(file):
    """Return the rows of a CSV by the names of its columns."""
    with open(file, encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))
