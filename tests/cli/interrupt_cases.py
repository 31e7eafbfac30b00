# SPDX-License-Identifier: BSD-3-Clause
"""What Ctrl-C must do to a `d2ke` command, for the tests of each of them."""

import os
import signal
import subprocess
import sys
import time

import pytest

# A process that was started in the background may have been told to ignore SIGINT.
_LAUNCHER = """
import importlib, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from d2ke.cli.main import console
importlib.import_module(sys.argv.pop(1))
print("ready", flush=True)
console()
"""

needs_sigint = pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")


def check_interrupt(module, words, after):
    """Start the command, send SIGINT `after` seconds from when `module` is imported, and check.

    It must still run then, end within a second or so with status 130, and say so. Return what it
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
        sent = time.monotonic()
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
        delay = time.monotonic() - sent
    assert child.returncode == 130, err
    assert err == "d2ke: interrupted\n"
    assert delay < 1.5
    return out
