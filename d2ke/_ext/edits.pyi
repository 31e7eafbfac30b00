# SPDX-License-Identifier: BSD-3-Clause
"""Type stubs of edits.pyx, which has the documentation."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from d2ke._ext.pairwise import PairwiseKernel

_Letter = TypeVar("_Letter", np.uint8, np.uint32)
_Bags = tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.int64], NDArray[np.int64]]
_Member = TypeVar("_Member", np.uint32, np.uint64)

def damerau(
    x: NDArray[np.uint32],
    x_offsets: NDArray[np.int64],
    y: NDArray[np.uint32],
    y_offsets: NDArray[np.int64],
    n_letters: int,
    same: bool,
) -> PairwiseKernel: ...
def transpositions(
    x: NDArray[np.uint32],
    x_offsets: NDArray[np.int64],
    y: NDArray[np.uint32],
    y_offsets: NDArray[np.int64],
    osa: bool,
) -> PairwiseKernel: ...
def weighted(
    x: NDArray[np.uint32],
    x_offsets: NDArray[np.int64],
    y: NDArray[np.uint32],
    y_offsets: NDArray[np.int64],
    same: bool,
    mode: int,
    classes: NDArray[np.uint32],
    substitution: NDArray[np.float64],
    costs: NDArray[np.float64],
    affine: bool,
    transposition: float = ...,
) -> PairwiseKernel: ...
def hamming(
    x: NDArray[_Letter],
    x_offsets: NDArray[np.int64],
    y: NDArray[_Letter],
    y_offsets: NDArray[np.int64],
) -> PairwiseKernel: ...
def jaccard(
    x: NDArray[_Member],
    x_offsets: NDArray[np.int64],
    x_sizes: NDArray[np.int64],
    y: NDArray[_Member],
    y_offsets: NDArray[np.int64],
    y_sizes: NDArray[np.int64],
) -> PairwiseKernel: ...
def bags(x: _Bags, y: _Bags) -> PairwiseKernel: ...
