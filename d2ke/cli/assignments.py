# SPDX-License-Identifier: BSD-3-Clause
"""Result files of clustering and label propagation: a row for each object, CSV or HDF5."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path

import h5py
import numpy as np

from d2ke._base.files import atomic_write, write_file
from d2ke.cli.matrix_files import HDF5, InputError
from d2ke.io.store.hdf5 import put_text

_TEXT = (".csv",)


def check_result_file(file: Path) -> None:
    """Refuse a name whose ending is not that of a format we write."""
    if file.suffix not in _TEXT + HDF5:
        raise InputError(f"out must end in {', '.join(_TEXT + HDF5)}, got {str(file)!r}")


def write_assignments(file: Path, columns: Mapping[str, np.ndarray]) -> None:
    """Write columns of equal length, whole or not at all; in HDF5, a dataset for each."""
    if file.suffix in HDF5:
        with atomic_write(file) as part, h5py.File(part, "w") as store:
            for name, values in columns.items():
                if values.dtype.kind == "U":
                    put_text(store, name, values)
                else:
                    store[name] = values
        return
    content = io.StringIO()
    writer = csv.writer(content, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(values.tolist() for values in columns.values()), strict=True))
    write_file(file, content.getvalue().encode())
