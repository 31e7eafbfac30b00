# SPDX-License-Identifier: BSD-3-Clause
"""Cost and accuracy of all methods against the size of objects: `python -m papers.scaling`."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from d2ke import Objects
from papers.datasets import load
from papers.methods import METHODS, Division, evaluate
from papers.paper import METHOD_NAMES
from papers.peak import peak_memory
from papers.settings import SETTINGS, quick
from papers.tables import line, table

FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)  # of the objects' length
COLUMNS = ("axis", "method", "n", "factor", "length", "accuracy", "processor_seconds",
           "without_search", "memory")  # fmt: skip
_SEARCH_R = 256
_MOST_AT_LENGTHS = 1000  # training objects where the length varies
_COSTS = ("processor_seconds", "without_search", "memory")
Point = dict[str, Any]


def scaling(
    name: str,
    methods: Sequence[str] | None = None,
    *,
    R: int = 1024,
    smallest: int = 125,
    largest: int | None = None,
    n_test: int = 1000,
    seconds: float = 60.0,
    seed: int = 0,
    out: str | Path = "d2ke-scaling",
    data_dir: str | Path | None = None,
    n_threads: int | None = None,
) -> list[Point]:
    """Measure methods on growing parts of a data set, and on shorter and longer objects.

    Each point is a method on a part of the training objects: choice of parameters, training and
    test.

    Parameters
    ----------
    name : str
        A data set with a search space, see `papers.settings`.
    methods : sequence of str, optional
        By default all.
    R : int
        Random objects of D2KE and representatives of RSM.
    smallest, largest : int, optional
        Training objects: from the first number on, each size twice the one before, up to the
        second (by default the whole training part).
    n_test : int
        The most test objects, the same at every size.
    seconds : float
        Processor seconds. A method stops before the size that is predicted to take more.
    seed : int
        Of the division, the order of the objects and the random objects.
    out : path
        Output folder, for scaling-NAME.csv and scaling-NAME.md.
    data_dir : path, optional
        Folder of the data files; by default the environment variable D2KE_DATA.
    n_threads : int, optional
        Threads.

    Returns
    -------
    list of dict
        The rows of scaling-NAME.csv.
    """
    # The quick search, but of all objects at every size.
    setting = replace(
        quick(SETTINGS[name]), R=R, search_R=min(_SEARCH_R, R), search_n=None, gram_n=None
    )
    whole = Division.of(load(name, data_dir), setting, seed, n_threads=n_threads)
    rng = np.random.default_rng([seed, 1])
    rows, others = (rng.permutation(len(part)) for part in (whole.train, whole.test))
    whole = part_of(whole, rows, others[:n_test])
    n = min(len(whole.train), largest or len(whole.train))
    if n < smallest:
        raise ValueError(f"smallest must be at most {n}, the training objects; got {smallest}")
    sizes = [smallest << k for k in range((n // smallest).bit_length())]
    n = max(size for size in sizes if size <= max(sizes[0], _MOST_AT_LENGTHS))
    folder, points = Path(out), list[Point]()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"scaling-{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore")
        writer.writeheader()
        for method in METHODS:
            if methods and method not in methods:
                continue
            for point in (
                *points_of(whole, method, "n", sizes, n, seconds),
                *points_of(whole, method, "length", FACTORS, n, seconds),
            ):
                writer.writerow(point)
                file.flush()
                points.append(point)
    text = "\n".join(report_lines(name, points))
    (folder / f"scaling-{name}.md").write_text(text + "\n", "utf-8")
    return points


def points_of(
    whole: Division, method: str, axis: str, sizes: Sequence[float], n: int, seconds: float
) -> Iterator[Point]:
    """Measure a method along an axis, "n" or "length" (with n objects), until it takes too long."""
    points: list[Point] = []
    key = "n" if axis == "n" else "factor"
    for size in sizes:
        # The slope between the last two sizes goes on; after the first one the cost is the square.
        slope = slope_of(points[-2:], "processor_seconds", key) if len(points) > 1 else 2.0
        if points and points[-1]["processor_seconds"] * 2 ** max(slope, 0.0) > seconds:
            print(f"{METHOD_NAMES[method]} stops before {axis} {size:g}, which would take too long")
            return
        division = part_of(
            whole, np.arange(int(size) if axis == "n" else n), np.arange(len(whole.test))
        )
        if axis == "length" and size != 1.0:
            resample = division.dataset.domain == "series"
            train, test = (stretched(X, size, resample) for X in (division.train, division.test))
            division = replace(division, train=train, test=test)
        try:
            if not points and axis == "n":
                evaluate(method, replace(division))  # the first call imports modules
            with peak_memory() as peak:
                found = evaluate(method, replace(division))  # with distances of its own
        except ValueError as error:  # such as segments longer than the objects
            print(f"{METHOD_NAMES[method]} refuses {axis} {size:g}: {error}")
            continue
        spent = sum(found.processor.values())
        point = {
            "axis": axis,
            "method": method,
            "n": len(division.train),
            "factor": 1.0 if axis == "n" else size,
            "length": float(division.train.lengths.mean()),
            "accuracy": found.accuracy,
            "processor_seconds": spent,
            "without_search": spent - found.processor.get("search", 0.0),
            "memory": peak.bytes,
        }
        print(f"{METHOD_NAMES[method]}, {axis} {size:g}: {found.accuracy:.2f} %, {spent:.2f} s")
        points.append(point)
        yield point


def part_of(division: Division, rows: np.ndarray, others: np.ndarray) -> Division:
    """Return the division with these training and test objects."""
    return replace(
        division,
        train=division.train[rows],
        y_train=division.y_train[rows],
        test=division.test[others],
        y_test=division.y_test[others],
    )


def stretched(objects: Objects, factor: float, resample: bool) -> Objects:
    """Return objects of other lengths: each length multiplied by a factor, and at least 1.

    Series are resampled by linear interpolation; others are cut, or repeated from the beginning.
    """
    before = objects.lengths
    after = np.maximum(np.rint(before * factor).astype(np.int64), np.minimum(before, 1))
    offsets = np.concatenate([[0], np.cumsum(after)])
    place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], after)
    start, length = np.repeat(objects.offsets[:-1], after), np.repeat(before, after)
    if not resample:
        values = objects.values[start + place % length]
    else:
        steps = np.repeat(np.maximum(after - 1, 1), after)
        exact = place * (length - 1) / steps
        low = exact.astype(np.int64)
        high = np.minimum(low + 1, length - 1)
        share = (exact - low)[:, None].astype(objects.dtype)
        values = objects.values[start + low] * (1 - share) + objects.values[start + high] * share
    return Objects(objects.kind, values, offsets, objects.alphabet, objects.letters)


def slope_of(points: Sequence[Point], cost: str, key: str) -> float:
    """Return p of cost ~ size^p, by least squares over the logarithms."""
    x, y = (np.log([point[name] for point in points]) for name in (key, cost))
    return float(np.polyfit(x, y, 1)[0])


def report_lines(name: str, points: Sequence[Point]) -> Iterator[str]:
    """Yield the lines of the page: points, and slopes p of cost ~ size^p."""
    yield f"# Cost against size: {name}\n"
    titles = ("method", "N", "mean length", "accuracy, %", "processor s", "without search", "MiB")
    yield from table(titles)
    for p in points:
        memory = "" if p["memory"] is None else f"{p['memory'] / 2**20:.0f}"
        cost = f"{p['processor_seconds']:.2f}", f"{p['without_search']:.2f}", memory
        size = p["n"], f"{p['length']:.1f}", f"{p['accuracy']:.1f}"
        yield line([METHOD_NAMES[p["method"]], *size, *cost])
    yield "\nSlopes over all sizes, of N or of the mean length:\n"
    yield from table(["method", "against", *_COSTS])
    for method, axis in dict.fromkeys((p["method"], p["axis"]) for p in points):
        row = [METHOD_NAMES[method], axis]
        for cost in _COSTS:
            known = [p for p in points if (p["method"], p["axis"]) == (method, axis) and p[cost]]
            row.append(f"{slope_of(known, cost, axis):.2f}" if len(known) > 1 else "")
        yield line(row)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m papers.scaling", description=__doc__)
    add = parser.add_argument
    add("dataset", nargs="?", choices=SETTINGS, default="splice", metavar="DATA")
    add("--threads", type=int)
    add("--methods", nargs="+", choices=METHODS, metavar="NAME", help=", ".join(METHODS))
    add("--R", type=int, default=1024, help="random objects (default 1024)")
    add("--smallest", type=int, default=125, metavar="N", help="first N (default 125)")
    add("--largest", type=int, metavar="N", help="last N (default: all)")
    add("--seconds", type=float, default=60.0, help="the most processor seconds of a point")
    add("--seed", type=int, default=0)
    add("--out", default="d2ke-scaling", metavar="DIR", help="output folder (default d2ke-scaling)")
    add("--data", metavar="DIR", help="folder of the data files (default: $D2KE_DATA)")
    options = parser.parse_args(arguments)
    names = ("R", "smallest", "largest", "seconds", "seed", "out")
    scaling(
        options.dataset,
        options.methods,
        **{name: getattr(options, name) for name in names},
        data_dir=options.data,
        n_threads=options.threads,
    )
    print(f"{options.out}/scaling-{options.dataset}.md and .csv")


if __name__ == "__main__":
    main()
