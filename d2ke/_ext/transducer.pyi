# SPDX-License-Identifier: BSD-3-Clause
"""Type stubs of transducer.pyx, which has the documentation."""

import numpy as np
from numpy.typing import NDArray

BLOCKS: int

def expectations(
    x: NDArray[np.uint32],
    x_offsets: NDArray[np.int64],
    y: NDArray[np.uint32],
    y_offsets: NDArray[np.int64],
    weights: NDArray[np.float64],
    p: NDArray[np.float64],
    swap: NDArray[np.float64],
    n_threads: int,
) -> tuple[NDArray[np.float64], float, NDArray[np.float64]]: ...
