# SPDX-License-Identifier: BSD-3-Clause
"""What a model says of itself: in full, on one screen, and as HTML in notebooks."""

from __future__ import annotations

from contextlib import suppress
from html import escape
from typing import Any

import numpy as np

from d2ke.models.labels import like_amounts
from d2ke.models.tasks import Classes
from d2ke.objects.column_names import ColumnNames
from d2ke.objects.container import code_dtype, from_owned

_ORDER = {"series": "the order of rows counts", "sets": "the order of rows does not count"}
_SHOWN = 8  # families on one screen

_HTML = """<div style="max-width: 60rem">
<p style="margin: 0 0 0.5em"><b>{title}</b><br>
{notes}</p>
{shares}
<details><summary>{n_blocks} blocks</summary>
<table><thead><tr><th>block</th><th>features</th><th>distance</th></tr></thead>
<tbody>{blocks}</tbody></table></details>
</div>"""
_SHARES = """<table><caption style="text-align: left">shares of the kernel</caption>
{}</table>"""
# The bar has the text's colour behind it, so that it is seen on light and dark pages.
_SHARE = (
    '<tr><td style="text-align: left">{family}</td><td style="text-align: right">{percent:.0f} %'
    '</td><td style="text-align: left; width: 12rem"><div style="width: {percent:.1f}%; '
    'height: 0.7em; background: #0072B2; outline: 1px solid"></div></td></tr>'
)
_BLOCK = (
    '<tr><td style="text-align: left">{}</td><td>{}</td><td style="text-align: left">{}</td></tr>'
)


def shares(model: Any) -> dict[str, float]:
    """Return the share of each family in the kernel, the largest first."""
    shares = {block.family: block.share for block in model.blocks}
    return dict(sorted(shares.items(), key=lambda item: -item[1]))


def block_rows(model: Any) -> list[tuple[str, int, str]]:
    """Return name, number of features and distance of each block."""
    return [(block.name, block.R, block.describe()) for block in model.blocks]


def title(model: Any) -> str:
    """Return the number of blocks and features, and C."""
    return f"D2KE of {len(model.blocks)} blocks, {model.R} features, C = {model.C:g}"


def objects(model: Any) -> list[str]:
    """Return a line about the objects, if they are of one kind."""
    if model.alphabet is not None:
        unit = "words" if model.letters == "token" else "letters"
        return [f"{model.kind} over {len(model.alphabet)} {unit}"]
    return [f"{model.kind}: {_ORDER[model.kind]}"] if model.kind in _ORDER else []


def notes(model: Any) -> list[str]:
    """Return lines about the training: objects, accuracy, what was read, calibration, time."""
    lines = [model.task.report(model)]
    if isinstance(model.task, Classes) and like_amounts(model.classes):
        lines.append(
            f"each of the whole numbers from {model.classes[0]} to {model.classes[-1]} is a class: "
            "if they are amounts, say task='regression'"
        )
    if model.kind == "strings":
        places = np.empty(0, code_dtype(len(model.alphabet))), np.zeros(2, np.int64)
        empty = from_owned("strings", *places, model.alphabet, model.letters)
        with suppress(ValueError):  # Hamming distances refuse it
            (decisions,) = model.map_features(empty, [model.linear.decide], 1)
            lines.append(f"an empty string gets {model.task.predict(decisions).tolist()[0]!r}")
    if model.near_copies is not None:
        lines.append(model.near_copies.report(model))
    if model.columns:
        lines.append(f"read: {ColumnNames.from_dict(model.columns)}")
    if model.missing:
        lines.append(
            f"missing values: {model.missing['values']} in {model.missing['series']} series, "
            "filled in linearly in time"
        )
    lines.append(str(model.calibration))
    if model.n_added:
        lines.append(
            f"calibration and accuracy are from the first {model.n_train} of "
            f"{model.n_train + model.n_added} objects"
        )
    times = ", ".join(f"{stage} {value:.2f}" for stage, value in model.seconds.items())
    return [*lines, f"seconds: {times}"]


def as_text(model: Any, with_blocks: bool) -> str:
    """Return the report of a model: in full, or without a line for each block."""
    lines = [title(model), *(f"  {line}" for line in objects(model))]
    families = {block.family: block.share for block in model.blocks}
    n_hidden = 0 if with_blocks else max(0, len(families) - _SHOWN)
    if n_hidden:
        families = dict(list(shares(model).items())[:_SHOWN])
    if len(families) > 1 or model.unused_blocks:
        named = ", ".join(f"{100 * share:.0f} % {family}" for family, share in families.items())
        lines.append(f"  shares of the kernel: {named}{f' and {n_hidden} more' * bool(n_hidden)}")
    if with_blocks:
        width = max(28, *(len(block.name) for block in model.blocks))
        lines += [f"  {name:{width}} {R:5} x {distance}" for name, R, distance in block_rows(model)]
        if model.unused_blocks:
            lines.append(f"  without a share: {', '.join(model.unused_blocks)}")
    return "\n".join([*lines, *notes(model)])


def as_html(model: Any) -> str:
    """Return the report of a model as a piece of HTML: shares as bars, blocks folded."""
    bars = [
        _SHARE.format(family=escape(family), percent=100 * share)
        for family, share in shares(model).items()
    ]
    lines = (escape(line.replace("+-", "±")) for line in objects(model) + notes(model))
    rows = (_BLOCK.format(*map(escape, map(str, row))) for row in block_rows(model))
    return _HTML.format(
        title=escape(title(model)), notes="<br>\n".join(lines),
        shares=_SHARES.format("\n".join(bars)) if len(bars) > 1 else "",
        n_blocks=len(model.blocks), blocks="".join(rows),
    )  # fmt: skip
