# SPDX-License-Identifier: BSD-3-Clause
"""Types of trust_region.pyx, which documents what is here."""

import numpy as np
from numpy.typing import NDArray

def fit(
    F: NDArray[np.float64], signs: NDArray[np.float64], C: float, tolerance: float
) -> NDArray[np.float64]: ...
