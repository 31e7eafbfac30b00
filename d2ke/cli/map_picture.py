# SPDX-License-Identifier: BSD-3-Clause
"""A map of objects in two dimensions, by kernel PCA, coloured by cluster or class."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse.linalg import LinearOperator, eigsh

from d2ke._base.blas import one_blas_thread
from d2ke._base.files import write_file
from d2ke.cli.matrix_files import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SUFFIXES = (".png", ".pdf", ".svg")
# Okabe and Ito's colours and more, distinct with any kind of colour blindness.
_COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#999933",
    "#332288", "#000000", "#44AA99", "#DDCC77",
)  # fmt: skip
_GREY = "#BBBBBB"


@dataclass(frozen=True, eq=False)
class Panel:
    """One colouring of the map.

    Attributes
    ----------
    title : str
        Above the panel.
    codes : ndarray of int, shape (n,)
        Each object's group, -1 for none.
    names : sequence of str
        Of the groups.
    colours : ndarray of int, optional
        The number of each group's colour; by default its own number.
    marked : ndarray of bool, shape (n,), optional
        Objects to draw as stars.
    ordered : bool
        Whether the groups have an order, which the colours show.
    """

    title: str
    codes: np.ndarray
    names: Sequence[str]
    colours: np.ndarray | None = None
    marked: np.ndarray | None = None
    ordered: bool = False


def check_picture_file(file: Path) -> None:
    """Refuse an unknown format, and a machine without matplotlib, before the work."""
    if file.suffix not in _SUFFIXES:
        raise InputError(f"picture must end in {', '.join(_SUFFIXES)}, got {str(file)!r}")
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise ImportError(
            'the picture is drawn with matplotlib: pip install "d2ke[demo]"'
        ) from None


def coordinates(K: np.ndarray | None, features: np.ndarray | None) -> np.ndarray:
    """Return the first two kernel principal components, shape (n, 2).

    Similarities are scaled to 1 on the diagonal, where it is positive, and then centred, which
    removes a part that all objects share.
    """
    n = len(features if K is None else K)
    diagonal = np.einsum("ij,ij->i", features, features) if K is None else K.diagonal()
    scale = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))

    def product(V: np.ndarray) -> np.ndarray:
        V = V.reshape(n, -1)
        V = scale[:, None] * (V - V.mean(axis=0))
        V = K @ V if features is None else features @ (features.T @ V)
        V = scale[:, None] * V
        return V - V.mean(axis=0)

    if n <= 3:  # too few for an iteration
        values, vectors = np.linalg.eigh(product(np.eye(n)))
    else:
        operator = LinearOperator((n, n), product, dtype=np.float64)
        start = np.random.default_rng(0).normal(size=n)
        with one_blas_thread():
            values, vectors = eigsh(operator, 2, which="LA", v0=start)
    largest = np.argsort(values)[::-1][:2]
    places = vectors[:, largest] * np.sqrt(np.maximum(values[largest], 0.0))
    # The signs are arbitrary; these are the same on every machine.
    return places * np.where(places[np.abs(places).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)


def matched(labels: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Match clusters to classes for the best agreement; other clusters get further numbers."""
    n_clusters, n_classes = labels.max() + 1, codes.max() + 1
    counts = np.zeros((n_clusters, n_classes), np.int64)
    np.add.at(counts, (labels, codes), 1)
    rows, columns = linear_sum_assignment(counts, maximize=True)
    colours = np.full(n_clusters, -1)
    colours[rows] = columns
    left = colours < 0
    colours[left] = n_classes + np.arange(left.sum())
    return colours


def draw(file: Path, title: str, places: np.ndarray, panels: Sequence[Panel]) -> None:
    """Draw the panels side by side; write the picture whole or not at all."""
    write_file(file, picture(title, places, panels, file.suffix[1:]))


def picture(title: str, places: np.ndarray, panels: Sequence[Panel], form: str = "png") -> bytes:
    """Draw the panels side by side, and return the picture."""
    from matplotlib.figure import Figure

    legend = max(len(panel.names) for panel in panels) <= len(_COLOURS)
    width = 5.2 if legend else 4.4
    figure = Figure(figsize=(width * len(panels), 4.2), layout="constrained")
    size = float(np.clip(15000 / len(places), 6, 40))
    n_colours = max(1 + _places(panel).max(initial=0) for panel in panels)
    for axes, panel in zip(np.atleast_1d(figure.subplots(1, len(panels))), panels, strict=True):
        colours = [_colour(place, n_colours, panel.ordered) for place in _places(panel)]
        _scatter(axes, places, panel, colours, size)
        axes.set_title(panel.title, fontsize=10)
        axes.set_aspect("equal", adjustable="datalim")
        axes.set(xticks=[], yticks=[], xlabel="first component", ylabel="second component")
        if legend:
            axes.legend(
                fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False,
                markerscale=float(np.sqrt(36 / size)),
            )  # fmt: skip
    figure.suptitle(title)
    content = io.BytesIO()
    figure.savefig(content, format=form, dpi=150)
    return content.getvalue()


def _places(panel: Panel) -> np.ndarray:
    return np.arange(len(panel.names)) if panel.colours is None else panel.colours


def _colour(place: int, n_colours: int, ordered: bool) -> Any:
    if n_colours <= len(_COLOURS) and not ordered:
        return _COLOURS[place]
    from matplotlib import colormaps

    return colormaps["viridis" if ordered else "turbo"](place / max(1, n_colours - 1))


def _scatter(
    axes: Axes, places: np.ndarray, panel: Panel, colours: Sequence[Any], size: float
) -> None:
    """Draw the objects in random order, so that no group hides another."""
    order = np.random.default_rng(0).permutation(len(places))
    shown = np.array([*colours, _GREY], dtype=object)[panel.codes[order]]
    axes.scatter(*places[order].T, s=size, c=list(shown), linewidths=0, alpha=0.8, zorder=2)
    for code, (name, colour) in enumerate(zip(panel.names, colours, strict=True)):
        count = int((panel.codes == code).sum())
        axes.scatter([], [], s=size, c=[colour], linewidths=0, label=f"{name} ({count})")
    if (panel.codes < 0).any():
        count = int((panel.codes < 0).sum())
        axes.scatter([], [], s=size, c=_GREY, linewidths=0, label=f"none ({count})")
    if panel.marked is not None:
        stars = np.flatnonzero(panel.marked)
        axes.scatter(
            *places[stars].T,
            s=float(np.clip(4000 / max(1, len(stars)), 40, 110)),
            marker="*",
            c=[colours[code] for code in panel.codes[stars]],
            edgecolors="black",
            linewidths=0.8,
            zorder=3,
        )
