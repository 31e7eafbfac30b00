# SPDX-License-Identifier: BSD-3-Clause
"""The estimators' parameters, as users have learned them, and their documentation."""

import inspect
import re

import pytest

pytest.importorskip("sklearn", minversion="1.6")

from d2ke import estimators

PARAMETERS = {
    "CDSK": "n_clusters=2 affinity='distance' distance=None gamma=None distance_params=None "
    "variant='hard' lam=None smoothing=None max_iter=10 n_threads=None progress=None "
    "random_state=None",
    "D2KEClassifier": "R=None distance=None distance_params=None blocks=None strands='one' "
    "missing=None "
    "class_weight=None unseen_letters='allow' n_threads=None progress=None random_state=None",
    "D2KERegressor": "R=None distance=None distance_params=None blocks=None strands='one' "
    "missing=None "
    "unseen_letters='allow' n_threads=None progress=None random_state=None",
    "D2KETransformer": "R=None distance=None distance_params=None blocks=None strands='one' "
    "n_threads=None progress=None random_state=None",
    "DistanceHDBSCAN": "min_cluster_size=5 min_samples=None cluster_selection_epsilon=0.0 "
    "distance=None distance_params=None metric=False n_threads=None progress=None",
    "DistanceKMedoids": "n_clusters=8 distance=None distance_params=None sample_size=5000 "
    "n_samples=5 metric=False n_threads=None progress=None random_state=None",
    "DistanceKNeighborsClassifier": "n_neighbors=1 distance=None distance_params=None "
    "n_threads=None progress=None",
    "DistanceNearestNeighbors": "n_neighbors=5 radius=1.0 distance=None distance_params=None "
    "metric=False n_threads=None progress=None",
    "DistanceNeighborsTransformer": "n_neighbors=None radius=None distance=None "
    "distance_params=None metric=False n_threads=None progress=None",
    "LPDSK": "affinity='distance' distance=None gamma=None distance_params=None unknown=-1 "
    "variant='relaxed' lam=None balance=True max_iter=None n_threads=None progress=None",
    "PseudoEuclidean": "R=64 distance=None distance_params=None n_threads=None progress=None",
    "RSMTransformer": "R=256 distance=None gamma=None distance_params=None n_threads=None "
    "progress=None random_state=None",
    "SimilarityMachineClassifier": "C=1.0 lam_plus=1.0 lam_minus=1.0 tol=0.001 "
    "affinity='distance' distance=None gamma=None distance_params=None n_threads=None "
    "progress=None",
}


def test_all_estimators_are_here():
    assert sorted(estimators.__all__) == sorted(PARAMETERS)


@pytest.mark.parametrize("name", sorted(PARAMETERS))
def test_parameters_and_documentation(name):
    cls = getattr(estimators, name)
    parameters = inspect.signature(cls).parameters.values()
    found = [f"{one.name}={one.default!r}" for one in parameters]
    assert sorted(found) == sorted(PARAMETERS[name].split())  # those of base classes come first
    doc = inspect.getdoc(cls)
    described = re.search(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-+\n)", doc, re.M | re.S)[1]
    documented = []
    for line in described.splitlines():
        if re.match(r"\S", line):
            documented += [one.strip() for one in line.split(" : ")[0].split(",")]
    assert sorted(documented) == sorted(one.name for one in parameters)
    for title in ("Attributes", "Examples"):
        assert re.search(rf"^{title}\n-+$", doc, re.M)
    for key, value in vars(cls).items():
        if inspect.isfunction(value) and not key.startswith("_"):
            assert value.__doc__, key
