# SPDX-License-Identifier: BSD-3-Clause
"""Type stubs of edit_costs.pyx, which has the documentation."""

import numpy as np
from numpy.typing import NDArray

from d2ke._ext.refine import Bounds

LONGEST: int

class Columns:
    @property
    def n_letters(self) -> int: ...
    def __init__(
        self,
        letters: NDArray[np.uint32],
        offsets: NDArray[np.int64],
        classes: NDArray[np.uint32],
        substitution: NDArray[np.float64],
        single: NDArray[np.float64],
        transposition: float,
    ) -> None: ...

class CostBounds(Bounds):
    def __init__(
        self, columns: Columns, x: NDArray[np.uint32], offsets: NDArray[np.int64]
    ) -> None: ...
