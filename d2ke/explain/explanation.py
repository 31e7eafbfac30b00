# SPDX-License-Identifier: BSD-3-Clause
"""Explanations of predictions by blocks, random objects, and the training objects among these."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from d2ke._base.checks import integer
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.keywords import hinted
from d2ke._base.results import first_lines
from d2ke._base.text import distance_text, is_value
from d2ke.explain.discriminative import omega_text
from d2ke.explain.kmers import piece_shares
from d2ke.explain.letters import letter_shares
from d2ke.explain.parts import part_shares
from d2ke.explain.shapelets import find_shapelets, is_slope, values_at
from d2ke.models.blocks import FittedFeatures, column_slices
from d2ke.models.distance_blocks import FittedBlock
from d2ke.models.kmers import FittedKmers, KmerScores
from d2ke.models.model import D2KEModel, check_model
from d2ke.models.shapelets import Shapelet, Shapelets
from d2ke.models.views import apply_views
from d2ke.objects.container import Objects
from d2ke.objects.kinds import KINDS
from d2ke.objects.packing import pack
from d2ke.objects.records import Records

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Explanation:
    """An explanation of the prediction for one object.

    Attributes
    ----------
    label : object
        The predicted label; a number for a regression.
    decision : float
        The decision value for the label; for two classes, positive in favour of it.
    offset : float
        The offset of the decision value, the same for every object.
    blocks : dict of str to float
        The share of each block in the decision; with `offset` they sum to it.
    omegas : tuple of dict
        The random objects that add most, the largest first: ``block``, ``index`` in its omega,
        ``object`` itself, ``distance``, ``share`` in the decision, ``nearer`` (whether x is nearer
        to it than the training objects are on average) and ``training_object``, its index among
        the training objects or None. For numbers and categories of records ``object`` describes
        the feature, and the distance is NaN. Windows of series also have ``place``, a range: the
        steps of x at the nearest position (for differences, the first step of each; None if a view
        moves steps, or for a window of x itself); ``frequency``, for "rare" windows the fraction of
        positions of x within the threshold, for "longest" windows the fraction in the longest run
        of such positions, else None; ``slope``, whether it is of differences; and ``values``, its
        values or differences in the units of x, shape (length, n_channels); a shape has the level
        and scale of x at ``place``.
    training_objects : tuple of (int, float)
        The training objects among the random objects that add most, and their shares in all blocks.
    windows : tuple of dict
        As `omegas`: the windows in x that add most, at positions that hardly overlap.
    steps : ndarray of shape (n_steps, n_channels), or None
        For a series in a model of windows: the shares of the windows to which x is nearer than the
        training objects are on average, divided among the steps of x at their positions.
    series : ndarray of shape (n_steps, n_channels), or None
        The series itself.
    letters : tuple of dict
        For ``distance="bag"``, the letters of x, such as words or codes of a graph: ``letter``,
        ``share``, from random objects that have the letter, the largest first, and ``places``, the
        indices of the letter in x. See also `codes`.
    pieces : tuple of dict
        For strings in a model of pieces: ``piece``, text with a dot for each letter that does not
        count and ^ and $ for the ends; ``share``, the largest first; and ``places``, the indices
        in x where it begins, on either strand. Models of many strings have scores of pieces
        instead, which are among `omegas`.
    columns : dict of str to float
        The share of each column of a record in the decision; with `offset` they sum to it.
    x : Objects, Records or list
        A packed collection of the object alone.
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
    letters: tuple[dict[str, Any], ...] = ()
    pieces: tuple[dict[str, Any], ...] = ()
    columns: dict[str, float] = field(default_factory=dict)
    x: Any = field(default=None, repr=False)
    _shares: Callable[[], np.ndarray] | None = field(default=None, repr=False)
    _seen: dict[str, tuple[FittedBlock, np.ndarray]] = field(default_factory=dict, repr=False)

    @cached_property
    def parts(self) -> np.ndarray | None:
        """The share of each letter of a string, or vector of a set, in the decision, shape (n,).

        It is the loss of the decision if a letter of no training string replaces the letter, or
        without the vector, for x as a new object. Redundant letters or vectors have small shares.
        The first use computes it, by a prediction for each letter or vector, or for up to 500 runs.
        None for series, records and other objects.
        """
        return None if self._shares is None else self._shares()

    @property
    def title(self) -> str:
        """The label and its decision value, as short text."""
        if is_value(self.label):
            return f"predicted {self.label:.4g}"
        return f"{self.label}: decision {self.decision:+.2f}"

    def codes(self, rounds: int = 3) -> tuple[dict[str, Any], ...]:
        """Return the codes of a graph with the nodes where they are.

        Parameters
        ----------
        rounds : int, default 3
            As for `graph_codes`.

        Returns
        -------
        tuple of dict
            ``share``, from random graphs that have the code, the largest first; ``round``; and
            ``nodes``, an array of the nodes with the code, which encodes their neighbourhood up to
            `round` steps.

        Raises
        ------
        ValueError
            If the object is not a graph by codes of this number of rounds.

        Examples
        --------
        >>> import d2ke
        >>> graphs = [([(0, 1), (1, 2), (2, 0)], 3), ([(0, 1), (1, 2), (2, 3)], 4)] * 6
        >>> codes = d2ke.graph_codes(graphs)
        >>> model = d2ke.d2ke_train(["ring", "path"] * 6, codes, distance="bag")
        >>> code = d2ke.d2ke_explain(codes[1], model).codes()[0]
        >>> code["round"], code["nodes"].tolist()
        (1, [0, 3])
        """
        integer("rounds", rounds, 0)
        n_nodes, rest = divmod(sum(len(letter["places"]) for letter in self.letters), rounds + 1)
        if not n_nodes or rest:
            raise ArgumentError("rounds", f"is {rounds}, but x has no codes of so many rounds")
        return tuple(
            {
                "share": letter["share"],
                "round": int(letter["places"][0] // n_nodes),
                "nodes": letter["places"] % n_nodes,
            }
            for letter in self.letters
        )

    def __str__(self) -> str:
        head = self.title if is_value(self.label) else f"{self.label}: {self.decision:+.3f}"
        lines = [f"{head} (offset {self.offset:+.3f})"]
        lines += first_lines([f"  {v:+.3f} {name}" for name, v in self.blocks.items()], 8)
        omegas = []
        for entry in self.omegas:
            names = ("object", "block", "index", "training_object")
            text = omega_text(*(entry[name] for name in names))
            where = distance_text(entry["distance"])
            where = where and f", at distance {where}"
            if entry.get("frequency") is not None:
                where = ", in a run of" if entry["object"].kind == "longest" else ", at"
                where += f" {100 * entry['frequency']:.0f} % of the places"
            elif entry.get("place") is not None:
                where += f" from step {entry['place'][0]} to {entry['place'][-1]}"
            omegas.append(f"  {entry['share']:+.4f} {text}{where}")
        lines += ["random objects that add most:", *first_lines(omegas, 10)]
        lines += ["letters that add most:"] * bool(self.letters)
        n_printed = 5
        for entry in self.letters[:n_printed]:
            lines.append(
                f"  {entry['share']:+.4f} {entry['letter']!r}, {len(entry['places'])} times"
            )
        lines += ["pieces that add most:"] * bool(self.pieces)
        for entry in self.pieces[:n_printed]:
            starts = entry["places"].tolist()
            where = f"at {', '.join(map(str, starts[:n_printed]))}"
            if len(starts) > n_printed:
                where = f"{len(starts)} times, {where}, ..."
            lines.append(f"  {entry['share']:+.4f} {entry['piece']!r} {where}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)

    def plot(self, *, limit: int = 4, channel: int | None = None, ax: Axes | None = None) -> Axes:
        """Draw the object, coloured by the shares of its parts in the decision.

        Letters of a string and points of a set are coloured by `parts`: red adds, blue takes away.
        Points of more than two coordinates are drawn by their principal components. A record has a
        bar for each of its `columns`. A series is coloured by `steps`, with the strongest of
        `windows` at their positions: shapes at the level and scale of x, and windows of differences
        by their slopes. A track whose channels are called longitude and latitude (or lon and lat)
        is drawn as on a map. Without windows a series is drawn after the views of the blocks that
        add most, below the strongest of their random series; an elastic distance warps these to
        the steps of x.

        Parameters
        ----------
        limit : int, default 4
            Largest number of windows, or random series.
        channel : int, optional
            The channel of the series; by default the channel where the windows add most, or 0
            without windows. For a record, it draws the series instead of the bars.
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default in a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            The legend gives the share of each window, or random series, in the decision.

        Raises
        ------
        ImportError
            Without matplotlib, saying how to install it.
        ValueError
            For objects of your own distance that are neither series nor sets nor strings.

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
        from d2ke.plots.explanation import draw_explanation

        return draw_explanation(self, limit, channel, ax)


@hinted
def d2ke_explain(
    x: Any, model: D2KEModel, *, limit: int = 10, training_object: int | None = None
) -> Explanation:
    """Return the blocks, random objects and training objects that support a prediction most.

    The decision value is a sum over features of weight times standardised feature. So each random
    object contributes a share, and each block the sum of its shares. Windows have positions in a
    series, so each step has a share too: see docs/windows.md and `Explanation.plot`.

    Parameters
    ----------
    x : one object
        Such as ``X[i]``: a string, a series or a set; or Objects that hold one; for records a dict.
    model : D2KEModel
        What `d2ke_train` or `load_model` returned.
    limit : int, default 10
        Largest number of random objects, of windows, and of training objects.
    training_object : int, optional
        The index of x among the training objects, if x was trained on. Random objects that were
        taken from x are then treated as in training: at the distance of the nearest other object,
        or nearer, see docs/models.md.

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
    objects = _one_object(x, model)
    rows = None
    if training_object is not None:
        rows = np.array([integer("training_object", training_object, 0, model.n_train - 1)])
    row = model.features(objects, 1, rows)[0].astype(np.float64)
    bias = model.linear.bias
    assert bias is not None  # every D2KEModel has an offset
    decision = model.linear.weights @ row + bias
    label, index, sign = model.task.focus(decision)
    weights = sign * model.linear.weights[index]
    by_block: dict[str, float] = {}
    by_column = dict.fromkeys(model.inputs, 0.0)
    views = []
    for block, columns in column_slices(model.blocks):
        views.append(_view(model, block, columns, weights, row, objects, training_object))
        share = float((weights[columns] * row[columns]).sum())
        by_block[block.name] = by_block.get(block.name, 0.0) + share
        if block.column:
            by_column[block.column] += share
    owners = np.repeat(np.arange(len(views)), [len(view.shares) for view in views])
    numbers = np.concatenate([np.arange(len(view.shares)) for view in views])
    shares = np.concatenate([view.shares for view in views])
    order = np.argsort(-shares, kind="stable")
    steps, series = _steps(model, views)
    has_parts = getattr(objects, "base", "") in ("strings", "sets")
    return Explanation(
        label, sign * float(decision[index]), sign * float(bias[index]), by_block,
        tuple(views[owners[j]].entry(int(numbers[j])) for j in order[:limit]),
        _training_objects(model, views, limit), _windows(views, owners, numbers, order, limit),
        steps, series, next((view.letters for view in views if view.letters), ()),
        _pieces(views, limit),
        by_column, objects,
        partial(part_shares, model, objects, index, sign) if has_parts else None,
        _seen_series(views),
    )  # fmt: skip


def _one_object(x: Any, model: D2KEModel) -> Any:
    """Return x as a packed collection of one object, checked."""
    if not model.inputs and _is_list_of_objects(x, model):
        raise ArgumentError(
            "x",
            f"must be one object, got {type(x).__name__} of {len(x)}; take "
            f"{'X[i : i + 1]' if isinstance(x, Objects) and KINDS[x.kind].read else 'X[i]'}",
        )
    objects: Any = x
    if model.inputs:
        objects = x if isinstance(x, Records) else _record(x, model)
    elif model.kind == "any" and not isinstance(x, Objects):
        objects = [x]
    elif not isinstance(x, Objects):
        # Integers are letters if they were letters in training.
        kind = "strings" if model.letters == "int" and not isinstance(x, (str, bytes)) else None
        kind = model.kind if KINDS[model.kind].read is not None else kind
        first = None if model.alphabet is not None else False
        gaps = bool(model.missing)
        objects = pack([x], kind=kind, channels_first=first, missing=gaps, name="x")
    objects = model.check_objects(objects, "allow")
    if len(objects) != 1:
        raise ArgumentError("x", f"must be one record, got {len(objects)}; take X[i]")
    return objects


@dataclass(frozen=True, eq=False)
class _View:
    """Shares of the random objects of a block in the decision for x.

    Attributes
    ----------
    block : fitted block
        The block.
    x : Objects or None
        The block's object: x or its entry in a column; None for a missing entry, and for blocks
        without distances and landmarks.
    distances : ndarray, shape (n,)
        Distances of x to the random objects; NaN for features without distances.
    shares, values : ndarray, shape (n,)
        Shares in the decision value, and scaled features.
    is_itself : ndarray of bool, shape (n,)
        Random objects that were taken from x.
    positions : list of range, or None
        Steps of x at the nearest position of each window.
    steps : ndarray of shape (n_steps, n_channels), or None
        The shares of windows in x, divided among these steps.
    letters : tuple of dict
        As in an `Explanation`.
    landmark_weights : ndarray or None
        Weights of the kernel of x with the landmarks, in the decision.
    """

    block: FittedFeatures
    x: Any
    distances: np.ndarray
    shares: np.ndarray
    values: np.ndarray
    is_itself: np.ndarray
    positions: list[range] | None
    steps: np.ndarray | None
    letters: tuple[dict[str, Any], ...] = ()
    landmark_weights: np.ndarray | None = None

    @property
    def in_x(self) -> np.ndarray:
        """Whether x is nearer to each random object than usual, and is not its source."""
        return ~self.is_itself & (self.values > 0)

    def entry(self, index: int) -> dict[str, Any]:
        """Return the entry of a random object in an `Explanation`."""
        block, item, distance = self.block, self.block.omega[index], float(self.distances[index])
        source = -1 if block.sources is None else int(block.sources[index])
        result = {
            "block": block.name, "index": index, "object": item, "distance": distance,
            "share": float(self.shares[index]), "nearer": bool(self.values[index] > 0),
            "training_object": source if source >= 0 else None,
        }  # fmt: skip
        if isinstance(item, Shapelet) and isinstance(block, FittedBlock):
            steps = None
            if self.positions is not None and not self.is_itself[index]:
                steps = self.positions[index]
            values = None if steps is None else values_at(block, item, steps, self.x[0])
            by_kind = {"rare": 1 - distance, "longest": (1 - distance) ** 2}
            result |= {"place": steps, "slope": is_slope(block), "values": values}
            result["frequency"] = by_kind.get(item.kind)
        return result


def _view(
    model: D2KEModel,
    block: FittedFeatures,
    columns: slice,
    weights: np.ndarray,
    row: np.ndarray,
    objects: Any,
    training_object: int | None,
) -> _View:
    """Return the shares of the random objects of a block, or of its single pieces."""
    shares, values = weights[columns] * row[columns], row[columns]
    is_itself, n = np.zeros(len(block.omega), bool), len(block.omega)
    scale = model.scaling.divisor[columns]
    if isinstance(block, KmerScores):
        # A score is a sum over the pieces that occur, so each piece has a share.
        values = block.kmer_features(objects).toarray()[0]
        shares = values * (block.weights @ (weights[columns] / scale))
        distances = np.where(values > 0, 0.0, np.nan)
        return _View(block, None, distances, shares, values, is_itself, None, None)
    x = _block_object(block, objects)
    if isinstance(block, FittedKmers):
        # Features are sums over landmarks, so each landmark has a share.
        values = block.landmark_kernel(row[columns] * scale)
        landmark_weights = block.landmark_weights(weights[columns] / scale)
        if training_object is not None:
            is_itself = block.sources == training_object
        none, shares = np.full(n, np.nan), landmark_weights * values
        return _View(block, x, none, shares, values, is_itself, None, None, (), landmark_weights)
    if not isinstance(block, FittedBlock) or x is None:
        return _View(block, None, np.full(n, np.nan), shares, values, is_itself, None, None)
    distances = block.distances(apply_views(block.views, x), 1)[0]
    if training_object is not None and block.sources is not None:
        is_itself = _sources_are(block.omega, block.sources, training_object)
        if block.own is not None:
            replaced = np.flatnonzero(block.sources == training_object)
            with np.errstate(divide="ignore"):
                logarithms = np.log(block.own[replaced] * np.sqrt(block.R))
            distances[replaced] = -logarithms / block.gamma[replaced]
    located = find_shapelets(block, x, np.where(~is_itself & (values > 0), shares, 0.0))
    positions, steps = (None, None) if located is None else located
    letters: tuple[dict[str, Any], ...] = ()
    if block.distance == "bag":
        farthest = np.zeros((1, len(model.scaling.mean)))  # without a common letter
        farthest[0, columns] = np.exp(-2 * block.gamma) / np.sqrt(block.R)
        gains = weights[columns] * (values - model.scaling.apply(farthest)[0, columns])
        letters = letter_shares(block, x, gains)
    return _View(block, x, distances, shares, values, is_itself, positions, steps, letters)


def _training_objects(
    model: D2KEModel, views: Sequence[_View], limit: int
) -> tuple[tuple[int, float], ...]:
    """Return the training objects that add most by the random objects taken from them."""
    sums = np.zeros(model.n_train)
    for view in views:
        if view.block.sources is not None:
            taken = view.block.sources >= 0
            np.add.at(sums, view.block.sources[taken], view.shares[taken])
    largest = np.argsort(-sums, kind="stable")[:limit].tolist()
    return tuple((i, float(sums[i])) for i in largest if sums[i] > 0)


def _pieces(views: Sequence[_View], limit: int) -> tuple[dict[str, Any], ...]:
    """Return the pieces of a string that add most; of records, of the first column with pieces."""
    for view in views:
        weights = view.landmark_weights
        if isinstance(view.block, FittedKmers) and view.x is not None and weights is not None:
            return piece_shares(view.block, view.x, weights, limit)
    return ()


def _windows(
    views: Sequence[_View], owners: np.ndarray, numbers: np.ndarray, order: np.ndarray, limit: int
) -> tuple[dict[str, Any], ...]:
    """Return the windows in x that add most, at positions that hardly overlap."""
    is_window = np.concatenate(
        [view.in_x & (view.shares > 0) & (view.positions is not None) for view in views]
    )
    windows: list[dict[str, Any]] = []
    for j in order[is_window[order]]:
        if len(windows) == limit:
            break
        entry = views[owners[j]].entry(int(numbers[j]))
        apart = all(_overlap(entry, other) < 0.5 for other in windows)
        if entry["frequency"] != 0 and apart:
            windows.append(entry)
    return tuple(windows)


def _steps(model: D2KEModel, views: Sequence[_View]) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return the shares of windows by the steps of a series, and the series."""
    located = [(view, view.steps) for view in views if view.steps is not None]
    if len({view.block.column for view, _ in located}) > 1:
        located = []  # of several series
    steps = np.sum([steps for _, steps in located], axis=0) if located else None
    series = None
    if model.channels or located:
        series = np.array((located[0][0] if located else views[0]).x[0])
    return steps, series


def _seen_series(views: Sequence[_View]) -> dict[str, tuple[FittedBlock, np.ndarray]]:
    """Return the blocks of random series by name, each with x after its views."""
    result = {}
    for view in views:
        block, x = view.block, view.x
        if isinstance(block, FittedBlock) and isinstance(x, Objects) and x.base == "series":
            viewed = apply_views(block.views, x)
            if isinstance(viewed, Objects) and isinstance(block.omega, Objects):
                result[block.name] = block, np.array(viewed[0])
    return result


def _record(x: Any, model: D2KEModel) -> Any:
    """Return a row of records, such as ``records[i]``, as columns of one entry."""
    if not isinstance(x, Mapping):
        raise ArgumentTypeError(
            "x", f"must be a record, a dict of its entries, got {type(x).__name__}"
        )
    columns: dict[str, Any] = {name: [entry] for name, entry in x.items()}
    for name in columns.keys() & model.inputs.keys():
        if isinstance(x[name], np.ndarray):
            is_text = model.inputs[name].alphabet is not None
            kind, first = ("strings", None) if is_text else (None, False)
            columns[name] = pack([x[name]], kind=kind, channels_first=first, name=f"x[{name!r}]")
    return columns


def _block_object(block: Any, objects: Any) -> Any:
    """Return the object of a block: x or its entry in a column; see `_View`."""
    if not isinstance(block, (FittedBlock, FittedKmers)):
        return None
    if not block.column:
        return objects
    column = objects[block.column]
    return None if column.missing[0] else column.values


def _is_list_of_objects(x: Any, model: D2KEModel) -> bool:
    """Return whether x cannot be one object: several objects, or a list of one object."""
    if isinstance(x, Objects):
        return len(x) != 1
    if model.kind == "any" or KINDS[model.kind].read is not None:
        return False
    if not isinstance(x, (list, tuple, np.ndarray)) or not len(x):
        return False
    if model.alphabet is not None:
        is_letters = model.letters in ("str", "bytes")
        return isinstance(x[0], (str, bytes) if is_letters else (list, np.ndarray))
    try:
        n_axes = np.ndim(x[0])
    except ValueError:  # series of different lengths
        return True
    # A list of vectors of the model's channels is one object; so are numbers, for one channel.
    return n_axes == 2 or (n_axes == 1 and model.channels == 1 and len(x[0]) > 1)


def _sources_are(omega: Any, sources: np.ndarray, training_object: int) -> np.ndarray:
    """Return which random objects were taken from a training object."""
    is_itself: np.ndarray = np.asarray(sources == training_object)
    if isinstance(omega, Shapelets):  # kinds without a source have the same windows
        by_kind = is_itself.reshape(len(omega.kinds), -1)
        is_itself = np.tile(by_kind.any(axis=0), len(by_kind))
    return is_itself


def _overlap(window: dict[str, Any], other: dict[str, Any]) -> float:
    """Return intersection over union of the steps of two windows, regarded as intervals."""
    a, b = window["place"], other["place"]
    both = min(a[-1], b[-1]) - max(a[0], b[0]) + 1
    apart = not set(window["object"].channels) & set(other["object"].channels)
    return 0.0 if apart else max(0, both) / (max(a[-1], b[-1]) - min(a[0], b[0]) + 1)
