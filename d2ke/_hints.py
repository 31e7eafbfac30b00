# SPDX-License-Identifier: BSD-3-Clause
"""Where the names are that people look for in `d2ke` itself."""

from __future__ import annotations

from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module

_MODULES = (
    "estimators", "io", "datasets", "samplers", "discriminative", "distances", "embedding",
    "explain", "groups", "measures", "models", "plots", "theory",
)  # fmt: skip

# Names that other packages have.
_ELSEWHERE = {
    "load": "load_model reads models, d2ke.io.read_objects files, d2ke.datasets.load data sets",
    "save": "save_model writes models, and Index.save indexes",
    "read_csv": "d2ke.io.read_objects reads files",
    "fit": "d2ke_train trains a model, as does fit of d2ke.estimators",
    "transform": "d2ke_transform returns vectors",
    "KNN": "knn_predict predicts by the nearest, as does d2ke.estimators",
    "NearestNeighbors": "it is d2ke.nearest, or d2ke.estimators.DistanceNearestNeighbors",
    "dedup": "it is d2ke.dedupe",
    "deduplicate": "it is d2ke.dedupe",
    "match": "dedupe and link find rows about the same thing",
    "cluster": "hdbscan, dbscan, single_linkage and kmedoids find clusters",
    **dict.fromkeys(("cdist", "pdist", "pairwise_distances"), "it is d2ke.distance_matrix"),
    **dict.fromkeys(
        ("matrix_profile", "stump", "discords", "anomalies"),
        "window_profile compares the windows of long series, window_outliers ranks them",
    ),
}


def hint_of(name: str) -> str:
    """Return what an error about a name says besides: where it is."""
    if name in _ELSEWHERE:
        return f": {_ELSEWHERE[name]}"
    if name in import_module("d2ke.distances.registry").BY_NAME:
        return f": it is a distance, d2ke.distance_matrix(X, distance={name!r})"
    for module in _MODULES:
        with suppress(ImportError):  # of an extra
            if name in import_module(f"d2ke.{module}").__all__:
                return f": it is d2ke.{module}.{name}"
    near = get_close_matches(name, import_module("d2ke").__all__, 1)
    return f": did you mean d2ke.{near[0]}?" if near else ""
