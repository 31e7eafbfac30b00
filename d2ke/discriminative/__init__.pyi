# SPDX-License-Identifier: BSD-3-Clause
# The public names; modules load when they are first used.

from .bounds import density_error_bound as density_error_bound
from .bounds import kernel_risk_bound as kernel_risk_bound
from .bounds import kernel_similarity_bound as kernel_similarity_bound
from .bounds import similarity_machine_bound as similarity_machine_bound
from .bounds import similarity_risk_bound as similarity_risk_bound
from .cdsk import Clustering as Clustering
from .gaussian import bandwidth as bandwidth
from .gaussian import gaussian_gram as gaussian_gram
from .kernel_classifier import KernelClassifier as KernelClassifier
from .kernel_classifier import kernel_classifier_fit as kernel_classifier_fit
from .kernel_classifier import kernel_classifier_predict as kernel_classifier_predict
from .lpdsk import Propagation as Propagation
from .metrics import clustering_accuracy as clustering_accuracy
from .metrics import normalized_mutual_information as normalized_mutual_information
from .neighbor_graph import neighbor_similarities as neighbor_similarities
from .similarity_machine import SimilarityMachine as SimilarityMachine
