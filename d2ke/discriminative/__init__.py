# SPDX-License-Identifier: BSD-3-Clause
"""Discriminative similarity: clustering, label propagation and classifiers by weighted kernels.

References
----------
Yang, Liang, Jojic, Yan, Feng, Huang, "Discriminative Similarity for Clustering and
Semi-Supervised Learning", 2017.
"""

from d2ke.discriminative.bounds import (
    density_error_bound,
    kernel_risk_bound,
    kernel_similarity_bound,
    similarity_risk_bound,
)
from d2ke.discriminative.cdsk import Clustering, cdsk
from d2ke.discriminative.gaussian import bandwidth, gaussian_gram
from d2ke.discriminative.kernel_classifier import (
    KernelClassifier,
    kernel_classifier_fit,
    kernel_classifier_predict,
)
from d2ke.discriminative.lpdsk import Propagation, lpdsk
from d2ke.discriminative.metrics import clustering_accuracy, normalized_mutual_information
from d2ke.discriminative.similarity_machine import (
    SimilarityMachine,
    similarity_machine_fit,
    similarity_machine_predict,
)
from d2ke.discriminative.simplex_qp import SimplexSolution, simplex_qp
from d2ke.embedding.spectrum import psd_split

__all__ = [
    "Clustering",
    "KernelClassifier",
    "Propagation",
    "SimilarityMachine",
    "SimplexSolution",
    "bandwidth",
    "cdsk",
    "clustering_accuracy",
    "density_error_bound",
    "gaussian_gram",
    "kernel_classifier_fit",
    "kernel_classifier_predict",
    "kernel_risk_bound",
    "kernel_similarity_bound",
    "lpdsk",
    "normalized_mutual_information",
    "psd_split",
    "similarity_machine_fit",
    "similarity_machine_predict",
    "similarity_risk_bound",
    "simplex_qp",
]
