# SPDX-License-Identifier: BSD-3-Clause
"""Types of alignment.pyx, which documents what is here."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

_Real = TypeVar("_Real", np.float32, np.float64)

EQUAL: int
REPLACE: int
DELETE: int
INSERT: int

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

class GroundRows:
    @property
    def n(self) -> int: ...
    @property
    def m(self) -> int: ...
    def __init__(self, x: NDArray[_Real], y: NDArray[_Real], squared: bool) -> None: ...
    def costs(self, path: NDArray[np.int64]) -> NDArray[np.float64]: ...
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
) -> tuple[int, int, int]: ...
