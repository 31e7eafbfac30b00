# SPDX-License-Identifier: BSD-3-Clause
"""Type stubs of windows.pyx, which has the documentation."""

import numpy as np
from numpy.typing import NDArray

from d2ke._ext.pairwise import PairwiseKernel

class Windows:
    def __init__(
        self,
        values: NDArray[np.float32],
        offsets: NDArray[np.int64],
        limits: NDArray[np.float32],
        windows: NDArray[np.float32],
        first: NDArray[np.int64],
        lengths: NDArray[np.int64],
        dilations: NDArray[np.int64],
        channel_offsets: NDArray[np.int64],
        channels: NDArray[np.int64],
        normalize: bool,
    ) -> None: ...
    def of_series(
        self,
        values: NDArray[np.float32],
        offsets: NDArray[np.int64],
        limits: NDArray[np.float32],
    ) -> Windows: ...
    def rows(
        self,
        places: NDArray[np.float32],
        thresholds: NDArray[np.float32],
        radius: float,
        runs: bool,
        n_threads: int,
    ) -> NDArray[np.float32]: ...
    def sample(
        self, series: NDArray[np.int64], places: NDArray[np.float32]
    ) -> NDArray[np.float32]: ...
    def profile(self, series: int, begin: int, end: int) -> NDArray[np.float64]: ...

def window_distances(
    values: NDArray[np.float32],
    offsets: NDArray[np.int64],
    limits: NDArray[np.float32],
    windows: NDArray[np.float32],
    first: NDArray[np.int64],
    lengths: NDArray[np.int64],
    dilations: NDArray[np.int64],
    channel_offsets: NDArray[np.int64],
    channels: NDArray[np.int64],
    places: NDArray[np.float32],
    radius: float,
    thresholds: NDArray[np.float32],
    normalize: bool,
    n_threads: int,
    runs: bool = False,
) -> NDArray[np.float32]: ...
def pairs(
    x: NDArray[np.float32],
    x_limits: NDArray[np.float32],
    x_offsets: NDArray[np.int64],
    y: NDArray[np.float32],
    y_limits: NDArray[np.float32],
    y_offsets: NDArray[np.int64],
    dilation: int,
    normalize: bool,
    unit: float,
) -> PairwiseKernel: ...
