# SPDX-License-Identifier: BSD-3-Clause
"""Maps of objects in two dimensions, coloured by cluster or class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from d2ke._base.blas import one_blas_thread
from d2ke._base.text import shortened
from d2ke.plots.style import COLOURS, GREY, MARKERS, MAX_NAMED, foreground, legend, panels, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Colouring(NamedTuple):
    """One colouring of a map.

    Attributes
    ----------
    title : str
        Above the map.
    codes : ndarray of int, shape (n,)
        Each object's group, -1 for none.
    names, colours : sequence
        Of the groups.
    marked : ndarray of bool, shape (n,), optional
        Objects to draw as stars.
    numbers : ndarray of int, optional
        Indices of the groups' colours in the palette, which select their markers.
    """

    title: str
    codes: np.ndarray
    names: Sequence[str]
    colours: Sequence[Any]
    marked: np.ndarray | None = None
    numbers: np.ndarray | None = None


def coordinates(K: np.ndarray | None, features: np.ndarray | None) -> np.ndarray:
    """Return the first two kernel principal components, shape (n, 2).

    Similarities are scaled to 1 on the diagonal, where it is positive, and then centred, which
    removes a part that all objects share.
    """
    if K is None:
        assert features is not None  # there is one of both
        diagonal = np.einsum("ij,ij->i", features, features)
    else:
        diagonal = K.diagonal()
    n = len(diagonal)
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
        if np.abs(product(start)).max() <= n * np.finfo(np.float64).eps:
            return np.zeros((n, 2))  # all objects are equal
        with one_blas_thread():
            values, vectors = eigsh(operator, 2, which="LA", v0=start)
    largest = np.argsort(values)[::-1][:2]
    points = vectors[:, largest] * np.sqrt(np.maximum(values[largest], 0.0))
    # The signs are arbitrary; these are the same on every machine.
    return points * np.where(points[np.abs(points).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)


def draw_maps(heading: str, points: np.ndarray, colourings: Sequence[Colouring]) -> Figure:
    """Draw maps side by side."""
    n_named = max(len(c.names) for c in colourings)
    width = 6.4 if MAX_NAMED >= n_named > 20 else 5.2 if n_named <= 20 else 4.4
    figure, row = panels(len(colourings), len(colourings), (width, 4.2))
    for axes, colouring in zip(row, colourings, strict=True):
        draw_map(axes, points, colouring)
    figure.suptitle(heading)
    return figure


def draw_map(axes: Axes, points: np.ndarray, colouring: Colouring) -> None:
    """Draw objects as points in random order, so that no group hides another.

    Groups are named unless they outnumber the distinct colours and markers.
    """
    heading, codes, names, colours, marked, numbers = colouring
    size = float(np.clip(15000 / len(points), 6, 40))
    order = np.random.default_rng(0).permutation(len(points))
    shades = [*colours, GREY]
    shown: dict[str, Any] = {"s": size, "linewidths": 0}
    x, y = points.T
    named = len(names) <= MAX_NAMED
    numbers = np.arange(len(names)) if numbers is None else numbers
    marker_of = np.append(numbers // len(COLOURS) % len(MARKERS), 0) * named
    for marker in np.unique(marker_of[codes]).tolist():
        rows = order[marker_of[codes[order]] == marker]
        faces, style = [shades[code] for code in codes[rows]], shown | {"marker": MARKERS[marker]}
        axes.scatter(x[rows], y[rows], c=faces, alpha=0.8, zorder=2, **style)
    if named:
        counts = np.bincount(codes % len(shades), minlength=len(shades)).tolist()
        for i, (name, count) in enumerate(zip([*names, "none"], counts, strict=True)):
            if count or name != "none":
                style = shown | {"marker": MARKERS[marker_of[i]]}
                label = f"{shortened(str(name), 24)} ({count})"
                axes.scatter([], [], c=[shades[i]], label=label, **style)
        how: dict[str, Any] = {
            "ncols": 1 + (len(names) > 20),
            "markerscale": float(np.sqrt(36 / size)),
        }
        legend(axes, loc="center left", bbox_to_anchor=(1, 0.5), **how)
    if marked is not None:
        size = float(np.clip(4000 / max(1, marked.sum()), 40, 110))
        faces = [shades[code] for code in codes[marked]]
        stars: dict[str, Any] = {"marker": "*", "edgecolors": foreground(), "linewidths": 0.8}
        axes.scatter(x[marked], y[marked], s=size, c=faces, zorder=3, **stars)
    title(axes, heading)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set(xticks=[], yticks=[], xlabel="first component", ylabel="second component")
