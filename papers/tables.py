# SPDX-License-Identifier: BSD-3-Clause
"""The D2KE paper's experiment section: `python -m papers.tables`."""

from __future__ import annotations

import argparse
import csv
import json
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from papers import paper
from papers.datasets import REGISTRY, Dataset, load
from papers.methods import METHODS, Division, Outcome, evaluate
from papers.paper import METHOD_NAMES
from papers.settings import DETERMINISTIC, SETTINGS, Setting, published, quick

DOMAINS = {"series": "series", "strings": "strings", "images": "sets"}
KINDS = {"ours": lambda name: SETTINGS[name], "quick": lambda name: quick(SETTINGS[name]),
         "paper": published}  # fmt: skip
COLUMNS = ("dataset", "method", "seed", "R", "accuracy", "seconds", "search_accuracy",
           "parameters", "note")  # fmt: skip
Row = dict[str, Any]


def tables(
    names: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    *,
    seeds: int = 5,
    kind: str = "ours",
    domain: str | None = None,
    out: str | Path = "d2ke-tables",
    data_dir: str | Path | None = None,
    n_threads: int | None = None,
) -> list[Row]:
    """Run methods on data sets over several divisions; write results.csv and report.md.

    Parameters
    ----------
    names, methods : sequence of str, optional
        By default the paper's data sets whose files and packages are there, and all methods.
    seeds : int
        Divisions. Methods without randomness run once on a published division.
    kind : {"ours", "quick", "paper"}
        The settings: ours, cheaper ones, or the paper's own protocol.
    domain : {"series", "strings", "images"}, optional
        Only data sets of this kind.
    out : path
        Output folder.
    data_dir : path, optional
        Folder of the data files; by default the environment variable D2KE_DATA.
    n_threads : int, optional
        Threads.

    Returns
    -------
    list of dict
        The rows of results.csv. Rows of a smaller R than the method's have no parameters: they are
        its first random objects, whose seconds leave out the search.
    """
    chosen = names or [
        name
        for name in paper.ORDER
        if name in SETTINGS and (kind != "paper" or (name, "d2ke") in paper.ACCURACIES)
    ]
    usual = methods or (paper.METHODS if kind == "paper" else METHODS)
    folder, rows = Path(out), list[Row]()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "results.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for name in chosen:
            if domain is not None and REGISTRY[name].domain != DOMAINS[domain]:
                continue
            try:
                dataset = load(name, data_dir)
            except (ImportError, FileNotFoundError) as error:
                if names:
                    raise
                print(f"not run: {name}: {error}")
                continue
            for row in measured(dataset, KINDS[kind](name), usual, seeds, n_threads):
                writer.writerow(row | {"parameters": json.dumps(row["parameters"], default=str)})
                file.flush()
                rows.append(row)
            report = "\n".join(report_lines(rows, kind))
            (folder / "report.md").write_text(report + "\n", "utf-8")
    if not rows:
        raise FileNotFoundError("no data set can be run: their files or packages are missing")
    return rows


def measured(
    dataset: Dataset, setting: Setting, methods: Sequence[str], seeds: int, n_threads: int | None
) -> Iterator[Row]:
    """Yield the rows of a data set by division, as methods on one division share distances."""
    is_published = REGISTRY[dataset.name].n_train is not None
    for seed in range(seeds):
        division = Division.of(dataset, setting, seed, n_threads=n_threads)
        for method in METHODS:
            if method not in methods or (is_published and seed and method in DETERMINISTIC):
                continue
            sizes = [2**k for k in range(2, setting.R.bit_length())]
            # All seeds share a published division; one curve is enough there.
            found = evaluate(method, division, sizes=[] if is_published and seed else sizes)
            print(f"{dataset.name} {method} seed {seed}: {found.accuracy:.2f} %", flush=True)
            yield from rows_of(found, {"dataset": dataset.name, "method": method, "seed": seed})


def rows_of(found: Outcome, labels: Row) -> Iterator[Row]:
    """Yield the row of a method, and one for each smaller R."""
    R = found.parameters.get("R", "")
    yield labels | {
        "R": R,
        "accuracy": found.accuracy,
        "seconds": sum(found.seconds.values()),
        "search_accuracy": found.search_accuracy,
        "parameters": found.parameters,
        "note": found.note,
    }
    for size, accuracy in found.by_R.items():
        if size != R:
            others = {"accuracy": accuracy, "seconds": found.seconds_by_R[size]}
            yield labels | {"R": size, **others, "search_accuracy": "", "parameters": {},
                            "note": ""}  # fmt: skip


def report_lines(rows: Sequence[Row], kind: str) -> Iterator[str]:
    """Yield the lines of the report: accuracy, the paper's numbers, seconds, and notes."""
    cells: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row["parameters"]:
            cells.setdefault((row["dataset"], row["method"]), []).append(row)
    names = list(dict.fromkeys(name for name, _ in cells))
    methods = [method for method in METHOD_NAMES if any((name, method) in cells for name in names)]
    titles = [METHOD_NAMES[method] for method in methods]
    yield "# D2KE and its baselines\n\n## Accuracy\n"
    yield "Percent of the test objects, mean ± deviation over divisions (in the paper).\n"
    yield from table(["data", *titles])
    for name in names:
        row = [name]
        for method in methods:
            printed = paper.ACCURACIES.get((name, method))
            text = accuracy_text(cells.get((name, method), []))
            row.append(text if printed is None or not text else f"{text} ({printed:.2f})")
        yield line(row)
    if kind == "paper":
        yield "\n## Against the paper's numbers\n"
        yield "The difference is bold if it exceeds two deviations of one division.\n"
        yield from table(["data", "method", "paper", "its protocol", "difference"])
        for (name, method), found in cells.items():
            printed = paper.ACCURACIES.get((name, method))
            if printed is not None:
                mean, spread = mean_and_sd(found)
                text = f"{mean - printed:+.2f}"
                bold = len(found) > 1 and abs(mean - printed) > 2 * spread
                text = f"**{text}**" if bold else text
                title = METHOD_NAMES[method]
                yield line([name, title, f"{printed:.2f}", accuracy_text(found), text])
    yield "\n## Seconds\n\nOf one division, the choice of parameters included (in the paper).\n"
    yield from table(["data", *titles])
    for name in names:
        row = [name]
        for method in methods:
            times = [one["seconds"] for one in cells.get((name, method), ())]
            text = f"{statistics.fmean(times):.2f}" if times else ""
            printed = paper.SECONDS.get((name, method))
            row.append(text if printed is None or not text else f"{text} ({printed:g})")
        yield line(row)
    yield "\n## Notes\n"
    yield from (f"- {text}" for text in (*paper.GENERAL_NOTES, *paper.PROTOCOL_NOTES[
        "paper" if kind == "paper" else "ours"]))  # fmt: skip
    yield from (f"- {name}: {paper.NOTES[name]}" for name in names if name in paper.NOTES)
    for (name, method), found in cells.items():
        notes = dict.fromkeys(row["note"] for row in found if row["note"])
        if (first := paper.FIRST_VERSION.get((name, method))) is not None:
            notes[f"the paper's first version has {first:.2f}, its revised one is shown"] = None
        yield from (f"- {name}, {METHOD_NAMES[method]}: {note}." for note in notes)


def mean_and_sd(found: Sequence[Row]) -> tuple[float, float]:
    """Return the mean accuracy over divisions, and its deviation."""
    values = [row["accuracy"] for row in found]
    return statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else 0.0


def accuracy_text(found: Sequence[Row]) -> str:
    """Show a mean, and the deviation of several divisions."""
    if not found:
        return ""
    mean, spread = mean_and_sd(found)
    return f"{mean:.2f} ± {spread:.2f}" if len(found) > 1 else f"{mean:.2f}"


def table(titles: Sequence[str]) -> Iterator[str]:
    """Yield the first two lines of a table."""
    yield line(titles)
    yield line(["---"] * len(titles))


def line(cells: Sequence[Any]) -> str:
    """Return a line of a table."""
    return f"| {' | '.join(map(str, cells))} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m papers.tables", description=__doc__)
    add = parser.add_argument
    add("--threads", type=int)
    add("--domain", choices=DOMAINS, help="only data sets of this kind")
    add("--datasets", nargs="+", choices=SETTINGS, metavar="NAME", help=", ".join(SETTINGS))
    add("--methods", nargs="+", choices=METHODS, metavar="NAME", help=", ".join(METHODS))
    add("--seeds", type=int, help="divisions (default 5, with --quick 1)")
    only = parser.add_mutually_exclusive_group().add_argument
    only("--quick", action="store_true", help="search less and take fewer random objects")
    only("--paper", action="store_true", help="the paper's own protocol")
    add("--out", default="d2ke-tables", metavar="DIR", help="output folder (default d2ke-tables)")
    add("--data", metavar="DIR", help="folder of the data files (default: $D2KE_DATA)")
    options = parser.parse_args(arguments)
    tables(
        options.datasets,
        options.methods,
        seeds=options.seeds or (1 if options.quick else 5),
        kind="paper" if options.paper else "quick" if options.quick else "ours",
        domain=options.domain,
        out=options.out,
        data_dir=options.data,
        n_threads=options.threads,
    )
    print(f"{options.out}/report.md, {options.out}/results.csv")


if __name__ == "__main__":
    main()
