# SPDX-License-Identifier: BSD-3-Clause
"""The report of `papers.tables` in Markdown: text, tables and figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from d2ke._base.files import write_file
from d2ke._base.text import shown
from papers import paper, scaling_report
from papers.estimate import duration
from papers.figures import figure
from papers.markdown import escaped, items, table
from papers.paper import METHOD_NAMES

TITLE = "D2KE and its baselines"
_STAGES = ("search", "distances", "features", "model", "prediction")
_NONE = "-"

Results = Mapping[str, Any]
Record = Mapping[str, Any]


def draw(results: Results, name: str) -> bytes:
    """Return the figure of one data set, a PNG file."""
    records = [record for record in results["results"] if record["dataset"] == name]
    return figure(name, records, results["kernel_errors"].get(name))


def write_report(results: Results, pictures: Mapping[str, bytes], folder: Path) -> None:
    """Write report.md and the figures.

    Parameters
    ----------
    results : mapping
        The content of results.json, see `papers.tables`.
    pictures : mapping of str to bytes
        The figure of each data set, from `draw`.
    folder : Path
        The output folder; earlier files are replaced.
    """
    (folder / "figures").mkdir(exist_ok=True)
    for name in results["datasets"]:
        write_file(folder / f"figures/{name}.png", pictures[name])
    blocks = _report(results, scaling_report.sections(folder))
    write_file(folder / "report.md", ("\n\n".join(blocks) + "\n").encode())


def _report(results: Results, scaling: Iterable[str]) -> Iterator[str]:
    yield f"# {TITLE}"
    yield items(_circumstances(results))
    yield "## Accuracy"
    yield (
        "Percent of the test objects: mean ± standard deviation over the divisions, in "
        "parentheses the paper's number. The best of each row is bold."
    )
    yield table(*accuracy_table(results["results"]))
    sentences = list(comparisons(results["results"]))
    if sentences:
        yield items(sentences)
    if results["protocol"] == "paper":
        yield from _against_paper(results)
    if results["not_run"]:
        yield "## Not run"
        yield items([f"{row['dataset']}: {row['reason']}" for row in results["not_run"]])
    yield "## Seconds"
    yield (
        "Of one division, mean. Distances to random objects of which only the search makes use "
        "count as search; the distances among training objects that KNN, DSK and GDK_LED need "
        "count as distances. The paper's seconds are of 12 threads of a 2.93 GHz Xeon, ours of "
        + escaped("; ".join(results["computed_on"]))
        + "."
    )
    yield _seconds_table(results["results"])
    yield "## Figures"
    yield (
        "Left: accuracy against the number of random objects (D2KE) or representatives (RSM), "
        "the other methods as lines. Middle: error of the approximate kernel against one of many "
        "more random objects, over pairs of training objects, with the parameters that D2KE "
        "chose on the first division; bars are deviations over disjoint blocks of random "
        "objects. Right: accuracy against the seconds that it takes once the parameters are "
        "chosen."
    )
    for name in results["datasets"]:
        yield f"![{name}: accuracy and kernel error](figures/{name}.png)"
    yield from scaling
    if results["kernel_errors"]:
        yield "## Error of the kernel"
        yield "Root mean square and, in parentheses, largest error at R."
        yield _kernel_table(results["kernel_errors"])
    yield "## Chosen parameters"
    yield "On the training part of each division; all distinct values are listed."
    yield _parameter_table(results["results"])
    yield "## Data"
    yield _data_table(results["datasets"])
    yield "## Notes"
    yield items(list(_notes(results)))


def _circumstances(results: Results) -> list[str]:
    machine = results["machine"]
    lines = [
        f"Date: {results['date']}",
        f"Machine: {machine['cpu']}, {machine['cores']} cores, {machine['threads']} threads in "
        f"use, {machine['memory_gib']} GiB of memory, instruction set "
        f"{machine['instruction_set']}, {machine['system']}",
        "Versions: " + ", ".join(f"{name} {text}" for name, text in results["versions"].items()),
        f"Time of all that is reported: {duration(results['total_seconds'])}",
    ]
    if results["command"]:
        lines.append(f"Command: {results['command']}")
    if results["quick"]:
        lines.append("A quick run: **smaller searches and fewer random objects than the full one**")
    if results["protocol"] == "paper":
        lines.append("The settings are **the paper's protocol**, not ours")
    unfinished = [
        f"{name} ({data['cells_finished']} of {data['cells']})"
        for name, data in results["datasets"].items()
        if data["cells_finished"] < data["cells"]
    ]
    if unfinished:
        lines.append("**Not finished**: " + ", ".join(unfinished))
    return lines


def _rows(records: Sequence[Record]) -> dict[str, dict[str, Record]]:
    """Arrange records by data set and method, in the paper's order."""
    rows: dict[str, dict[str, Record]] = {}
    for record in records:
        rows.setdefault(record["dataset"], {})[record["method"]] = record
    return {
        name: {method: row[method] for method in METHOD_NAMES if method in row}
        for name, row in rows.items()
    }


def _rounded(record: Record) -> float:
    """Return the accuracy as it is shown; comparisons use the same."""
    return round(record["accuracy_mean"], 2)


def accuracy_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return the main table: its header, and a row per data set with a column per method."""
    rows = _rows(records)
    methods = [method for method in METHOD_NAMES if any(method in row for row in rows.values())]
    lines = []
    for name, row in rows.items():
        best = max(_rounded(record) for record in row.values())
        lines.append(
            [name]
            + [
                _accuracy(row[method], _rounded(row[method]) == best) if method in row else _NONE
                for method in methods
            ]
        )
    return ["data", *(METHOD_NAMES[method] for method in methods)], lines


def _accuracy(record: Record, best: bool) -> str:
    text = f"{record['accuracy_mean']:.2f}"
    if len(record["seeds"]) > 1:
        text += f" ± {record['accuracy_sd']:.2f}"
    text = f"**{text}**" if best else text
    if len(record["seeds"]) == 1:
        text += ", one division"
    return text if record["paper"] is None else f"{text} ({record['paper']:.2f})"


def comparisons(records: Sequence[Record]) -> Iterator[str]:
    """Report for each data set the baselines that beat D2KE, and a D2KE below the paper's."""
    for name, row in _rows(records).items():
        if "d2ke" not in row:
            continue
        ours = row["d2ke"]
        better = [
            f"{METHOD_NAMES[method]} ({_rounded(record):.2f} %)"
            for method, record in row.items()
            if _rounded(record) > _rounded(ours)
        ]
        if better:
            verb = "beats" if len(better) == 1 else "beat"
            yield f"{name}: {_and(better)} {verb} our D2KE ({_rounded(ours):.2f} %)."
        if ours["paper"] is not None and _rounded(ours) < ours["paper"]:
            yield (
                f"{name}: our D2KE ({_rounded(ours):.2f} %) is below the paper's "
                f"({ours['paper']:.2f} %)."
            )


def _against_paper(results: Results) -> Iterator[str]:
    yield "## Against the paper's numbers"
    yield (
        "Paper: the number that is printed there. Its protocol: what we measure with the paper's "
        "settings, over our divisions. Difference: the second minus the first, bold if it is "
        "larger than the spread. Our settings: what the same method reaches with ours, where the "
        "output folder has it."
    )
    yield table(*paper_table(results["results"], results["our_results"]))


def paper_table(
    records: Sequence[Record], ours: Sequence[Record]
) -> tuple[list[str], list[list[str]]]:
    """Compare the paper's protocol with the paper row by row, our settings beside it."""
    our_rows, lines = _rows(ours), []
    for name, row in _rows(records).items():
        for method, record in row.items():
            printed, other = record["paper"], our_rows.get(name, {}).get(method)
            if printed is None:
                continue
            difference = _rounded(record) - printed
            spread = 2 * record["accuracy_sd"] if len(record["seeds"]) > 1 else None
            beyond = spread is not None and abs(difference) > spread
            lines.append(
                [
                    name,
                    METHOD_NAMES[method],
                    f"{printed:.2f}",
                    _accuracy({**record, "paper": None}, False),
                    f"**{difference:+.2f}**" if beyond else f"{difference:+.2f}",
                    _NONE if spread is None else f"{spread:.2f}",
                    _NONE if other is None else _accuracy({**other, "paper": None}, False),
                ]
            )
    header = ["data", "method", "paper", "its protocol", "difference", "spread", "our settings"]
    return header, lines


def _and(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def _seconds_table(records: Sequence[Record]) -> str:
    lines = []
    for name, row in _rows(records).items():
        for method, record in row.items():
            stages = record["seconds_by_stage"]
            printed = paper.SECONDS.get((name, method))
            times = (*(stages.get(stage) for stage in _STAGES), record["seconds"])
            texts = [
                _NONE if time is None else f"{time:.{2 if time < 100 else 0}f}" for time in times
            ]
            texts.append(_NONE if printed is None else f"{printed:g}")
            lines.append([name, METHOD_NAMES[method], *texts])
    return table(["data", "method", *_STAGES, "total", "paper"], lines)


def _kernel_table(errors: Mapping[str, Mapping[str, Any]]) -> str:
    sizes = sorted({R for error in errors.values() for R in error["R"]})
    lines = []
    for name, error in errors.items():
        columns = zip(error["R"], error["rms"], error["max"], strict=True)
        values = {R: f"{rms:.4f} ({largest:.4f})" for R, rms, largest in columns}
        lines.append([name, *(values.get(R, _NONE) for R in sizes)])
    return table(["data", *(str(R) for R in sizes)], lines)


def _parameter_table(records: Sequence[Record]) -> str:
    lines = []
    for name, row in _rows(records).items():
        for method, record in row.items():
            values: dict[str, dict[str, None]] = {}  # distinct, in order
            for parameters in record["parameters"]:
                for key, value in parameters.items():
                    values.setdefault(key, {})[shown(value)] = None
            text = "; ".join(f"{key} {', '.join(texts)}" for key, texts in values.items())
            lines.append([name, METHOD_NAMES[method], text])
    return table(["data", "method", "parameters"], lines)


def _data_table(datasets: Mapping[str, Mapping[str, Any]]) -> str:
    columns = {"objects": "n_objects", "classes": "n_classes", "lengths": "lengths",
               "channels": "n_channels", "training": "n_train", "test": "n_test",
               "distance": "distance", "division": "division"}  # fmt: skip
    lines = []
    for name, data in datasets.items():
        low, high = data["lengths"]
        texts = {**data, "lengths": f"{low}" if low == high else f"{low} to {high}"}
        lines.append([name, *(str(texts.get(key, _NONE)) for key in columns.values())])
    return table(["data", *columns], lines)


def _notes(results: Results) -> Iterator[str]:
    yield from (*paper.GENERAL_NOTES, *paper.PROTOCOL_NOTES[results["protocol"]])
    for name in results["datasets"]:
        if name in paper.NOTES:
            yield f"{name}: {paper.NOTES[name]}"
    for record in results["results"]:
        first = paper.FIRST_VERSION.get((record["dataset"], record["method"]))
        label = f"{record['dataset']}, {METHOD_NAMES[record['method']]}"
        if first is not None:
            yield (
                f"{label}: the paper's number is that of its revised version; the first one "
                f"gives {first:.2f}."
            )
        if record["note"]:
            yield f"{label}: {record['note']}."
