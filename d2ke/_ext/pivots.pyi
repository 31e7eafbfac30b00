# SPDX-License-Identifier: BSD-3-Clause
"""Type stubs of pivots.pyx, which has the documentation."""

import numpy as np
from numpy.typing import NDArray

from d2ke._ext.refine import Bounds

class Pivots(Bounds):
    def __init__(self, x: NDArray[np.float32], y: NDArray[np.float32], margin: float) -> None: ...
