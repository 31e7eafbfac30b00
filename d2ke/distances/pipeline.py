# SPDX-License-Identifier: BSD-3-Clause
"""Work on buffers in other threads: one buffer is written while the next is filled."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from d2ke._base.signals import TICK, check_interrupt

_PATIENCE = 0.5  # seconds that an error, Ctrl-C above all, waits for the threads
_AHEAD = 4  # items that a stage may be ahead of the next one
_ending: list[threading.Thread] = []


def wait_for_ending() -> None:
    """Wait for the threads of earlier calls that ended with an error."""
    while _ending:
        _ending[-1].join()
        _ending.pop()


class Background:
    """Threads through which items pass in order, one thread for each stage; used in a ``with``.

    The first stage is called with the arguments of `put`, and its buffer is free when it returns.
    Each further stage is called with the result of the one before, unless that is None. An error
    of a stage is raised by the next call, and the stage is not called again. The end of the
    ``with`` waits for all items. If it ends with an error, `stop` is set, the first stage is
    skipped, and `close` is called when the other stages have ended, perhaps later.
    """

    def __init__(
        self,
        stages: Sequence[Callable[..., tuple[Any, ...] | None]],
        buffers: Sequence[Any],
        close: Callable[[], None],
    ):
        self.stop = threading.Event()
        self._stages, self._close = stages, close
        self._errors: list[BaseException | None] = [None] * len(stages)
        self._free: queue.SimpleQueue[Any] = queue.SimpleQueue()
        for buffer in buffers:
            self._free.put(buffer)
        self._queues: list[queue.Queue[Any]] = [queue.Queue(_AHEAD) for _ in stages]
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

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
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
            while thread.is_alive():
                thread.join(TICK)
                check_interrupt()

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
        """Raise the error of a stage."""
        for error in self._errors:
            if error is not None:
                raise error

    def buffer(self) -> Any:
        """Wait for a free buffer, and return it."""
        while True:
            self.check()
            check_interrupt()
            with suppress(queue.Empty):
                return self._free.get(timeout=TICK)

    def put(self, buffer: Any, *arguments: Any) -> None:
        """Hand over a buffer, and the arguments of the first stage."""
        while True:
            self.check()
            check_interrupt()
            with suppress(queue.Full):
                return self._queues[0].put((buffer, arguments), timeout=TICK)
