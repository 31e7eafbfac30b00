# SPDX-License-Identifier: BSD-3-Clause
"""d2ke: learning from distances.

Give it a dissimilarity between structured objects (time series, strings, sets
of vectors) and it gives back vector embeddings, positive-definite kernels and
the models on top of them::

    model = d2ke.d2ke_train(y, X)
    labels, accuracy, decisions = d2ke.d2ke_predict(None, X_new, model)
"""

from d2ke._base import command_interrupts as _command_interrupts  # noqa: F401 first of all imports

# isort: split
from d2ke import datasets, io
from d2ke._base.config import show_config
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._version import __version__
from d2ke.discriminative.bounds import (
    density_error_bound,
    kernel_risk_bound,
    kernel_similarity_bound,
    similarity_machine_bound,
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
from d2ke.discriminative.neighbor_graph import neighbor_similarities
from d2ke.discriminative.predict import discriminative_predict
from d2ke.discriminative.similarity_machine import (
    SimilarityMachine,
    similarity_machine_fit,
    similarity_machine_predict,
)
from d2ke.discriminative.simplex_qp import SimplexSolution, simplex_qp
from d2ke.distances.alignment.align import align
from d2ke.distances.alignment.record import Alignment, Operations
from d2ke.distances.matrix import distance_matrix
from d2ke.distances.record_pairs import column_weights
from d2ke.distances.registry import distance_names
from d2ke.embedding.feature_selection import FeatureSelection, select_features
from d2ke.embedding.features import d2ke_embed, d2ke_features, rsm_embed
from d2ke.embedding.gram import d2ke_gram, dsk_gram
from d2ke.embedding.pseudo_euclidean import PseudoEuclideanEmbedding, gdk_led
from d2ke.embedding.scaling import Scaling
from d2ke.embedding.spectrum import SpectrumRepair, psd_split
from d2ke.explain.conformal import predict_set
from d2ke.explain.discriminative_objects import Telling, d2ke_telling
from d2ke.explain.explanation import Explanation, d2ke_explain
from d2ke.explain.importance import Importance, d2ke_importance
from d2ke.explain.novelty import novelty
from d2ke.files import write_distances, write_features
from d2ke.groups.barycenter import Barycenter, barycenter
from d2ke.groups.dbscan import DBSCANClusters, dbscan
from d2ke.groups.hdbscan import HDBSCANClusters, hdbscan
from d2ke.groups.kmedoids import MedoidClusters, kmedoids
from d2ke.groups.linking import Duplicates, Links, dedupe, link
from d2ke.groups.spanning_tree import SpanningTree, single_linkage, spanning_tree
from d2ke.groups.tree_picture import plot_tree
from d2ke.learners.least_squares import train_least_squares
from d2ke.learners.linear_model import LinearModel, predict
from d2ke.learners.losses import train_classifier
from d2ke.learners.neighbors import knn_predict
from d2ke.learners.solvers.liblinear import train
from d2ke.learners.solvers.libsvm import svmtrain
from d2ke.learners.solvers.svm_model import SVMModel, svmpredict
from d2ke.measures.coreset import KernelCoreset, kernel_coreset
from d2ke.measures.distance import KernelDistanceInfo, kernel_distance, kernel_norm
from d2ke.measures.ellipses import kernel_coordinates
from d2ke.measures.feature_map import KernelFeatureMap, kernel_feature_map, kernel_features
from d2ke.measures.measure import Measure
from d2ke.measures.pairwise import kernel_distance_matrix, kernel_neighbors
from d2ke.measures.registration import KernelAlignment, kernel_align
from d2ke.measures.shapes import curve, mesh
from d2ke.measures.two_sample import (
    TwoSampleTest,
    features_two_sample_test,
    gram_two_sample_test,
    kernel_two_sample_test,
)
from d2ke.model_selection.result import Search, load_search
from d2ke.model_selection.search import search
from d2ke.models import samplers, views
from d2ke.models.blocks import Block
from d2ke.models.model import D2KEModel
from d2ke.models.persistence import load_model, save_model
from d2ke.models.predict import d2ke_predict, d2ke_transform
from d2ke.models.train import d2ke_train
from d2ke.models.update import d2ke_update
from d2ke.neighbors.info import NeighborsInfo
from d2ke.neighbors.outliers import outlier_scores
from d2ke.neighbors.search import nearest, within
from d2ke.neighbors.windows import nearest_windows
from d2ke.objects.container import Objects, concatenate
from d2ke.objects.fitted_objects import (
    markov_strings,
    random_segments,
    representatives,
    resampled_sets,
)
from d2ke.objects.packing import pack
from d2ke.objects.random_objects import random_series, random_sets, random_strings
from d2ke.objects.record_packing import categories, pack_records
from d2ke.objects.records import Records
from d2ke.theory.features_needed import (
    effective_dimension,
    features_needed,
    features_needed_for_risk,
    lipschitz_constant,
    soft_min_distance,
)
from d2ke.theory.kernel_bootstrap import KernelBootstrap, bootstrap_kernel_error
from d2ke.theory.kernel_error import KernelError, kernel_error, kernel_standard_error

__all__ = [
    "Alignment",
    "ArgumentError",
    "ArgumentTypeError",
    "Barycenter",
    "Block",
    "Clustering",
    "D2KEModel",
    "DBSCANClusters",
    "Duplicates",
    "Explanation",
    "FeatureSelection",
    "HDBSCANClusters",
    "Importance",
    "KernelAlignment",
    "KernelBootstrap",
    "KernelClassifier",
    "KernelCoreset",
    "KernelDistanceInfo",
    "KernelError",
    "KernelFeatureMap",
    "LinearModel",
    "Links",
    "Measure",
    "MedoidClusters",
    "NeighborsInfo",
    "Objects",
    "Operations",
    "Propagation",
    "PseudoEuclideanEmbedding",
    "Records",
    "SVMModel",
    "Scaling",
    "Search",
    "SimilarityMachine",
    "SimplexSolution",
    "SpanningTree",
    "SpectrumRepair",
    "Telling",
    "TwoSampleTest",
    "__version__",
    "align",
    "bandwidth",
    "barycenter",
    "bootstrap_kernel_error",
    "categories",
    "cdsk",
    "clustering_accuracy",
    "column_weights",
    "concatenate",
    "curve",
    "d2ke_embed",
    "d2ke_explain",
    "d2ke_features",
    "d2ke_gram",
    "d2ke_importance",
    "d2ke_predict",
    "d2ke_telling",
    "d2ke_train",
    "d2ke_transform",
    "d2ke_update",
    "datasets",
    "dbscan",
    "dedupe",
    "density_error_bound",
    "discriminative_predict",
    "distance_matrix",
    "distance_names",
    "dsk_gram",
    "effective_dimension",
    "features_needed",
    "features_needed_for_risk",
    "features_two_sample_test",
    "gaussian_gram",
    "gdk_led",
    "gram_two_sample_test",
    "hdbscan",
    "io",
    "kernel_align",
    "kernel_classifier_fit",
    "kernel_classifier_predict",
    "kernel_coordinates",
    "kernel_coreset",
    "kernel_distance",
    "kernel_distance_matrix",
    "kernel_error",
    "kernel_feature_map",
    "kernel_features",
    "kernel_neighbors",
    "kernel_norm",
    "kernel_risk_bound",
    "kernel_similarity_bound",
    "kernel_standard_error",
    "kernel_two_sample_test",
    "kmedoids",
    "knn_predict",
    "link",
    "lipschitz_constant",
    "load_model",
    "load_search",
    "lpdsk",
    "markov_strings",
    "mesh",
    "nearest",
    "nearest_windows",
    "neighbor_similarities",
    "normalized_mutual_information",
    "novelty",
    "outlier_scores",
    "pack",
    "pack_records",
    "plot_tree",
    "predict",
    "predict_set",
    "psd_split",
    "random_segments",
    "random_series",
    "random_sets",
    "random_strings",
    "representatives",
    "resampled_sets",
    "rsm_embed",
    "samplers",
    "save_model",
    "search",
    "select_features",
    "show_config",
    "similarity_machine_bound",
    "similarity_machine_fit",
    "similarity_machine_predict",
    "similarity_risk_bound",
    "simplex_qp",
    "single_linkage",
    "soft_min_distance",
    "spanning_tree",
    "svmpredict",
    "svmtrain",
    "train",
    "train_classifier",
    "train_least_squares",
    "views",
    "within",
    "write_distances",
    "write_features",
]
