# SPDX-License-Identifier: BSD-3-Clause
"""Type stubs of gapped.pyx, which has the documentation."""

import numpy as np
from numpy.typing import NDArray

def add_products(
    codes: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    strands: int,
    n_letters: int,
    mask: NDArray[np.int64],
    sums: NDArray[np.float64],
    squares: NDArray[np.float64],
    shared: bool,
    n_threads: int,
) -> None: ...
def add_scaled(
    sums: NDArray[np.float64],
    x_scales: NDArray[np.float64],
    y_scales: NDArray[np.float64],
    symmetric: bool,
    weight: float,
    out: NDArray[np.float64],
    n_threads: int,
) -> None: ...
