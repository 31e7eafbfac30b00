# SPDX-License-Identifier: BSD-3-Clause
"""Type stubs of box_tree.pyx, which has the documentation."""

import numpy as np
from numpy.typing import NDArray

PADDING: int

class Tree:
    @property
    def depth(self) -> int: ...
    @property
    def n_nodes(self) -> int: ...
    def __init__(
        self, points: NDArray[np.float64], vectors: NDArray[np.float64], leaf_size: int
    ) -> None: ...
    def norm(
        self,
        laplace: bool,
        rate: float,
        tolerance: float,
        alpha: float,
        cutoff: float,
        n_threads: int,
    ) -> tuple[float, float, float, int, int]: ...
