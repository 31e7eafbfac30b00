# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C in the `d2ke` command from its first import on; imported before everything else."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType


def is_command() -> bool:
    """Return whether this process is ``d2ke`` or ``python -m d2ke``, while it imports d2ke."""
    if sys.argv[:1] == ["-m"]:
        return sys.orig_argv[-len(sys.argv)] in ("d2ke", "-md2ke")
    name = os.path.basename(sys.argv[0]) if sys.argv else ""
    return name.removesuffix(".exe").removesuffix("-script.py") == "d2ke"


def answer_interrupt(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt if the command will report it, else report it and end the process.

    During imports the process ends here: an exception would leave a module half imported, and some
    compiled modules swallow it while they start.
    """
    frame = sys._getframe()
    runner = "run_command"  # of d2ke.cli.main, which reports a KeyboardInterrupt
    while frame is not None and frame.f_code.co_name != runner:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            break
        frame = frame.f_back
    if frame is not None and frame.f_code.co_name == runner:
        raise KeyboardInterrupt
    os.write(2, b"d2ke: interrupted\n")
    os._exit(130)


# A process in the background may have been told to ignore SIGINT.
if is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, answer_interrupt)
