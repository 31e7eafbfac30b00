# SPDX-License-Identifier: BSD-3-Clause
"""Where the names are that people look for in `d2ke` itself."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module

_MODULES = (
    "estimators", "io", "datasets", "samplers", "discriminative", "distances", "embedding",
    "explain", "groups", "measures", "models", "plots", "theory",
)  # fmt: skip


def hint_of(name: str) -> str:
    """Return what an error about a name says besides: where it is."""
    if name == "load":
        return ": load_model reads models, d2ke.io.read_objects files, d2ke.datasets.load data sets"
    if name in ("matrix_profile", "stump", "discords", "anomalies"):
        return ": window_profile compares the windows of long series, window_outliers ranks them"
    if name in import_module("d2ke.distances.registry").BY_NAME:
        return f": it is a distance, d2ke.distance_matrix(X, distance={name!r})"
    for module in _MODULES:
        with suppress(ImportError):  # of an extra
            if name in import_module(f"d2ke.{module}").__all__:
                return f": it is d2ke.{module}.{name}"
    return ""
