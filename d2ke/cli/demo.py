# SPDX-License-Identifier: BSD-3-Clause
"""The command `d2ke demo`: `d2ke_train` and well-known methods on three kinds of objects."""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from d2ke._base.blas import one_blas_thread
from d2ke._base.files import check_writable
from d2ke._base.text import object_text
from d2ke.cli.session import Session
from d2ke.datasets import load, standardize
from d2ke.distances.matrix import distance_matrix
from d2ke.embedding.gram import dsk_gram
from d2ke.explain.explanation import d2ke_explain
from d2ke.learners.neighbors import knn_predict
from d2ke.learners.solvers.libsvm import library, svmtrain
from d2ke.learners.solvers.svm_model import svmpredict
from d2ke.model_selection.search import search
from d2ke.models.persistence import load_model, save_model
from d2ke.models.predict import d2ke_predict
from d2ke.models.train import d2ke_train
from d2ke.objects.container import Objects
from d2ke.plots.style import COLOURS, legend, panels, title

R = 1024  # random objects of the model
_SHOWN_R = 512  # random objects of the model that is explained

TASKS = {
    "splice": "DNA strings, splice sites",
    "japanese-vowels": "series of 12 channels, 9 speakers",
    "digits-str8": "strings, outlines of digits",
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

    def distances(self, X: Objects, Y: Objects | None = None) -> np.ndarray:
        """Compute distances by the data set's distance."""
        return distance_matrix(X, Y, self.distance, **self.options)


def _d2ke(split: Split) -> float:
    """Train and test with default parameters."""
    model = d2ke_train(
        split.y, split.X, distance=split.distance, R=R, seed=split.seed, **split.options
    )
    return d2ke_predict(split.y_test, split.X_test, model, **split.options)[1]


def _nearest_neighbor(split: Split) -> float:
    labels = knn_predict(split.y, split.distances(split.X_test, split.X), k=1)
    return 100 * float(np.mean(labels == split.y_test))


def _kernel_svm(split: Split) -> float:
    """Train a support vector machine with the Gaussian kernel of the distances (DSK_RBF)."""
    X, y = split.X[:2000], split.y[:2000]
    D, D_test = split.distances(X), split.distances(split.X_test, X)
    grid = {"gamma_scale": [0.1, 1.0, 3.0, 10.0], "C": [1.0, 10.0]}
    options = {"distance": split.distance, "seed": split.seed, **split.options}
    best = search(y, X, "dsk_rbf", within=D, grid=grid, n_folds=5, **options).parameters
    kernel = {"kind": "rbf", "gamma": best["gamma"]}
    model = svmtrain(y, dsk_gram(D, **kernel), f"-t 4 -c {best['C']} -q")
    return float(svmpredict(split.y_test, dsk_gram(D_test, **kernel), model)[1][0])


def _tf_idf(split: Split) -> float:
    """Train a linear support vector machine on the frequencies of 1 to 5 letters."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    letters = TfidfVectorizer(analyzer="char", ngram_range=(1, 5), sublinear_tf=True)
    model = make_pipeline(letters, LinearSVC(random_state=split.seed))
    model.fit(list(split.X), split.y)
    return 100 * float(model.score(list(split.X_test), split.y_test))


METHODS: dict[str, tuple[Callable[[Split], float], dict[str, Any]]] = {
    "d2ke_train": (_d2ke, {"color": COLOURS[5], "marker": "*"}),
    "1-NN": (_nearest_neighbor, {"color": COLOURS[2], "marker": "^"}),
    "kernel SVM": (_kernel_svm, {"color": COLOURS[3], "marker": "D"}),
    "tf-idf + SVM": (_tf_idf, {"color": COLOURS[1], "marker": "s"}),
}


def _evaluate(method: str, split: Split) -> tuple[float, float]:
    """Return the accuracy on the test objects in percent, and the seconds."""
    started = time.perf_counter()
    # The search is parallel over gammas, training over classes; nested BLAS threads would
    # make both many times slower.
    with one_blas_thread():
        accuracy = METHODS[method][0](split)
    return accuracy, time.perf_counter() - started


def _available(session: Session) -> list[str]:
    """Return the methods whose packages are installed, and report the missing ones."""
    methods = list(METHODS)
    try:
        library("it")
    except ImportError as error:
        methods.remove("kernel SVM")
        session.report(f"kernel SVM is left out: {error}\n")
    if find_spec("sklearn") is None:
        methods.remove("tf-idf + SVM")
        session.report(
            'tf-idf + SVM is left out: it needs scikit-learn: pip install "d2ke[demo]"\n'
        )
    return methods


def demo(options: argparse.Namespace, session: Session) -> None:
    """Explain one prediction, run the methods on three data sets, and draw their accuracies."""
    figure, seed = options.figure, options.seed
    picture, row = panels(len(TASKS), len(TASKS), (4.0, 3.5))
    check_writable(Path(figure))
    methods = _available(session)
    for line in _one_prediction(Split.of("splice", seed, session.computing)):
        session.report(line)
    header = f"{'data':34} {'method':14} {'accuracy %':>10} {'seconds':>8}"
    session.report(header)
    session.report("-" * len(header))
    lost = []
    for (name, description), axes in zip(TASKS.items(), row, strict=True):
        split, reached = Split.of(name, seed, session.computing), {}
        for method in methods:
            if method == "tf-idf + SVM" and not split.X.has_letters:
                continue
            accuracy, seconds = _evaluate(method, split)
            reached[method] = accuracy
            session.report(f"{description:34} {method:14} {accuracy:10.2f} {seconds:8.2f}")
            axes.plot(seconds, accuracy, label=method, ls="none", **METHODS[method][1])
        best = max(reached, key=reached.__getitem__)
        if reached[best] > reached["d2ke_train"]:
            lost.append(f"{description}: {best} is more accurate than d2ke_train")
        axes.set(xlabel="seconds", ylabel="test accuracy, %")
        axes.set_xscale("log")
        axes.grid(alpha=0.3)
        title(axes, description)
    legend(row[0])
    picture.savefig(figure, dpi=150)
    session.report("\n".join(["", *lost, f"accuracy against seconds: {figure}"]))
    session.report(
        "\nFor your own file, with a column of objects and a column of labels:\n"
        "  d2ke inspect FILE.csv\n"
        "  d2ke train FILE.csv --out model.h5 --report report.html\n"
        "  d2ke predict model.h5 NEW.csv --out labels.csv\n"
        "d2ke train --help lists the options, docs/command.md the formats of files."
    )


def _one_prediction(split: Split) -> list[str]:
    """Describe the prediction of a test string, and the pieces that count most toward it."""
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
        f"A model was trained on {len(X)} DNA strings. This one is new to it:",
        f"  {x}",
        f"true class: {split.y_test[0]}; predicted: {why.label}, with probability {P[0].max():.2f}",
        f"Pieces of training strings that count most toward {why.label}:",
        *(
            f"  {object_text(item['object'])} ({item['block']}), edit distance {item['distance']:g}"
            for item in pieces
        ),
        f"The model was saved ({n_bytes / 1e6:.1f} MB) and loaded: "
        f"{np.sum(before == after)} of {len(after)} predicted labels are the same.",
        "",
    ]
