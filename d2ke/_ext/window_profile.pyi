# SPDX-License-Identifier: BSD-3-Clause
"""Type stubs of window_profile.pyx, which has the documentation."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

FRONT: int

class Side:
    def __init__(
        self,
        values: NDArray[np.float64],
        length: int,
        first: int,
        last: int,
        limits: NDArray[np.float64] | None,
        n_threads: int,
    ) -> None: ...

def nearest_places(
    x: Side,
    y: Side,
    zone: int,
    chosen: NDArray[np.int64],
    n_threads: int,
    progress: Callable[[int, int], None] | None = None,
) -> NDArray[np.int64]: ...
def window_pairs(
    x: Side,
    y: Side,
    x_places: NDArray[np.int64],
    y_places: NDArray[np.int64],
    n_threads: int,
) -> NDArray[np.float64]: ...
