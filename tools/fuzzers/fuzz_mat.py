# SPDX-License-Identifier: BSD-3-Clause
"""MAT-files of the versions 4 to 7: `load_mat`."""

import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["d2ke.io"]):
    from d2ke.io import load_mat, save_mat

import numpy as np
import scipy.io
import scipy.sparse
from readers import fuzz


def seeds():
    """Make a file of every form."""
    sparse = scipy.sparse.csc_array(np.eye(3))
    values = {"x": np.arange(6.0).reshape(2, 3), "c": [np.ones((2, 2)), "text"], "s": sparse}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "seed.mat")
        for compress in (False, True):
            save_mat(path, values | {"nested": {"a": {"b": 1j}}, "t": True}, compress=compress)
            yield path.read_bytes()
        scipy.io.savemat(path, {"x": values["x"], "t": "text", "s": sparse}, format="4")
        yield path.read_bytes()


fuzz(load_mat, ".mat", seeds())
