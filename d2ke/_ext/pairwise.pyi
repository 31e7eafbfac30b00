# SPDX-License-Identifier: BSD-3-Clause
"""Type stubs of pairwise.pyx, which has the documentation."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

_Real = TypeVar("_Real", np.float32, np.float64)

class NotADistance(ValueError):  # noqa: N818 -- its name at run time
    pass

class PairwiseKernel:
    def run(
        self,
        out: NDArray[np.float32] | NDArray[np.float64],
        n_threads: int,
        symmetric: bool,
        progress: Callable[[int, int], object] | None = None,
        gamma: float | None = None,
        scale: float = 1.0,
    ) -> None: ...

def divide_by_lengths(pairs: PairwiseKernel, both: bool) -> PairwiseKernel: ...
def by_length(offsets: NDArray[np.int64], descending: bool = False) -> NDArray[np.int64]: ...
def exp_features(
    source: NDArray[_Real], target: NDArray[_Real], gamma: float, scale: float, n_threads: int
) -> None: ...
