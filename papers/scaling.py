# SPDX-License-Identifier: BSD-3-Clause
"""Cost and accuracy of all methods against the size of objects: `python -m papers.scaling`."""

from __future__ import annotations

import argparse
import dataclasses
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np

from d2ke._base.checks import choice, integer, positive_number
from d2ke._base.files import check_writable
from d2ke._base.memory import memory_limit, readable
from d2ke._base.resuming import as_json
from d2ke._version import __version__
from d2ke.cli.main import console, run_command
from d2ke.cli.options import add_options, number, positive
from d2ke.cli.session import SILENT, Session, session_of
from d2ke.objects.container import Objects, from_owned, offsets_of
from papers.cells import digest
from papers.checkpoint import Checkpoint
from papers.datasets import Dataset, load
from papers.estimate import duration
from papers.methods import METHODS, Division, evaluate
from papers.paper import METHOD_NAMES
from papers.peak import peak_memory
from papers.records import machine, versions, write_json
from papers.scaling_curves import curve, predicted, summary
from papers.scaling_report import crossing_text, draw, write_page
from papers.settings import SETTINGS, Setting, quick

FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)  # of the objects' length
STRETCHING = {"series": "resampled", "strings": "cut or repeated", "sets": "cut or repeated"}
_SEARCH_R = 256
_MOST_AT_LENGTHS = 1000  # training objects where the length varies


@dataclass(frozen=True)
class Scale:
    """The sizes to measure.

    Attributes
    ----------
    methods : sequence of str, optional
        By default all.
    R : int
        Random objects of D2KE and representatives of RSM; D2KE of views takes at most as many.
    smallest, largest : int, optional
        Training objects: from the first number on, each size twice the one before, up to the
        second (by default the whole training part).
    n_test : int
        The most test objects, the same at every size.
    seconds : float
        Processor seconds. A method stops before the size that is predicted to take more.
    seed : int
        Of the division, the order of the objects and the random objects.
    """

    methods: Sequence[str] | None = None
    R: int = 1024
    smallest: int = 125
    largest: int | None = None
    n_test: int = 1000
    seconds: float = 60.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name in self.methods or ():
            choice("methods", name, METHODS)
        for name, low in (("R", 1), ("smallest", 20), ("n_test", 1), ("seed", 0)):
            integer(name, getattr(self, name), low)
        positive_number("seconds", self.seconds)
        if self.largest is not None:
            integer("largest", self.largest, self.smallest)

    def sizes(self, n: int) -> list[int]:
        """Return the numbers of training objects, at most n."""
        if n < self.smallest:
            raise ValueError(
                f"smallest must be at most {n}, the number of training objects; got {self.smallest}"
            )
        n = n if self.largest is None else min(n, self.largest)
        return [self.smallest << k for k in range((n // self.smallest).bit_length())]


def scaling(
    name: str,
    scale: Scale | None = None,
    *,
    out: str | os.PathLike[str] = "d2ke-scaling",
    data_dir: str | os.PathLike[str] | None = None,
    command: str = "",
    session: Session = SILENT,
) -> dict[str, Any]:
    """Measure methods on growing parts of a data set, and on shorter and longer objects.

    Each point is a method on a part of the training objects: choice of parameters, training and
    test. Every finished point is in a checkpoint, so that a run that was stopped can resume.

    Parameters
    ----------
    name : str
        A data set with a search space, see `papers.settings`.
    scale : Scale, optional
        Methods and sizes.
    out : path
        Output folder, for scaling-NAME.json, .png, .md and the folder scaling-NAME. The report of
        `papers.tables` in the same folder shows them too.
    data_dir : path, optional
        Folder of the data files; by default the environment variable D2KE_DATA.
    command : str
        The user's command line, for the report.
    session : Session
        How to run; it reports each point.

    Returns
    -------
    dict
        The content of the JSON file: points ``by_n`` and ``by_length``; ``slopes``, ``crossings``
        and rows that ``stopped``; and how it was measured.

    Raises
    ------
    ValueError
        Unknown names, numbers out of range; a checkpoint of another data set, seed or R.
    FileNotFoundError
        The data set's files are missing.
    BlockingIOError
        If another run is writing to the same files.
    ImportError
        Without matplotlib.
    """
    scale = Scale() if scale is None else scale
    choice("data", name, SETTINGS)
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise ImportError('scaling draws with matplotlib: pip install "d2ke[demo]"') from None
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"out must be a folder; {folder} is a file")
    dataset = load(name, data_dir)
    setting = _setting(name, scale.R)
    whole = Division.of(dataset, setting, scale.seed, **session.computing)
    sizes = scale.sizes(len(whole.train))
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"scaling-{name}.json"
    check_writable(file)
    record = {"d2ke": __version__, "data": name, "seed": scale.seed}
    record |= {"R": scale.R, "n_test": scale.n_test, "setting": digest(dataclasses.asdict(setting))}
    with Checkpoint(file.with_suffix(""), record) as kept:
        run = _Run(scale, _shuffled(whole, scale.n_test), kept, session)
        by_n = run.rows("n", sizes)
        n = max(size for size in sizes if size <= max(sizes[0], _MOST_AT_LENGTHS))
        by_length = run.rows("length", FACTORS, n)
    results = {
        **_description(dataset, scale, n),
        "by_n": by_n,
        "by_length": by_length,
        "stopped": run.stopped,
        **summary(by_n, by_length),
        "command": command,
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "machine": machine(session.n_threads),
        "versions": versions(),
    }
    write_json(file, results)
    write_page(results, draw(results), file)
    return results


def _setting(name: str, R: int) -> Setting:
    """Return the data set's quick search, but of all objects at every size."""
    return replace(
        quick(SETTINGS[name]), R=R, search_R=min(_SEARCH_R, R), search_n=None, gram_n=None
    )


def _shuffled(division: Division, n_test: int) -> Division:
    """Return the division with its objects in random order, and fewer test objects."""
    rng = np.random.default_rng([division.seed, 1])
    rows, others = (rng.permutation(len(part)) for part in (division.train, division.test))
    return _part(division, rows, others[:n_test])


def _part(division: Division, rows: np.ndarray, others: np.ndarray) -> Division:
    return replace(
        division,
        train=division.train[rows],
        y_train=division.y_train[rows],
        test=division.test[others],
        y_test=division.y_test[others],
    )


class _Run:
    """The points of a run, measured or from the checkpoint."""

    def __init__(self, scale: Scale, division: Division, kept: Checkpoint, session: Session):
        self.scale, self.division, self.kept, self.session = scale, division, kept, session
        chosen = scale.methods or METHODS
        self.methods = [method for method in METHODS if method in chosen]
        self.stopped: list[dict[str, Any]] = []
        self.warm: set[str] = set()

    def rows(self, axis: str, sizes: Sequence[float], n: int = 0) -> list[dict[str, Any]]:
        """Return the points along an axis, "n" or "length" (with n objects)."""
        points: dict[str, list[dict[str, Any]]] = {method: [] for method in self.methods}
        running = list(self.methods)
        for size in sizes:
            division = None
            for method in list(running):
                point = self.kept.get((axis, method, size, n))
                if point is None:
                    reason = self._too_much(axis, points[method], size)
                    if reason:
                        running.remove(method)
                        self._stop(axis, method, size, reason)
                        continue
                    division = division or self._division(axis, size, n)
                    try:
                        point = self._measure(axis, method, size, division)
                    except ValueError as error:  # such as segments longer than the objects
                        self._stop(axis, method, size, f"is refused: {error}")
                        continue
                    self.kept[axis, method, size, n] = point
                    self.session.report(_line(axis, point))
                points[method].append(point)
        return [point for method in self.methods for point in points[method]]

    def _division(self, axis: str, size: float, n: int) -> Division:
        rows = np.arange(int(size) if axis == "n" else n)
        division = _part(self.division, rows, np.arange(len(self.division.test)))
        if axis == "length" and size != 1.0:
            resample = division.dataset.domain == "series"
            parts = (stretched(part, size, resample) for part in (division.train, division.test))
            division = replace(division, **dict(zip(("train", "test"), parts, strict=True)))
        return division

    def _measure(self, axis: str, method: str, size: float, division: Division) -> dict[str, Any]:
        what = f"{METHOD_NAMES[method]}, {axis} {size:g}"
        if method not in self.warm:  # the first call imports modules
            self.session.long(what, evaluate, method, replace(division))
            self.warm.add(method)
        division = replace(division)  # with distances of its own
        with peak_memory() as peak:
            outcome = self.session.long(what, evaluate, method, division)
        return as_json(
            {
                "method": method,
                "n": len(division.train),
                "factor": 1.0 if axis == "n" else size,
                "length": float(division.train.lengths.mean()),
                "accuracy": outcome.accuracy,
                "seconds": sum(outcome.seconds.values()),
                "processor_seconds": sum(outcome.processor.values()),
                "seconds_by_stage": outcome.seconds,
                "processor_by_stage": outcome.processor,
                "memory": peak.bytes,
                "parameters": outcome.parameters,
            }
        )

    def _too_much(self, axis: str, points: list[dict[str, Any]], size: float) -> str:
        """Return why the next point is not measured, or ""."""
        if not points:
            return ""
        key = "n" if axis == "n" else "factor"
        seconds = predicted(curve(points, key, "processor_seconds"), size)
        if seconds > self.scale.seconds:
            return (
                f"would take about {duration(seconds)} of processor time, "
                f"more than {duration(self.scale.seconds)}"
            )
        memory, free = curve(points, key, "memory"), memory_limit()
        if memory:
            needed = predicted(memory, size)
            if needed > free:
                return f"would take about {readable(round(needed))} of memory, more than there is"
        return ""

    def _stop(self, axis: str, method: str, size: float, reason: str) -> None:
        what = f"N = {size:g}" if axis == "n" else f"{size:g} times the length"
        self.stopped.append({"method": method, "axis": axis, "size": size, "reason": reason})
        self.session.report(f"{METHOD_NAMES[method]} without {what}, which {reason}")


def _line(axis: str, point: Mapping[str, Any]) -> str:
    memory = "" if point["memory"] is None else f", {readable(point['memory'])}"
    return (
        f"N = {point['n']}, mean length {point['length']:.1f}: {METHOD_NAMES[point['method']]} "
        f"{point['accuracy']:.2f} %, {point['processor_seconds']:.2f} processor s{memory}"
    )


def stretched(objects: Objects, factor: float, resample: bool) -> Objects:
    """Return objects of other lengths: each length multiplied by a factor, and at least 1.

    Series are resampled by linear interpolation; others are cut, or repeated from the beginning.
    """
    before = objects.lengths
    after = np.maximum(np.rint(before * factor).astype(np.int64), np.minimum(before, 1))
    offsets = offsets_of(after)
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
    return from_owned(objects.kind, values, offsets, objects.alphabet, objects.letters)


def _description(dataset: Dataset, scale: Scale, n: int) -> dict[str, Any]:
    return {
        "dataset": dataset.name,
        "domain": dataset.domain,
        "distance": dataset.distance,
        "stretching": STRETCHING[dataset.domain],
        "R": scale.R,
        "n_test": min(scale.n_test, dataset.summary["n_test"]),
        "n_at_lengths": n,
        "seconds_limit": scale.seconds,
        "seed": scale.seed,
    }


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit status."""
    return run_command(_parser(), arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m papers.scaling",
        description="Time, memory and accuracy of each method on N = 125, 250, ... training "
        "objects, and on shorter and longer ones, with slopes and crossings; a picture, a page "
        "and a JSON file. The same command resumes a run that was stopped.",
    )
    add = parser.add_argument
    add_options(parser, "--threads")
    add("dataset", nargs="?", choices=list(SETTINGS), default="splice", metavar="DATA",
        help="default: splice; of " + ", ".join(SETTINGS))  # fmt: skip
    add("--methods", nargs="+", choices=list(METHODS), metavar="NAME",
        help="default: all of " + ", ".join(METHODS))  # fmt: skip
    add("--R", type=positive, default=1024, help="random objects (default 1024)")
    add("--smallest", type=positive, default=125, metavar="N", help="first N (default 125)")
    add("--largest", type=positive, metavar="N", help="last N (default: all)")
    add("--seconds", type=number, default=60.0, metavar="S",
        help="a method stops before a size that is predicted to take more processor time "
        "(default 60)")  # fmt: skip
    add("--out", default="d2ke-scaling", metavar="DIR", help="output folder (default d2ke-scaling)")
    add("--data", metavar="DIR", help="folder of the data files (default: $D2KE_DATA)")
    add_options(parser, "--seed")
    parser.set_defaults(run=_scaling)
    return parser


def _scaling(options: argparse.Namespace) -> None:
    names = ("methods", "R", "smallest", "largest", "seconds", "seed")
    try:
        results = scaling(
            options.dataset,
            Scale(**{name: getattr(options, name) for name in names}),
            out=options.out,
            data_dir=options.data,
            command=options.command,
            session=session_of(options),
        )
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"finished points are in {options.out}; to resume: {options.command}"
        ) from None
    for point in results["crossings"]:
        if point["quantity"] == "seconds":
            print(crossing_text(point))
    path = os.path.join(options.out, f"scaling-{options.dataset}")
    print(f"picture: {path}.png; page: {path}.md; {path}.json")


if __name__ == "__main__":
    console(main)
