# SPDX-License-Identifier: BSD-3-Clause
"""D2KE of views beside plain D2KE and three baselines, on three kinds of objects: `d2ke demo`."""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from d2ke._base.blas import one_blas_thread
from d2ke._base.files import check_writable
from d2ke._base.text import object_text
from d2ke.cli.session import Session
from d2ke.datasets import load, standardize
from d2ke.distances.matrix import distance_matrix
from d2ke.embedding.features import d2ke_features
from d2ke.embedding.gram import dsk_gram
from d2ke.embedding.scaling import Scaling
from d2ke.explain.explanation import d2ke_explain
from d2ke.learners.linear_model import predict
from d2ke.learners.losses import train_classifier
from d2ke.learners.neighbors import knn_predict
from d2ke.learners.solvers.libsvm import library, svmtrain
from d2ke.learners.solvers.svm_model import svmpredict
from d2ke.model_selection.search import search
from d2ke.models.persistence import load_model, save_model
from d2ke.models.predict import d2ke_predict
from d2ke.models.train import d2ke_train
from d2ke.objects.container import Objects
from d2ke.objects.samplers.random_objects import random_strings
from d2ke.objects.samplers.training import markov_strings, segments, training_objects
from d2ke.plots.style import COLOURS, legend, panels, title

R, SEARCH_R = 1024, 256  # random objects of the model, and of the search for its parameters
_SEARCHED = 1000  # the most training objects of a search
_SHOWN_R = 512  # random objects of the model that is explained


class Task(NamedTuple):
    """A data set: its description, a sampler of random objects, and values to search."""

    description: str
    sampler: Callable[[Objects], Callable[..., Objects]]
    grid: dict[str, Any]


TASKS = {
    "splice": Task(
        "DNA strings, splice sites",
        lambda X: partial(markov_strings, X=X),
        {"order": [3], "length": [(40, 80)], "gamma_scale": [2.5, 3.5, 5.0, 7.0]},
    ),
    "japanese-vowels": Task(
        "series of 12 channels, nine speakers",
        lambda X: partial(segments, X=X),
        {"length": [(1, 10), (5, 25)], "scale": [1.0, 3.0]},
    ),
    "digits-str8": Task(
        "strings, outlines of digits",
        lambda X: partial(random_strings, alphabet="01234567"),
        {"length": [(2, 20), (10, 40), (30, 60)]},
    ),
}


@dataclass(frozen=True)
class Split:
    """Training and test part of a data set, and how to compute with them."""

    distance: str
    X: Objects
    y: np.ndarray
    X_test: Objects
    y_test: np.ndarray
    seed: int
    options: dict[str, Any]

    @classmethod
    def of(cls, name: str, seed: int, options: dict[str, Any]) -> Split:
        """Load and divide a data set; series are scaled."""
        data = load(name)
        train, test = data.split(seed)
        X, X_test = data.objects[train], data.objects[test]
        if data.domain == "series":
            X, X_test = standardize(X, X_test)
        labels = data.labels
        return cls(data.distance, X, labels[train], X_test, labels[test], seed, options)

    def search(self, method: str, n: int, **options: Any) -> dict[str, Any]:
        """Choose the parameters of a method on the first n training objects."""
        X, y = self.X[:n], self.y[:n]
        rest = {"distance": self.distance, "seed": self.seed, **self.options}
        return search(y, X, method, **rest, **options).parameters

    def distances(self, X: Objects, Y: Objects | None = None) -> np.ndarray:
        """Compute distances by the data set's distance."""
        return distance_matrix(X, Y, self.distance, **self.options)


class Outcome(NamedTuple):
    """Percent of the test objects, and seconds, the choice of parameters included."""

    accuracy: float
    seconds: float


def _views(split: Split, task: Task) -> float:
    """D2KE of views has nothing to set."""
    model = d2ke_train(
        split.y, split.X, distance=split.distance, R=R, seed=split.seed, **split.options
    )
    return d2ke_predict(split.y_test, split.X_test, model, **split.options)[1]


def _d2ke(split: Split, task: Task) -> float:
    draw, grid = task.sampler(split.X), {"R": [SEARCH_R], **task.grid}
    chosen = split.search("d2ke", _SEARCHED, sampler=draw, grid=grid)
    names = [name for name in chosen if name in task.grid]
    omega = draw(R, seed=split.seed, **{name: chosen[name] for name in names})
    return _on_features(split, omega, chosen)


def _rsm(split: Split, task: Task) -> float:
    gammas = {name: value for name, value in task.grid.items() if name == "gamma_scale"}
    chosen = split.search("rsm", _SEARCHED, grid={"R": [min(SEARCH_R, len(split.X))], **gammas})
    omega = training_objects(min(R, len(split.X)), split.X, seed=split.seed)[0]
    return _on_features(split, omega, chosen)


def _on_features(split: Split, omega: Objects, chosen: dict[str, Any]) -> float:
    """Train and test a linear model on the features of distances to random objects."""
    Z, Z_test = (
        d2ke_features(
            split.distances(X, omega), chosen["gamma"], n_threads=split.options["n_threads"]
        )
        for X in (split.X, split.X_test)
    )
    scaling = Scaling.fit(Z, chosen["scaling"])
    model = train_classifier(split.y, scaling.apply(Z), loss=chosen["loss"], C=chosen["C"])
    return float(predict(split.y_test, scaling.apply(Z_test), model)[1][0])


def _knn(split: Split, task: Task) -> float:
    chosen = split.search("knn", _SEARCHED)
    labels = knn_predict(split.y, split.distances(split.X_test, split.X), **chosen)
    return 100 * float(np.mean(labels == split.y_test))


def _dsk_rbf(split: Split, task: Task) -> float:
    """Train a support vector machine with the Gaussian kernel of the distances."""
    X, y = split.X[:2000], split.y[:2000]
    D, D_test = split.distances(X), split.distances(split.X_test, X)
    gammas = {"gamma_scale": [0.1, 1.0, 3.0, 10.0], "C": [1.0, 10.0]}
    # Five folds, since each is a support vector machine of all pairs.
    chosen = split.search("dsk_rbf", len(X), within=D, grid=gammas, n_folds=5)
    kernel = {"kind": "rbf", "gamma": chosen["gamma"]}
    model = svmtrain(y, dsk_gram(D, **kernel), f"-t 4 -c {chosen['C']} -q")
    return float(svmpredict(split.y_test, dsk_gram(D_test, **kernel), model)[1][0])


METHODS: dict[str, tuple[Callable[[Split, Task], float], dict[str, Any]]] = {
    "D2KE of views": (_views, {"color": COLOURS[5], "marker": "*"}),
    "D2KE": (_d2ke, {"color": COLOURS[0], "marker": "o"}),
    "RSM": (_rsm, {"color": COLOURS[1], "marker": "s"}),
    "KNN": (_knn, {"color": COLOURS[2], "marker": "^"}),
    "DSK_RBF": (_dsk_rbf, {"color": COLOURS[3], "marker": "D"}),
}


def evaluate(method: str, split: Split, task: Task) -> Outcome:
    """Search, train and test one method."""
    started = time.perf_counter()
    # The search is parallel over gammas, the models over classes; BLAS threads inside these would
    # make both many times slower.
    with one_blas_thread():
        accuracy = METHODS[method][0](split, task)
    return Outcome(accuracy, time.perf_counter() - started)


def demo(options: argparse.Namespace, session: Session) -> None:
    """Explain one prediction, run the methods on three data sets, and draw what they reach."""
    figure, seed = options.figure, options.seed
    picture, row = panels(len(TASKS), len(TASKS), (4.0, 3.5))
    check_writable(Path(figure))
    methods = dict(METHODS)
    try:
        library("it")
    except ImportError as error:
        del methods["DSK_RBF"]
        session.report(f"DSK_RBF is left out: {error}\n")
    for line in _one_prediction(Split.of("splice", seed, session.computing)):
        session.report(line)
    header = f"{'data':38} {'method':14} {'accuracy %':>10} {'seconds':>8}"
    session.report(header)
    session.report("-" * len(header))
    for (name, task), axes in zip(TASKS.items(), row, strict=True):
        split = Split.of(name, seed, session.computing)
        for method, (_, look) in methods.items():
            accuracy, seconds = evaluate(method, split, task)
            session.report(f"{task.description:38} {method:14} {accuracy:10.2f} {seconds:8.2f}")
            axes.plot(seconds, accuracy, label=method, ls="none", **look)
        axes.set(xlabel="seconds, choice of parameters included", ylabel="test accuracy, %")
        axes.set_xscale("log")
        axes.grid(alpha=0.3)
        title(axes, task.description)
    legend(row[0])
    picture.savefig(figure, dpi=150)
    session.report(f"\naccuracy against seconds: {figure}")
    session.report(
        "\nFor your own file, with a column of objects and a column of labels:\n"
        "  d2ke inspect FILE.csv\n"
        "  d2ke train FILE.csv --out model.h5 --report report.html\n"
        "  d2ke predict model.h5 NEW.csv --out labels.csv\n"
        "d2ke train --help lists the options, docs/command.md the formats of files."
    )


def _one_prediction(split: Split) -> list[str]:
    """Say what a model predicts for a test string, and which pieces speak for it."""
    y, X = split.y[:1000], split.X[:1000]
    with one_blas_thread(), tempfile.TemporaryDirectory() as folder:
        model = d2ke_train(y, X, R=_SHOWN_R, seed=split.seed, **split.options)
        save_model(file := Path(folder) / "model.h5", model)
        n_bytes = file.stat().st_size
        loaded: Any = load_model(file)
        before = d2ke_predict(None, split.X_test, model, **split.options)[0]
        after, _, P = d2ke_predict(None, split.X_test, loaded, probability=True, **split.options)
    x = split.X_test[0]
    why = d2ke_explain(x, loaded)
    near = [omega for omega in why.omegas if omega["share"] > 0 and omega["nearer"]]
    pieces = [omega for omega in near if np.isfinite(omega["distance"])][:3]  # no landmarks
    return [
        f"A model was trained on {len(X)} DNA strings. It has not seen this one:",
        f"  {x}",
        f"true class: {split.y_test[0]}; predicted: {why.label}, with probability {P[0].max():.2f}",
        f"These pieces of training strings are near to it, and speak most for {why.label}:",
        *(
            f"  {object_text(one['object'])} ({one['block']}), edit distance {one['distance']:g}"
            for one in pieces
        ),
        f"The model was saved ({n_bytes / 1e6:.1f} MB) and loaded: "
        f"{np.sum(before == after)} of {len(after)} predicted labels are the same.",
        "",
    ]
