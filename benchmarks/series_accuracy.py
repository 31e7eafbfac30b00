# SPDX-License-Identifier: BSD-3-Clause
"""Accuracy of `d2ke_train` with its defaults beside aeon's classifiers and published accuracies.

    python -m benchmarks.series_accuracy [--archive FOLDER] [--published PATH] [--limit-mb 4]
        [--data NAME ...] [--seeds 5] [--peers [NAME ...]]
    python -m benchmarks.series_accuracy --curve
    python -m benchmarks.series_accuracy --without --peers
    python -m benchmarks.series_accuracy --random

Test accuracy in percent, mean over seeds with their deviation, and processor seconds of training
and prediction of one seed, of one thread. The sets are those of FOLDER, with the published
division; `--help` says what it may hold and where published accuracies come from. By default it
is D2KE_DATA/ucr.

The second table compares the first method with each other on the sets that both have: the mean
difference with its deviation over seeds, and on how many sets the first one is better, equal to two
decimals, and worse. `--curve` adds models of fewer features. `--without` has, in place of the
default model, one with all blocks of its recipe, and one without each ingredient: windows of a
kind, shapes (windows that are compared by their shape alone), values (the other windows), slopes
(differences of series), the whole course. `--random` takes three other sets and a random division
for each seed.

The peers need aeon (QUANT: torch too) and take series of one length, so that those of several are
resized by linear interpolation. `--peers` without names leaves them out.
"""

from __future__ import annotations

import argparse
import itertools
import os
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np

import d2ke
from benchmarks import archive, measure, series_methods
from benchmarks.archive import Labelled
from benchmarks.series_methods import Method
from papers.datasets import load

RANDOM = ("gun-point", "japanese-vowels", "basic-motions")
SHOWN = ("MiniROCKET", "RDST", "MR-Hydra", "HC2")  # published, beside each set


def main() -> None:
    """Print a row for each data set, then one for each method."""
    arguments = _arguments()
    methods = _methods(arguments)
    published: dict[str, dict[str, float]] = {}
    if arguments.random:
        data = ((name, _random(name)) for name in arguments.data or RANDOM)
    else:
        data = _published_divisions(arguments)
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
    for name, divisions in data:
        chosen = list(itertools.islice(divisions, arguments.seeds))
        cells: list[object] = []
        for method, (percent, taken) in zip(methods, results(methods, chosen), strict=True):
            accuracies[method][name] = percent
            seconds[method] += taken.mean()
            cells += [_spread(percent), f"{taken.mean():.1f}"]
        train, test = chosen[0]
        sizes = len(train.labels), len(test.labels), int(np.median(train.objects.lengths))
        figures = [f"{published[classifier].get(name, np.nan):.2f}" for classifier in shown]
        measure.row(name, *sizes, *cells, *figures)
    if not accuracies[series_methods.OURS]:
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
    parser.add_argument("--random", action="store_true", help="other sets, divided at random")
    parser.add_argument(
        "--peers", nargs="*", default=series_methods.PEERS, choices=series_methods.PEERS,
        help="classifiers of aeon, by default all; none without a name",
    )  # fmt: skip
    parser.add_argument("--curve", action="store_true", help="fewer features too")
    parser.add_argument("--without", action="store_true", help="models without an ingredient")
    return parser.parse_args()


def _methods(arguments: argparse.Namespace) -> dict[str, Method]:
    """Return the methods; all others are compared with the first."""
    methods: dict[str, Method] = {series_methods.OURS: series_methods.default}
    if arguments.without:
        methods = series_methods.without_ingredients()
    if arguments.curve:
        methods |= series_methods.of_sizes()
    return methods | series_methods.peers(arguments.peers)


def _published_divisions(
    arguments: argparse.Namespace,
) -> Iterator[tuple[str, Iterator[tuple[Labelled, Labelled]]]]:
    """Yield the sets that can be read; say which cannot."""
    files = archive.training_files(arguments.archive, arguments.limit_mb)
    unknown = sorted(set(arguments.data or ()) - set(files))
    if unknown or not files:
        missing = " or ".join(f"{name}_TRAIN.ts" for name in unknown or ["NAME"])
        limit = "" if arguments.limit_mb is None else f" of at most {arguments.limit_mb:g} MB"
        raise SystemExit(f"{arguments.archive} has no {missing} (or .tsv){limit}")
    for name in arguments.data or files:
        try:
            parts = archive.division(files[name])
        except (OSError, ValueError) as error:
            measure.progress(f"{name} is left out: {error}")
        else:
            yield name, itertools.repeat(parts)


def _random(name: str) -> Iterator[tuple[Labelled, Labelled]]:
    """Yield random divisions."""
    data = load(name)
    for seed in itertools.count():
        a, b = data.split(seed=seed)
        yield Labelled(data.labels[a], data.objects[a]), Labelled(data.labels[b], data.objects[b])


def _compile(methods: Mapping[str, Method]) -> None:
    """Let the peers compile what they compile, so that no seconds have it in them."""
    rng = np.random.default_rng(0)
    X = d2ke.pack(list(rng.normal(size=(20, 50))))
    for method in methods.values():
        method(Labelled(np.arange(20) % 2, X), X, 0)


def results(
    methods: Mapping[str, Method], divisions: Iterable[tuple[Labelled, Labelled]]
) -> np.ndarray:
    """Return accuracies in percent and seconds, of shape (methods, 2, seeds)."""
    rows = []
    for seed, (train, test) in enumerate(divisions):
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
