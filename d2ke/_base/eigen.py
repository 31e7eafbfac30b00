# SPDX-License-Identifier: BSD-3-Clause
"""Eigenvalues and -vectors of symmetric matrices, which Ctrl-C interrupts."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from d2ke._base.blas import numpy_blas_threads

_LARGE = 1500  # from here on it takes longer than a second, and some tenths for a process are few
_CHILD = Path(__file__).with_name("eigen_child.py")
_PIECE = 1 << 20  # bytes
_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "OMP_NUM_THREADS")


def symmetric_eigen(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalues, ascending, and eigenvectors as `numpy.linalg.eigh` does.

    LAPACK cannot be interrupted, and a process with a thread in a BLAS may wait for ever at its
    end. So those of large matrices are computed by a process that can be killed, with as many BLAS
    threads as here. Where there can be none, they are computed here.
    """
    if len(A) < _LARGE or threading.current_thread() is not threading.main_thread():
        return np.linalg.eigh(A)
    found = _by_child(np.ascontiguousarray(A, np.float64))
    return np.linalg.eigh(A) if found is None else found


def _by_child(A: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    folder = str(Path(np.__file__).parents[1])
    command = [sys.executable, "-I", "-S", str(_CHILD), folder, str(len(A))]
    environment = {**os.environ, **dict.fromkeys(_THREADS, str(numpy_blas_threads()))}
    try:
        process: Any = subprocess.Popen(  # its pipes are there
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
    except OSError:
        return None
    try:
        content = memoryview(A).cast("B")
        for first in range(0, len(content), _PIECE):
            process.stdin.write(content[first : first + _PIECE])
        process.stdin.close()
        values, vectors = np.empty(len(A)), np.empty(A.shape)
        for part in (values, vectors):
            room = memoryview(part).cast("B")
            while room:
                count = process.stdout.readinto(room[:_PIECE])
                if not count:
                    return None  # no convergence, or no memory
                room = room[count:]
        return values, vectors
    except BrokenPipeError:
        return None
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            with suppress(OSError):
                stream.close()
