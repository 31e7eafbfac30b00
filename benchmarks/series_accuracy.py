# SPDX-License-Identifier: BSD-3-Clause
"""Accuracy of `d2ke_train` with its defaults beside aeon's classifiers, on the same divisions.

    python -m benchmarks.series_accuracy [--data NAME ...] [--seeds 5] [--random] [--alone]

Test accuracy in percent, mean over seeds, and processor seconds of training and prediction of one
seed, of one thread. The sets are those of D2KE_DATA/ucr in the archive's format, with the
published division into NAME_TRAIN.ts and NAME_TEST.ts; published accuracies are shown beside
them if published.csv has them. `--random` takes three other sets and a random division for each
seed instead; the peers take series of one length, so that those of several are resized by linear
interpolation. Needs aeon, except with `--alone`, which leaves out the peers.
"""

from __future__ import annotations

import csv
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import d2ke
from benchmarks import measure
from papers.datasets import load

RANDOM = ("gun-point", "japanese-vowels", "basic-motions")
PUBLISHED = ("MiniROCKET", "RDST", "MR-Hydra", "HC2")
Labelled = tuple[np.ndarray, d2ke.Objects]
Method = Callable[[Labelled, d2ke.Objects, int], np.ndarray]


def main() -> None:
    """Print a row for each data set, and the means."""
    parser = measure.parser(__doc__)
    parser.add_argument("--data", nargs="+", metavar="NAME")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--random", action="store_true", help="other sets, divided at random")
    parser.add_argument("--alone", action="store_true", help="d2ke_train only")
    arguments = parser.parse_args()
    if not arguments.alone:
        METHODS.update(_peers())
    folder = Path(os.environ.get("D2KE_DATA", "."), "ucr")
    published = {} if arguments.random else _published(folder / "published.csv")
    names = arguments.data or (RANDOM if arguments.random else _names(folder))
    _compile()
    columns = [text for name in METHODS for text in (name, "seconds")]
    references = [f"{name}, published" for name in PUBLISHED if published]
    measure.header("data", "train", "test", "length", *columns, *references)
    table = []
    for name in names:
        divisions = _random(name) if arguments.random else _fixed(folder, name)
        found = np.zeros((arguments.seeds, 2 * len(METHODS)))
        for seed, (train, test) in zip(range(arguments.seeds), divisions, strict=False):
            for k, method in enumerate(METHODS.values()):
                begin = time.process_time()
                labels = method(train, test[1], seed)
                accuracy = 100 * np.mean(labels == test[0])
                found[seed, 2 * k : 2 * k + 2] = accuracy, time.process_time() - begin
        known = [float(published.get(name, {}).get(one) or np.nan) for one in PUBLISHED]
        table.append([*found.mean(axis=0), *known[: len(references)]])
        sizes = len(train[0]), len(test[0]), int(np.median(train[1].lengths))
        measure.row(name, *sizes, *_shown(table[-1], found[:, ::2].std(axis=0)))
    measure.row("mean", "", "", "", *_shown(np.mean(table, axis=0)))


def _shown(values: np.ndarray, deviations: np.ndarray | None = None) -> list[str]:
    """Return accuracies, with their deviations over seeds, seconds, and published accuracies."""
    texts = [f"{value:.2f}" for value in values]
    for k in range(len(METHODS)):
        texts[2 * k + 1] = f"{values[2 * k + 1]:.1f}"
        if deviations is not None:
            texts[2 * k] += f" ± {deviations[k]:.2f}"
    return texts


def _names(folder: Path) -> list[str]:
    return sorted(file.name.removesuffix("_TRAIN.ts") for file in folder.glob("*_TRAIN.ts"))


def _published(file: Path) -> dict[str, dict[str, str]]:
    if not file.exists():
        return {}
    with file.open(newline="", encoding="utf-8") as stream:
        return {row["set"]: row for row in csv.DictReader(stream)}


def _fixed(folder: Path, name: str) -> Iterator[tuple[Labelled, Labelled]]:
    """Yield the published division, again and again."""
    train, test = (
        d2ke.io.read_objects(folder / f"{name}_{part}.ts")[:2] for part in ("TRAIN", "TEST")
    )
    while True:
        yield (np.asarray(train[1]), train[0]), (np.asarray(test[1]), test[0])


def _random(name: str) -> Iterator[tuple[Labelled, Labelled]]:
    """Yield random divisions."""
    data, seed = load(name), 0
    while True:
        a, b = data.split(seed=seed)
        yield (data.labels[a], data.objects[a]), (data.labels[b], data.objects[b])
        seed += 1


def _compile() -> None:
    """Let the peers compile what they compile, so that no seconds have it in them."""
    rng = np.random.default_rng(0)
    X = d2ke.pack(list(rng.normal(size=(20, 50))))
    for method in METHODS.values():
        method((np.arange(20) % 2, X), X, 0)


def _ours(train: Labelled, new: d2ke.Objects, seed: int) -> np.ndarray:
    model = d2ke.d2ke_train(*train, seed=seed, n_threads=1)
    return d2ke.d2ke_predict(None, new, model, n_threads=1)[0]


def _resized(X: d2ke.Objects, length: int) -> np.ndarray:
    """Return (n, channels, length), interpolated."""
    cube = np.empty((len(X), X.values.shape[1], length))
    for i, item in enumerate(X):
        places = np.linspace(0, len(item) - 1, length)
        for channel, values in enumerate(item.T):
            cube[i, channel] = np.interp(places, np.arange(len(item)), values)
    return cube


def _peers() -> dict[str, Method]:
    """Return the classifiers of aeon, which is needed for them only."""
    from aeon.classification.convolution_based import MiniRocketClassifier
    from aeon.classification.interval_based import QUANTClassifier
    from aeon.classification.shapelet_based import RDSTClassifier

    return {
        "MiniRocket": _peer(MiniRocketClassifier, n_jobs=1),
        "QUANT": _peer(QUANTClassifier),
        "RDST": _peer(RDSTClassifier, n_jobs=1),
    }


def _peer(classifier: type, **options: Any) -> Method:
    def predict(train: Labelled, new: d2ke.Objects, seed: int) -> np.ndarray:
        y, X = train
        length = max(9, int(X.lengths.max()))  # MiniRocket's kernels have 9 values
        model = classifier(random_state=seed, **options).fit(_resized(X, length), y)
        return model.predict(_resized(new, length))

    return predict


METHODS: dict[str, Method] = {"d2ke_train": _ours}


if __name__ == "__main__":
    main()
