# SPDX-License-Identifier: BSD-3-Clause
"""Accuracy of `d2ke_train` with its defaults beside aeon's classifiers and published accuracies.

    python -m benchmarks.series_accuracy [--archive FOLDER] [--published PATH] [--limit-mb 4]
        [--data NAME ...] [--seeds 5] [--peers [NAME ...]]

Test accuracy in percent, mean over seeds with their deviation, and processor seconds of training
and prediction of one seed, of one thread. The sets are those of FOLDER, with the published
division; `--help` says what it may hold and where published accuracies come from. By default it
is D2KE_DATA/ucr.

The second table compares the first method with each other on the sets that both have: the mean
difference with its deviation over seeds, and on how many sets the first one is better, equal to two
decimals, and worse.

The peers need aeon (QUANT: torch too) and take series of one length, so that those of several are
resized by linear interpolation. `--peers` without names leaves them out.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import d2ke
from benchmarks import archive, measure
from benchmarks.archive import Labelled

Method = Callable[[Labelled, d2ke.Objects, int], np.ndarray]

OURS = "`d2ke_train`"
PEERS = ("MiniROCKET", "QUANT", "RDST")
SHOWN = ("MiniROCKET", "RDST", "MR-Hydra", "HC2")  # published, beside each set


def main() -> None:
    """Print a row for each data set, then one for each method."""
    arguments = _arguments()
    methods: dict[str, Method] = {OURS: default, **peers(arguments.peers)}
    published: dict[str, dict[str, float]] = {}
    path = arguments.published or arguments.archive / "published.csv"
    if arguments.published or path.exists():
        published = archive.published(path)
    warnings.simplefilter("ignore", UserWarning)  # little was learned
    _compile(methods)
    shown = [name for name in SHOWN if name in published]
    columns = [text for name in methods for text in (name, "seconds")]
    references = [f"{name}, published" for name in shown]
    measure.header("data", "train", "test", "length", *columns, *references)
    accuracies: dict[str, dict[str, np.ndarray]] = {name: {} for name in methods}
    seconds = dict.fromkeys(methods, 0.0)
    for name, train, test in _published_divisions(arguments):
        cells: list[object] = []
        for method, (percent, taken) in zip(
            methods, results(methods, train, test, arguments.seeds), strict=True
        ):
            accuracies[method][name] = percent
            seconds[method] += taken.mean()
            cells += [_spread(percent), f"{taken.mean():.1f}"]
        sizes = len(train.labels), len(test.labels), int(np.median(train.objects.lengths))
        figures = [f"{published[classifier].get(name, np.nan):.2f}" for classifier in shown]
        measure.row(name, *sizes, *cells, *figures)
    if not accuracies[OURS]:
        raise SystemExit("no data set could be read")
    print()
    for classifier, figures_by_set in published.items():
        accuracies[f"{classifier}, published"] = {
            name: np.array([figure]) for name, figure in figures_by_set.items()
        }
    summary(accuracies, seconds)


def _arguments() -> argparse.Namespace:
    parser = measure.parser(__doc__)
    parser.epilog = archive.HELP
    folder = Path(os.environ.get("D2KE_DATA", "."), "ucr")
    parser.add_argument(
        "--archive", type=Path, default=folder, metavar="FOLDER", help="default: D2KE_DATA/ucr"
    )
    parser.add_argument("--published", type=Path, metavar="PATH", help="a table, or a folder")
    parser.add_argument("--limit-mb", type=float, metavar="MB", help="leave out sets by file size")
    parser.add_argument("--data", nargs="+", metavar="NAME", help="these sets only")
    parser.add_argument("--seeds", type=int, default=5, help="5 by default")
    parser.add_argument(
        "--peers", nargs="*", default=PEERS, choices=PEERS,
        help="classifiers of aeon, by default all; none without a name",
    )  # fmt: skip
    return parser.parse_args()


def default(train: Labelled, new: d2ke.Objects, seed: int) -> np.ndarray:
    """Train with the defaults, and predict."""
    model = d2ke.d2ke_train(train.labels, train.objects, seed=seed, n_threads=1)
    return d2ke.d2ke_predict(None, new, model, n_threads=1)[0]


def peers(names: Sequence[str]) -> dict[str, Method]:
    """Return classifiers of aeon, which is needed for them only."""
    if not names:
        return {}
    from aeon.classification.convolution_based import MiniRocketClassifier
    from aeon.classification.interval_based import QUANTClassifier
    from aeon.classification.shapelet_based import RDSTClassifier

    classifiers = {
        "MiniROCKET": partial(MiniRocketClassifier, n_jobs=1),
        "QUANT": QUANTClassifier,
        "RDST": partial(RDSTClassifier, n_jobs=1),
    }
    return {name: partial(_peer, classifiers[name]) for name in names}


def _peer(
    classifier: Callable[..., Any], train: Labelled, new: d2ke.Objects, seed: int
) -> np.ndarray:
    length = max(9, int(train.objects.lengths.max()))  # MiniROCKET's kernels have 9 values
    model = classifier(random_state=seed).fit(_resized(train.objects, length), train.labels)
    return model.predict(_resized(new, length))


def _resized(X: d2ke.Objects, length: int) -> np.ndarray:
    """Return (n, channels, length), interpolated."""
    cube = np.empty((len(X), X.values.shape[1], length))
    for i, item in enumerate(X):
        places = np.linspace(0, len(item) - 1, length)
        for channel, values in enumerate(item.T):
            cube[i, channel] = np.interp(places, np.arange(len(item)), values)
    return cube


def _published_divisions(
    arguments: argparse.Namespace,
) -> Iterator[tuple[str, Labelled, Labelled]]:
    """Yield the sets that can be read; say which cannot."""
    files = archive.training_files(arguments.archive, arguments.limit_mb)
    unknown = sorted(set(arguments.data or ()) - set(files))
    if unknown or not files:
        missing = " or ".join(f"{name}_TRAIN.ts" for name in unknown or ["NAME"])
        limit = "" if arguments.limit_mb is None else f" of at most {arguments.limit_mb:g} MB"
        raise SystemExit(f"{arguments.archive} has no {missing} (or .tsv){limit}")
    for name in arguments.data or files:
        try:
            train, test = archive.division(files[name])
        except (OSError, ValueError) as error:
            measure.progress(f"{name} is left out: {error}")
        else:
            yield name, train, test


def _compile(methods: Mapping[str, Method]) -> None:
    """Let the peers compile what they compile, so that no seconds have it in them."""
    rng = np.random.default_rng(0)
    X = d2ke.pack(list(rng.normal(size=(20, 50))))
    for method in methods.values():
        method(Labelled(np.arange(20) % 2, X), X, 0)


def results(
    methods: Mapping[str, Method], train: Labelled, test: Labelled, n_seeds: int
) -> np.ndarray:
    """Return accuracies in percent and seconds, of shape (methods, 2, seeds)."""
    rows = []
    for seed in range(n_seeds):
        for method in methods.values():
            begin = time.process_time()
            labels = method(train, test.objects, seed)
            accuracy = 100 * np.mean(labels == test.labels)
            rows.append((accuracy, time.process_time() - begin))
    return np.reshape(rows, (-1, len(methods), 2)).transpose(1, 2, 0)


def summary(
    accuracies: Mapping[str, Mapping[str, np.ndarray]], seconds: Mapping[str, float]
) -> None:
    """Print the mean of each method, and the first one beside it on the sets of both.

    Accuracies are those of each seed, by method and set; a published one is that of one seed.
    """
    first, ours = next(iter(accuracies.items()))
    measure.header(
        "method", "sets", "mean", f"{first} minus it", "wins", "draws", "losses", "seconds in all"
    )
    for method, theirs in accuracies.items():
        common = [name for name in ours if name in theirs]
        if not common:
            continue
        a, b = (np.array([side[name] for name in common]) for side in (ours, theirs))
        cells: list[object] = [""] * 4
        if method != first:
            wins = archive.wins_draws_losses(a.mean(axis=1), b.mean(axis=1))
            cells = [_spread((a - b).mean(axis=0), "+"), *wins]
        taken = seconds.get(method)
        end = "" if taken is None else f"{taken:.1f}"
        measure.row(method, len(common), _spread(b.mean(axis=0)), *cells, end)


def _spread(values: np.ndarray, sign: str = "") -> str:
    """Return the mean over seeds, and of several the deviation."""
    deviation = f" ± {values.std(ddof=1):.2f}" if len(values) > 1 else ""
    return f"{values.mean():{sign}.2f}{deviation}"


if __name__ == "__main__":
    main()
