# SPDX-License-Identifier: BSD-3-Clause
"""Type stubs of pair_sums.pyx, which has the documentation."""

import numpy as np
from numpy.typing import NDArray

PADDING: int

def pair_matrix(
    x_points: NDArray[np.float64],
    x_vectors: NDArray[np.float64],
    x_offsets: NDArray[np.int64],
    y_points: NDArray[np.float64],
    y_vectors: NDArray[np.float64],
    y_offsets: NDArray[np.int64],
    laplace: bool,
    rate: float,
    n_threads: int,
    symmetric: bool,
    halve: bool,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def potentials(
    x_points: NDArray[np.float64],
    n_x: int,
    y_points: NDArray[np.float64],
    y_vectors: NDArray[np.float64],
    n_y: int,
    laplace: bool,
    rate: float,
    n_threads: int,
) -> NDArray[np.float64]: ...
def local_potentials(
    x_points: NDArray[np.float64],
    x_offsets: NDArray[np.int64],
    y_points: NDArray[np.float64],
    y_vectors: NDArray[np.float64],
    ranges: NDArray[np.int64],
    laplace: bool,
    rate: float,
    n_threads: int,
) -> NDArray[np.float64]: ...
