# SPDX-License-Identifier: BSD-3-Clause
"""Type stubs of alignment.pyx, which has the documentation."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from d2ke._ext.pairwise import PairwiseKernel

_Real = TypeVar("_Real", np.float32, np.float64)

EQUAL: int
REPLACE: int
DELETE: int
INSERT: int
TRANSPOSE: int

MEAN: int
BY_DISTANCE: int
BY_CHANNEL: int

class TableRows:
    @property
    def n(self) -> int: ...
    @property
    def m(self) -> int: ...
    @property
    def leaves_out(self) -> bool: ...
    def __init__(self, pairs: PairwiseKernel, n: int, m: int) -> None: ...
    def fill(
        self,
        radius: int,
        first: int,
        last: int,
        columns: int,
        state: NDArray[np.float64] | NDArray[np.int32],
        ways: NDArray[np.uint8] | None = None,
    ) -> tuple[float, int]: ...
    def costs(self, pairs: NDArray[np.int64], steps: NDArray[np.int8]) -> NDArray[np.float64]: ...

def edit_rows(
    x: NDArray[np.uint32],
    y: NDArray[np.uint32],
    masks: NDArray[np.uint64],
    state: NDArray[np.uint64],
    free: bool,
    table: NDArray[np.uint64] | None = None,
    score: int = 0,
) -> tuple[int, int, int]: ...
def edit_path(
    x: NDArray[np.uint32],
    y: NDArray[np.uint32],
    table: NDArray[np.uint64],
    j: int,
    operations: NDArray[np.int8],
    at: int,
) -> tuple[int, int, int]: ...
def weighted_path(
    ways: NDArray[np.uint8],
    first: int,
    i: int,
    j: int,
    gap: int,
    free: bool,
    x: NDArray[np.uint32],
    y: NDArray[np.uint32],
    codes: NDArray[np.int8],
    at: int,
) -> tuple[int, int, int, int]: ...
def crossed_path(
    ways: NDArray[np.uint8],
    first: int,
    i: int,
    j: int,
    x: NDArray[np.uint32],
    y: NDArray[np.uint32],
    codes: NDArray[np.int8],
    at: int,
) -> tuple[int, int, int]: ...

class GroundRows:
    @property
    def n(self) -> int: ...
    @property
    def m(self) -> int: ...
    @property
    def leaves_out(self) -> bool: ...
    def __init__(self, x: NDArray[_Real], y: NDArray[_Real], squared: bool) -> None: ...
    def fill(
        self,
        radius: int,
        first: int,
        last: int,
        columns: int,
        row: NDArray[_Real],
        ways: NDArray[np.uint8] | None = None,
    ) -> tuple[float, int]: ...
    def costs(self, path: NDArray[np.int64], steps: NDArray[np.int8]) -> NDArray[np.float64]: ...
    def nearest(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...

def series_radius(window: int, n: int, m: int) -> int: ...
def series_rows(
    ground: GroundRows,
    radius: int,
    first: int,
    last: int,
    columns: int,
    row: NDArray[_Real],
    table: NDArray[np.uint8] | None = None,
) -> None: ...
def series_path(
    table: NDArray[np.uint8],
    radius: int,
    first: int,
    i: int,
    j: int,
    path: NDArray[np.int64],
    at: int,
    leaves_out: bool = False,
) -> tuple[int, int, int]: ...
def aligned_sums(
    pairs: PairwiseKernel,
    values: NDArray[np.float64],
    offsets: NDArray[np.int64],
    center: NDArray[np.float64],
    weights: NDArray[np.float64],
    window: int,
    mode: int,
    least: float,
    n_threads: int,
) -> NDArray[np.float64]: ...
