# SPDX-License-Identifier: BSD-3-Clause
"""Type stubs of gapped.pyx, which has the documentation."""

import numpy as np
from numpy.typing import NDArray

class RowWords:
    def __init__(
        self,
        codes: NDArray[np.uint32],
        offsets: NDArray[np.int64],
        strands: int,
        n_letters: int,
        mask: NDArray[np.int64],
        dictionary: NDArray[np.uint64],
        stages: NDArray[np.int64],
        squares: NDArray[np.float64] | None,
        n_threads: int,
    ) -> None: ...
    def lists(
        self,
    ) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.uint32], NDArray[np.float64]]: ...
    def add_products(
        self,
        words: NDArray[np.uint64],
        starts: NDArray[np.int64],
        cells: NDArray[np.uint32],
        roots: NDArray[np.float64],
        sums: NDArray[np.float64],
        symmetric: bool,
        n_threads: int,
    ) -> None: ...

def add_scaled(
    sums: NDArray[np.float64],
    x_scales: NDArray[np.float64],
    y_scales: NDArray[np.float64],
    symmetric: bool,
    weight: float,
    out: NDArray[np.float64],
    n_threads: int,
) -> None: ...
