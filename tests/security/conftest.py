# SPDX-License-Identifier: BSD-3-Clause
"""A process with little memory, in which what a file claims of its sizes is tried."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ADDED_BYTES = 2**28
SECONDS = 120

# Each call has a process of its own, a copy of this one, which has imported d2ke.
SERVER = f"""
import json, os, resource, signal, sys
import numpy as np
import d2ke

def attempt(call, path):
    sys.argv[1:] = [path]
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    limit = used + {ADDED_BYTES}
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outcome = "loaded"
    try:
        exec(call)
    except Exception as error:
        outcome = f"{{type(error).__name__}}: {{error}}"
        outcome = [name.__name__ for name in type(error).__mro__[:-3]][-1] + ": " + outcome
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return outcome, peak / 1024

for line in sys.stdin:
    call, path = json.loads(line)
    child = os.fork()
    if child == 0:
        signal.alarm({SECONDS})
        print(json.dumps(attempt(call, path)), flush=True)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if status:
        print(json.dumps([f"the process ended with {{status}}", 0]), flush=True)
"""


@pytest.fixture(scope="session")
def server():
    if not sys.platform.startswith("linux"):
        pytest.skip("limits memory as Linux does")
    with subprocess.Popen(
        [sys.executable, "-c", SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},
    ) as process:
        yield process


@pytest.fixture
def refused(server):
    """Return ``refused(call, path)``: the call on the file must raise ValueError in little memory.

    It returns the message.
    """

    def refused(call, path):
        print(json.dumps([call, str(path)]), file=server.stdin, flush=True)
        outcome, megabytes = json.loads(server.stdout.readline())
        assert outcome.startswith("ValueError"), outcome
        assert "MemoryError" not in outcome
        assert megabytes < 100
        return outcome

    return refused
