# SPDX-License-Identifier: BSD-3-Clause
"""Type stubs of emd.pyx, which has the documentation."""

import numpy as np
from numpy.typing import NDArray

from d2ke._ext.pairwise import PairwiseKernel

TOTAL: int

def emd(
    x: tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]],
    y: tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]],
    squared: bool,
    same: bool,
) -> PairwiseKernel: ...
def flow(
    x: tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]],
    y: tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]],
    squared: bool,
) -> tuple[float, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]: ...
def measures(
    values: NDArray[np.float64], offsets: NDArray[np.int64], weights: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]: ...
