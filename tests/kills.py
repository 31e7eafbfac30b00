# SPDX-License-Identifier: BSD-3-Clause
"""Kills of what writes files, at each call of the system or at random; for scripts of tests."""

import os
import random
import signal
import sys
import time
import traceback
from pathlib import Path

FOLDER = Path(__file__).parent  # where scripts find this module
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


def kill_before_every_call(path, write, check, calls=CALLS):
    """Kill `write` before each call, resume it until it ends, and check the file; return how many.

    It must be alone in its folder then, but for a lock.
    """
    path, kills = Path(path), 0
    while not runs(write, calls, kills):
        kills += 1
        for kill_at in (3 + kills % 11, None):  # the first one that resumes is killed as well
            runs(write, calls, kill_at)
        check()
        assert {*path.parent.iterdir()} == {path, path.with_name(f"{path.name}.lock")}
        path.unlink()
    return kills


def kill_at_random(folder, n_kills, n_files, run):
    """Kill `run`, which makes about so many files, so many times; return how often it was killed.

    It is killed after some new files, unless it ends before. No file that was finished in the
    folder may be gone or changed after the next kill.
    """
    rng, finished, folder = random.Random(n_kills), {}, Path(folder)
    for killed in range(n_kills):
        child = os.fork()
        if child == 0:
            try:
                run()
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        wanted = len(finished) + rng.randint(1, max(1, n_files // n_kills))
        ended = status = 0
        while not ended and len(_whole(folder)) < wanted:
            time.sleep(0.0005)
            ended, status = os.waitpid(child, os.WNOHANG)
        if not ended:
            time.sleep(rng.random() / 200)
            os.kill(child, signal.SIGKILL)
            status = os.waitpid(child, 0)[1]
        now = {path: path.read_bytes() for path in _whole(folder)}
        assert finished.items() <= now.items()
        finished = now
        if not os.WIFSIGNALED(status):
            assert os.WEXITSTATUS(status) == 0
            return killed
    return n_kills


def _whole(folder):
    return [path for path in folder.glob("*") if path.suffix != ".part"]
