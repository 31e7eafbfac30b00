# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities, sets of classes and novelty, beside scikit-learn.

    python -m benchmarks.decisions probabilities [NAME ...] [--seeds 3]
    python -m benchmarks.decisions sets [NAME ...] [--seeds 20] [--train 600]
    python -m benchmarks.decisions strangers [NAME ...]

`probabilities`: calibration error in percent (15 bins of equally many objects) and log-loss of the
test parts of all divisions, of the softmax of the decisions, of `predict_proba`, and of
CalibratedClassifierCV of five folds. `sets`: the share of new objects whose class is in their set,
and classes in a set. `strangers`: area under the ROC curve of objects of a class that training had
no object of, by `novelty`, and by LocalOutlierFactor and IsolationForest on `d2ke_transform`. Names
are those of `papers.datasets` and of the sets in D2KE_DATA/ucr.
"""

from __future__ import annotations

import argparse
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import IsolationForest
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.neighbors import LocalOutlierFactor

import d2ke
from benchmarks import measure
from d2ke.estimators import D2KEClassifier
from d2ke.models.calibration import calibration_error
from papers.datasets import REGISTRY, load

INSTALLED = ("splice", "japanese-vowels", "digits")
NAMES = ("CricketZ", "MiddlePhalanxTW", "PhalangesOutlinesCorrect", "SwedishLeaf", "splice",
         "digits-str4", "digits-str8", "letters2", "digits-points", "flower")  # fmt: skip


def read(name: str) -> tuple[list[Any], np.ndarray]:
    """Return objects and the codes of their classes."""
    if name in REGISTRY or name in INSTALLED:
        data = load(name) if name in REGISTRY else d2ke.datasets.load(name)
        X, labels = list(data.objects), data.labels
    else:
        files = (Path(os.environ["D2KE_DATA"], "ucr", f"{name}_{s}.ts") for s in ("TRAIN", "TEST"))
        parts = [d2ke.io.read_objects(file)[:2] for file in files]
        X, labels = [x for some, _ in parts for x in some], np.concatenate([y for _, y in parts])
    return X, np.unique(labels, return_inverse=True)[1]


def divisions(name: str, most: int, seeds: int) -> Any:
    """Yield a model and random divisions, each class in proportion."""
    X, y = read(name)
    distance = "mhd" if name in ("letters2", "digits-points", "flower", "digits") else None
    size = min(most, len(y) * 7 // 10)
    for seed in range(seeds):
        model = D2KEClassifier(distance=distance, n_threads=1, random_state=seed)
        parts = train_test_split(X, y, train_size=size, stratify=y, random_state=seed)
        yield model, *parts


def probabilities(options: argparse.Namespace) -> None:
    """Print the table of probabilities."""
    methods = "softmax", "predict_proba", "scikit-learn"
    measure.header("data", *(f"{name}, {what}" for name in methods for what in ("error", "loss")))
    table = []
    for name in options.names or NAMES:
        true, found = [], []
        for model, train, new, y, codes in divisions(name, options.train, options.seeds):
            F = model.fit(train, y).decision_function(new)
            F = np.stack([np.zeros(len(F)), F], axis=1) if F.ndim == 1 else F
            theirs = CalibratedClassifierCV(model, cv=5).fit(train, y).predict_proba(new)
            found.append([softmax(F, axis=1), model.predict_proba(new), theirs])
            true.append(codes)
        codes = np.concatenate(true)
        scores = []
        for parts in zip(*found, strict=True):
            P = np.concatenate(parts)
            scores += [100 * calibration_error(P, codes), log_loss(codes, P)]
        table.append(scores)
        measure.row(name, *(f"{value:.3f}" for value in scores))
    measure.row("mean", *(f"{value:.3f}" for value in np.mean(table, axis=0)))


def sets(options: argparse.Namespace) -> None:
    """Print the table of sets."""
    measure.header("data", "alpha", "covered, %", "error", "classes in a set", "labels right, %")
    for name in options.names or INSTALLED:
        rows: dict[float, list[Any]] = {0.05: [], 0.1: [], 0.2: []}
        for model, train, new, y, codes in divisions(name, options.train, options.seeds):
            right = np.mean(model.fit(train, y).predict(new) == codes)
            for alpha, found in rows.items():
                S = d2ke.predict_set(new, model.model_, alpha=alpha)
                found.append((S[range(len(codes)), codes].mean(), S.sum(axis=1).mean(), right))
        for alpha, found in rows.items():
            covered, size, right = np.mean(found, axis=0)
            error = np.std(found, axis=0)[0] / np.sqrt(len(found))
            numbers = f"{100 * covered:.1f}", f"{100 * error:.1f}", f"{size:.2f}"
            measure.row(name, alpha, *numbers, f"{100 * right:.1f}")


def strangers(options: argparse.Namespace) -> None:
    """Print the table of strangers; the last class is left out."""
    measure.header("data", "novelty", "LOF", "IsolationForest")
    for name in options.names or NAMES[:6]:
        X, y = read(name)
        known = np.random.default_rng(0).permutation(np.flatnonzero(y < y.max()))
        train, new = np.split(known, [min(800, len(known) * 7 // 10)])
        tested = [*new, *np.flatnonzero(y == y.max())]
        model = d2ke.d2ke_train(y[train], [X[i] for i in train])
        Z, T = (d2ke.d2ke_transform([X[i] for i in rows], model) for rows in (train, tested))
        peers = LocalOutlierFactor(min(20, len(Z) - 1), novelty=True), IsolationForest()
        scores = [peer.fit(Z).score_samples(T) for peer in peers]
        scores.insert(0, d2ke.novelty([X[i] for i in tested], model))
        measure.row(name, *(f"{roc_auc_score(y[tested] < y.max(), score):.3f}" for score in scores))


def main() -> None:
    """Print a table."""
    parser = measure.parser(__doc__)
    parser.add_argument("what", choices=["probabilities", "sets", "strangers"])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--train", type=int, default=600, help="training objects")
    options = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    tables = {"probabilities": probabilities, "sets": sets, "strangers": strangers}
    tables[options.what](options)


if __name__ == "__main__":
    main()
