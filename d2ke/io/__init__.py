# SPDX-License-Identifier: BSD-3-Clause
"""Files: MAT-files of every version, features in HDF5, and labelled objects of many formats."""

from d2ke.io.columns import LabelledObjects
from d2ke.io.feature_file import FeatureFile, open_features
from d2ke.io.features import FeatureStore, load_features, save_features
from d2ke.io.graphs import read_graphs
from d2ke.io.labelled import read_objects
from d2ke.io.mat.api import load_mat, load_objects, save_mat, whos_mat
from d2ke.io.mat.errors import MatFileError, Unreadable
from d2ke.io.parquet import ParquetObjects
from d2ke.io.ts import read_ts

__all__ = [
    "FeatureFile",
    "FeatureStore",
    "LabelledObjects",
    "MatFileError",
    "ParquetObjects",
    "Unreadable",
    "load_features",
    "load_mat",
    "load_objects",
    "open_features",
    "read_graphs",
    "read_objects",
    "read_ts",
    "save_features",
    "save_mat",
    "whos_mat",
]
