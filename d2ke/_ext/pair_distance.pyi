# SPDX-License-Identifier: BSD-3-Clause
"""Type stubs of pair_distance.pyx, which has the documentation."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from d2ke._ext.pairwise import PairwiseKernel

NEAR_SHARE: float

class KernelDistance(PairwiseKernel):
    def run(
        self,
        out: NDArray[np.float32] | NDArray[np.float64],
        n_threads: int,
        symmetric: bool,
        progress: Callable[[int, int], object] | None = None,
        gamma: float | None = None,
        scale: float = 1.0,
    ) -> None: ...

def distance(
    x_points: NDArray[np.float64],
    x_vectors: NDArray[np.float64],
    x_offsets: NDArray[np.int64],
    y_points: NDArray[np.float64],
    y_vectors: NDArray[np.float64],
    y_offsets: NDArray[np.int64],
    laplace: bool,
    rate: float,
    same: bool,
) -> KernelDistance: ...
def small_square(
    x_points: NDArray[np.float64],
    x_vectors: NDArray[np.float64],
    n: int,
    y_points: NDArray[np.float64],
    y_vectors: NDArray[np.float64],
    m: int,
    laplace: bool,
    rate: float,
) -> tuple[float, float]: ...
