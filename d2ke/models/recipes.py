# SPDX-License-Identifier: BSD-3-Clause
"""The default blocks of each kind of objects: one fixed table for all data of a kind.

A new kind of objects is a function here and a row in `_RECIPES`; a new block of a kind is a row of
the kind's table. docs/models.md and benchmarks/README.md have the measurements that the sizes
rest on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from d2ke._base.keywords import hinted
from d2ke.distances.registry import find_distance, usual_distance
from d2ke.models import views
from d2ke.models.blocks import SAMPLE, AnyBlock, Sample
from d2ke.models.columns import plain_blocks
from d2ke.models.distance_blocks import Block
from d2ke.models.labels import read_labels
from d2ke.models.piece_scores import ScoredPieces
from d2ke.models.pieces import Pieces
from d2ke.models.training_inputs import Choice, choice_of_columns, packed_objects
from d2ke.models.windows import windows
from d2ke.objects.container import Objects
from d2ke.objects.records import Records
from d2ke.objects.samplers.training import MIXED, noise, resampled, segments, training_objects

# Number of features of all blocks together: at least, and at most; between them n / 10.
_DEFAULT_R = {"series": (4000, 4000), "strings": (1536, 4096), "sets": (4096, 4096)}
_BAGS_R = 4096  # bags: fewer random objects than training objects lost up to 26 points on graphs
_PLAIN_R = 512  # of training objects compared by a function or a distance without a recipe

_FEW, _MANY_WINDOWS = 4000, 17000  # up to so many series: features, which then cost little
_CELLS = 2e7  # of the distances of the whole course, for one series: 8 to 20 ms
_LEAST_COURSE, _LEAST_WINDOWS = 60, 17  # features; of fewer, all are nearest shapes
_TENTH = 10  # of the whole course says if it pays

_SHORT_STRINGS = 30  # letters: of pieces of longer strings, those with gaps are more alike
_LANDMARKS = 2048  # of more than SAMPLE strings; of fewer, all
# Strings, short and long, of more than which all pieces have scores: landmarks have few of them.
_SCORED = (SAMPLE, 2 * SAMPLE)
_FIRST = 256  # features beside pieces that say how many of them pay
_CLASSES = 64  # of more, each score of pieces costs too much
_LONG = 300  # letters: in longer strings, infix matches carry most of the signal

_DESCRIPTOR = 16  # values of a vector, at least

_LEVEL: tuple[views.View, ...] = (views.standardize,)
_SLOPE: tuple[views.View, ...] = (views.standardize, views.difference, views.standardize)


class Law(NamedTuple):
    """A row of a table: the name of a block, how random objects are drawn, and what it sees.

    `size` is a part of R in proportion to the other rows, and `long` that for long strings;
    `members` are those of `Block`.
    """

    name: str
    sampler: Callable[..., Any]
    views: tuple[views.View, ...] = ()
    size: int = 1
    long: int = 1
    parameters: Mapping[str, Any] = {}
    members: tuple[str, ...] = ()


# Segments of a few steps measure how often a series is near each level, in any order.
_SHORT = (0.0, 0.07)
_SERIES = (
    Law("noise", partial(noise, lengths=(_SHORT, MIXED[0])), _LEVEL),
    Law("short segments", partial(segments, lengths=(_SHORT,)), _LEVEL),
    Law("segments", segments, _LEVEL),
    Law("training series", training_objects, _LEVEL),
    Law("segments of differences", partial(segments, lengths=(_SHORT, *MIXED)), _SLOPE),
    Law("training differences", training_objects, _SLOPE),
)
# Places on the globe, which no view may change.
_PLACES = (Law("segments", segments), Law("training series", training_objects))

_WINDOWS = tuple(
    Law(
        f"{'shapes' if shape else 'windows'}{' of differences' * (applied is _SLOPE)}",
        partial(windows, normalize=shape),
        applied,
        members=("anywhere", "shapes" if shape else "windows", "level" if level else "slope"),
    )
    for level, applied in ((True, _LEVEL), (False, _SLOPE))
    for shape in (True, False)
)
# Kinds of distances, end of the name, and seventeenths of R; anywhere, each name is a family. The
# rest is the whole course.
_ANY, _NEARBY = (("nearest", "rare", "longest"), "", 12), (("nearby",), " nearby", 1)
_COURSE, _ALL = 4, 17

_WHOLE = partial(segments, lengths=((0.3, 0.6), (0.5, 1.0)))
_INFIX = partial(segments, lengths=((0.05, 0.12), (0.1, 0.25), (0.2, 0.5)), longest=60)
_ANYWHERE = {"mode": "infix"}
_STRINGS = (
    Law("training strings", training_objects, (), 3, 2),
    Law("segments", _WHOLE, (), 1, 1),
    Law("anywhere", _INFIX, (), 6, 10, _ANYWHERE),
    Law("anywhere, with ends", _INFIX, (views.mark_ends,), 6, 5, _ANYWHERE),
    Law("first halves", training_objects, (partial(views.part, stop=0.5),), 2, 1),
    Law("second halves", training_objects, (partial(views.part, start=0.5),), 2, 1),
    Law("middles", training_objects, (partial(views.part, start=1 / 3, stop=2 / 3),), 2, 2),
    Law("before the middle", training_objects, (partial(views.part, start=0.4, stop=0.5),)),
    Law("after the middle", training_objects, (partial(views.part, start=0.5, stop=0.6),)),
)

_SETS = (Law("resampled", resampled), Law("training sets", training_objects))
_ROOTS = ("mhd", "hausdorff", "chamfer", "emd", "kernel")  # distances that square roots suit
_DIRECTED = {"mhd": "directed_mhd", "hausdorff": "directed_hausdorff"}


@hinted
def recipe(
    X: Any,
    y: Any = None,
    *,
    distance: str | Callable[..., float] | Sequence[Any] | None = None,
    R: int | None = None,
    **params: Any,
) -> list[AnyBlock]:
    """Return the blocks that `d2ke_train` uses by default, to be trained beside others.

    Parameters
    ----------
    X : Objects or what `pack` takes
        Training objects.
    y : sequence, optional
        Their labels; of enough strings, they add scores of pieces.
    distance, R, **params
        As for `d2ke_train`.

    Returns
    -------
    list of blocks
        For ``d2ke_train(..., blocks=[*recipe(X, y), another])``.

    Raises
    ------
    TypeError, ValueError
        As `d2ke_train`.

    Examples
    --------
    >>> from d2ke.models import recipe
    >>> [block.name for block in recipe([[1.0, 2.0], [2.0, 0.0]], distance="dtw", R=12)][:2]
    ['noise', 'short segments']
    """
    choice = Choice.of(None, distance, R, params)
    objects = packed_objects(X, choice.distances)
    k = None if y is None else read_labels(y, None).task.k
    return list(blocks_of_objects(objects, choice, len(objects), k))


def choose_blocks(sample: Sample, choice: Choice, n: int) -> tuple[AnyBlock, ...]:
    """Return the blocks for n training objects, by a sample of them: the user's or the recipe's."""
    if isinstance(sample.objects, Records):
        if not choice.by_column:
            choice = choice_of_columns(sample.objects, choice)
        return _record_blocks(sample.objects, choice, n)
    packed_objects(sample.objects, choice.distances)  # partitions are checked by their sample
    if choice.blocks is not None:
        return tuple(choice.blocks)
    return blocks_of_objects(sample.objects, choice, n, sample.labels.task.k)


def feature_limit(choice: Choice, n: int) -> int | None:
    """Return how many features a model of n objects has at most, if the user leaves that open.

    Up to `SAMPLE` objects, more features than objects cost little.
    """
    return SAMPLE if choice.blocks is None and choice.R is None and n > SAMPLE else None


def default_size(kind: str, n: int) -> int:
    """Return the number of features for n objects: a tenth of n, within the limits of the kind."""
    low, high = _DEFAULT_R[kind]
    return min(max(low, n // 10), high)


def blocks_of_objects(X: Any, choice: Choice, n: int, k: int | None = None) -> tuple[AnyBlock, ...]:
    """Return the recipe for n objects, of which X is a sample.

    With k, the number of columns that a ridge fits, pieces of many strings have scores instead of
    features, and the other blocks have all of a given R.
    """
    blocks: tuple[Any, ...] = _of_distances(X, choice, n)
    pieces = [
        replace(block, strands=choice.strands) for block in blocks if isinstance(block, Pieces)
    ]
    if not pieces:
        return blocks
    others = [block for block in blocks if not isinstance(block, Pieces)]
    many = n > _SCORED[pieces[0].form == "gapped"] and choice.strands == "one"
    scored = many and k is not None and k <= _CLASSES
    if scored and choice.R is not None:
        sizes = _in_proportion(choice.R, [block.R for block in others])
        others = [block.resized(size) for block, size in zip(others, sizes, strict=True)]
    size = sum(block.R for block in others)
    firsts = [max(1, block.R * _FIRST // max(size, _FIRST)) for block in others]
    others = [replace(block, first=first) for block, first in zip(others, firsts, strict=True)]
    return (*others, *([ScoredPieces(k)] if scored and k else pieces))


def _of_distances(X: Any, choice: Choice, n: int) -> tuple[Block, ...]:
    """Return the blocks of one distance, or of several, which share R, side by side."""
    distances = choice.distances
    if len(distances) == 1 and not choice.several:
        return _of_distance(X, distances[0], choice.parameters, choice.R, n)
    if choice.parameters:
        names = ", ".join(choice.parameters)
        raise TypeError(f"several distances have no common parameters ({names}); give blocks")
    total = choice.R or max(
        sum(block.R for block in _of_distance(X, distance, {}, None, n)) for distance in distances
    )
    return tuple(
        replace(block, name=f"{block.name}, {_name(distance)}")
        for distance, size in zip(distances, shares(total, len(distances)), strict=True)
        if size
        for block in _of_distance(X, distance, {}, size, n)
    )


def _name(distance: Any) -> str:
    return distance if isinstance(distance, str) else getattr(distance, "__name__", "function")


def _of_distance(
    X: Any, distance: Any, parameters: Mapping[str, Any], R: int | None, n: int
) -> tuple[Block, ...]:
    """Return the blocks of one distance; None for the usual one of the kind of X."""
    if distance is not None and not isinstance(distance, str):
        return (
            Block("training objects", distance, training_objects, R or _PLAIN_R, (), parameters),
        )
    if distance is None and X.kind == "series" and not parameters:
        return _series_and_windows(X, R or (_MANY_WINDOWS if n <= _FEW else _FEW))
    row = find_distance(usual_distance(X.kind) if distance is None else distance)
    return _RECIPES[row.kind](X, row.name, parameters, R, n)


def shares(R: int, n: int) -> list[int]:
    """Divide R into n nearly equal shares."""
    return [R * (i + 1) // n - R * i // n for i in range(n)]


def _in_proportion(R: int, weights: Sequence[int]) -> list[int]:
    """Divide R in proportion to weights; of a small R, the first have more."""
    ends = np.cumsum([0, *weights], dtype=object)  # of int, which no R is too large for
    return np.diff(-(-R * ends // ends[-1])).tolist()


def _series(
    X: Any, distance: str, parameters: Mapping[str, Any], R: int | None, n: int
) -> tuple[Block, ...]:
    laws = _PLACES if parameters.get("ground") == "haversine" else _SERIES
    sizes = shares(R or default_size("series", n), len(laws))
    return tuple(
        Block(law.name, distance, law.sampler, size, law.views, parameters)
        for law, size in zip(laws, sizes, strict=True)
        if size
    )


def _series_and_windows(X: Objects, R: int) -> tuple[Block, ...]:
    """Return the recipe of series: windows anywhere, windows nearby, and the whole course."""
    if R < _LEAST_WINDOWS:
        nearest = partial(windows, kinds=("nearest",))
        return (Block("shapes", "window", nearest, R, _LEVEL, gamma_scale=2.0, family="shapes"),)
    blocks = [
        Block(
            law.name + end, "window", partial(law.sampler, kinds=kinds), size, law.views,
            gamma_scale=2.0, family="windows nearby" if end else law.name,
            members=("nearby",) if end else law.members,
        )
        for kinds, end, part in (_ANY, _NEARBY)
        for law, size in zip(_WINDOWS, shares(R * part // _ALL, len(_WINDOWS)), strict=True)
        if size >= len(kinds)
    ]  # fmt: skip
    cells = float(np.median(X.lengths)) ** 2 / 4
    course = int(min(R * _COURSE // _ALL, _CELLS / max(cells, 1.0)))
    if course >= _LEAST_COURSE:
        course_blocks = _series(X, "dtw", {}, course, len(X))
        blocks += [
            replace(
                block, family="whole course", members=("course",),
                first=max(block.R // _TENTH, _LEAST_COURSE // len(course_blocks)),
            )
            for block in course_blocks
        ]  # fmt: skip
    return tuple(blocks)


def _strings(
    X: Any, distance: str, parameters: Mapping[str, Any], R: int | None, n: int
) -> tuple[Block, ...]:
    """Return the recipe of strings; of given R, half are pieces."""
    if parameters or distance != "levenshtein":
        size = R or (_BAGS_R if distance == "bag" else _PLAIN_R)
        return (Block("training objects", distance, training_objects, size, (), parameters),)
    long = float(np.median(X.lengths)) > _LONG
    n_pieces = (n if n <= SAMPLE else _LANDMARKS) if R is None else R // 2
    rest = default_size("strings", n) if R is None else R - n_pieces
    sizes = _in_proportion(rest, [law.long if long else law.size for law in _STRINGS])
    blocks: list[Any] = [
        Block(law.name, distance, law.sampler, size, law.views, law.parameters, family="parts")
        for law, size in zip(_STRINGS, sizes, strict=True)
        if size
    ]
    if n_pieces:
        short = float(np.median(X.lengths)) <= _SHORT_STRINGS
        blocks.append(Pieces(n_pieces, "contiguous" if short else "gapped"))
    return tuple(blocks)


def _sets(
    X: Any, distance: str, parameters: Mapping[str, Any], R: int | None, n: int
) -> tuple[Block, ...]:
    """Return the recipe of sets; half of a given R are of centred sets, if they are used.

    Descriptors, of many values that are not negative, stay as they are; sets of points may have
    been moved.
    """
    descriptors = X.dim >= _DESCRIPTOR and (X.values >= 0).all()
    roots = [(", roots", (views.square_root,))] if descriptors and distance in _ROOTS else []
    families = [("sets", "", [("", ()), *roots])]
    if not descriptors:
        families.append(("centred sets", "centred, ", [("", (views.centre,))]))
    sizes = [_DEFAULT_R["sets"][0]] * len(families) if R is None else shares(R, len(families))
    ends = _directions(distance)
    blocks = []
    for (family, prefix, variants), total in zip(families, sizes, strict=True):
        laws = [(law, *view, *end) for law in _SETS for view in variants for end in ends]
        for row, size in zip(laws, shares(total, len(laws)), strict=True):
            law, view, applied, end, name, from_omega = row
            if size:
                blocks.append(
                    Block(
                        prefix + law.name + view + end, name, law.sampler, size, applied,
                        parameters, from_omega, family=family,
                    )
                )  # fmt: skip
    return tuple(blocks)


def _directions(distance: str) -> list[tuple[str, str, bool]]:
    """Return the distances in both directions: end of the name, distance, from omega or to it."""
    if distance not in _DIRECTED:
        return [("", distance, False)]
    directed = _DIRECTED[distance]
    return [(", to omega", directed, False), (", from omega", directed, True)]


def _sets_beside_bags(distance: str | None, R: int | None) -> list[Block]:
    """Return the blocks of sets of the nodes of graphs: their values have units, and a level."""
    ends = _directions(distance or usual_distance("sets"))
    sizes = [_BAGS_R] * len(ends) if R is None else shares(R, len(ends))
    return [
        Block("sets" + end, name, training_objects, size, _LEVEL, {}, from_omega, family="sets")
        for (end, name, from_omega), size in zip(ends, sizes, strict=True)
        if size
    ]


# By the kind of objects that a distance compares.
_RECIPES: dict[str, Callable[..., tuple[Block, ...]]] = {
    "strings": _strings,
    "series": _series,
    "sets": _sets,
}


def _record_blocks(sample: Records, choice: Choice, n: int) -> tuple[AnyBlock, ...]:
    """Return the blocks of n records: of objects the given ones, or the recipes of their kinds.

    Columns of objects share R. One without entries in the sample has no blocks.
    """
    chosen: list[AnyBlock] = list(choice.blocks or ())
    columns = choice.by_column
    sizes = [None] * len(columns) if choice.R is None else shares(choice.R, len(columns))
    beside_bags = any("bag" in of_column.distances for of_column in columns.values())
    for (name, of_column), size in zip(columns.items(), sizes, strict=True):
        if choice.blocks is not None or size == 0 or not len(sample[name].rows):
            continue
        values = sample[name].values
        if beside_bags and values.kind == "sets" and len(of_column.distances) == 1:
            blocks: Sequence[Block] = _sets_beside_bags(of_column.distances[0], size)
        else:
            blocks = _of_distances(values, replace(of_column, R=size), n)
        for block in blocks:
            family = f"{name}: {block.family}" if block.family else name
            chosen.append(replace(block, name=f"{name}: {block.name}", family=family, column=name))
    return (*chosen, *plain_blocks(sample))
