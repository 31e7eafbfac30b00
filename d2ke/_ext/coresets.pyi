# SPDX-License-Identifier: BSD-3-Clause
"""Type stubs of coresets.pyx, which has the documentation."""

import numpy as np
from numpy.typing import NDArray

def hilbert_keys(cells: NDArray[np.uint32], bits: int, n_threads: int) -> NDArray[np.uint64]: ...
def balanced_signs(
    points: NDArray[np.float64],
    units: NDArray[np.float64],
    sizes: NDArray[np.int64],
    coins: NDArray[np.int8],
    laplace: bool,
    rate: float,
    n_threads: int,
) -> tuple[NDArray[np.int8], NDArray[np.float64]]: ...
def herd(
    points: NDArray[np.float64],
    units: NDArray[np.float64],
    mean: NDArray[np.float64],
    m: int,
    laplace: bool,
    rate: float,
    distinct: bool,
) -> NDArray[np.int64]: ...
def swap(
    points: NDArray[np.float64],
    units: NDArray[np.float64],
    field: NDArray[np.float64],
    n: int,
    chosen: NDArray[np.int64],
    passes: int,
    tolerance: float,
    laplace: bool,
    rate: float,
    distinct: bool,
) -> tuple[int, float]: ...
