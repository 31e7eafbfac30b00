# SPDX-License-Identifier: BSD-3-Clause
"""Type stubs of trust_region.pyx, which has the documentation."""

import numpy as np
from numpy.typing import NDArray

def fit(
    F: NDArray[np.float64], signs: NDArray[np.float64], C: float, tolerance: float
) -> NDArray[np.float64]: ...
