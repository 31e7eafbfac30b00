# SPDX-License-Identifier: BSD-3-Clause
"""Models, stores and MAT-files with one thing changed in them."""

import io
import shutil
import zipfile

import h5py
import numpy as np
from sealed import seal

import d2ke
from d2ke.io.store.hdf5 import HEADER_BYTES

HUGE = 2**60
UNKNOWN_FILTER = 32123


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


def store_file(path, change):
    """Write a feature store whose seal is right, whatever was changed in it.

    other.h5, beside it, is as it was before.
    """
    omega = d2ke.random_strings(3, "ab", length=4, seed=0)
    Z = np.ones((2, 3))
    d2ke.io.save_features(path, Z, labels=["a", "b"], omega=omega, parameters={"gamma": 1.0})
    shutil.copy(path, path.with_name("other.h5"))
    lines = path.read_bytes()[:HEADER_BYTES].decode().splitlines()[:1]
    with h5py.File(path, "r+") as store:
        change(store)
    size = path.stat().st_size
    spared = (HEADER_BYTES, HEADER_BYTES)
    seal(path, (*lines, f"{size} {spared[0]} {spared[1]}"), spared)


def filtered(store):
    """Have Z need a filter that libhdf5 has not."""
    made = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    made.set_chunk((2, 3))
    made.set_filter(UNKNOWN_FILTER, h5py.h5z.FLAG_OPTIONAL, ())
    del store["Z"]
    space = h5py.h5s.create_simple((2, 3))
    data = h5py.h5d.create(store.id, b"Z", h5py.h5t.IEEE_F64LE, space, made)
    data.write_direct_chunk((0, 0), np.ones((2, 3)).tobytes(), 0)


def level_73(shape, chunks, dtype="f8", matlab_class="double", **attributes):
    def write(path):
        with h5py.File(path, "w", userblock_size=512) as file:
            data = file.create_dataset("x", shape, dtype, chunks=chunks)
            data.attrs["MATLAB_class"] = np.bytes_(matlab_class)
            for name, value in attributes.items():
                data.attrs[name] = value

    return write
