# SPDX-License-Identifier: BSD-3-Clause
"""Type stubs of user.pyx, which has the documentation."""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray
from scipy import LowLevelCallable

from d2ke._ext.pairwise import PairwiseKernel

def vectors(
    function: int,
    user_data: int,
    x: NDArray[np.float64],
    x_offsets: NDArray[np.int64],
    y: NDArray[np.float64],
    y_offsets: NDArray[np.int64],
    same: bool,
    keep: object,
) -> PairwiseKernel: ...
def strings(
    function: int,
    user_data: int,
    x: NDArray[np.int32],
    x_offsets: NDArray[np.int64],
    y: NDArray[np.int32],
    y_offsets: NDArray[np.int64],
    same: bool,
    keep: object,
) -> PairwiseKernel: ...
def python(
    values: Callable[[int, list[int]], Iterable[float]], n: int, m: int, width: int = 1
) -> PairwiseKernel: ...
def addresses(function: LowLevelCallable) -> tuple[int, int]: ...
