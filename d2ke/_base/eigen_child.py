# SPDX-License-Identifier: BSD-3-Clause
"""The process that computes eigenvectors; a script run by `d2ke._base.eigen`, without d2ke.

The arguments are the folder of numpy and the order n. A symmetric matrix of float64 comes in on
stdin; its eigenvalues, ascending, and eigenvectors go to stdout.
"""

from __future__ import annotations

import signal
import sys


def main(folder: str, order: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends Ctrl-C here also
    sys.path.append(folder)

    import numpy as np

    A = np.empty((int(order), int(order)))
    room = memoryview(A).cast("B")
    while room:
        # As a stream of the system has it, and as typing does not know it.
        count = sys.stdin.buffer.readinto(room)  # type: ignore[union-attr]
        if not count:
            sys.exit(1)  # the parent has ended
        room = room[count:]
    for part in np.linalg.eigh(A):
        sys.stdout.buffer.write(np.ascontiguousarray(part))


if __name__ == "__main__":
    main(*sys.argv[1:])
