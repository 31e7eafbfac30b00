# SPDX-License-Identifier: BSD-3-Clause
"""Long calls of libraries in a thread of their own, so that Ctrl-C need not wait for them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any

from d2ke._base.threads import worker_pool

_TICK = 0.2  # seconds


def interruptible(
    function: Callable[..., Any], *arguments: Any, description: str = "", progress: bool = False
) -> Any:
    """Call a function in a thread; on a terminal, show the time that has passed."""
    with worker_pool(1) as pool:
        future = pool.submit(function, *arguments)
        if progress and sys.stderr.isatty():
            _watch(future, description)
        return future.result()


def _watch(future: Future, description: str) -> None:
    from tqdm import tqdm

    if wait([future], _TICK).done:
        return
    with tqdm(desc=description, bar_format="{desc}: {elapsed}", leave=False) as clock:
        while not wait([future], _TICK).done:
            clock.refresh()
