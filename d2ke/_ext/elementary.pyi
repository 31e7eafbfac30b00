# SPDX-License-Identifier: BSD-3-Clause
"""Type stubs of elementary.pyx, which has the documentation."""

import numpy as np
from numpy.typing import NDArray

NAMES: tuple[str, ...]

def apply(name: str, values: NDArray[np.float64]) -> NDArray[np.float64]: ...
