# SPDX-License-Identifier: BSD-3-Clause
"""Type stubs of window_profile.pyx, which has the documentation."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

FRONT: int

def nearest_places(
    x: Any,
    y: Any,
    length: int,
    normalize: bool,
    zone: int,
    chosen: NDArray[np.int64],
    n_threads: int,
    progress: Callable[[int, int], None] | None = None,
) -> NDArray[np.int64]: ...
