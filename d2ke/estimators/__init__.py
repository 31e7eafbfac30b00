# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn estimators of objects: thin adapters over the plain functions.

They take lists of strings, lists of series and sets of unequal sizes, `Objects`, columns of pandas,
polars and pyarrow, and 2-D arrays, whose rows are series of one channel.
"""

try:
    from sklearn.utils.validation import validate_data  # noqa: F401 (since scikit-learn 1.6)
except ImportError as error:
    raise ImportError(
        "d2ke.estimators needs scikit-learn 1.6 or later: pip install 'd2ke[sklearn]'"
    ) from error

from d2ke.estimators.clustering import CDSK
from d2ke.estimators.features import D2KETransformer, RSMTransformer
from d2ke.estimators.groups import DistanceHDBSCAN, DistanceKMedoids
from d2ke.estimators.neighbors import (
    DistanceKNeighborsClassifier,
    DistanceNearestNeighbors,
    DistanceNeighborsTransformer,
)
from d2ke.estimators.propagation import LPDSK
from d2ke.estimators.pseudo_euclidean import PseudoEuclidean
from d2ke.estimators.similarity_machine import SimilarityMachineClassifier
from d2ke.estimators.supervised import D2KEClassifier, D2KERegressor

__all__ = [
    "CDSK",
    "LPDSK",
    "D2KEClassifier",
    "D2KERegressor",
    "D2KETransformer",
    "DistanceHDBSCAN",
    "DistanceKMedoids",
    "DistanceKNeighborsClassifier",
    "DistanceNearestNeighbors",
    "DistanceNeighborsTransformer",
    "PseudoEuclidean",
    "RSMTransformer",
    "SimilarityMachineClassifier",
]
