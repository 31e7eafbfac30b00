# SPDX-License-Identifier: BSD-3-Clause
"""Deferral of Ctrl-C during calls that an exception at an arbitrary point would break."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

TICK = 0.1  # seconds between two checks while waiting


@contextmanager
def deferred_interrupts() -> Iterator[None]:
    """Defer Ctrl-C to the end of the ``with``.

    Python raises KeyboardInterrupt between any two instructions of the main thread. In the middle
    of another library's call it may break that library's state. The user's own Python handler of
    SIGINT is called, if there is one. In threads that receive no signals, or where SIGINT is
    ignored or ends the process, this does nothing.
    """
    main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT) if main else None
    if not callable(handler):
        yield
        return
    noted: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: noted.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if noted:
            handler(signal.SIGINT, None)
