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
CALLS = ("open", "pwrite", "ftruncate", "replace", "unlink", "posix_fallocate", "close")


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

    The file must be the only one in its folder then.
    """
    path, kills = Path(path), 0
    while not runs(write, calls, kills):
        kills += 1
        for kill_at in (3 + kills % 11, None):  # the first one that resumes is killed as well
            runs(write, calls, kill_at)
        check()
        assert list(path.parent.iterdir()) == [path]
        path.unlink()
    return kills


def kill_at_random(folder, n_kills, run):
    """Kill `run` so many times, unless it ends before; return how often it was killed.

    No file that was finished in the folder may be gone or changed after the next kill.
    """
    rng, finished, killed, folder = random.Random(n_kills), {}, 0, Path(folder)
    for _ in range(n_kills):
        child = os.fork()
        if child == 0:
            try:
                run()
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        time.sleep(rng.random() / n_kills)
        os.kill(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
        files = folder.glob("*") if folder.exists() else ()
        now = {path: path.read_bytes() for path in files if path.suffix != ".part"}
        assert finished.items() <= now.items()
        finished = now
        if not os.WIFSIGNALED(status):
            assert os.WEXITSTATUS(status) == 0
            break
        killed += 1
    return killed
