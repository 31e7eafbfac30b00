# SPDX-License-Identifier: BSD-3-Clause
"""Explanations of predictions by blocks, random objects, and the training objects among these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from d2ke._base.checks import integer
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke.explain.discriminative import omega_text
from d2ke.learners.linear_model import winners
from d2ke.models.blocks import FittedFeatures
from d2ke.models.distance_blocks import FittedBlock
from d2ke.models.model import D2KEModel, check_model
from d2ke.models.pieces import PieceScores
from d2ke.models.views import apply_views
from d2ke.models.window_places import find_windows, is_slope, values_at
from d2ke.models.windows import Window, Windows
from d2ke.objects.container import Objects
from d2ke.objects.packing import pack
from d2ke.objects.records import Records

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_OVERLAP = 0.5  # of two windows: steps of both over steps of either


@dataclass(frozen=True, eq=False)
class Explanation:
    """An explanation of the prediction for one object.

    Attributes
    ----------
    label : object
        The predicted label; a number for a regression.
    decision : float
        The decision value for it; for two classes, positive in favour of the label.
    offset : float
        The part of it that is the same for every object.
    blocks : dict of str to float
        What each block adds to the decision; with `offset` they sum to it.
    omegas : tuple of dict
        The random objects that add most, the largest first: ``block``, ``index`` in its omega,
        ``object`` itself, ``distance``, ``share`` (what it adds), ``nearer`` (whether the object is
        nearer to it than the training objects are on average) and ``training_object``, its
        place among the training objects or None. For numbers and categories of records ``object``
        describes the feature, and the distance is NaN. Windows of series have ``place`` too, a
        range: the steps of x at the nearest place (of differences, the steps where they
        begin; None if a view moves steps, or for a window of x itself); ``frequency``, for "rare"
        windows the share of places of x within the threshold, else None; ``slope``, whether it is
        of differences; and ``values``, what it asks for there in the units of x, shape (length,
        n_channels): values or differences, those of a shape at the level and on the scale that x
        has there.
    training_objects : tuple of (int, float)
        The training objects among the random ones that add most, and what they add in all blocks.
    windows : tuple of dict
        As `omegas`: the windows that add most by being in x, at places that hardly overlap.
    steps : ndarray of shape (n_steps, n_channels), or None
        Of a series in a model of windows: the shares of the windows to which x is nearer than the
        training objects are on average, by the steps of x where they are found. The sum is what
        these windows add.
    series : ndarray of shape (n_steps, n_channels), or None
        The series itself.
    """

    label: Any
    decision: float
    offset: float
    blocks: dict[str, float]
    omegas: tuple[dict[str, Any], ...]
    training_objects: tuple[tuple[int, float], ...]
    windows: tuple[dict[str, Any], ...] = ()
    steps: np.ndarray | None = None
    series: np.ndarray | None = None

    def __str__(self) -> str:
        lines = [f"{self.label}: {self.decision:+.3f}, of which {self.offset:+.3f} always"]
        lines += [f"  {value:+.3f} {name}" for name, value in self.blocks.items()]
        lines.append("random objects that add most:")
        for entry in self.omegas:
            names = ("object", "block", "index", "training_object")
            text = omega_text(*(entry[name] for name in names))
            where = f"at distance {entry['distance']:.4g}"
            if np.isnan(entry["distance"]):
                where = "not a distance"
            if entry.get("frequency") is not None:
                where = f"at {100 * entry['frequency']:.0f} % of the places"
            elif entry.get("place") is not None:
                where += f" from steps {entry['place'][0]} to {entry['place'][-1]}"
            lines.append(f"  {entry['share']:+.4f} {text}, {where}")
        return "\n".join(lines)

    def plot(self, *, limit: int = 4, channel: int | None = None, ax: Axes | None = None) -> Axes:
        """Draw a series, coloured by `steps`, and the strongest of `windows` at their places.

        Each window is drawn at the level and on the scale that x has there; windows of
        differences are drawn by the slopes that they ask for.

        Parameters
        ----------
        limit : int, default 4
            How many windows are drawn at most.
        channel : int, optional
            The channel of the series; by default that where the windows add most.
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default in a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            The legend gives the share of each window in the decision for the label.

        Raises
        ------
        ImportError
            Without matplotlib, saying how to install it.
        ValueError
            If the model has no windows: of strings, of sets, or of whole series alone.

        Examples
        --------
        >>> import numpy as np, d2ke
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(30, 60))
        >>> X[::2, 20:30] += 3 * np.sin(np.arange(10))
        >>> model = d2ke.d2ke_train(["wave", "noise"] * 15, X, R=600)
        >>> axes = d2ke.d2ke_explain(X[0], model).plot()  # doctest: +SKIP
        >>> axes.figure.savefig("windows.png")  # doctest: +SKIP
        """
        from d2ke.explain.window_pictures import draw

        return draw(self, integer("limit", limit, 1), channel, ax)


def d2ke_explain(
    x: Any, model: D2KEModel, *, limit: int = 10, training_object: int | None = None
) -> Explanation:
    """Return the blocks, random objects and training objects that support a prediction most.

    The decision value is a sum over features of weight times standardised feature. So each random
    object contributes a share, and each block the sum of its shares. Windows have places in a
    series, so each step has a share too: see docs/windows.md and `Explanation.plot`.

    Parameters
    ----------
    x : one object
        Such as ``X[i]``: a string, a series or a set; or Objects that hold one; for records a dict.
    model : D2KEModel
        What `d2ke_train` or `load_model` returned.
    limit : int, default 10
        How many random objects, windows, and training objects, are named.
    training_object : int, optional
        The index of x among the training objects, if it is one of them. Random objects that were
        taken from x are then treated as in training: at the distance of the nearest other object.

    Returns
    -------
    Explanation
        ``print(explanation)`` shows it.

    Raises
    ------
    TypeError, ValueError
        As `d2ke_predict`; Objects of more than one object.

    Examples
    --------
    >>> import d2ke
    >>> model = d2ke.d2ke_train(["x", "y"] * 9, ["aab", "bba"] * 9, R=32)
    >>> why = d2ke.d2ke_explain("aaab", model)
    >>> print(why.label)
    x
    >>> abs(why.offset + sum(why.blocks.values()) - why.decision) < 1e-9
    True
    """
    check_model(model, "d2ke_explain")
    integer("limit", limit, 1)
    if not model.inputs and _is_list_of_objects(x, model):
        raise ArgumentError(
            "x", f"must be one object, got {type(x).__name__} of {len(x)}; take X[i]"
        )
    if model.inputs:
        objects = x if isinstance(x, Records) else _record(x)
    elif isinstance(x, Objects):
        objects = x
    elif model.kind == "any":
        objects = [x]
    else:
        vectors = model.kind != "strings"
        # Integers are letters if they were letters in training.
        kind = "strings" if model.letters == "int" and not isinstance(x, (str, bytes)) else None
        first = False if vectors else None
        objects = pack([x], kind=kind, channels_first=first, name="x")
    objects = model.check_objects(objects, "allow")
    if len(objects) != 1:
        raise ArgumentError("x", f"must be one record, got {len(objects)}; take X[i]")
    seen = [_seen(block, objects) for block in model.blocks]
    distances = [
        np.full(len(block.omega), np.nan)
        if one is None
        else block.distances(apply_views(block.views, one), 1)[0]
        for block, one in zip(model.blocks, seen, strict=True)
    ]
    if training_object is None:
        row = model.features(objects, 1)[0].astype(np.float64)
    else:
        integer("training_object", training_object, 0, model.n_train - 1)
        for block, D in zip(model.blocks, distances, strict=True):
            if block.sources is not None and block.hidden is not None:
                hidden = np.flatnonzero(block.sources == training_object)
                with np.errstate(divide="ignore"):
                    D[hidden] = (
                        -np.log(block.hidden[hidden] * np.sqrt(block.R)) / block.gamma[hidden]
                    )
        rows = np.array([training_object])
        row = model.features(objects, 1, rows)[0].astype(np.float64)
    linear = model.linear
    decision = linear.weights @ row + linear.bias
    regression = linear.classes is None
    place = 0 if regression else int(winners(decision[None])[0])
    single = len(linear.weights) == 1
    sign = -1.0 if single and not regression and place == 0 else 1.0
    weights = linear.weights[0 if single else place]
    terms = sign * weights * row
    by_block: dict[str, float] = {}
    of_omegas, near, first = [], [], 0
    for block in model.blocks:
        columns = slice(first, first + block.R)
        by_block[block.name] = by_block.get(block.name, 0.0) + float(terms[columns].sum())
        if isinstance(block, PieceScores):
            # A score is a sum over the pieces that occur, and each of them has a share of it.
            occurs = block.occurrences(objects).toarray()[0]
            weight = sign * weights[columns] / model.scaling.sd[columns]
            of_omegas.append(occurs * (block.weights @ weight))
            near.append(occurs)
        else:
            of_omegas.append(terms[columns])
            near.append(row[columns])
        first += block.R
    terms, row = np.concatenate(of_omegas), np.concatenate(near)
    edges = np.cumsum([0, *(len(block.omega) for block in model.blocks)])
    own = np.zeros(len(terms), bool)  # random objects that were taken from x
    if training_object is not None:
        own = np.concatenate([_own(block, training_object) for block in model.blocks])
    present = ~own & (row > 0)
    found = [
        None if one is None else find_windows(block, one, np.where(present[a:b], terms[a:b], 0.0))
        for block, one, a, b in zip(model.blocks, seen, edges[:-1], edges[1:], strict=True)
    ]

    def described(j: int) -> dict[str, Any]:
        number = int(np.searchsorted(edges, j, side="right")) - 1
        block, index = model.blocks[number], j - int(edges[number])
        source = -1 if block.sources is None else int(block.sources[index])
        item, distance, places = block.omega[index], distances[number][index], found[number]
        if isinstance(block, PieceScores) and row[j]:
            distance = 0.0
        result = {
            "block": block.name, "index": index, "object": item, "distance": float(distance),
            "share": float(terms[j]), "nearer": bool(row[j] > 0),
            "training_object": source if source >= 0 else None,
        }  # fmt: skip
        if isinstance(item, Window):
            place = None if places is None or own[j] else places[0][index]
            result["place"], result["slope"] = place, is_slope(block)
            result["values"] = (
                None if place is None else values_at(block, item, place, seen[number][0])
            )
            result["frequency"] = float(1 - distance) if item.kind == "rare" else None
        return result

    order = np.argsort(-terms, kind="stable")
    omegas = [described(j) for j in order[:limit].tolist()]
    sums = np.zeros(model.n_train)
    for block, a, b in zip(model.blocks, edges[:-1], edges[1:], strict=True):
        if block.sources is not None:
            cut = block.sources >= 0
            np.add.at(sums, block.sources[cut], terms[a:b][cut])
    first = [i for i in np.argsort(-sums, kind="stable")[:limit].tolist() if sums[i] > 0]
    windows: list[dict[str, Any]] = []
    located = np.repeat([places is not None for places in found], np.diff(edges))
    for j in order[(located & present & (terms > 0))[order]].tolist():
        if len(windows) == limit:
            break
        one = described(j)
        if one["frequency"] != 0 and all(_overlap(one, other) < _OVERLAP for other in windows):
            windows.append(one)
    located_in = [i for i, places in enumerate(found) if places is not None]
    steps = [found[i][1] for i in located_in]
    if len({model.blocks[i].column for i in located_in}) > 1:
        steps = []  # of several series
    series = None
    if model.channels or (model.inputs and steps):
        series = np.array(seen[located_in[0] if steps else 0][0])
    value = float(decision[0 if single else place])
    offset = float(linear.bias[0 if single else place])
    return Explanation(
        value if regression else linear.classes[place],
        sign * value, sign * offset, by_block, tuple(omegas),
        tuple((i, float(sums[i])) for i in first), tuple(windows),
        np.sum(steps, axis=0) if steps else None,
        series,
    )  # fmt: skip


def _record(x: Any) -> Any:
    """Return a row of records, such as ``records[i]``, as columns of one entry."""
    if not isinstance(x, Mapping):
        raise ArgumentTypeError(
            "x", f"must be a record, a dict of its entries, got {type(x).__name__}"
        )
    return {name: [entry] for name, entry in x.items()}


def _seen(block: Any, objects: Any) -> Any:
    """Return the one object that a block sees; None for no entry, and for numbers and the like."""
    if not isinstance(block, FittedBlock):
        return None
    if not block.column:
        return objects
    column = objects[block.column]
    return None if column.missing[0] else column.values


def _is_list_of_objects(x: Any, model: D2KEModel) -> bool:
    """Return whether x can only be several objects, or a list of one."""
    if isinstance(x, Objects):
        return len(x) != 1
    if model.kind == "any" or not isinstance(x, (list, tuple, np.ndarray)) or not len(x):
        return False
    if model.kind == "strings":
        is_letters = model.letters in ("str", "bytes")
        return isinstance(x[0], (str, bytes) if is_letters else (list, np.ndarray))
    try:
        n_axes = np.ndim(x[0])
    except ValueError:  # series of different lengths
        return True
    # Vectors of the model's channels are one object, and those of a series of one channel numbers.
    return n_axes == 2 or (n_axes == 1 and model.channels == 1 and len(x[0]) > 1)


def _own(block: FittedFeatures, training_object: int) -> np.ndarray:
    """Return which random objects of a block were taken from a training object."""
    if block.sources is None:
        return np.zeros(len(block.omega), bool)
    is_itself = block.sources == training_object
    if isinstance(block.omega, Windows):  # "rare" windows have no source, but are the same ones
        is_itself = is_itself.reshape(len(block.omega.kinds), -1)
        is_itself = np.repeat(is_itself.any(axis=0)[None], len(is_itself), axis=0).ravel()
    return is_itself


def _overlap(one: dict[str, Any], other: dict[str, Any]) -> float:
    """Return the steps of both windows over those of either, as if without gaps."""
    a, b = one["place"], other["place"]
    both = min(a[-1], b[-1]) - max(a[0], b[0]) + 1
    apart = not set(one["object"].channels) & set(other["object"].channels)
    return 0.0 if apart else max(0, both) / (max(a[-1], b[-1]) - min(a[0], b[0]) + 1)
