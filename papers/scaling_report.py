# SPDX-License-Identifier: BSD-3-Clause
"""The picture and the page of `papers.scaling`, and its section in the report of the tables."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from d2ke._base.files import write_file
from papers.figures import STYLES
from papers.markdown import items, table
from papers.paper import METHOD_NAMES

Results = Mapping[str, Any]

_NONE = "-"
_COLOURS = 96  # of the picture
_QUANTITIES = {
    "seconds": "seconds against N",
    "without_search": "seconds without the search against N",
    "memory": "memory against N",
    "seconds_by_length": "seconds against L",
}


def draw(results: Results) -> bytes:
    """Return the picture, a PNG file: seconds, memory and accuracy against N, seconds against L."""
    from matplotlib.figure import Figure

    picture = Figure(figsize=(13.0, 7.6), layout="constrained")
    (seconds, memory), (accuracy, length) = picture.subplots(2, 2)
    slopes, by_n = results["slopes"], results["by_n"]
    _curves(seconds, by_n, "n", "processor_seconds", _labels(slopes, "seconds"))
    mebibytes = [point | {"memory": point["memory"] / 2**20} for point in by_n if point["memory"]]
    _curves(memory, mebibytes, "n", "memory", _labels(slopes, "memory"))
    _curves(accuracy, by_n, "n", "accuracy", METHOD_NAMES)
    labels = _labels(slopes, "seconds_by_length")
    _curves(length, results["by_length"], "length", "processor_seconds", labels)
    seconds.set(title="time against N, with slopes", ylabel="processor seconds")
    memory.set(title="memory against N, with slopes", ylabel="MiB, peak")
    accuracy.set(title="accuracy against N", ylabel="test accuracy, %")
    length.set(
        title=f"time against length, N = {results['n_at_lengths']}", ylabel="processor seconds"
    )
    for axes in (seconds, memory, length):
        axes.set_yscale("log")
    for axes in (seconds, memory, accuracy):
        axes.set_xlabel("N, training objects")
    length.set_xlabel(f"L, mean length of the objects ({results['stretching']})")
    for point in _marked(results):
        seconds.axvline(point["size"], color="0.6", linewidth=0.8, linestyle=":")
        name = METHOD_NAMES[point["other"]]
        seconds.annotate(
            f"{name}: {point['size']}", (point["size"], 0.02), rotation=90, fontsize=7,
            xycoords=seconds.get_xaxis_transform(), ha="right", color="0.3",
        )  # fmt: skip
    for axes in (seconds, memory, accuracy, length):
        axes.set_xscale("log", base=2)
        points, key = (results["by_length"], "length") if axes is length else (by_n, "n")
        sizes = sorted({point[key] for point in points})
        axes.set_xticks(sizes, [_size(size) for size in sizes])
        axes.grid(alpha=0.3)
        axes.title.set_fontsize(10)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    picture.suptitle(f"{results['dataset']}, {results['distance']}, R = {results['R']}")
    return _small_png(picture)


def _small_png(picture: Any) -> bytes:
    """Return the picture with few colours, in a third of the bytes."""
    from PIL import Image  # matplotlib needs it, too

    drawn, content = io.BytesIO(), io.BytesIO()
    picture.savefig(drawn, format="png", dpi=90)
    Image.open(drawn).convert("RGB").quantize(_COLOURS).save(content, "PNG", optimize=True)
    return content.getvalue()


def _curves(
    axes: Any, points: Sequence[Results], x: str, y: str, labels: Mapping[str, str]
) -> None:
    """Draw a curve for each method."""
    for method in METHOD_NAMES:
        places = [(point[x], point[y]) for point in points if point["method"] == method]
        if places:
            axes.plot(*zip(*places, strict=True), label=labels[method], markersize=4,
                      linewidth=1.2, **STYLES[method])  # fmt: skip


def _labels(slopes: Mapping[str, Results], quantity: str) -> dict[str, str]:
    """Return the methods' names with their slopes."""
    return {
        method: name if (text := _slope(slopes, method, quantity)) == _NONE else f"{name}, {text}"
        for method, name in METHOD_NAMES.items()
    }


def _slope(slopes: Mapping[str, Results], method: str, quantity: str) -> str:
    value = slopes.get(method, {}).get(quantity)
    return _NONE if value is None else f"{value['fit']:.2f}"


def _marked(results: Results) -> list[Results]:
    """Return the measured crossings of plain D2KE in the time of the whole."""
    return [
        point
        for point in results["crossings"]
        if (point["quantity"], point["method"], point["kind"]) == ("seconds", "d2ke", "measured")
    ]


def write_page(results: Results, picture: bytes, file: Path) -> None:
    """Write the picture, and a page in Markdown with it, beside the JSON file."""
    write_file(file.with_suffix(".png"), picture)
    title = f"# Cost against size: {results['dataset']}"
    blocks = [title, items(_circumstances(results)), *_section(results, file)]
    write_file(file.with_suffix(".md"), ("\n\n".join(blocks) + "\n").encode())


def sections(folder: Path) -> Iterator[str]:
    """Return a section of what `papers.scaling` wrote to a folder; nothing if there is nothing."""
    files = sorted(folder.glob("scaling-*.json"))
    if files:
        yield "## Cost against size"
    for file in files:
        results = json.loads(file.read_text("utf-8"))
        yield f"### {results['dataset']}"
        yield items(_circumstances(results))
        yield from _section(results, file)


def _circumstances(results: Results) -> list[str]:
    machine = results["machine"]
    lines = [
        f"Date: {results['date']}",
        f"Machine: {machine['cpu']}, {machine['threads']} threads in use",
        f"R = {results['R']}; {results['n_test']} test objects at every N; seed {results['seed']}",
    ]
    if results["command"]:
        lines.append(f"Command: {results['command']}")
    return lines


def _section(results: Results, file: Path) -> Iterator[str]:
    yield (
        "Each point is the choice of parameters by cross-validation, training and test of a "
        "method on N training objects. Seconds are the processor's, of all threads together; "
        f"memory is the peak above what the process had before. L varies with N = "
        f"{results['n_at_lengths']}, and the objects are {results['stretching']}; the random "
        "objects keep their lengths."
    )
    name = file.with_suffix(".png").name
    yield f"![{results['dataset']}: time, memory and accuracy against size]({name})"
    yield ("Slopes p of cost ~ size^p over all sizes, in parentheses of the last doubling.")
    yield _slope_table(results)
    if results["crossings"]:
        yield ("From which N on a method (column) takes less time than another (row):")
        yield _crossing_table(results["crossings"])
    if results["stopped"]:
        yield ("Not measured, nor what is larger where the time or the memory is too much:")
        yield items([_stopped_text(row) for row in results["stopped"]])
    yield _point_table(results["by_n"], "N", "n")
    yield _point_table(results["by_length"], "L", "length")


def _slope_table(results: Results) -> str:
    lines = []
    for method, of_method in results["slopes"].items():
        texts = [
            _NONE if of_method[key] is None else "{fit:.2f} ({last:.2f})".format(**of_method[key])
            for key in _QUANTITIES
        ]
        lines.append([METHOD_NAMES[method], *texts])
    return table(["method", *_QUANTITIES.values()], lines)


def _crossing_table(crossings: Sequence[Results]) -> str:
    columns = dict.fromkeys((point["method"], point["quantity"]) for point in crossings)
    cells = {
        (point["other"], point["method"], point["quantity"]): _crossing(point)
        for point in crossings
    }
    lines = [
        [METHOD_NAMES[other], *(cells.get((other, *column), _NONE) for column in columns)]
        for other in dict.fromkeys(point["other"] for point in crossings)
    ]
    titles = [
        METHOD_NAMES[method] + (", without the search" if quantity == "without_search" else "")
        for method, quantity in columns
    ]
    return table(["", *titles], lines)


def _crossing(point: Results) -> str:
    if point["kind"] == "measured":
        return "{} (between {} and {})".format(point["size"], *point["between"])
    if point["kind"] == "predicted":
        return f"about {point['size']}, by the slopes"
    return "at every N" if point["kind"] == "always" else "at no N"


def crossing_text(point: Results) -> str:
    """Describe a crossing in a sentence."""
    method, other = METHOD_NAMES[point["method"]], METHOD_NAMES[point["other"]]
    when = "at every N" if point["kind"] == "always" else f"from N = {_crossing(point)}"
    if point["kind"] == "never":
        return f"{method} is slower than {other} at the largest N of both."
    return f"{method} takes less time than {other} {when}."


def _stopped_text(row: Results) -> str:
    axis = "N = {size:g}" if row["axis"] == "n" else "{size:g} times the length"
    return f"{METHOD_NAMES[row['method']]}: {axis.format(**row)} {row['reason']}."


def _point_table(points: Sequence[Results], title: str, key: str) -> str:
    """Return seconds, MiB and accuracy, a row per method and a column per size."""
    sizes = sorted({point[key] for point in points})
    lines = []
    for method in METHOD_NAMES:
        row = {point[key]: _point(point) for point in points if point["method"] == method}
        if row:
            lines.append([METHOD_NAMES[method], *(row.get(size, _NONE) for size in sizes)])
    return table([f"{title}:", *map(_size, sizes)], lines)


def _size(size: float) -> str:
    return f"{size:.0f}" if size >= 100 else f"{size:.3g}"


def _point(point: Results) -> str:
    memory = "" if point["memory"] is None else f", {point['memory'] / 2**20:.0f} MiB"
    return f"{point['processor_seconds']:.2f} s{memory}, {point['accuracy']:.1f} %"
