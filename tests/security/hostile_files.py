# SPDX-License-Identifier: BSD-3-Clause
"""MAT-files with one thing changed in them."""

import h5py
import numpy as np

HUGE = 2**60


def level_73(shape, chunks, dtype="f8", matlab_class="double", **attributes):
    def write(path):
        with h5py.File(path, "w", userblock_size=512) as file:
            data = file.create_dataset("x", shape, dtype, chunks=chunks)
            data.attrs["MATLAB_class"] = np.bytes_(matlab_class)
            for name, value in attributes.items():
                data.attrs[name] = value

    return write
