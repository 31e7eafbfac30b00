# SPDX-License-Identifier: BSD-3-Clause
"""Deferral of Ctrl-C during calls that an exception at an arbitrary point would break."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

TICK = 0.1  # seconds between two checks while waiting


class _Noted:
    """A SIGINT handler that runs the previous handler at the next check."""

    def __init__(self, previous: Any):
        self._previous = previous
        self._pending = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self._pending = True

    def check(self) -> None:
        if self._pending:
            self._pending = False
            self._previous(signal.SIGINT, None)


@contextmanager
def deferred_interrupts() -> Iterator[None]:
    """Defer Ctrl-C to the next `check_interrupt`, or to the end of the ``with``.

    Python raises KeyboardInterrupt between any two instructions of the main thread. Inside a
    finalizer it is dropped, and in the middle of another library's call it may break that library's
    state. Code that waits within must check every `TICK`. The user's own Python handler of SIGINT
    is called, if there is one. In threads that receive no signals, or where SIGINT is ignored or
    ends the process, this does nothing.
    """
    previous = _handler()
    if not callable(previous) or isinstance(previous, _Noted):
        yield
        return
    noted = _Noted(previous)
    try:
        signal.signal(signal.SIGINT, noted)
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is noted:
            signal.signal(signal.SIGINT, previous)
        noted.check()


def check_interrupt() -> None:
    """Call the user's handler if there was a Ctrl-C since the last check."""
    noted = _handler()
    if isinstance(noted, _Noted):
        noted.check()


def _handler() -> Any:
    """Return the handler of SIGINT, or None in a thread that receives no signals."""
    if threading.current_thread() is not threading.main_thread():
        return None
    return signal.getsignal(signal.SIGINT)
