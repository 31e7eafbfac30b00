# SPDX-License-Identifier: BSD-3-Clause
"""Type stubs of strings.pyx, which has the documentation."""

import numpy as np
from numpy.typing import NDArray

from d2ke._ext.pairwise import PairwiseKernel

GLOBAL: int
PREFIX: int
INFIX: int
LOCAL: int

def levenshtein(
    x: NDArray[np.uint32],
    x_offsets: NDArray[np.int64],
    y: NDArray[np.uint32],
    y_offsets: NDArray[np.int64],
    n_letters: int,
    same: bool,
    mode: int = ...,
) -> PairwiseKernel: ...
def with_rows(
    pairs: PairwiseKernel, x: NDArray[np.uint32], x_offsets: NDArray[np.int64]
) -> PairwiseKernel: ...
def osa(
    x: NDArray[np.uint32],
    x_offsets: NDArray[np.int64],
    y: NDArray[np.uint32],
    y_offsets: NDArray[np.int64],
    n_letters: int,
    same: bool,
) -> PairwiseKernel: ...
def indel(
    x: NDArray[np.uint32],
    x_offsets: NDArray[np.int64],
    y: NDArray[np.uint32],
    y_offsets: NDArray[np.int64],
    n_letters: int,
    same: bool,
) -> PairwiseKernel: ...
def own_lanes(lengths: NDArray[np.int64], letters: float, vector_bytes: int) -> int: ...
def jaro(
    x: NDArray[np.uint32],
    x_offsets: NDArray[np.int64],
    y: NDArray[np.uint32],
    y_offsets: NDArray[np.int64],
    n_letters: int,
    same: bool,
    prefix_weight: float,
) -> PairwiseKernel: ...
def token_set(
    pairs: PairwiseKernel,
    x: tuple[NDArray[np.int64], NDArray[np.int64]],
    y: tuple[NDArray[np.int64], NDArray[np.int64]],
    letters: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    n_letters: int,
    space: int,
) -> PairwiseKernel: ...
def pack(
    lengths: NDArray[np.int64], n_lanes: int, part: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
