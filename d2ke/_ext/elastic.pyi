# SPDX-License-Identifier: BSD-3-Clause
"""Type stubs of elastic.pyx, which has the documentation."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from d2ke._ext.pairwise import PairwiseKernel

_Real = TypeVar("_Real", np.float32, np.float64)

NO_WINDOW: int
RWS_WINDOW: int
KINDS: dict[str, int]

def dtw(
    x: NDArray[_Real],
    x_offsets: NDArray[np.int64],
    y: NDArray[_Real],
    y_offsets: NDArray[np.int64],
    window: int,
    squared: bool,
    same: bool,
    x_observed: NDArray[np.int64] | None = None,
    y_observed: NDArray[np.int64] | None = None,
) -> PairwiseKernel: ...
def elastic(
    kind: str,
    x: NDArray[np.float64],
    x_offsets: NDArray[np.int64],
    y: NDArray[np.float64],
    y_offsets: NDArray[np.int64],
    dim: int,
    parameters: NDArray[np.float64],
    window: int,
    same: bool,
) -> PairwiseKernel: ...
