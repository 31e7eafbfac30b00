# SPDX-License-Identifier: BSD-3-Clause
"""Type stubs of envelopes.pyx, which has the documentation."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from d2ke._ext.refine import Bounds

LANES: int
SEGMENT: int
LEVELS: int

_Side: TypeAlias = tuple[
    NDArray[np.float32], NDArray[np.float32], NDArray[np.int64], NDArray[np.int64]
]

class Columns:
    def __init__(
        self,
        y: _Side,
        order: NDArray[np.int64],
        radii: Sequence[int],
        turned: Sequence[int],
        window: int,
        root: bool,
        longest_x: int,
    ) -> None: ...

class Envelopes(Bounds):
    def __init__(self, columns: Columns, x: _Side, errors: tuple[float, float, float]) -> None: ...
    def keep_first(self, n_threads: int) -> None: ...
    def leave_tighter_out(self) -> None: ...

def planar(
    points: NDArray[np.float32],
    offsets: NDArray[np.int64],
    starts: NDArray[np.int64],
    result: NDArray[np.float32],
) -> None: ...
