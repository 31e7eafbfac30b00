# SPDX-License-Identifier: BSD-3-Clause
"""Files of other programs, and files of d2ke's own that other programs read."""

from d2ke.io.features import FeatureStore, load_features, save_features

__all__ = ["FeatureStore", "load_features", "save_features"]
