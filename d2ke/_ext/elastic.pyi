# SPDX-License-Identifier: BSD-3-Clause
"""Type stubs of elastic.pyx, which has the documentation."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from d2ke._ext.pairwise import PairwiseKernel
from d2ke._ext.refine import Bounds

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
def with_rows(
    pairs: PairwiseKernel, x: NDArray[_Real], x_offsets: NDArray[np.int64]
) -> PairwiseKernel | None: ...
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
def elastic_with_rows(columns: PairwiseKernel, rows: PairwiseKernel) -> PairwiseKernel | None: ...
def inputs(
    pairs: PairwiseKernel,
) -> tuple[
    tuple[
        tuple[NDArray[np.float64], NDArray[np.int64]], tuple[NDArray[np.float64], NDArray[np.int64]]
    ],
    NDArray[np.float64],
]: ...

class Cut(Bounds):
    cells: NDArray[np.int64]
    def __init__(
        self,
        kind: str,
        first: Bounds,
        x: NDArray[np.float32],
        x_offsets: NDArray[np.int64],
        y: NDArray[np.float32],
        y_offsets: NDArray[np.int64],
        dim: int,
        parameters: NDArray[np.float64],
        window: int,
        errors: tuple[float, float, float],
        tie: float,
    ) -> None: ...
