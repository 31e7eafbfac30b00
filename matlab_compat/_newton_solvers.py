# SPDX-License-Identifier: BSD-3-Clause
"""LIBLINEAR's two Newton methods, either of which the authors' scripts may have used."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

import d2ke
from d2ke._base.checks import choice
from d2ke._base.errors import ArgumentError
from matlab_compat._trust_region import trust_region_classifier

Predictor = Callable[[np.ndarray], np.ndarray]
Trainer = Callable[[np.ndarray, np.ndarray, float], Predictor]


def trainer(solver: str) -> Trainer:
    """Return train(y, F, C), which returns predict(F)."""
    choice("solver", solver, ("trust-region", "line-search"))

    def train(y: np.ndarray, F: np.ndarray, C: float) -> Predictor:
        if np.ptp(y) == 0:  # a fold may leave one class only
            return lambda Z: np.full(len(Z), y[0])
        tolerance = 0.0001
        if solver == "trust-region":
            return trust_region_classifier(y, F, C, tolerance)
        model = d2ke.train(y, F, f"-s 2 -e {tolerance} -q -c {C:.17g}", n_threads=1)
        return lambda Z: d2ke.predict(None, Z, model)[0]

    return train


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress the warnings of models that stop early, as LIBLINEAR's option -q does.

    A grid search has many such warnings. The waiting thread must call this.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message='(LIBLINEAR -s 2|solver="block") stopped')
        yield


def uniform_labels(y: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Replace the labels by 1, 2, ..., k; by -1 and 1 if there are two."""
    unknown = np.flatnonzero(~np.isin(y, labels))
    if unknown.size:
        i = unknown[0]
        raise ArgumentError("y", f"is {y[i]}, a class without training series", i)
    numbers = np.arange(1.0, len(labels) + 1) if len(labels) > 2 else np.array([-1.0, 1.0])
    return numbers[np.searchsorted(labels, y)]
