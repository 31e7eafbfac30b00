# SPDX-License-Identifier: BSD-3-Clause
"""Models in HDF5: `load_model` of a whole file with one dataset or attribute replaced."""

import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["d2ke.models", "d2ke.io", "d2ke.objects"]):
    from d2ke import d2ke_train, load_model, save_model

from readers import SEEDS, fuzz, part_of
from seals import seal_model

WHOLE = Path(tempfile.mkdtemp(prefix="d2ke-fuzz-"), "whole.h5")
save_model(WHOLE, d2ke_train(["a", "b"] * 9, ["aab", "bba"] * 9, R=16))
fuzz(load_model, ".h5", SEEDS, part_of(WHOLE, seal_model))
