# SPDX-License-Identifier: BSD-3-Clause
"""Type stubs of simplex_qp.pyx, which has the documentation."""

import numpy as np
from numpy.typing import NDArray

def solve(
    H: NDArray[np.float64],
    diagonal: NDArray[np.float64],
    alpha: NDArray[np.float64],
    gradient: NDArray[np.float64],
    tolerance: float,
    max_steps: int,
) -> tuple[int, float]: ...
