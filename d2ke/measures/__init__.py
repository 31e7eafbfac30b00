# SPDX-License-Identifier: BSD-3-Clause
"""The kernel distance of weighted points, curves and surfaces (Joshi et al., SoCG 2011).

The public names are exported by d2ke itself; ``d2ke.kernel_distance`` is the function.
"""

from d2ke.measures.coreset import KernelCoreset, kernel_coreset
from d2ke.measures.distance import KernelDistanceInfo, kernel_distance, kernel_norm
from d2ke.measures.feature_map import KernelFeatureMap, kernel_feature_map, kernel_features
from d2ke.measures.measure import Measure
from d2ke.measures.pairwise import kernel_distance_matrix, kernel_neighbors
from d2ke.measures.registration import KernelAlignment, kernel_align
from d2ke.measures.shapes import curve, mesh

__all__ = [
    "KernelAlignment",
    "KernelCoreset",
    "KernelDistanceInfo",
    "KernelFeatureMap",
    "Measure",
    "curve",
    "kernel_align",
    "kernel_coreset",
    "kernel_distance",
    "kernel_distance_matrix",
    "kernel_feature_map",
    "kernel_features",
    "kernel_neighbors",
    "kernel_norm",
    "mesh",
]
