# SPDX-License-Identifier: BSD-3-Clause
"""Work on buffers in other threads: while one is written, the next is filled."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

_PATIENCE = 0.5  # seconds that an error, Ctrl-C above all, waits for the threads
_AHEAD = 4  # items that a stage may be ahead of the next one
_ending: list[threading.Thread] = []


def wait_for_ending() -> None:
    """Wait for the threads of calls that ended with an error and did not wait themselves."""
    while _ending:
        _ending[-1].join()
        _ending.pop()


class Background:
    """Threads through which items go in order, one thread for each stage.

    To be used in a ``with``. The first stage is called with what `put` was given, and its buffer is
    free again when it returns; each further one with what the one before returned, None to
    go no further. What a stage raises is raised by the next call; nothing goes to that stage any
    more. The end of the ``with`` waits for what is left. If it ends with an error, `stop` is set,
    the first stage is skipped, and `close` is called when the others have come to their end, at
    once or later.
    """

    def __init__(
        self,
        stages: Sequence[Callable[..., tuple | None]],
        buffers: Sequence[Any],
        close: Callable[[], None],
    ):
        self.stop = threading.Event()
        self._stages, self._close = stages, close
        self._errors: list[BaseException | None] = [None] * len(stages)
        self._free: queue.SimpleQueue = queue.SimpleQueue()
        for buffer in buffers:
            self._free.put(buffer)
        self._queues: list[queue.Queue] = [queue.Queue(_AHEAD) for _ in stages]
        self._threads = [
            threading.Thread(target=self._run, args=(k,), name="d2ke-writer", daemon=True)
            for k in range(len(stages))
        ]

    def _run(self, k: int) -> None:
        following = self._queues[k + 1] if k + 1 < len(self._stages) else None
        while (item := self._queues[k].get()) is not None:
            buffer, arguments = item
            try:
                if self._errors[k] is None and not (k == 0 and self.stop.is_set()):
                    result = self._stages[k](*arguments)
                    if following and result is not None:
                        following.put((None, result))
            except BaseException as error:
                self._errors[k] = error
            if k == 0:
                self._free.put(buffer)
        if following:
            following.put(None)

    def __enter__(self) -> Background:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self._abandon()
            return
        try:
            self._queues[0].put(None)
            self._join()
            self.check()
        except BaseException:
            self._abandon()
            raise

    def _join(self) -> None:
        for thread in self._threads:
            thread.join()

    def _abandon(self) -> None:
        self.stop.set()
        last = threading.Thread(target=self._end, name="d2ke-writer", daemon=True)
        last.start()
        _ending.append(last)
        last.join(_PATIENCE)  # the system may take its time to write

    def _end(self) -> None:
        if self._threads[0].is_alive():
            self._queues[0].put(None)
        self._join()
        self._close()

    def check(self) -> None:
        """Raise what a stage has raised."""
        for error in self._errors:
            if error is not None:
                raise error

    def buffer(self) -> Any:
        """Return a buffer that is free, when there is one."""
        found = self._free.get()
        self.check()
        return found

    def put(self, buffer: Any, *arguments: Any) -> None:
        """Hand a buffer over, and what the first stage is called with."""
        self.check()
        self._queues[0].put((buffer, arguments))
