# SPDX-License-Identifier: BSD-3-Clause
"""D2KE and its baselines on one division of a data set, searched on its training part."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

import d2ke
from d2ke import Objects
from d2ke._base.blas import one_blas_thread
from d2ke.datasets import Dataset
from d2ke.embedding.scaling import Scaling, compress
from d2ke.model_selection.candidates import search_vectors
from d2ke.model_selection.folds import SearchProblem
from d2ke.model_selection.methods import LED_SIZES
from d2ke.models.recipes import default_size
from papers.settings import Setting, sample

_FOLDS = 10
_BLOCK = 1 << 25  # distances in memory at a time, where they are used by blocks


@dataclass
class Outcome:
    """The result of a method on one division.

    Attributes
    ----------
    accuracy : float
        Percent of the test objects.
    seconds : dict
        By stage.
    processor : dict
        Processor seconds of all threads, by stage.
    parameters : dict
        Chosen on the training part.
    search_accuracy : float
        Their cross-validated accuracy there, percent.
    by_R : dict of int to float
        Test accuracy with the first R features.
    seconds_by_R : dict of int to float
        Time of distances, features, model and prediction with them.
    note : str
        What differs from other data sets.
    """

    accuracy: float = 0.0
    seconds: dict[str, float] = field(default_factory=dict)
    processor: dict[str, float] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)
    search_accuracy: float = 0.0
    by_R: dict[int, float] = field(default_factory=dict)
    seconds_by_R: dict[int, float] = field(default_factory=dict)
    note: str = ""

    def remark(self, text: str) -> None:
        """Add to the note."""
        self.note = f"{self.note}; {text}" if self.note else text

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the time of a block of code to a stage."""
        started = _clocks()
        yield
        self.charge(stage, _clocks() - started)

    def charge(self, stage: str, times: np.ndarray) -> None:
        """Add seconds and processor seconds to a stage."""
        for by_stage, seconds in zip((self.seconds, self.processor), times.tolist(), strict=True):
            by_stage[stage] = by_stage.get(stage, 0.0) + seconds


def _clocks() -> np.ndarray:
    """Return the seconds on the clock and those of the processor."""
    return np.array([time.perf_counter(), time.process_time()])


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
    progress: bool | None = False
    _kept: dict[tuple[str, int], tuple[np.ndarray, np.ndarray]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @classmethod
    def of(cls, dataset: Dataset, setting: Setting, seed: int, **options: Any) -> Division:
        """Divide by the paper's rule, and scale the channels if the setting has it."""
        rows, others = dataset.split(seed)
        divided = dataset.objects[rows], dataset.objects[others]
        if setting.scale_channels:
            divided = d2ke.datasets.standardize(*divided)
        if setting.single and divided[0].kind != "strings":
            divided = tuple(
                d2ke.pack([x.astype(np.float32) for x in X], kind=X.kind, channels_first=False)
                for X in divided
            )
        labels = dataset.labels[rows], dataset.labels[others]
        return cls(dataset, setting, *divided, *labels, seed, **options)

    def kept_distances(self, part: str, n: int, outcome: Outcome) -> np.ndarray:
        """Return the distances of a part to the first n training objects, computed once.

        Their time is charged to each method that needs them.
        """
        if (part, n) not in self._kept:
            started = _clocks()
            first = self.train[:n]
            D = self.distances(first, None) if part == "train" else self.distances(self.test, first)
            D.flags.writeable = False
            self._kept[part, n] = D, _clocks() - started
        D, times = self._kept[part, n]
        outcome.charge("distances", times)
        return D

    def distances(self, X: Objects, Y: Objects | None) -> np.ndarray:
        """Compute distances by the data set's distance."""
        out = None
        if self.setting.single:
            out = np.empty((len(X), len(X if Y is None else Y)), np.float32)
        return d2ke.distance_matrix(
            X,
            Y,
            self.dataset.distance,
            out=out,
            n_threads=self.n_threads,
            progress=self.progress,
            **self.setting.distance_parameters,
        )


def evaluate(method: str, division: Division, *, sizes: Sequence[int] = ()) -> Outcome:
    """Search, train and test one method.

    Parameters
    ----------
    method : {"d2ke_views", "d2ke", "rsm", "knn", "dsk_rbf", "dsk_nd", "gdk_led"}
        The method.
    division : Division
        Training and test part.
    sizes : sequence of int
        Values of R for which to record the test accuracy (D2KE and RSM only).

    Returns
    -------
    Outcome
        The parameters are chosen without the test part.
    """
    function = METHODS[method]
    # The search is parallel over gammas, the models over classes; BLAS threads inside these would
    # make both many times slower.
    with one_blas_thread():
        return function(division, sizes)


def _d2ke(division: Division, sizes: Sequence[int]) -> Outcome:
    setting, outcome = division.setting, Outcome()

    def draw(R: int, *, seed: int, **parameters: Any) -> Objects:
        return sample(division.dataset, division.train, parameters, R, seed)

    grid = setting.omega | _features_grid(setting, setting.R)
    chosen = _search(division, outcome, "d2ke", grid, sampler=draw)
    parameters = {name: chosen[name] for name in setting.omega}
    with outcome.timed("distances"):
        omega = draw(setting.R, seed=division.seed, **parameters)
    return _finish(division, outcome, omega, sizes)


def _rsm(division: Division, sizes: Sequence[int]) -> Outcome:
    setting, outcome = division.setting, Outcome()
    R = min(setting.rsm_R or setting.R, len(division.train))
    _search(division, outcome, "rsm", _features_grid(setting, R))
    omega = d2ke.samplers.training_objects(R, division.train, seed=division.seed)[0]
    return _finish(division, outcome, omega, sizes)


def _features_grid(setting: Setting, R: int) -> dict[str, tuple[Any, ...]]:
    return {
        "R": (min(setting.search_R, R),),
        "scaling": setting.scalings,
        "gamma" if setting.absolute else "gamma_scale": setting.gammas,
        "C": setting.costs,
        "loss": setting.losses,
    }


def _search(
    division: Division,
    outcome: Outcome,
    method: str,
    grid: Mapping[str, Sequence[Any]],
    *,
    within: np.ndarray | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Choose parameters on the training part, or on as much of it as the setting allows."""
    total = len(division.train)
    n = min(total, division.setting.search_n or total, total if within is None else len(within))
    if n < total:
        outcome.remark(f"searched with {n} of {total} training objects")
    with outcome.timed("search"):
        result = d2ke.search(
            division.y_train[:n],
            division.train[:n],
            method,
            distance=division.dataset.distance,
            grid=grid,
            within=None if within is None else within[:n, :n],
            seed=division.seed,
            n_threads=division.n_threads,
            progress=division.progress,
            **options,
            **division.setting.distance_parameters,
        )
    outcome.parameters, outcome.search_accuracy = dict(result.parameters), result.accuracy
    return result.parameters


def _finish(division: Division, outcome: Outcome, omega: Objects, sizes: Sequence[int]) -> Outcome:
    """Compute features of all objects, train the model and test it."""
    outcome.parameters["R"] = len(omega)
    with outcome.timed("distances"):
        D_train = division.distances(division.train, omega)
        D_test = division.distances(division.test, omega)
    outcome.accuracy = _fit(division, outcome, D_train, D_test)
    for R in sizes:
        if len(omega) == R:
            outcome.by_R[R] = outcome.accuracy
            outcome.seconds_by_R[R] = sum(outcome.seconds.values()) - outcome.seconds["search"]
        elif len(omega) > R:
            smaller = Outcome(parameters=outcome.parameters)  # its time does not count
            outcome.by_R[R] = _fit(division, smaller, D_train[:, :R], D_test[:, :R])
            share = outcome.seconds["distances"] * R / len(omega)
            outcome.seconds_by_R[R] = share + sum(smaller.seconds.values())
    return outcome


def _fit(division: Division, outcome: Outcome, D_train: np.ndarray, D_test: np.ndarray) -> float:
    gamma, scaling = outcome.parameters["gamma"], outcome.parameters["scaling"]
    with outcome.timed("features"):
        Z_train = d2ke.d2ke_features(D_train, gamma, n_threads=division.n_threads)
        Z_test = d2ke.d2ke_features(D_test, gamma, n_threads=division.n_threads)
        fitted = Scaling.fit(Z_train, scaling)
        F_train, F_test = compress(
            fitted.apply(Z_train), fitted.apply(Z_test), n_threads=division.n_threads
        )
    return _linear(division, outcome, F_train, F_test)


def _linear(division: Division, outcome: Outcome, F_train: np.ndarray, F_test: np.ndarray) -> float:
    with outcome.timed("model"):
        model = d2ke.train_classifier(
            division.y_train,
            F_train,
            loss=outcome.parameters["loss"],
            C=outcome.parameters["C"],
            n_threads=division.n_threads,
        )
    with outcome.timed("prediction"):
        _, (accuracy, _, _), _ = d2ke.predict(division.y_test, F_test, model)
    return accuracy


def _knn(division: Division, sizes: Sequence[int]) -> Outcome:
    outcome, total = Outcome(), len(division.train)
    n = min(total, division.setting.search_n or total)
    within = division.kept_distances("train", n, outcome)
    k = _search(division, outcome, "knn", {}, within=within)["k"]
    right = 0
    for block, D in _test_distances(division, outcome):
        with outcome.timed("prediction"):
            labels = d2ke.knn_predict(division.y_train, D, k)
            right += int(np.sum(labels == division.y_test[block]))
    outcome.accuracy = 100.0 * right / len(division.test)
    return outcome


def _test_distances(division: Division, outcome: Outcome) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield distances of test objects to all training objects, by blocks that fit into memory."""
    m, n = len(division.test), len(division.train)
    if m * n <= _BLOCK:
        yield slice(0, m), division.kept_distances("test", n, outcome)
        return
    rows = max(1, _BLOCK // n)
    for begin in range(0, m, rows):
        block = slice(begin, begin + rows)
        with outcome.timed("distances"):
            D = division.distances(division.test[block], division.train)
        yield block, D


def _dsk(kind: str, division: Division, sizes: Sequence[int]) -> Outcome:
    setting, outcome = division.setting, Outcome()
    grid = {"C_scale": setting.gram_costs}
    if kind == "rbf":
        grid = {"gamma_scale": setting.gram_gammas, "C": setting.gram_costs}
    n = _landmarks(division, outcome, "trained on")
    within = division.kept_distances("train", n, outcome)
    D = division.kept_distances("test", n, outcome)
    chosen = _search(division, outcome, f"dsk_{kind}", grid, within=within)
    kernel = {name: value for name, value in chosen.items() if name != "C"}
    with outcome.timed("model"):
        K = d2ke.dsk_gram(within, kind=kind, **kernel)
        model = d2ke.svmtrain(division.y_train[:n], K, f"-t 4 -c {chosen['C']} -q")
    with outcome.timed("prediction"):
        K = d2ke.dsk_gram(D, kind=kind, **kernel)
        _, (outcome.accuracy, _, _), _ = d2ke.svmpredict(division.y_test, K, model)
    return outcome


def _gdk_led(division: Division, sizes: Sequence[int]) -> Outcome:
    """Embed the training part only, or, as the paper does, both parts together."""
    setting, outcome = division.setting, Outcome()
    n = _landmarks(division, outcome, "embedded by")
    within = division.kept_distances("train", n, outcome)
    if setting.transductive and n == len(division.train):
        return _transductive(division, outcome, within)
    grid = {"C_scale": setting.costs, "loss": setting.losses}
    R = _search(division, outcome, "gdk_led", grid, within=within)["R"]
    with outcome.timed("features"):
        embedding = d2ke.gdk_led(within, R)
    F_train = embedding.Z
    if n < len(division.train):
        with outcome.timed("distances"):
            D = division.distances(division.train[n:], division.train[:n])
        with outcome.timed("features"):
            F_train = np.vstack([F_train, embedding.project(D)])
    D = division.kept_distances("test", n, outcome)
    with outcome.timed("features"):
        F_test = embedding.project(D)
    outcome.accuracy = _linear(division, outcome, F_train, F_test)
    return outcome


def _transductive(division: Division, outcome: Outcome, within: np.ndarray) -> Outcome:
    """Embed both parts together; the folds of the search are embedded with all others, too."""
    setting, n = division.setting, len(division.train)
    D = division.kept_distances("test", n, outcome)
    with outcome.timed("distances"):
        among_test = division.distances(division.test, None)
    with outcome.timed("features"):
        whole = np.block([[within, D.T], [D, among_test]])
        Z = d2ke.gdk_led(whole, min(max(LED_SIZES), len(whole))).Z
        unit = float(np.mean(np.sum(Z**2, axis=1))) or 1.0
    with outcome.timed("search"):
        codes = np.unique(division.y_train, return_inverse=True)[1]
        problem = SearchProblem(codes, min(_FOLDS, n), division.seed, division.n_threads, True)
        sizes = sorted({min(R, Z.shape[1]) for R in LED_SIZES})
        result = search_vectors(
            (({"R": R}, Z[:n, :R]) for R in sizes),
            problem,
            {"C": [C / unit for C in setting.costs], "loss": setting.losses},
        )
    outcome.parameters, outcome.search_accuracy = dict(result.parameters), result.accuracy
    R = outcome.parameters["R"]
    outcome.accuracy = _linear(division, outcome, Z[:n, :R], Z[n:, :R])
    return outcome


def _landmarks(division: Division, outcome: Outcome, use: str) -> int:
    """Return for how many training objects a method may compute all distances."""
    total = len(division.train)
    n = min(total, division.setting.gram_n or total)
    if n < total:
        outcome.remark(f"{use} {n} of {total} training objects, whose distances fit into memory")
    return n


def _views(division: Division, sizes: Sequence[int]) -> Outcome:
    """D2KE of views, by the recipe for the kind of objects: there is nothing to set."""
    outcome, R = Outcome(), division.setting.R
    with outcome.timed("model"):
        model = d2ke.d2ke_train(
            division.y_train,
            division.train,
            distance=division.dataset.distance,
            R=R if default_size(division.dataset.domain, len(division.train)) > R else None,
            seed=division.seed,
            n_threads=division.n_threads,
            progress=division.progress,
        )
    outcome.parameters = {"R": model.R, "C": model.C}
    outcome.search_accuracy = model.accuracy
    with outcome.timed("prediction"):
        _, outcome.accuracy, _ = d2ke.d2ke_predict(
            division.y_test,
            division.test,
            model,
            n_threads=division.n_threads,
            progress=division.progress,
        )
    return outcome


METHODS = {
    "d2ke_views": _views,
    "d2ke": _d2ke,
    "rsm": _rsm,
    "knn": _knn,
    "dsk_rbf": partial(_dsk, "rbf"),
    "dsk_nd": partial(_dsk, "nd"),
    "gdk_led": _gdk_led,
}
