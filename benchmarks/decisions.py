# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities and conformal sets of `D2KEClassifier` beside what else is done.

    python -m benchmarks.decisions [NAME ...] [--seeds 5]

Random divisions, each class in proportion: 600 objects, or seven tenths of fewer, for training. The
first table has the calibration error in percent (15 bins of equally many objects) and the log-loss
of the test parts of all divisions together: of the softmax of the decisions as they are; of
`predict_proba`; of a temperature fitted on every fifth object, held out; and of scikit-learn's
CalibratedClassifierCV of five folds. Seconds of training and prediction are those of one thread.

The second table has the share of test objects whose class is in the set of `predict_set` with
alpha 0.1, and the mean size of the sets. The test part is halved 200 times: one half calibrates
crepes on the same probabilities, and both are measured on the other half. Needs scikit-learn,
crepes, and D2KE_DATA.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from crepes import ConformalClassifier
from scipy.optimize import minimize_scalar
from scipy.special import softmax
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

import d2ke
from benchmarks import measure
from d2ke.estimators import D2KEClassifier
from d2ke.models.calibration import calibration_error
from papers.datasets import load

SERIES = ("CricketZ", "MiddlePhalanxTW", "PhalangesOutlinesCorrect", "SwedishLeaf")
STRINGS = ("splice", "digits-str4", "digits-str8")
SETS = ("letters2", "digits-points", "flower")
_ALPHA, _DIVISIONS, _MOST = 0.1, 200, 600
Objects = list[Any]


def main() -> None:
    """Print both tables."""
    parser = measure.parser(__doc__)
    parser.add_argument("names", nargs="*", default=SERIES + STRINGS + SETS)
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    columns = [f"{name}{what}" for name in METHODS for what in (", error", ", log-loss", ", s")]
    measure.header("data", "train", "test", "classes", *columns)
    table, covered = [], []
    for name in arguments.names:
        X, y = _data(name)
        model = D2KEClassifier(distance="mhd" if name in SETS else None, n_threads=1)
        parts = [_one(model, X, y, seed) for seed in range(arguments.seeds)]
        codes = np.concatenate([codes for codes, _, _, _ in parts])
        scores = []
        for k in range(len(METHODS)):
            P = np.concatenate([found[k] for _, found, _, _ in parts])
            loss, error = log_loss(codes, P), 100 * calibration_error(P, codes)
            scores += [error, loss, np.mean([seconds[k] for _, _, seconds, _ in parts])]
        table.append(scores)
        covered.append([name, *np.mean([row for *_, row in parts], axis=0)])
        n_test = len(parts[0][0])
        measure.row(name, len(y) - n_test, n_test, P.shape[1], *_shown(scores))
    measure.row("mean", "", "", "", *_shown(np.mean(table, axis=0)))
    print()
    measure.header("data", "predict_set", "size", "crepes", "size")
    for name, *row in [*covered, ["mean", *np.mean([row[1:] for row in covered], axis=0)]]:
        measure.row(name, *(f"{value:.3f}" for value in row))


def _shown(scores: Any) -> list[str]:
    return [f"{value:.{(1, 3, 1)[i % 3]}f}" for i, value in enumerate(scores)]


def _data(name: str) -> tuple[Objects, np.ndarray]:
    """Return objects and the codes of their classes."""
    if name in SERIES:
        files = (Path(os.environ["D2KE_DATA"], "ucr", f"{name}_{s}.ts") for s in ("TRAIN", "TEST"))
        parts = [d2ke.io.read_objects(file)[:2] for file in files]
        X, labels = [x for some, _ in parts for x in some], np.concatenate([y for _, y in parts])
    else:
        data = load(name)
        X, labels = list(data.objects), data.labels
    return X, np.unique(labels, return_inverse=True)[1]


def _one(
    model: D2KEClassifier, X: Objects, y: np.ndarray, seed: int
) -> tuple[np.ndarray, list[np.ndarray], list[float], list[float]]:
    """Return test classes, and each method's probabilities and seconds; coverages and sizes."""
    model.set_params(random_state=seed)
    size = min(_MOST, len(y) * 7 // 10)
    train, new, known, true = train_test_split(X, y, train_size=size, stratify=y, random_state=seed)
    found, seconds = [], []
    for method in METHODS.values():
        begin = time.process_time()
        found.append(method(model, train, known, new))
        seconds.append(time.process_time() - begin)
    P = _ours(model, train, known, new)
    sets = d2ke.predict_set(new, model.model_, alpha=_ALPHA)
    rng, covered = np.random.default_rng(seed), []
    for _ in range(_DIVISIONS):
        a, b = np.array_split(rng.permutation(len(true)), 2)
        conformal = ConformalClassifier().fit(1 - P[a, true[a]])
        theirs = conformal.predict_set(1 - P[b], confidence=1 - _ALPHA, smoothing=False)
        pair = sets[b], theirs.astype(bool)
        found_true = [S[range(len(b)), true[b]].mean() for S in pair]
        covered.append([found_true[0], pair[0].sum(1).mean(), found_true[1], pair[1].sum(1).mean()])
    return true, found, seconds, np.mean(covered, axis=0)


def _columns(model: D2KEClassifier, X: Objects) -> np.ndarray:
    """Return a decision for each class; the first of two has 0."""
    F = model.decision_function(X)
    return np.stack([np.zeros(len(F)), F], axis=1) if F.ndim == 1 else F


def _raw(model: D2KEClassifier, X: Objects, y: np.ndarray, new: Objects) -> np.ndarray:
    return softmax(_columns(model.fit(X, y), new), axis=1)


def _ours(model: D2KEClassifier, X: Objects, y: np.ndarray, new: Objects) -> np.ndarray:
    return model.fit(X, y).predict_proba(new)


def _temperature(model: D2KEClassifier, X: Objects, y: np.ndarray, new: Objects) -> np.ndarray:
    train, some, known, held_out = train_test_split(X, y, test_size=0.2, stratify=y, random_state=0)
    F = _columns(model.fit(train, known), some)

    def loss(power: float) -> float:
        return log_loss(held_out, softmax(np.exp(power) * F, axis=1), labels=range(F.shape[1]))

    scale = np.exp(minimize_scalar(loss, bounds=(-5, 8), method="bounded").x)
    return softmax(scale * _columns(model, new), axis=1)


def _sklearn(model: D2KEClassifier, X: Objects, y: np.ndarray, new: Objects) -> np.ndarray:
    return CalibratedClassifierCV(model, cv=5).fit(X, y).predict_proba(new)


METHODS = dict(zip(("softmax", "predict_proba", "temperature", "scikit-learn"),
                   (_raw, _ours, _temperature, _sklearn), strict=True))  # fmt: skip

if __name__ == "__main__":
    main()
