# SPDX-License-Identifier: BSD-3-Clause
"""What Ctrl-C must do to a `d2ke` command, for the tests of each of them."""

import subprocess
import sys

import pytest
from interrupts import end

# A process that was started in the background may have been told to ignore SIGINT.
_LAUNCHER = """
import importlib, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from d2ke.cli.main import console
importlib.import_module(sys.argv.pop(1))
print("ready", flush=True)
console()
"""


def check_interrupt(module, words, after):
    """Start the command, send SIGINT `after` seconds from when `module` is imported, and check.

    It must still run then, end within a second with status 130, and say so. Return what it
    printed before.
    """
    with subprocess.Popen(
        [sys.executable, "-c", _LAUNCHER, module, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout.readline() == "ready\n"
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(after)
        end(child)
        out, err = child.communicate()
    assert child.returncode == 130, err
    assert err == "d2ke: interrupted\n"
    return out
