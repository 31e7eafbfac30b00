# SPDX-License-Identifier: BSD-3-Clause
"""Type stubs of frozen.pyx, which has the documentation."""

from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

_Scalar = TypeVar("_Scalar", bound=np.generic)

class Frozen:
    def __new__(cls, array: NDArray[Any]) -> Self: ...

def freeze(array: NDArray[_Scalar]) -> NDArray[_Scalar]: ...
def is_frozen(array: NDArray[Any]) -> bool: ...
