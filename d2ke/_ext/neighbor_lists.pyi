# SPDX-License-Identifier: BSD-3-Clause
"""Type stubs of neighbor_lists.pyx, which has the documentation."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

_Real = TypeVar("_Real", np.float32, np.float64)

def keep_nearest(
    values: NDArray[_Real],
    first_row: int,
    first_column: int,
    skip: bool,
    mirror: bool,
    distances: NDArray[np.float64],
    indices: NDArray[np.int64],
    n_threads: int,
) -> None: ...
def keep_within(
    values: NDArray[_Real],
    first_row: int,
    first_column: int,
    skip: bool,
    radius: float,
    n_threads: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[_Real]]: ...
