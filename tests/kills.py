# SPDX-License-Identifier: BSD-3-Clause
"""Kills of what writes files, at each call of the system or at random."""

import multiprocessing
import os
import random
import signal
import sys
import time
from pathlib import Path

# A forked process need not import anything again.
_METHOD = "fork" if sys.platform == "linux" else "spawn"
PROCESSES = multiprocessing.get_context(_METHOD)
KILLED = -getattr(signal, "SIGKILL", signal.SIGTERM)  # exit code
CALLS = ("open", "write", "ftruncate", "replace", "unlink", "posix_fallocate", "close")


def runs(write, calls, kill_at):
    """Return whether it came to its end, in a process that kills itself before some call."""
    child = os.fork()
    if child == 0:
        count = 0

        def counted(function):
            def call(*arguments, **keywords):
                nonlocal count
                if count == kill_at:
                    os.kill(os.getpid(), signal.SIGKILL)
                count += 1
                return function(*arguments, **keywords)

            return call

        for name in calls:
            if hasattr(os, name):
                setattr(os, name, counted(getattr(os, name)))
        try:
            write()
        finally:
            os._exit(int(sys.exc_info()[0] is not None))
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return not os.WIFSIGNALED(status)


def kill_before_every_call(path, write, check, calls=CALLS, step=1):
    """Kill `write` before each call, resume it until it ends, and check the file; return how many.

    It must be alone in its folder then, but for a lock. With a `step`, calls between are left out.
    """
    path, kills = Path(path), 0
    while not runs(write, calls, kills):
        kills += step
        for kill_at in (3 + kills % 11, None):  # the first one that resumes is killed as well
            runs(write, calls, kill_at)
        check()
        assert {*path.parent.iterdir()} == {path, path.with_name(f"{path.name}.lock")}
        path.unlink()
    return kills


def kill_at_random(folder, n_kills, n_files, run, *arguments):
    """Kill `run`, which makes about so many files, so many times; return how often it was killed.

    It is a function of a module, which another process can import. It is killed after some new
    files, unless it ends before. No file that was finished in the folder may be gone or changed
    after the next kill.
    """
    rng, finished, folder = random.Random(n_kills), {}, Path(folder)
    for killed in range(n_kills):
        child = PROCESSES.Process(target=run, args=arguments)
        child.start()
        wanted = len(finished) + rng.randint(1, max(1, n_files // n_kills))
        while child.is_alive() and len(_whole(folder)) < wanted:
            time.sleep(0.002)
        if child.is_alive():
            time.sleep(rng.random() / 200)
            child.kill()
        child.join()
        now = {path: path.read_bytes() for path in _whole(folder)}
        assert finished.items() <= now.items()
        finished = now
        if child.exitcode == 0:
            return killed
        assert child.exitcode == KILLED
    return n_kills


def _whole(folder):
    return [path for path in folder.glob("*") if path.suffix != ".part"]
