# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C waits for the end of what it must not break, and for nothing else."""

import _thread
import signal
import threading
import weakref

import numpy as np
import pytest

from d2ke._base.signals import deferred_interrupts
from d2ke._base.threads import worker_pool


def test_ctrl_c_comes_at_the_end():
    done = []

    def run():
        with deferred_interrupts():
            signal.raise_signal(signal.SIGINT)
            done.append(1)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        run()
    assert done == [1]
    assert signal.getsignal(signal.SIGINT) is before


def test_the_user_s_handler_is_called_once():
    calls = []
    before = signal.signal(signal.SIGINT, lambda *arguments: calls.append(arguments))
    try:
        with deferred_interrupts():
            signal.raise_signal(signal.SIGINT)
            assert calls == []
        assert calls == [(signal.SIGINT, None)]
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_and_ignored_signals():
    def run():
        with deferred_interrupts():
            done.append(1)

    done = []
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with deferred_interrupts():
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert done == [1]


def test_ctrl_c_ends_the_wait_for_a_thread():
    """Also on Windows, where it interrupts no wait: this one gets no signal that would."""
    finished, release = [], threading.Event()

    def work(_):
        threading.Timer(0.1, _thread.interrupt_main).start()
        release.wait(60)
        finished.append(True)

    with pytest.raises(KeyboardInterrupt), worker_pool(1) as pool:
        list(pool.map(work, [0]))
    assert not finished
    release.set()


def test_results_of_threads_are_not_kept():
    with worker_pool(2) as pool:
        results = pool.map(np.ones, range(1, 9))
        first = weakref.ref(next(results))
        assert first() is None
        assert [len(result) for result in results] == [*range(2, 9)]
