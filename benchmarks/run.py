# SPDX-License-Identifier: BSD-3-Clause
"""Time d2ke and the installed peers, interleaved in one process.

``python -m benchmarks.run [workload ...] [--rounds 5] [--threads N] [--isa NAME] [--json FILE]``
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

import d2ke
from benchmarks import measure, peers, workloads
from d2ke._base.config import configuration
from d2ke._base.threads import available_threads
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


def task(name: str, dtype: str = "float64", quick: bool = False) -> Task:
    """Return a workload's inputs."""
    if name.startswith("dtw-short-"):
        shape = name.removeprefix("dtw-short-")
        x, y = workloads.dtw_short(shape, small(workloads.SERIES[shape].n, quick))
        result = Task("dtw", x, y)
    elif name == "dtw-full":
        result = Task("dtw", workloads.dtw_full(small(300, quick)), None)
    elif name == "dtw-full-window":
        result = Task("dtw", workloads.dtw_full(small(300, quick)), None, {"window": "rws"})
    elif name == "lev-short":
        return Task("levenshtein", *workloads.lev_short(small(20000, quick)))
    elif name == "lev-splice":
        return Task("levenshtein", workloads.lev_splice(small(2000, quick)), None)
    elif name == "lev-mnist":
        return Task("levenshtein", workloads.lev_mnist(small(1500, quick)), None)
    elif name == "mhd-short":
        return Task("mhd", *workloads.mhd_short(small(500, quick), dtype=np.dtype(dtype)))
    elif name == "mhd-full":
        return Task("mhd", workloads.mhd_full(small(200, quick), np.dtype(dtype)), None)
    else:
        raise ValueError(name)
    return result if dtype == "float64" else result.as_type(dtype)


def variants(name: str, n_threads: int, quick: bool) -> list[Variant]:
    """Return the ways in which a workload is run."""
    double = task(name, quick=quick)
    run = partial(double.run, n_threads)
    x, y = double.x, double.y
    if double.distance == "levenshtein":
        if y is None:
            competitors = peers.levenshtein_gram(x, n_threads)
        else:
            competitors = peers.levenshtein_cross(x, y, n_threads)
        shape = (len(x), len(x if y is None else y))
        return [
            Variant("to float64", double, run, competitors),
            Variant(
                "to float32",
                double,
                lambda: double.run(n_threads, out=np.empty(shape, np.float32)),
                competitors,
            ),
        ]
    single = task(name, "float32", quick)
    run_single = partial(single.run, n_threads)
    if double.distance == "mhd":
        return [
            Variant("float64", double, run, peers.mhd(x, y, n_threads)),
            Variant("float32", single, run_single, peers.mhd(single.x, single.y, n_threads)),
        ]
    if y is None:
        competitors = peers.dtw_gram(x, n_threads, bool(double.params))
    else:
        competitors = peers.dtw_cross(x, y, n_threads)
    return [
        Variant("float64", double, run, competitors),
        Variant("float32", single, run_single, competitors),
    ]


AGAINST_PEERS = (
    "dtw-short-d3",
    "dtw-short-d1",
    "dtw-short-d22",
    "dtw-full",
    "dtw-full-window",
    "lev-short",
    "lev-splice",
    "lev-mnist",
    "mhd-short",
    "mhd-full",
)
SHORT = ("dtw-short-d3", "dtw-short-d22", "lev-short", "mhd-short")
HOT_LOOPS = (
    ("dtw-short-d3", "float64"),
    ("dtw-short-d3", "float32"),
    ("dtw-full", "float64"),
    ("lev-short", "float64"),
    ("lev-mnist", "float64"),
    ("mhd-short", "float64"),
    ("mhd-short", "float32"),
)


def against_peers(name: str, settings: argparse.Namespace, peak: dict) -> list[dict]:
    """Time a workload: one row per variant and peer, the fastest peer first."""
    ways = variants(name, settings.threads, settings.quick)
    calls: dict[Callable, str] = {}
    for way in ways:
        calls[way.call] = way.name
        calls.update({peer: label for label, peer in way.peers.items() if peer})
    progress(f"{name}: first calls")
    errors = _first_calls(ways, list(calls))
    seconds = dict(
        zip(
            calls,
            measure.interleaved(
                list(calls), settings.rounds, lambda text: progress(f"{name}: {text}")
            ),
            strict=True,
        )
    )
    rows = []
    for way in ways:
        cells, ours = way.task.cells(), measure.median(seconds[way.call])
        packing = measure.median(measure.interleaved([way.task.pack], 3)[0])
        common = {
            "workload": name,
            "variant": way.name,
            "seconds": ours,
            "all_seconds": seconds[way.call],
            "packing_seconds": packing,
            "cells": cells,
            "cells_per_second": cells / ours,
            "peak_fraction": None,
        }
        if way.task.distance == "mhd":
            common["peak_fraction"] = 2 * cells / ours / peak[way.name]
        medians = {
            label: measure.median(seconds[peer]) if peer else float("inf")
            for label, peer in way.peers.items()
        }
        for label in sorted(medians, key=medians.get):
            peer = way.peers[label]
            rows.append(common | {"peer": label, "exactness": errors[way.name].get(label)})
            rows[-1]["peer_seconds"] = medians[label] if peer else None
            rows[-1]["peer_all_seconds"] = seconds[peer] if peer else None
            rows[-1]["ratio"] = medians[label] / ours if peer else None
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
    pairs = list(
        zip(
            rng.integers(0, len(job.x), SAMPLED_PAIRS).tolist(),
            rng.integers(0, len(y), SAMPLED_PAIRS).tolist(),
            strict=True,
        )
    )
    reference = []
    for i, j in pairs:
        d = cdist(job.x[i].astype(np.float64), y[j].astype(np.float64))
        reference.append(max(d.min(axis=0).mean(), d.min(axis=1).mean()))
    return measure.relative_difference([value[pair] for pair in pairs], np.array(reference))


def features_against_distances(settings, _peak) -> list[dict]:
    """Time exp(-gamma d) / sqrt(R) over plain distances."""
    rows = []
    for name in SHORT:
        progress(f"features: {name}")
        job = task(name, quick=settings.quick)
        calls = [partial(job.run, settings.threads), partial(job.features, settings.threads)]
        rows.append(_comparison("features / distances", name, calls, settings))
    return rows


def one_thread_against_many(settings, _peak) -> list[dict]:
    """Time one thread over all of them."""
    rows = []
    for name in (*SHORT, "dtw-full", "lev-mnist", "mhd-full"):
        progress(f"threads: {name}")
        job = task(name, quick=settings.quick)
        calls = [partial(job.run, settings.threads), partial(job.run, 1)]
        what = f"1 thread / {settings.threads} threads"
        rows.append(_comparison(what, name, calls, settings))
    return rows


def sizes_doubled(settings, _peak) -> list[dict]:
    """Time each object of one side twice over once."""
    rows = []
    for name in SHORT:
        progress(f"sizes: {name}")
        job = task(name, quick=settings.quick)
        for side, what in (("x", "2 N / N"), ("y", "2 R / R")):
            double = job.doubled(side)
            calls = [partial(job.run, settings.threads), partial(double.run, settings.threads)]
            rows.append(_comparison(what, name, calls, settings))
    return rows


def _comparison(what: str, name: str, calls: list[Callable], settings) -> dict:
    for call in calls:
        call()
    seconds = measure.interleaved(calls, settings.rounds)
    base, other = map(measure.median, seconds)
    return {
        "comparison": what,
        "workload": name,
        "seconds": base,
        "other_seconds": other,
        "ratio": other / base,
        "all_seconds": seconds,
    }


def levenshtein_modes(settings, _peak) -> list[dict]:
    """Time Levenshtein's modes over whole strings, by processor time on one thread."""
    rows = []
    for text, pattern in workloads.LEV_MODES:
        progress(f"lev-modes: {text} x {pattern}")
        cells = small(3_000_000_000, settings.quick)
        x, y = map(d2ke.pack, workloads.lev_modes(text, pattern, cells))
        calls = [
            partial(d2ke.distance_matrix, x, y, "levenshtein", mode=mode, n_threads=1)
            for mode in ("global", "infix", "prefix")
        ]
        times = measure.interleaved(calls, 4 * settings.rounds, clock=time.process_time)
        best = list(map(min, times))
        for mode, seconds, every in zip(("infix", "prefix"), best[1:], times[1:], strict=True):
            rows.append(
                {
                    "comparison": f"{mode} / global",
                    "workload": f"texts of {text}, patterns of {pattern} letters",
                    "seconds": best[0],
                    "other_seconds": seconds,
                    "ratio": seconds / best[0],
                    "all_seconds": [times[0], every],
                }
            )
    return rows


def linear_solvers(settings, _peak) -> list[dict]:
    """Time LIBLINEAR (its one-vs-rest problems in threads) over the block solver."""
    Z, classes = workloads.features(small(60000, settings.quick))
    options = "-s 2 -e 0.0001 -c 1 -q"
    rows, n_threads = [], settings.threads
    liblinear = partial(d2ke.train, classes, Z, options, n_threads=n_threads)
    for dtype in (np.float64, np.float32):
        progress(f"linear: {dtype.__name__}")
        block = partial(
            d2ke.train, classes, Z.astype(dtype), options, solver="block", n_threads=n_threads
        )
        what = f"LIBLINEAR / block solver, {dtype.__name__}"
        name = f"{len(Z)} x {Z.shape[1]}, 10 classes"
        rows.append(_comparison(what, name, [block, liblinear], settings))
        ours, theirs = (squared_hinge(call(), classes, Z) for call in (block, liblinear))
        progress(f"linear: objectives differ by {np.max(np.abs(ours / theirs - 1)):.1e}")
    return rows


def squared_hinge(model: d2ke.LinearModel, classes: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Objective of each one-vs-rest problem for C = 1."""
    margins = np.where(classes[:, None] == model.classes, 1, -1) * (Z @ model.weights.T)
    losses = np.maximum(0, 1 - margins) ** 2
    return (model.weights**2).sum(axis=1) / 2 + losses.sum(axis=0)


def memory(settings, _peak) -> list[dict]:
    """Peak of the resident set in a process of its own."""
    rows = []
    for name in AGAINST_PEERS:
        progress(f"memory: {name}")
        for dtype in ("float64",) if name.startswith("lev") else ("float64", "float32"):
            arguments = (name, dtype, settings.threads, settings.quick)
            grown = measure.in_child("benchmarks.run:_memory", *arguments, isa=isa.selected())
            grown["extra"] = grown["peak"] - grown["output"]
            rows.append({"workload": name, "variant": dtype} | grown)
    return rows


def _memory(name: str, dtype: str, n_threads: int, quick: bool) -> dict[str, float]:
    job = task(name, dtype, quick)
    half = Task(job.distance, job.x[:8], None if job.y is None else job.y[:8], job.params)
    half.run(n_threads)  # threads and libraries are there
    return measure.resident_peak(partial(job.run, n_threads))


def instructions(settings, _peak) -> list[dict]:
    """Count user-mode instructions per cell on one thread with perf."""
    if not shutil.which("perf"):
        progress("instructions: perf is not installed")
        return []
    rows = []
    for name, dtype in HOT_LOOPS:
        progress(f"instructions: {name} {dtype}")
        counts = []
        for times in (1, 3):
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder, "counts")
                prefix = ["perf", "stat", "-x,", "-e", "instructions:u", "-o", str(file)]
                arguments = (name, dtype, times, settings.quick)
                cells = measure.in_child(
                    "benchmarks.run:_repeat", *arguments, prefix=prefix, isa=isa.selected()
                )
                counts.append(_perf_count(file.read_text()))
        if None in counts:
            progress("instructions: perf cannot count instructions on this machine")
            return rows
        per_call = (counts[1] - counts[0]) / 2
        rows.append(
            {
                "workload": name,
                "variant": dtype,
                "instructions": per_call,
                "instructions_per_cell": per_call / cells,
            }
        )
    return rows


def _repeat(name: str, dtype: str, times: int, quick: bool) -> float:
    job = task(name, dtype, quick)
    for _ in range(times):
        job.run(1)
    return job.cells()


def _perf_count(text: str) -> int | None:
    for line in text.splitlines():
        count = line.split(",")[0]
        if "instructions" in line and count.isdigit():
            return int(count)
    return None


def table(rows: list[dict]) -> str:
    """Lay the rows out as a Markdown table."""
    first = rows[0]
    if "peer" in first:
        columns = _PEER_COLUMNS
    elif "comparison" in first:
        columns = _COMPARISON_COLUMNS
    elif "extra" in first:
        columns = _MEMORY_COLUMNS
    else:
        columns = _INSTRUCTION_COLUMNS
    cells = [[show(row) for show in columns.values()] for row in rows]
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    lines = [list(columns), ["-" * width for width in widths], *cells]
    return "\n".join(
        "| "
        + " | ".join(text.ljust(width) for text, width in zip(line, widths, strict=True))
        + " |"
        for line in lines
    )


def _seconds(value: float) -> str:
    return f"{value:.4f}" if value < 1 else f"{value:.3f}"


def _ours(row: dict) -> str:
    text = _seconds(row["seconds"])
    if row["packing_seconds"] > PACKING_SHOWN_FROM * row["seconds"]:
        text += f" (packing +{_seconds(row['packing_seconds'])})"
    return text


def _exactness(row: dict) -> str:
    if row["exactness"] is None:
        return ""
    return "exact" if row["exactness"] == 0 else f"{row['exactness']:.0e}"


_PEER_COLUMNS: dict[str, Callable[[dict], str]] = {
    "workload": lambda row: row["workload"],
    "d2ke": lambda row: row["variant"],
    "seconds": _ours,
    "peer": lambda row: row["peer"],
    "its seconds": lambda row: _seconds(row["peer_seconds"]) if row["ratio"] else "not installed",
    "ratio": lambda row: f"{row['ratio']:.2f}" if row["ratio"] else "",
    "1e9 cells/s": lambda row: f"{row['cells_per_second'] / 1e9:.2f}",
    "of peak": lambda row: f"{row['peak_fraction']:.0%}" if row["peak_fraction"] else "",
    "rel. difference": _exactness,
}
_COMPARISON_COLUMNS: dict[str, Callable[[dict], str]] = {
    "comparison": lambda row: row["comparison"],
    "workload": lambda row: row["workload"],
    "seconds": lambda row: f"{_seconds(row['other_seconds'])} / {_seconds(row['seconds'])}",
    "ratio": lambda row: f"{row['ratio']:.3f}",
}
_MEMORY_COLUMNS: dict[str, Callable[[dict], str]] = {
    "workload": lambda row: row["workload"],
    "d2ke": lambda row: row["variant"],
    "output, MB": lambda row: f"{row['output']:.1f}",
    "beyond it, MB": lambda row: f"{row['extra']:.1f}",
}
_INSTRUCTION_COLUMNS: dict[str, Callable[[dict], str]] = {
    "workload": lambda row: row["workload"],
    "d2ke": lambda row: row["variant"],
    "instructions per cell": lambda row: f"{row['instructions_per_cell']:.4f}",
}

WORKLOADS: dict[str, Callable[[argparse.Namespace, dict], list[dict]]] = {
    **{name: partial(against_peers, name) for name in AGAINST_PEERS},
    "features": features_against_distances,
    "threads": one_thread_against_many,
    "sizes": sizes_doubled,
    "lev-modes": levenshtein_modes,
    "linear": linear_solvers,
    "memory": memory,
    "instructions": instructions,
}


def progress(text: str) -> None:
    """Say on standard error what is being done."""
    print(text, file=sys.stderr, flush=True)


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
    parser = argparse.ArgumentParser("python -m benchmarks.run", description=__doc__)
    parser.add_argument("workload", nargs="*", help=f"of {', '.join(WORKLOADS)}; all by default")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=available_threads())
    parser.add_argument("--isa", choices=isa.supported(), default=isa.selected())
    parser.add_argument("--json", type=Path, help="file for all measurements")
    parser.add_argument("--quick", action="store_true", help="a tenth of the objects")
    settings = parser.parse_args(arguments)
    for name in settings.workload:
        if name not in WORKLOADS:
            parser.error(f"workload must be one of {', '.join(WORKLOADS)}; got {name!r}")
    if settings.rounds < 1 or settings.threads < 1:
        parser.error("--rounds and --threads must be at least 1")
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
        progress(table(rows))
        report["results"] += rows
        groups.setdefault(tuple(rows[0]), []).extend(rows)
        if settings.json:
            settings.json.write_text(json.dumps(report, indent=1))
    for rows in groups.values():
        print("", table(rows), sep="\n")


if __name__ == "__main__":
    main()
