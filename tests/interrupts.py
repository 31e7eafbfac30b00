# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C to another process, and what it computes until it answers.

The clock would also count what other processes have computed in the meantime.
"""

import os
import signal
import sys
import threading

import pytest

needs_proc = pytest.mark.skipif(
    sys.platform != "linux", reason="sends SIGINT to one process, and reads its times in /proc"
)
_MOST = 2.0  # seconds: one, of each of two processors
_LATE = 10.0  # seconds by the clock, after which it hangs


def press(child):
    """Send SIGINT and return the next line that the process prints, without its end.

    A process that does not answer is aborted; with Python's faulthandler it says where it was.
    """
    late = threading.Timer(_LATE, child.send_signal, [signal.SIGABRT])
    late.start()
    before = _processor_seconds(child.pid)
    child.send_signal(signal.SIGINT)
    line = child.stdout.readline().strip()
    taken = _processor_seconds(child.pid) - before
    late.cancel()
    assert taken < _MOST
    return line


def end(child, number=signal.SIGINT):
    """Send a signal, and wait until the process has ended."""
    late = threading.Timer(_LATE, child.send_signal, [signal.SIGABRT])
    late.start()
    before = _processor_seconds(child.pid)
    child.send_signal(number)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # its times stay readable
    taken = _processor_seconds(child.pid) - before
    late.cancel()
    assert taken < _MOST


def _processor_seconds(process):
    """Return what the threads of a process have computed."""
    with open(f"/proc/{process}/stat", encoding="utf-8") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
