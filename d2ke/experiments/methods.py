# SPDX-License-Identifier: BSD-3-Clause
"""D2KE and its baselines on one division of a data set, searched on its training part."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from d2ke._progress import stages
from d2ke._validate import choice
from d2ke.datasets import Dataset, standardize
from d2ke.distance import distance_matrix
from d2ke.embed import d2ke_features
from d2ke.experiments.settings import (
    DIMENSIONS,
    GRAM_COSTS,
    GRAM_GAMMAS,
    NEIGHBORS,
    Setting,
    sample,
)
from d2ke.gram import dsk_gram
from d2ke.led import gdk_led
from d2ke.linear import predict, train
from d2ke.neighbors import knn_predict
from d2ke.objects import Objects, pack
from d2ke.omega import representatives
from d2ke.scaling import Scaling, compress
from d2ke.select import search_features, search_gram, search_neighbors, search_vectors
from d2ke.svm import svmpredict, svmtrain


@dataclass
class Outcome:
    """What a method reached on one division.

    Attributes
    ----------
    accuracy : float
        Percent of the test objects.
    seconds : dict
        By stage.
    parameters : dict
        Chosen on the training part.
    search_accuracy : float
        Their cross-validated accuracy there, percent.
    by_R : dict of int to float
        Test accuracy with the first R features, where it was asked for.
    """

    accuracy: float = 0.0
    seconds: dict[str, float] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)
    search_accuracy: float = 0.0
    by_R: dict[int, float] = field(default_factory=dict)

    @contextmanager
    def timed(self, stage: str):
        """Add the time spent inside to a stage."""
        started = time.perf_counter()
        yield
        self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - started


@dataclass(frozen=True)
class Division:
    """One division of a data set into training and test part, ready for the methods."""

    dataset: Dataset
    setting: Setting
    train: Objects
    test: Objects
    y_train: np.ndarray
    y_test: np.ndarray
    seed: int
    n_threads: int | None = None
    progress: bool = False

    @classmethod
    def of(cls, dataset: Dataset, setting: Setting, seed: int, **options: Any) -> Division:
        """Divide by the paper's rule and scale the channels where the setting says so."""
        rows, others = dataset.split(seed)
        parts = dataset.objects[rows], dataset.objects[others]
        if setting.scale_channels:
            parts = standardize(*parts)
        if setting.single:
            parts = tuple(pack([x.astype(np.float32) for x in part]) for part in parts)
        labels = dataset.labels[rows], dataset.labels[others]
        return cls(dataset, setting, *parts, *labels, seed, **options)

    @property
    def codes(self) -> np.ndarray:
        """The training labels as 0, 1, ..."""
        return np.unique(self.y_train, return_inverse=True)[1]

    def distances(self, X: Objects, Y: Objects | None) -> np.ndarray:
        """Compute distances by the data set's distance."""
        return distance_matrix(
            X,
            Y,
            self.dataset.distance,
            n_threads=self.n_threads,
            progress=self.progress,
            **self.setting.distance_parameters,
        )


def evaluate(method: str, division: Division, *, sizes: Sequence[int] = ()) -> Outcome:
    """Search, train and test one method.

    Parameters
    ----------
    method : {"d2ke", "rsm", "knn", "dsk_rbf", "dsk_nd", "gdk_led"}
        The method.
    division : Division
        Training and test part.
    sizes : sequence of int
        Values of R for which to record the test accuracy (D2KE and RSM only).

    Returns
    -------
    Outcome
        Nothing of the test part is looked at before the parameters are chosen.
    """
    function = METHODS[choice("method", method, METHODS)]
    # The search is parallel over gammas, the models over classes; a BLAS that starts
    # threads of its own for each of these would be many times slower.
    with threadpool_limits(limits=1, user_api="blas"):
        return function(division, sizes)


def _d2ke(division: Division, sizes: Sequence[int]) -> Outcome:
    setting, outcome = division.setting, Outcome()

    def draw(sampler, R):
        return sample(division.dataset, division.train, sampler, R, division.seed)

    def candidates():
        for sampler in stages(setting.samplers, "search", division.progress):
            omega = draw(sampler, min(setting.search_R, setting.R))
            yield sampler, division.distances(division.train, omega)

    with outcome.timed("search"):
        search = search_features(
            candidates(),
            division.codes,
            gammas=setting.gammas,
            costs=setting.costs,
            seed=division.seed,
            n_threads=division.n_threads,
        )
    sampler = {
        name: value for name, value in search.parameters.items() if name not in ("gamma", "C")
    }
    omega = draw(sampler, setting.R)
    return _finish(division, outcome, search, omega, sizes)


def _rsm(division: Division, sizes: Sequence[int]) -> Outcome:
    setting, outcome = division.setting, Outcome()
    R = min(setting.R, len(division.train))
    reps = representatives(division.train, R, seed=division.seed)
    with outcome.timed("search"):
        first = reps[: min(setting.search_R, R)]
        search = search_features(
            [({}, division.distances(division.train, first))],
            division.codes,
            gammas=setting.gammas,
            costs=setting.costs,
            seed=division.seed,
            n_threads=division.n_threads,
        )
    return _finish(division, outcome, search, reps, sizes)


def _finish(division, outcome, search, omega, sizes):
    """Features of all objects, the model, and its test."""
    gamma, C = search.parameters["gamma"], search.parameters["C"]
    outcome.parameters = search.parameters | {"R": len(omega)}
    outcome.search_accuracy = search.accuracy
    with outcome.timed("distances"):
        D_train = division.distances(division.train, omega)
        D_test = division.distances(division.test, omega)
    outcome.accuracy = _fit(division, outcome, D_train, D_test, gamma, C)
    for R in sizes:
        if len(omega) >= R:
            other = Outcome()  # its time is not the method's
            outcome.by_R[R] = _fit(division, other, D_train[:, :R], D_test[:, :R], gamma, C)
    return outcome


def _fit(division, outcome, D_train, D_test, gamma, C):
    with outcome.timed("features"):
        Z_train = d2ke_features(D_train, gamma, n_threads=division.n_threads)
        Z_test = d2ke_features(D_test, gamma, n_threads=division.n_threads)
        scaling = Scaling.fit(Z_train)
        F_train, F_test = compress(
            scaling.apply(Z_train), scaling.apply(Z_test), n_threads=division.n_threads
        )
    with outcome.timed("model"):
        model = _train(division, F_train, C)
    with outcome.timed("prediction"):
        _, (accuracy, _, _), _ = predict(division.y_test, F_test, model)
    return accuracy


def _train(division, F, C):
    return train(
        division.y_train,
        F,
        f"-s 2 -e 0.01 -B 1 -c {C} -q",
        n_threads=division.n_threads,
    )


def _knn(division: Division, sizes: Sequence[int]) -> Outcome:
    outcome = Outcome()
    with outcome.timed("search"):
        within = division.distances(division.train, None)
        ks = [k for k in NEIGHBORS if k < len(division.train)]
        search = search_neighbors(within, division.y_train, ks)
    outcome.parameters = search.parameters
    outcome.search_accuracy = search.accuracy
    with outcome.timed("distances"):
        D = division.distances(division.test, division.train)
    with outcome.timed("prediction"):
        labels = knn_predict(D, division.y_train, search.parameters["k"])
        outcome.accuracy = 100.0 * float(np.mean(labels == division.y_test))
    return outcome


def _dsk_rbf(division: Division, sizes: Sequence[int]) -> Outcome:
    return _dsk(division, "rbf")


def _dsk_nd(division: Division, sizes: Sequence[int]) -> Outcome:
    return _dsk(division, "nd")


def _dsk(division: Division, kind: str) -> Outcome:
    outcome = Outcome()
    with outcome.timed("distances"):
        within = division.distances(division.train, None)
    with outcome.timed("search"):
        middle = float(np.median(within)) ** 2 or 1.0
        if kind == "rbf":
            grid, costs = [{"gamma": g / middle} for g in GRAM_GAMMAS], GRAM_COSTS
        else:  # C times the kernel is what counts
            grid, costs = [{}], [C / middle for C in GRAM_COSTS]
        search = search_gram(
            ((kernel, dsk_gram(within, kind=kind, **kernel)) for kernel in grid),
            division.codes,
            costs=costs,
            seed=division.seed,
            n_threads=division.n_threads,
        )
    outcome.parameters, outcome.search_accuracy = search.parameters, search.accuracy
    kernel = {name: value for name, value in search.parameters.items() if name != "C"}
    with outcome.timed("distances"):
        D = division.distances(division.test, division.train)
    with outcome.timed("model"):
        model = svmtrain(
            division.y_train,
            dsk_gram(within, kind=kind, **kernel),
            f"-t 4 -c {search.parameters['C']} -q",
        )
    with outcome.timed("prediction"):
        K = dsk_gram(D, kind=kind, **kernel)
        _, (outcome.accuracy, _, _), _ = svmpredict(division.y_test, K, model)
    return outcome


def _gdk_led(division: Division, sizes: Sequence[int]) -> Outcome:
    """Embed the training part only; the paper embeds both parts together."""
    outcome = Outcome()
    with outcome.timed("distances"):
        within = division.distances(division.train, None)
        D = division.distances(division.test, division.train)
    with outcome.timed("features"):
        embedding = gdk_led(within, min(max(DIMENSIONS), len(within)))
        unit = np.linalg.norm(embedding.Z) / np.sqrt(len(within)) or 1.0  # C suits every distance
        F_train, F_test = embedding.Z / unit, embedding.project(D) / unit
        dimensions = sorted({min(R, F_train.shape[1]) for R in DIMENSIONS})
    with outcome.timed("search"):
        search = search_vectors(
            (({"R": R}, F_train[:, :R]) for R in dimensions),
            division.codes,
            costs=division.setting.costs,
            seed=division.seed,
        )
    outcome.parameters, outcome.search_accuracy = search.parameters, search.accuracy
    R = search.parameters["R"]
    with outcome.timed("model"):
        model = _train(division, F_train[:, :R], search.parameters["C"])
    with outcome.timed("prediction"):
        _, (outcome.accuracy, _, _), _ = predict(division.y_test, F_test[:, :R], model)
    return outcome


METHODS = {
    "d2ke": _d2ke,
    "rsm": _rsm,
    "knn": _knn,
    "dsk_rbf": _dsk_rbf,
    "dsk_nd": _dsk_nd,
    "gdk_led": _gdk_led,
}
