# SPDX-License-Identifier: BSD-3-Clause
"""What each letter of a string or vector of a set adds to a decision, and pictures of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from d2ke._base.pictures import GREY, SIGNED, matplotlib
from d2ke._base.text import object_text, target_text
from d2ke.models.model import D2KEModel
from d2ke.objects.container import Objects
from d2ke.objects.pictures import draw_letters, letter_cells, letter_texts, on_plane, signed_colours
from d2ke.objects.tokens import encode
from d2ke.objects.typed import CLOCKS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST = 500  # changed objects: of more letters or vectors, as many together as are needed


def part_shares(model: D2KEModel, x: Objects, place: int, sign: float) -> np.ndarray:
    """Return what the decision value loses without each letter or vector of x, shape (n,).

    A letter is replaced by one that the model has never seen, so that the others keep their places.
    """
    n = int(x.lengths[0])
    if not n:
        return np.empty(0)
    width = max(1, -(-n // _MOST))
    starts = np.arange(0, n, width)
    sizes = np.minimum(starts + width, n) - starts
    if len(starts) == 1 and x.kind == "sets":  # nothing is left without them
        return np.full(n, sign * float(_decisions(model, x, place)[0]) / n)
    if x.kind == "sets":
        changed = _without_vectors(x, starts, width)
    else:
        changed = _without_letters(model, x, starts, width)
    before = _decisions(model, x, place)
    after = _decisions(model, model.check_objects(changed, None), place)
    return np.repeat(sign * (before - after) / sizes, sizes)


def _decisions(model: D2KEModel, objects: Any, place: int) -> np.ndarray:
    """Return the decision values of objects, without the part that all have."""
    weights = model.linear.weights[place]
    (values,) = model.of_features(objects, [lambda Z: Z.astype(np.float64) @ weights], None)
    return values


def _without_letters(model: D2KEModel, x: Objects, starts: np.ndarray, width: int) -> Objects:
    """Return x with each run of letters replaced."""
    alphabet = np.union1d(x.alphabet, np.asarray(model.alphabet))
    if x.letters == "token":
        other: Any = encode("\uffff", "x")
    else:
        free = np.setdiff1d(np.arange(256 if x.letters == "bytes" else len(alphabet) + 1), alphabet)
        other = free[0] if len(free) else x.alphabet[0]
    alphabet = np.union1d(x.alphabet, np.array([other]))
    codes = np.searchsorted(alphabet, x.alphabet[x.values])
    rows = np.repeat(codes[None], len(starts), axis=0)
    places = np.arange(len(codes)) // width
    rows[places, np.arange(len(codes))] = np.searchsorted(alphabet, other)
    kind = np.uint32 if len(alphabet) > 65536 else np.uint16 if len(alphabet) > 256 else np.uint8
    offsets = np.arange(len(rows) + 1) * len(codes)
    return Objects("strings", rows.ravel().astype(kind), offsets, alphabet, x.letters)


def _without_vectors(x: Objects, starts: np.ndarray, width: int) -> Objects:
    """Return x without each run of vectors."""
    n = len(x.values)
    left = [np.r_[0:start, start + width : n] for start in starts]
    kept = np.concatenate([places[places < n] for places in left])
    offsets = np.cumsum([0, *map(len, left)])
    weights = None if x.weights is None else x.weights[kept]
    return Objects(x.kind, x.values[kept], offsets, None, None, weights)


def picture_size(explanation: Any) -> tuple[float, float]:
    """Return the inches of the picture of an explanation."""
    if explanation.columns:
        return 6.4, 0.8 + 0.32 * (len(explanation.columns) + 1)
    if explanation.x.kind == "sets":
        return 5.2, 4.0
    lines = letter_cells(letter_texts(explanation.x[0]))[:, 1].max(initial=0) + 1
    return 7.5, 1.0 + 0.24 * float(lines)


def draw(explanation: Any, ax: Axes | None) -> Axes:
    """Draw what letters, vectors or columns add, into the axes or into those of a new figure."""
    pyplot = matplotlib().pyplot
    x = explanation.x
    if ax is None:
        _, ax = pyplot.subplots(figsize=picture_size(explanation), layout="constrained")
    if explanation.columns:
        _draw_columns(ax, explanation)
    elif x.kind == "strings":
        shown = draw_letters(ax, x[0], explanation.parts)
        ax.figure.colorbar(shown, ax=ax, label="adds", pad=0.01)
    else:
        _draw_vectors(ax, explanation)
    ax.set_title(explanation.title, fontsize=10, parse_math=False)
    return ax


def _draw_vectors(ax: Axes, explanation: Any) -> None:
    """Draw a set; vectors of more than two coordinates by their principal components."""
    x, parts = explanation.x, explanation.parts
    shown = signed_colours(parts)
    sizes = np.full(len(parts), 30.0)
    if x.weights is not None:
        sizes = 120 * x.weights / x.weights.max()
    order = np.argsort(np.abs(parts), kind="stable")  # those that add most are on top
    horizontal, vertical = on_plane(x[0])[order].T
    colours = shown.to_rgba(parts[order])
    ax.scatter(horizontal, vertical, sizes[order], colours, edgecolors=GREY, linewidths=0.4)
    ax.figure.colorbar(shown, ax=ax, label="what each point adds", pad=0.01)
    if x.dim == 2:
        ax.set_aspect("equal", adjustable="datalim")
        ax.set(xlabel="x", ylabel="y")
    elif x.dim > 2:
        ax.set(xlabel="first principal component", ylabel="second principal component")


def _entry_text(entry: Any, use: str) -> str:
    """Return an entry of a record, of which dates and times are numbers."""
    if entry is None or use not in CLOCKS:
        return object_text(entry)
    return str(np.datetime64(round(entry), "D" if use == "dates" else "s")).replace("T", " ")


def _draw_columns(ax: Axes, explanation: Any) -> None:
    """Draw a bar for what each column of a record adds, and one for what all records have."""
    record, columns = explanation.x[0], explanation.x.columns
    order = sorted(explanation.columns.items(), key=lambda item: abs(item[1]))
    names = [
        "always",
        *(f"{name}: {_entry_text(record[name], columns[name].use)}" for name, _ in order),
    ]
    values = np.array([explanation.offset, *(share for _, share in order)])
    colours = matplotlib().colormaps[SIGNED](np.where(values > 0, 0.95, 0.05)).tolist()
    ax.barh(range(len(names)), values, color=[GREY, *colours[1:]], height=0.7)
    ax.axvline(0, color=GREY, linewidth=0.8)
    ax.set_yticks(range(len(names)), names, fontsize=9)
    for text in ax.get_yticklabels():
        text.set_parse_math(False)
    for row, value in enumerate(values):
        ax.annotate(
            f"{value:+.2f}", (value, row), (3 if value >= 0 else -3, 0), fontsize=8,
            textcoords="offset points", ha="left" if value >= 0 else "right", va="center",
        )  # fmt: skip
    ax.margins(x=0.15)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_xlabel(f"adds to {target_text(explanation.label)}", parse_math=False)
