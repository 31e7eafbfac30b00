# SPDX-License-Identifier: BSD-3-Clause
"""Models and MAT-files with one thing changed in them."""

import io
import zipfile

import h5py
import numpy as np

import d2ke

HUGE = 2**60


def npy(shape, dtype="<f8"):
    out = io.BytesIO()
    header = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(out, header)
    return out.getvalue() + bytes(64)


def model_file(path, changes, compression=zipfile.ZIP_STORED):
    model = d2ke.train([0, 1], np.eye(2))
    d2ke.save_model(path, model)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in (parts | changes).items():
            archive.writestr(name, content)


def level_73(shape, chunks, dtype="f8", matlab_class="double", **attributes):
    def write(path):
        with h5py.File(path, "w", userblock_size=512) as file:
            data = file.create_dataset("x", shape, dtype, chunks=chunks)
            data.attrs["MATLAB_class"] = np.bytes_(matlab_class)
            for name, value in attributes.items():
                data.attrs[name] = value

    return write
