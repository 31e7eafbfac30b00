# SPDX-License-Identifier: BSD-3-Clause
"""Strangers among new objects: `novelty` beside scikit-learn, on the same models.

    python -m benchmarks.strangers [--data TEXT ...] [--words FOLDER]

For each data set a model is trained, and the area under the ROC curve is printed of strangers
against new objects of the data: that of p-values of `novelty`, and of scikit-learn's local outlier
factor and isolation forest, fitted on `d2ke_transform` of the training objects. "at 5 %" is the
share of new objects of the data whose p-value is at most 0.05. Strangers of series have the
mean and deviation of new ones; `class` is one that training had no object of. Words are those of
/usr/share/dict (Debian: wamerican, wfrench, wngerman, wspanish), series those of D2KE_DATA/ucr.
"""

from __future__ import annotations

import os
import unicodedata
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor

import d2ke
from benchmarks import measure

_NEW = 200  # objects of the data and strangers, at most
_OTHER = ("SwedishLeaf", "CBF")  # strangers of series, those of the second for the first
# A name, labels and training objects, new objects like them, and strangers by kind.
Task = tuple[str, Any, Any, Any, dict[str, Any]]


def main() -> None:
    """Print a row for each kind of strangers, and the means."""
    parser = measure.parser(__doc__)
    parser.add_argument("--data", nargs="+", metavar="TEXT", default=[""], help="start of a name")
    parser.add_argument("--words", type=Path, default=Path("/usr/share/dict"))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)  # of strangers, which are meant
    measure.header("data", "train", "strangers", "novelty", "LOF", "IsolationForest", "at 5 %")
    found = []
    for task in (*words(arguments.words), *splice(), *series()):
        if task[0].startswith(tuple(arguments.data)):
            for kind, row in rows_of(*task):
                found.append(row)
                measure.row(task[0], len(task[2]), kind, *(f"{value:.3f}" for value in row))
    table = np.array(found)
    measure.row("mean", "", "", *(f"{value:.3f}" for value in table.mean(axis=0)))
    best = [f"{100 * np.mean(table[:, 0] >= table[:, k]):.0f} %" for k in (1, 2)]
    measure.row("novelty is at or above", "", "", "", *best, "")


def rows_of(name: str, y: Any, X: Any, new: Any, strangers: Any) -> Iterator[Any]:
    """Yield the kinds of strangers, and the numbers of their rows."""
    model = d2ke.d2ke_train(y, X)
    Z = d2ke.d2ke_transform(X, model)
    lof = LocalOutlierFactor(min(20, len(Z) - 1), novelty=True).fit(Z)
    peers = lof, IsolationForest(random_state=0).fit(Z)

    def scores(objects: Any) -> list[np.ndarray]:
        Z = d2ke.d2ke_transform(objects, model)
        return [d2ke.novelty(objects, model), *(peer.score_samples(Z) for peer in peers)]

    known = scores(new)
    for kind, objects in strangers.items():
        pairs = [*zip(known, scores(objects), strict=True)]
        true = np.repeat([1, 0], [len(new), len(objects)])
        aucs = [roc_auc_score(true, np.concatenate(pair)) for pair in pairs]
        yield kind, [*aucs, float(np.mean(known[0] <= 0.05))]


def words(folder: Path) -> Iterator[Task]:
    """Yield models of English words and those of another language, of two sizes."""
    texts = {}
    for name in ("american-english", "french", "ngerman", "spanish"):
        plain = unicodedata.normalize("NFD", (folder / name).read_text("utf-8", "ignore").lower())
        kept = {"".join(filter(str.isascii, word)) for word in plain.split()}
        texts[name] = sorted(word for word in kept if 4 <= len(word) <= 14 and word.isalpha())
    for other, strange, n in (("french", "ngerman", 200), ("ngerman", "spanish", 1000)):
        rng = np.random.default_rng(n)
        drawn = {key: rng.choice(text, n + _NEW // 2, False) for key, text in texts.items()}
        both = np.stack([drawn["american-english"], drawn[other]])
        X, new = both[:, :n].ravel().tolist(), both[:, n:].ravel().tolist()
        strangers = {strange: drawn[strange][:_NEW].tolist()}
        strangers["DNA"] = ["".join(rng.choice(list("acgt"), len(word))) for word in new]
        strangers["shuffled"] = ["".join(rng.permutation(list(word))) for word in new]
        yield f"words, english and {other}", np.repeat([0, 1], n), X, new, strangers


def splice() -> Iterator[Task]:
    """Yield models of two classes of splice junctions."""
    data, rng = d2ke.datasets.load("splice"), np.random.default_rng(0)
    X, y, order = data.objects, data.labels, rng.permutation(len(data.labels))
    for left in np.unique(y):
        known, other = order[y[order] != left], order[y[order] == left]
        train, new = known[:800], known[800 : 800 + _NEW]
        shuffled = ["".join(rng.permutation(list(X[i]))) for i in new]
        strangers = {"class": X[other[:_NEW]], "shuffled": shuffled}
        yield f"splice without {left}", y[train], X[train], X[new], strangers


def series() -> Iterator[Task]:
    """Yield models of series, also without the first, a middle and the last class."""
    rng, folder = np.random.default_rng(0), Path(os.environ.get("D2KE_DATA", "."), "ucr")
    for name in sorted(file.name[: -len("_TRAIN.ts")] for file in folder.glob("*_TRAIN.ts")):
        X, y, T, true = (*read(folder / f"{name}_TRAIN.ts"), *read(folder / f"{name}_TEST.ts"))
        new = list(T[rng.permutation(len(T))[:_NEW]])
        others = read(folder / f"{_OTHER[name == _OTHER[0]]}_TEST.ts")[0]
        strangers = {
            "noise": [like(rng.normal(size=len(x)), x) for x in new],
            "walks": [like(rng.normal(size=len(x)).cumsum(), x) for x in new],
            "other series": [like(others[i % len(others)][:, 0], x) for i, x in enumerate(new)],
        }
        yield name, y, X, new, strangers
        classes = np.unique(y)
        for left in classes[[0, len(classes) // 2, -1]] if len(classes) > 2 else ():
            train, own, other = map(np.flatnonzero, (y != left, true != left, true == left))
            strangers = {"class": T[other[:_NEW]]}
            yield f"{name} without {left}", y[train], X[train], T[own[:_NEW]], strangers


def read(file: Path) -> tuple[Any, np.ndarray]:
    X, y = d2ke.io.read_objects(file)[:2]
    return X, np.asarray(y)


def like(values: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Return values with the length, the mean and the deviation of a series."""
    steps = np.linspace(0, len(values) - 1, len(own))
    values = np.interp(steps, np.arange(len(values)), values)
    return ((values - values.mean()) / values.std() * own.std() + own.mean())[:, None]


if __name__ == "__main__":
    main()
