# SPDX-License-Identifier: BSD-3-Clause
"""Features in HDF5: `load_features` of a whole file with one dataset or attribute replaced."""

import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["d2ke.io", "d2ke.objects"]):
    from d2ke.io import load_features, save_features

import numpy as np
from readers import SEEDS, fuzz, part_of
from seals import seal_features_file

WHOLE = Path(tempfile.mkdtemp(prefix="d2ke-fuzz-"), "whole.h5")
save_features(
    WHOLE, np.ones((3, 2)), labels=["a", "b", "a"], omega=["ACGT", "AG"], parameters={"gamma": 0.5}
)
fuzz(load_features, ".h5", SEEDS, part_of(WHOLE, seal_features_file))
