# SPDX-License-Identifier: BSD-3-Clause
"""The two Newton methods of LIBLINEAR ``-s 2 -e 0.0001`` that the authors' scripts can have had."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from d2ke._base.checks import choice
from d2ke._ext import trust_region
from d2ke.learners import liblinear, linear_model

_TOLERANCE = 0.0001
Predictor = Callable[[np.ndarray], np.ndarray]
Trainer = Callable[[np.ndarray, np.ndarray, float], Predictor]


def trainer(solver: str) -> Trainer:
    """Return train(y, F, C), which returns predict(F)."""
    choice("solver", solver, ("trust-region", "line-search"))
    solve = _trust_region if solver == "trust-region" else _line_search

    def train(y: np.ndarray, F: np.ndarray, C: float) -> Predictor:
        if np.ptp(y) == 0:  # a fold may leave one class only
            return lambda Z: np.full(len(Z), y[0])
        return solve(y, F, C)

    return train


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress the warnings of models that stop early, as LIBLINEAR's option -q does.

    The grid has many of them on purpose. Set by the thread that waits for the others.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="LIBLINEAR -s 2 stopped")
        yield


def _line_search(y: np.ndarray, F: np.ndarray, C: float) -> Callable[[np.ndarray], np.ndarray]:
    model = liblinear.train(y, F, f"-s 2 -e {_TOLERANCE} -q -c {C:.17g}", n_threads=1)
    return lambda Z: linear_model.predict(None, Z, model)[0]


def _trust_region(y: np.ndarray, F: np.ndarray, C: float) -> Callable[[np.ndarray], np.ndarray]:
    classes, codes = np.unique(y, return_inverse=True)
    F = np.ascontiguousarray(F)
    W = []
    for signs in linear_model.one_vs_rest_signs(codes, len(classes)).T.copy():
        positive_rows = np.count_nonzero(signs > 0)
        smaller = min(positive_rows, len(signs) - positive_rows)
        W.append(trust_region.fit(F, signs, C, _TOLERANCE * smaller / len(signs)))

    def predict(Z: np.ndarray) -> np.ndarray:
        values = np.einsum("ij,kj->ik", Z, np.array(W))
        return classes[(values[:, 0] > 0).astype(int) if len(W) == 1 else values.argmax(axis=1)]

    return predict


def uniform_labels(y: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Replace the labels by 1, 2, ..., k; by -1 and 1 if there are two."""
    if len(labels) > 2:
        numbers = np.arange(1.0, len(labels) + 1)
    else:
        numbers = np.array([-1.0, 1.0])[: len(labels)]
    unknown = ~np.isin(y, labels)
    if unknown.any():
        i = int(np.argmax(unknown))
        raise ValueError(f"y[{i}] is {y[i]}, a class without training series")
    return numbers[np.searchsorted(labels, y)]
