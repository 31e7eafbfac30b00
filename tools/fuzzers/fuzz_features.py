# SPDX-License-Identifier: BSD-3-Clause
"""Features in HDF5: `load_features` of a whole file with one dataset or attribute replaced.

The container is h5py's; what is tried is what d2ke makes of its contents.
"""

import shutil
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["d2ke.io", "d2ke.objects"]):
    from d2ke.io import load_features, save_features

import h5py
import numpy as np
from readers import fuzz

WHOLE = Path(tempfile.mkdtemp(prefix="d2ke-fuzz-"), "whole.h5")
save_features(
    WHOLE, np.ones((3, 2)), labels=["a", "b", "a"], omega=["ACGT", "AG"], parameters={"gamma": 0.5}
)
TYPES = ["u1", "i4", "i8", "u8", "f4", "f8", "S3", "S8", "?"]


def write(path, data):
    """Replace what the first bytes name by values of a type and shape that they say."""
    given = atheris.FuzzedDataProvider(data)
    shutil.copy(WHOLE, path)
    with h5py.File(path, "r+") as file:
        names = []
        file.visit(names.append)
        holder = file[given.PickValueInList(["/", *names])]
        dtype = np.dtype(given.PickValueInList(TYPES))
        attribute = given.ConsumeBool()
        columns = given.ConsumeIntInRange(0, 3)
        content = given.ConsumeBytes(given.remaining_bytes())
        values = np.frombuffer(content[: len(content) // dtype.itemsize * dtype.itemsize], dtype)
        if columns and values.size:
            values = values[: values.size // columns * columns].reshape(-1, columns)
        if attribute:
            name = next(iter(holder.attrs), "format")
            holder.attrs[name] = values[:100]
        elif holder.name != "/":
            place = holder.name
            del file[place]
            file[place] = values


fuzz(load_features, ".h5", [bytes(range(i, i + 40)) for i in range(0, 200, 40)], write)
