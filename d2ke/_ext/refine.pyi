# SPDX-License-Identifier: BSD-3-Clause
"""Type stubs of refine.pyx, which has the documentation."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from d2ke._ext.pairwise import PairwiseKernel

class Bounds:
    pass

class Limits:
    def __new__(cls, n: int, keep: bool) -> Limits: ...
    def order(self) -> NDArray[np.int64]: ...

COUNTS: int

def search(
    pairs: PairwiseKernel,
    bounds: Bounds,
    rows: NDArray[np.int64],
    skip: bool,
    single: bool,
    heaps: tuple[NDArray[np.float64], NDArray[np.int64]] | None,
    radius: float,
    counts: NDArray[np.int64],
    n_threads: int,
    progress: Callable[[int, int], object] | None = None,
    groups: NDArray[np.int64] | None = None,
    cores: NDArray[np.float64] | None = None,
    ranks: NDArray[np.int64] | None = None,
    limits: Limits | None = None,
    hidden: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]] | None: ...
def bounds_of(bounds: Bounds, n: int, m: int, limit: float = ...) -> list[NDArray[np.float64]]: ...
