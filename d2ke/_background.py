# SPDX-License-Identifier: BSD-3-Clause
"""Work on buffers in a second thread: while one is written, the next is filled."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any

_PATIENCE = 0.5  # seconds that an error, Ctrl-C above all, waits for the thread


class Background:
    """A thread that takes (buffer, arguments) in order and gives the buffers back.

    To be used in a ``with``. What `work` raises is raised by the next call; the end of the ``with``
    waits for what is left. If the ``with`` ends with an error, `stop` is set, what is left is
    dropped, and `close` is called when the thread has come to its end, at once or later.
    """

    def __init__(self, work: Callable[..., None], buffers: list[Any], close: Callable[[], None]):
        self.stop = threading.Event()
        self._work, self._close = work, close
        self._error: BaseException | None = None
        self._free: queue.SimpleQueue = queue.SimpleQueue()
        self._full: queue.SimpleQueue = queue.SimpleQueue()
        for buffer in buffers:
            self._free.put(buffer)
        self._thread = threading.Thread(target=self._run, name="d2ke-writer", daemon=True)

    def _run(self) -> None:
        while (item := self._full.get()) is not None:
            buffer, arguments = item
            try:
                if self._error is None and not self.stop.is_set():
                    self._work(*arguments)
            except BaseException as error:
                self._error = error
            self._free.put(buffer)

    def __enter__(self) -> Background:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._full.put(None)
        if error is None:
            try:
                self._thread.join()
            except BaseException:
                self._abandon()
                raise
            if self._error is not None:
                self._close()
            self.check()
        else:
            self._abandon()

    def _abandon(self) -> None:
        self.stop.set()
        self._thread.join(_PATIENCE)
        if self._thread.is_alive():  # the system may take its time to write
            threading.Thread(target=self._close_later, daemon=True).start()
        else:
            self._close()

    def _close_later(self) -> None:
        self._thread.join()
        self._close()

    def check(self) -> None:
        """Raise what the thread has raised."""
        if self._error is not None:
            raise self._error

    def buffer(self) -> Any:
        """Return a buffer that is free, when there is one."""
        found = self._free.get()
        self.check()
        return found

    def put(self, buffer: Any, *arguments: Any) -> None:
        """Hand a buffer over, and what `work` is called with."""
        self.check()
        self._full.put((buffer, arguments))
