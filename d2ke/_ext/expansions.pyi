# SPDX-License-Identifier: BSD-3-Clause
"""Type stubs of expansions.pyx, which has the documentation."""

import numpy as np
from numpy.typing import NDArray

FREQUENCIES: int
SERIES_POINTS: int

def fourier(
    points: NDArray[np.float64],
    vectors: NDArray[np.float64],
    offsets: NDArray[np.int64],
    omega: NDArray[np.float64],
    far: bool,
    n_threads: int,
) -> NDArray[np.float64]: ...
def taylor(
    points: NDArray[np.float64],
    vectors: NDArray[np.float64],
    offsets: NDArray[np.int64],
    degree: int,
    terms: int,
    n_threads: int,
) -> NDArray[np.float64]: ...
def exponents(dim: int, degree: int, terms: int) -> NDArray[np.int64]: ...
def series(
    points: NDArray[np.float64],
    vectors: NDArray[np.float64],
    offsets: NDArray[np.int64],
    degrees: NDArray[np.int64],
    steps: NDArray[np.float64],
    n_front: int,
    n_threads: int,
) -> NDArray[np.float64]: ...
