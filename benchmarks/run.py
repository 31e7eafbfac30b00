# SPDX-License-Identifier: BSD-3-Clause
"""Time d2ke and the installed peers, interleaved in one process.

``python -m benchmarks.run [workload ...] [--rounds 5] [--threads N] [--isa NAME] [--json FILE]``
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

import d2ke
from benchmarks import measure, peers, workloads
from d2ke._base.config import configuration
from d2ke._ext import isa

GAMMA = {"dtw": 0.01, "levenshtein": 0.1, "mhd": 1.0}
SAMPLED_PAIRS = 200
PACKING_SHOWN_FROM = 0.05


@dataclass
class Task:
    """What is computed: distances of x to y, or of all pairs of x where y is None."""

    distance: str
    x: list
    y: list | None
    params: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self):
        self.packed = self.pack()

    def pack(self):
        """Convert the inputs to d2ke's objects."""
        return d2ke.pack(self.x), None if self.y is None else d2ke.pack(self.y)

    def run(self, n_threads, **options):
        """Compute the distances with d2ke."""
        return d2ke.distance_matrix(
            *self.packed, self.distance, n_threads=n_threads, **self.params, **options
        )

    def features(self, n_threads):
        """Compute the features exp(-gamma d) / sqrt(R) with d2ke."""
        gamma = GAMMA[self.distance]
        return d2ke.d2ke_embed(
            *self.packed, distance=self.distance, gamma=gamma, n_threads=n_threads, **self.params
        )

    def cells(self):
        """Cells of the dynamic program; multiply-adds for sets of vectors."""
        if self.params.get("window") == "rws":
            return workloads.cells_rws(self.x)
        dim = self.x[0].shape[1] if self.distance == "mhd" else 1
        return dim * workloads.cells(self.x, self.y)

    def as_type(self, dtype):
        """Return the same task on vectors of another element type."""
        x, y = (
            None if items is None else [item.astype(dtype) for item in items]
            for items in (self.x, self.y)
        )
        return Task(self.distance, x, y, self.params)

    def doubled(self, side):
        """Return the task with every object of one side twice."""
        x = self.x * 2 if side == "x" else self.x
        y = self.y * 2 if side == "y" else self.y
        return Task(self.distance, x, y, self.params)


@dataclass
class Variant:
    """One way to run d2ke, and the peers that it competes with."""

    name: str
    task: Task
    call: Callable[[], np.ndarray]
    peers: peers.Peers


def small(n: int, quick: bool) -> int:
    """Return n, or a tenth of it for a quick look."""
    return max(n // 10, 8) if quick else n


# The distance, what draws so many objects, and parameters.
INPUTS: dict[str, tuple[str, Callable, int, dict[str, Any]]] = {
    "dtw-short-d3": ("dtw", partial(workloads.dtw_short, "d3"), 1000, {}),
    "dtw-short-d1": ("dtw", partial(workloads.dtw_short, "d1"), 1000, {}),
    "dtw-short-d22": ("dtw", partial(workloads.dtw_short, "d22"), 1000, {}),
    "dtw-full": ("dtw", workloads.dtw_full, 300, {}),
    "dtw-full-window": ("dtw", workloads.dtw_full, 300, {"window": "rws"}),
    "lev-short": ("levenshtein", workloads.lev_short, 20000, {}),
    "lev-splice": ("levenshtein", workloads.lev_splice, 2000, {}),
    "lev-mnist": ("levenshtein", workloads.lev_mnist, 1500, {}),
    "mhd-short": ("mhd", workloads.mhd_short, 500, {}),
    "mhd-full": ("mhd", workloads.mhd_full, 200, {}),
}


def task(name: str, dtype: str = "float64", quick: bool = False) -> Task:
    """Return a workload's inputs."""
    distance, draw, n, params = INPUTS[name]
    drawn = draw(small(n, quick))
    result = Task(distance, *(drawn if isinstance(drawn, tuple) else (drawn, None)), params)
    return result if dtype == "float64" else result.as_type(dtype)


def variants(name: str, n_threads: int, quick: bool) -> list[Variant]:
    """Return the ways in which a workload is run."""
    double = task(name, quick=quick)
    run = partial(double.run, n_threads)
    x, y = double.x, double.y
    if double.distance == "levenshtein":
        competitors = peers.levenshtein(x, y, n_threads)
        out = (len(x), len(x if y is None else y)), np.float32
        return [
            Variant("to float64", double, run, competitors),
            Variant("to float32", double, lambda: run(out=np.empty(*out)), competitors),
        ]
    single = task(name, "float32", quick)
    if double.distance == "mhd":
        competitors, of_single = (peers.mhd(one.x, one.y, n_threads) for one in (double, single))
    else:
        competitors = of_single = peers.dtw(x, y, n_threads, bool(double.params))
    return [
        Variant("float64", double, run, competitors),
        Variant("float32", single, partial(single.run, n_threads), of_single),
    ]


SHORT = ("dtw-short-d3", "dtw-short-d22", "lev-short", "mhd-short")
HOT_LOOPS = (
    *(("dtw-short-d3", "float64"), ("dtw-short-d3", "float32"), ("dtw-full", "float64")),
    *(("lev-short", "float64"), ("lev-mnist", "float64")),
    *(("mhd-short", "float64"), ("mhd-short", "float32")),
)


def against_peers(name: str, settings: argparse.Namespace, peak: dict) -> list[dict]:
    """Time a workload: one row per variant and peer, the fastest peer first."""
    ways = variants(name, settings.threads, settings.quick)
    calls = [way.call for way in ways]
    calls += {peer: None for way in ways for peer in way.peers.values() if peer}
    measure.progress(f"{name}: first calls")
    errors = _first_calls(ways, calls)
    times = measure.interleaved(calls, settings.rounds, f"{name}: ")
    seconds = dict(zip(calls, times, strict=True))
    rows = []
    for way in ways:
        cells, ours = way.task.cells(), measure.median(seconds[way.call])
        packing = measure.median(measure.interleaved([way.task.pack], 3)[0])
        medians = {
            label: measure.median(seconds[peer]) if peer else float("inf")
            for label, peer in way.peers.items()
        }
        for label in sorted(medians, key=medians.get):
            peer = way.peers[label]
            rows.append(
                {
                    "workload": name,
                    "d2ke": way.name,
                    "seconds": ours,
                    "packing": packing if packing > PACKING_SHOWN_FROM * ours else None,
                    "peer": label,
                    "its seconds": medians[label] if peer else "not installed",
                    "ratio": medians[label] / ours if peer else None,
                    "1e9 cells/s": cells / ours / 1e9,
                    "of peak": 2 * cells / ours / peak[way.name]
                    if way.task.distance == "mhd"
                    else None,
                    "rel. difference": errors[way.name].get(label),
                    "all seconds": [seconds[way.call], seconds.get(peer)],
                }
            )
    return rows


def _first_calls(ways: list[Variant], calls: list[Callable]) -> dict[str, dict[str, float]]:
    """Warm everything up, and compare the results meanwhile."""
    results = {call: call() for call in calls}
    errors: dict[str, dict[str, float]] = {}
    for way in ways:
        value = results[way.call]
        by_definition = _error_of_sets(way.task, value) if way.task.distance == "mhd" else None
        errors[way.name] = {
            label: measure.relative_difference(value, peer.full(results[peer]))
            if by_definition is None
            else by_definition
            for label, peer in way.peers.items()
            if peer
        }
    return errors


def _error_of_sets(job: Task, value: np.ndarray) -> float:
    """Compare with direct differences in float64: the peers' products cancel for near vectors."""
    rng = np.random.default_rng(0)
    y = job.x if job.y is None else job.y
    rows, columns = (rng.integers(0, len(side), SAMPLED_PAIRS).tolist() for side in (job.x, y))
    pairs = list(zip(rows, columns, strict=True))
    reference = []
    for i, j in pairs:
        d = cdist(job.x[i].astype(np.float64), y[j].astype(np.float64))
        reference.append(max(d.min(axis=0).mean(), d.min(axis=1).mean()))
    return measure.relative_difference([value[pair] for pair in pairs], np.array(reference))


def features_against_distances(settings, _peak) -> list[dict]:
    """Time exp(-gamma d) / sqrt(R) over plain distances."""
    return [
        _comparison("features / distances", name, [job.run, job.features], settings)
        for name, job in _tasks(SHORT, settings)
    ]


def one_thread_against_many(settings, _peak) -> list[dict]:
    """Time one thread over all of them."""
    what = f"1 thread / {settings.threads} threads"
    return [
        _comparison(what, name, [job.run, lambda _, job=job: job.run(1)], settings)
        for name, job in _tasks((*SHORT, "dtw-full", "lev-mnist", "mhd-full"), settings)
    ]


def sizes_doubled(settings, _peak) -> list[dict]:
    """Time each object of one side twice over once."""
    return [
        _comparison(what, name, [job.run, job.doubled(side).run], settings)
        for name, job in _tasks(SHORT, settings)
        for side, what in (("x", "2 N / N"), ("y", "2 R / R"))
    ]


def _tasks(names, settings) -> Iterator[tuple[str, Task]]:
    for name in names:
        measure.progress(name)
        yield name, task(name, quick=settings.quick)


def _comparison(what: str, name: str, calls: list[Callable], settings) -> dict:
    """Time the second of two functions of the number of threads over the first."""
    calls = [partial(call, settings.threads) for call in calls]
    for call in calls:
        call()
    seconds = measure.interleaved(calls, settings.rounds)
    return _ratio(what, name, seconds, *map(measure.median, seconds))


def _ratio(what: str, name: str, seconds: list, base: float, other: float) -> dict:
    row = {"comparison": what, "workload": name, "seconds": other, "of": base}
    return row | {"ratio": other / base, "all seconds": seconds}


def levenshtein_modes(settings, _peak) -> list[dict]:
    """Time Levenshtein's modes over whole strings, by processor time on one thread."""
    rows = []
    for text, pattern in workloads.LEV_MODES:
        measure.progress(f"lev-modes: {text} x {pattern}")
        cells = small(3_000_000_000, settings.quick)
        x, y = map(d2ke.pack, workloads.lev_modes(text, pattern, cells))
        calls = [
            partial(d2ke.distance_matrix, x, y, "levenshtein", mode=mode, n_threads=1)
            for mode in ("global", "infix", "prefix")
        ]
        times = measure.interleaved(calls, 4 * settings.rounds, clock=time.process_time)
        name = f"texts of {text}, patterns of {pattern} letters"
        for mode, own in zip(("infix", "prefix"), times[1:], strict=True):
            seconds = [times[0], own]
            rows.append(_ratio(f"{mode} / global", name, seconds, *map(min, seconds)))
    return rows


def memory(settings, _peak) -> list[dict]:
    """Peak of the resident set in a process of its own."""
    rows = []
    for name in INPUTS:
        measure.progress(f"memory: {name}")
        for dtype in ("float64",) if name.startswith("lev") else ("float64", "float32"):
            arguments = (name, dtype, settings.threads, settings.quick)
            grown = measure.in_child("benchmarks.run:_memory", *arguments, isa=isa.selected())
            sizes = {
                "output, MB": grown["output"],
                "beyond it, MB": grown["peak"] - grown["output"],
            }
            rows.append({"workload": name, "d2ke": dtype} | sizes)
    return rows


def _memory(name: str, dtype: str, n_threads: int, quick: bool) -> dict[str, float]:
    job = task(name, dtype, quick)
    half = Task(job.distance, job.x[:8], None if job.y is None else job.y[:8], job.params)
    half.run(n_threads)  # threads and libraries are there
    return measure.resident_peak(partial(job.run, n_threads))


def instructions(settings, _peak) -> list[dict]:
    """Count user-mode instructions per cell on one thread with perf."""
    if not shutil.which("perf"):
        measure.progress("instructions: perf is not installed")
        return []
    rows = []
    for name, dtype in HOT_LOOPS:
        measure.progress(f"instructions: {name} {dtype}")
        counts = []
        for times in (1, 3):
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder, "counts")
                prefix = ["perf", "stat", "-x,", "-e", "instructions:u", "-o", str(file)]
                arguments = (name, dtype, times, settings.quick)
                cells = measure.in_child(
                    "benchmarks.run:_repeat", *arguments, prefix=prefix, isa=isa.selected()
                )
                counts.append(re.search(r"^(\d+),.*instructions", file.read_text("utf-8"), re.M))
        if None in counts:
            measure.progress("instructions: perf cannot count instructions on this machine")
            return rows
        per_call = (int(counts[1][1]) - int(counts[0][1])) / 2
        rows.append({"workload": name, "d2ke": dtype, "instructions per cell": per_call / cells})
    return rows


def _repeat(name: str, dtype: str, times: int, quick: bool) -> float:
    job = task(name, dtype, quick)
    for _ in range(times):
        job.run(1)
    return job.cells()


def table(rows: list[dict]) -> str:
    """Lay the rows out as a Markdown table, without the lists of all times."""
    columns = [name for name, value in rows[0].items() if not isinstance(value, list)]
    cells = [columns, ["---"] * len(columns)]
    cells += [[_shown(row[name]) for name in columns] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def _shown(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else f"{value:.4g}"


WORKLOADS: dict[str, Callable[[argparse.Namespace, dict], list[dict]]] = {
    **{name: partial(against_peers, name) for name in INPUTS},
    "features": features_against_distances,
    "threads": one_thread_against_many,
    "sizes": sizes_doubled,
    "lev-modes": levenshtein_modes,
    "memory": memory,
    "instructions": instructions,
}


def machine(settings: argparse.Namespace, peak: dict) -> dict[str, Any]:
    """Describe the machine, the versions and the settings."""
    return (
        {
            "date": time.strftime("%Y-%m-%d"),
            "processor": measure.processor(),
            "instruction set": isa.selected(),
            "threads": settings.threads,
            "rounds": settings.rounds,
            "sizes": "a tenth of the objects" if settings.quick else "full",
            "peak source": peak["source"],
            "peak float64, GFLOP/s": round(peak["float64"] / 1e9, 1),
            "peak float32, GFLOP/s": round(peak["float32"] / 1e9, 1),
        }
        | configuration()
        | peers.versions()
    )


def main(arguments: list[str] | None = None) -> None:
    parser = measure.parser(__doc__, rounds=5, threads=True, quick="a tenth of the objects")
    parser.add_argument("workload", nargs="*", help=f"of {', '.join(WORKLOADS)}; all by default")
    parser.add_argument("--isa", choices=isa.supported(), default=isa.selected())
    parser.add_argument("--json", type=Path, help="file for all measurements")
    settings = parser.parse_args(arguments)
    for name in settings.workload:
        if name not in WORKLOADS:
            parser.error(f"workload must be one of {', '.join(WORKLOADS)}; got {name!r}")
    isa.select(settings.isa)
    peers.limit_threads(settings.threads)
    peak = measure.peak_flops(settings.isa, settings.threads)
    report = {"machine": machine(settings, peak), "results": []}
    for name, value in report["machine"].items():
        print(f"{name}: {value}")
    groups: dict[tuple, list[dict]] = {}
    for name in settings.workload or WORKLOADS:
        rows = WORKLOADS[name](settings, peak)
        if not rows:
            continue
        measure.progress(table(rows))
        report["results"] += rows
        groups.setdefault(tuple(rows[0]), []).extend(rows)
        if settings.json:
            settings.json.write_text(json.dumps(report, indent=1), "utf-8")
    for rows in groups.values():
        print("", table(rows), sep="\n")


if __name__ == "__main__":
    main()
