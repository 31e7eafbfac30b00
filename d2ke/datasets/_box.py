# SPDX-License-Identifier: BSD-3-Clause
"""Data sets that are installed with the package: the MAT-files of the folder `box`.

In a checkout, `box` is a link to the folder ``data`` at the top, which names their sources.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from d2ke.io.mat.api import load_mat, load_objects
from d2ke.objects.container import Objects

BOX = Path(__file__).with_name("box")


def read_box(name: str, variable: str = "X") -> tuple[Objects, np.ndarray]:
    """Return the objects and the labels of a data set that is installed with the package."""
    file = BOX / f"{name}.mat"
    labels = load_mat(file, "y")["y"].ravel()
    labels = labels.astype(str if labels.dtype == object else np.int64)
    return load_objects(file, variable, channels_first=True), labels
