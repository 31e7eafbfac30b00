# SPDX-License-Identifier: BSD-3-Clause
"""Where the names are that people look for in `d2ke` itself."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module

_ELSEWHERE = {
    "load": "load_model reads models, d2ke.io.read_objects files, d2ke.datasets.load data sets",
    "save": "d2ke.save_model writes models, d2ke.io.save_features features",
    "fit": "d2ke.d2ke_train trains models; d2ke.estimators has classes with fit",
    "dataset": "d2ke.datasets.load reads data sets",
    "read_csv": "d2ke.io.read_objects reads files",
}


def hint_of(name: str) -> str:
    """Return what an error about a name says besides: where it is, or which it may be."""
    if name in _ELSEWHERE:
        return f": {_ELSEWHERE[name]}"
    for module in ("estimators", "io", "datasets", "samplers", "discriminative"):
        try:
            held = import_module(f"d2ke.{module}")
        except ImportError:  # of an extra
            continue
        if name in getattr(held, "__all__", ()):
            return f": it is d2ke.{module}.{name}"
    names = import_module("d2ke.distances.registry").BY_NAME
    if name in names:
        return f": it is a distance, d2ke.distance_matrix(X, distance={name!r})"
    close = get_close_matches(name, import_module("d2ke").__all__, 1)
    return f"; d2ke.{close[0]}?" if close else ""
