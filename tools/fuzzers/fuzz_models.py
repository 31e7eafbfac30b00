# SPDX-License-Identifier: BSD-3-Clause
"""Linear models and support vector machines in .npz files: `load_model`."""

import io
import tempfile
import zipfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["d2ke.learners"]):
    from d2ke import load_model, save_model, train

import numpy as np
from readers import fuzz


def parts():
    """Return the files in the archive of a model."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.npz")
        rows = np.arange(12.0).reshape(6, 2)
        save_model(path, train(["a", "b", "c"] * 2, rows, "-s 2", solver="block"))
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}


PARTS = parts()
NAMES = sorted(PARTS)


def write(path, data):
    """Replace one part, chosen by the first byte: the archive's check sums are right."""
    name = NAMES[data[0] % len(NAMES)] if data else NAMES[0]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for each, part in (PARTS | {name: data[1:]}).items():
            archive.writestr(each, part)
    path.write_bytes(out.getvalue())


fuzz(load_model, ".npz", [bytes([i]) + PARTS[name] for i, name in enumerate(NAMES)], write)
