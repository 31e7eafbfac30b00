# SPDX-License-Identifier: BSD-3-Clause
# The public names; modules load when they are first used.

from .coreset import KernelCoreset as KernelCoreset
from .distance import KernelDistanceInfo as KernelDistanceInfo
from .distance import kernel_norm as kernel_norm
from .ellipses import kernel_coordinates as kernel_coordinates
from .feature_map import KernelFeatureMap as KernelFeatureMap
from .feature_map import kernel_feature_map as kernel_feature_map
from .feature_map import kernel_features as kernel_features
from .pairwise import kernel_neighbors as kernel_neighbors
from .registration import KernelAlignment as KernelAlignment
from .two_sample import TwoSampleTest as TwoSampleTest
from .two_sample import features_two_sample_test as features_two_sample_test
from .two_sample import gram_two_sample_test as gram_two_sample_test
