# SPDX-License-Identifier: BSD-3-Clause
"""Type stubs of sets.pyx, which has the documentation."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from d2ke._ext.pairwise import PairwiseKernel

_Real = TypeVar("_Real", np.float32, np.float64)

MHD: int
DIRECTED_MHD: int
HAUSDORFF: int
DIRECTED_HAUSDORFF: int
CHAMFER: int

def sets(
    x: NDArray[_Real],
    x_offsets: NDArray[np.int64],
    y: NDArray[_Real],
    y_offsets: NDArray[np.int64],
    mode: int,
    same: bool,
) -> PairwiseKernel: ...
