# SPDX-License-Identifier: BSD-3-Clause
"""Files that MATLAB and Octave read too: MAT-files of every version, and features in HDF5."""

from d2ke.io.mat.api import load_mat, load_objects, save_mat, whos_mat
from d2ke.io.mat.errors import MatFileError, Unreadable
from d2ke.io.store.api import FeatureStore, load_features, save_features
from d2ke.io.store.reader import FeatureFile, open_features

__all__ = [
    "FeatureFile",
    "FeatureStore",
    "MatFileError",
    "Unreadable",
    "load_features",
    "load_mat",
    "load_objects",
    "open_features",
    "save_features",
    "save_mat",
    "whos_mat",
]
