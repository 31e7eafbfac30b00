# SPDX-License-Identifier: BSD-3-Clause
"""The kernels of the kernel distance, and the accuracy of its methods."""

from __future__ import annotations

from typing import Any

import numpy as np

from d2ke._base.checks import choice, positive_number
from d2ke.measures.median_scale import bandwidth

KERNELS = ("gaussian", "laplace", "linear", "trivial")

DELTA = 0.01


def checked_kernel(kernel: Any, sigma: Any, point_arrays: list[np.ndarray]) -> float | None:
    """Return sigma for a kernel that has one, and None for one that has not."""
    choice("kernel", kernel, KERNELS)
    if kernel in ("gaussian", "laplace"):
        if sigma is None:
            raise TypeError(f'the {kernel} kernel needs sigma, a positive number or "median"')
        return bandwidth(sigma, point_arrays)
    if sigma is not None:
        raise TypeError(f"the {kernel} kernel has no scale; got sigma={sigma!r}")
    return None


def checked_accuracy(eps: Any, delta: Any) -> tuple[float | None, float]:
    """Return eps and delta, if they are probabilities."""
    for name, value in (("eps", eps), ("delta", delta)):
        if value is not None and positive_number(name, value) >= 1:
            raise ValueError(f"{name} must be between 0 and 1, got {value}")
    return None if eps is None else float(eps), DELTA if delta is None else float(delta)
