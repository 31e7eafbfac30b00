# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C during calls into code that an exception at an arbitrary place would damage or lose."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

TICK = 0.1  # seconds between two checks of whoever waits


class _Noted:
    """A SIGINT handler that notes the signal; the handler before it runs at the next check."""

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
    """Have Ctrl-C wait for the next `check_interrupt`, or for the end of the ``with``.

    Python raises KeyboardInterrupt between any two instructions of the main thread. Inside a
    finalizer it is dropped, and in the middle of another library's call it may leave that library
    in a state that it does not recover from. Whoever waits within must check every `TICK`. Where
    the caller handles SIGINT in Python, it is that handler which is called. In threads that
    receive no signals, or where SIGINT is ignored or ends the process, this does nothing.
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
    """Raise what the user's handler raises, if there was a Ctrl-C since the last check."""
    noted = _handler()
    if isinstance(noted, _Noted):
        noted.check()


def _handler() -> Any:
    """Return the handler of SIGINT, or None in a thread that receives no signals."""
    if threading.current_thread() is not threading.main_thread():
        return None
    return signal.getsignal(signal.SIGINT)
