# SPDX-License-Identifier: BSD-3-Clause
"""The default blocks of each kind of objects: one fixed table for all data of a kind.

A kind of `add_kind` has the recipe of the kind that its distance compares. A new block is a row of
a kind's table. docs/models.md and benchmarks/README.md have the measurements that the sizes
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
from d2ke.models.blocks import LARGEST, SAMPLE, AnyBlock, Sample
from d2ke.models.distance_blocks import Block
from d2ke.models.inputs import ModelRequest, column_requests, packed_objects
from d2ke.models.kmers import Kmers, ScoredKmers
from d2ke.models.labels import read_labels
from d2ke.models.shapelets import shapelets
from d2ke.models.table_blocks import plain_blocks
from d2ke.objects.container import Objects
from d2ke.objects.records import Records
from d2ke.objects.samplers.training import MIXED, noise, resampled, segments, training_objects

_BAGS_R = 4096  # bags: fewer random objects than training objects lost up to 26 points on graphs
_PLAIN_R = 512  # training objects, for a Python function or a distance without a recipe

# Numbers of short and of long strings above which scores of all k-mers replace landmarks. For short
# strings they are as accurate, without a decomposition of a matrix of landmarks.
_SCORED = (1000, 2 * SAMPLE)
_PILOT = 256  # features beside k-mers, whose weights decide the number of further features

_LEVEL: tuple[views.View, ...] = (views.standardize,)
_SLOPE: tuple[views.View, ...] = (views.standardize, views.difference, views.standardize)


class BlockSpec(NamedTuple):
    """A row of a table: a block of distances without its distance.

    R is divided among the rows in proportion to `weight`, or for long strings `weight_if_long`; all
    other fields are as in `Block`.
    """

    name: str
    sampler: Callable[..., Any]
    views: tuple[views.View, ...] = ()
    weight: int = 1
    weight_if_long: int = 1
    parameters: Mapping[str, Any] = {}
    family: str = ""
    members: tuple[str, ...] = ()
    from_omega: bool = False


# Segments of a few steps measure how often a series is near each level, at any time.
_SHORT = (0.0, 0.07)
_SERIES = (
    BlockSpec("noise", partial(noise, lengths=(_SHORT, MIXED[0])), _LEVEL),
    BlockSpec("short segments", partial(segments, lengths=(_SHORT,)), _LEVEL),
    BlockSpec("segments", segments, _LEVEL),
    BlockSpec("training series", training_objects, _LEVEL),
    BlockSpec("segments of differences", partial(segments, lengths=(_SHORT, *MIXED)), _SLOPE),
    BlockSpec("training differences", training_objects, _SLOPE),
)
# For positions on the globe, which views must not change.
_GLOBE = (BlockSpec("segments", segments), BlockSpec("training series", training_objects))

_WINDOWS = tuple(
    BlockSpec(
        name, partial(shapelets, normalize=is_shape, kinds=("nearest", "rare", "longest")), steps,
        family=name, members=("anywhere", "shapes" if is_shape else "windows", member),
    )
    for name, is_shape, steps, member in (
        ("shapes", True, _LEVEL, "level"),
        ("windows", False, _LEVEL, "level"),
        ("shapes of differences", True, _SLOPE, "slope"),
        ("windows of differences", False, _SLOPE, "slope"),
    )
)  # fmt: skip
_NEARBY = tuple(
    spec._replace(
        name=f"{spec.name} nearby", sampler=partial(spec.sampler, kinds=("nearby",)),
        family="windows nearby", members=("nearby",),
    )
    for spec in _WINDOWS
)  # fmt: skip

_INFIX = partial(segments, lengths=((0.05, 0.12), (0.1, 0.25), (0.2, 0.5)), longest=60)
_ANYWHERE = {"mode": "infix"}
_part = partial(partial, views.part)  # _part(stop=0.5) is the view of first halves
_STRINGS = (
    BlockSpec("training strings", training_objects, (), 3, 2),
    BlockSpec("segments", partial(segments, lengths=((0.3, 0.6), (0.5, 1.0)))),
    BlockSpec("anywhere", _INFIX, (), 6, 10, _ANYWHERE),
    BlockSpec("anywhere, with ends", _INFIX, (views.mark_ends,), 6, 5, _ANYWHERE),
    BlockSpec("first halves", training_objects, (_part(stop=0.5),), 2, 1),
    BlockSpec("second halves", training_objects, (_part(start=0.5),), 2, 1),
    BlockSpec("middles", training_objects, (_part(start=1 / 3, stop=2 / 3),), 2, 2),
    BlockSpec("before the middle", training_objects, (_part(start=0.4, stop=0.5),)),
    BlockSpec("after the middle", training_objects, (_part(start=0.5, stop=0.6),)),
)

_ROOTS, _CENTRE = (views.square_root,), (views.centre,)
_SETS = (BlockSpec("resampled", resampled), BlockSpec("training sets", training_objects))
_SETS_AND_ROOTS = (
    BlockSpec("resampled", resampled),
    BlockSpec("resampled, roots", resampled, _ROOTS),
    BlockSpec("training sets", training_objects),
    BlockSpec("training sets, roots", training_objects, _ROOTS),
)
_CENTRED_SETS = (
    BlockSpec("centred, resampled", resampled, _CENTRE),
    BlockSpec("centred, training sets", training_objects, _CENTRE),
)
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
    """Return the default blocks of `d2ke_train`, to be trained beside further blocks.

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
    request = ModelRequest.of(None, distance, R, params)
    objects = packed_objects(X, request.distances)
    k = None if y is None else read_labels(y, None).task.k
    return list(blocks_of_objects(objects, request, len(objects), k))


def choose_blocks(sample: Sample, request: ModelRequest, n: int) -> tuple[AnyBlock, ...]:
    """Return the user's or the recipe's blocks for n training objects, given a sample."""
    if isinstance(sample.objects, Records):
        return _record_blocks(sample.objects, request, n)
    packed_objects(sample.objects, request.distances)  # partitions are checked by their sample
    if request.blocks is not None:
        return tuple(request.blocks)
    return blocks_of_objects(sample.objects, request, n, sample.labels.task.k)


def feature_limit(request: ModelRequest, n: int, keep_sums: bool = False) -> int | None:
    """Return the largest number of features of a model of n objects; None if the user sets R."""
    if request.blocks is not None or request.R is not None:
        return None
    return min(max(n, 256), LARGEST) if keep_sums else _affordable(n)


def _affordable(n: int) -> int:
    """Return the largest number of features of n objects: 3e7 / n, at least 4096."""
    return max(4096, min(17_000, 30_000_000 // n))


def default_size(kind: str, n: int) -> int:
    """Return the number of features for n objects: a tenth of n, within the limits of the kind."""
    low, high = {"series": (4000, 4000), "strings": (1536, 4096), "sets": (4096, 4096)}[kind]
    return min(max(low, n // 10), high)


def blocks_of_objects(
    X: Any, request: ModelRequest, n: int, k: int | None = None
) -> tuple[AnyBlock, ...]:
    """Return the recipe for n objects, of which X is a sample.

    With k, the number of targets of the ridge, scores replace the k-mer features of many strings,
    and the distance blocks share all of a given R.
    """
    blocks: tuple[Any, ...] = _distance_blocks(X, request, n)
    kmers = [
        replace(block, strands=request.strands) for block in blocks if isinstance(block, Kmers)
    ]
    if not kmers:
        return blocks
    rest = [block for block in blocks if not isinstance(block, Kmers)]
    is_long = kmers[0].form == "gapped"
    many = n > _SCORED[is_long] and request.strands == "one"
    scored = many and k is not None and k <= 64  # with more classes, scores cost too much
    if scored and request.R is not None:
        sizes = _in_proportion(request.R, [block.R for block in rest])
        rest = [block.resized(size) for block, size in zip(rest, sizes, strict=True)]
    size = max(_PILOT, sum(block.R for block in rest))
    rest = [replace(block, first=max(1, block.R * _PILOT // size)) for block in rest]
    if scored and k:
        # Either form may be more accurate for short strings; training chooses their weights.
        forms = ["occurrences"] if is_long else ["counts", "occurrences"]
        return (*rest, *(ScoredKmers(k, form) for form in forms))
    return (*rest, *kmers)


def _distance_blocks(X: Any, request: ModelRequest, n: int) -> tuple[Block, ...]:
    """Return the blocks of one distance, or of several, which share R, side by side."""
    distances = request.distances
    if len(distances) == 1:
        return _one_recipe(X, distances[0], request.parameters, request.R, n)
    if request.parameters:
        keys = ", ".join(request.parameters)
        raise TypeError(f"several distances have no common parameters ({keys}); give blocks")
    total = request.R or max(
        sum(block.R for block in _one_recipe(X, distance, {}, None, n)) for distance in distances
    )
    names = [d if isinstance(d, str) else getattr(d, "__name__", "function") for d in distances]
    sizes = split_evenly(total, len(distances))
    return tuple(
        replace(block, name=f"{block.name}, {name}")
        for name, distance, size in zip(names, distances, sizes, strict=True)
        if size
        for block in _one_recipe(X, distance, {}, size, n)
    )


def _one_recipe(
    X: Any, distance: Any, parameters: Mapping[str, Any], R: int | None, n: int
) -> tuple[Block, ...]:
    """Return the blocks of one distance; None for the usual one of the kind of X."""
    if distance is not None and not isinstance(distance, str):
        return (
            Block("training objects", distance, training_objects, R or _PLAIN_R, (), parameters),
        )
    row = find_distance(usual_distance(X.kind) if distance is None else distance)
    if distance is None and row.name == "dtw" and not parameters:
        return _series_and_windows(X, R or _affordable(n))
    return _RECIPES[row.kind](X, row.name, parameters, R, n)


def _blocks(
    specs: Sequence[BlockSpec],
    sizes: Sequence[int],
    distance: str,
    parameters: Mapping[str, Any],
    family: str = "",
    gamma_scale: float = 1.0,
) -> tuple[Block, ...]:
    """Return a block for each row of a table whose size is not 0."""
    return tuple(
        Block(
            spec.name, distance, spec.sampler, size, spec.views, {**parameters, **spec.parameters},
            spec.from_omega, gamma_scale, family=family or spec.family, members=spec.members,
        )
        for spec, size in zip(specs, sizes, strict=True)
        if size
    )  # fmt: skip


def split_evenly(R: int, n: int) -> list[int]:
    """Divide R into n nearly equal parts."""
    return [R * (i + 1) // n - R * i // n for i in range(n)]


def _in_proportion(R: int, weights: Sequence[int]) -> list[int]:
    """Divide R in proportion to weights; if R is small, the first parts are larger."""
    ends = np.cumsum([0, *weights], dtype=object)  # Python integers do not overflow
    return np.diff(-(-R * ends // ends[-1])).tolist()


def _series(
    X: Any, distance: str, parameters: Mapping[str, Any], R: int | None, n: int
) -> tuple[Block, ...]:
    specs = _GLOBE if parameters.get("ground") == "haversine" else _SERIES
    sizes = split_evenly(R or default_size("series", n), len(specs))
    return _blocks(specs, sizes, distance, parameters)


def _series_and_windows(X: Objects, R: int) -> tuple[Block, ...]:
    """Return the recipe of series: windows anywhere, windows nearby, and the whole course.

    They have twelve, one and four seventeenths of R; an R below 17 is all nearest shapes.
    """
    if R < 17:
        nearest = partial(shapelets, kinds=("nearest",))
        return (Block("shapes", "window", nearest, R, _LEVEL, gamma_scale=2.0, family="shapes"),)
    sizes = [*split_evenly(R * 12 // 17, len(_WINDOWS)), *split_evenly(R // 17, len(_NEARBY))]
    blocks = _blocks((*_WINDOWS, *_NEARBY), sizes, "window", {}, gamma_scale=2.0)
    # Distances of the whole course have 2e7 cells at most for one series: 8 to 20 ms.
    cells = float(np.median(X.lengths)) ** 2 / 4
    size = int(min(R * 4 // 17, 2e7 / max(cells, 1.0)))
    if size < 60:
        return blocks
    course = _series(X, "dtw", {}, size, len(X))
    # The first tenth of these features, or ten of each block, decide the number of further ones.
    return blocks + tuple(
        replace(
            block, family="whole course", members=("course",),
            first=max(block.R // 10, 60 // len(course)),
        )
        for block in course
    )  # fmt: skip


def _strings(
    X: Any, distance: str, parameters: Mapping[str, Any], R: int | None, n: int
) -> tuple[Any, ...]:
    """Return the recipe of strings; half of a given R are k-mers."""
    if parameters or distance != "levenshtein":
        size = R or (_BAGS_R if distance == "bag" else _PLAIN_R)
        return (Block("training objects", distance, training_objects, size, (), parameters),)
    length = float(np.median(X.lengths))
    n_landmarks = min(n, LARGEST) if R is None else R // 2
    rest = default_size("strings", n) if R is None else R - n_landmarks
    # In long strings, infix matches carry most of the signal.
    weights = [spec.weight_if_long if length > 300 else spec.weight for spec in _STRINGS]
    blocks = _blocks(_STRINGS, _in_proportion(rest, weights), distance, {}, "parts")
    # Related long strings share more k-mers with gaps than without.
    form = "contiguous" if length <= 30 else "gapped"
    return (*blocks, Kmers(n_landmarks, form)) if n_landmarks else blocks


def _sets(
    X: Any, distance: str, parameters: Mapping[str, Any], R: int | None, n: int
) -> tuple[Block, ...]:
    """Return the recipe of sets; half of R is for centred sets, unless the vectors are descriptors.

    Descriptors have at least 16 values, none negative. Sets of points may have been moved.
    """
    descriptors = X.dim >= 16 and (X.values >= 0).all()
    roots = distance in ("mhd", "hausdorff", "chamfer", "emd", "kernel")  # square roots suit these
    families = {"sets": _SETS_AND_ROOTS if descriptors and roots else _SETS}
    if not descriptors:
        families["centred sets"] = _CENTRED_SETS
    total = min(len(families) * default_size("sets", n), _affordable(n))
    sizes = split_evenly(R or total, len(families))
    return tuple(
        block
        for (family, specs), size in zip(families.items(), sizes, strict=True)
        for block in _set_blocks(specs, distance, parameters, size, family)
    )


def _set_blocks(
    specs: Sequence[BlockSpec], distance: str, parameters: Mapping[str, Any], R: int, family: str
) -> tuple[Block, ...]:
    """Return blocks that share R, in both directions if the distance is a maximum of both."""
    if distance in _DIRECTED:
        distance = _DIRECTED[distance]
        specs = [
            spec._replace(name=spec.name + end, from_omega=from_omega)
            for spec in specs
            for end, from_omega in ((", to omega", False), (", from omega", True))
        ]
    return _blocks(specs, split_evenly(R, len(specs)), distance, parameters, family)


# Recipes by the kind of objects that the distance compares.
_RECIPES: dict[str, Callable[..., tuple[Block, ...]]] = {
    "strings": _strings,
    "series": _series,
    "sets": _sets,
}


def _record_blocks(sample: Records, request: ModelRequest, n: int) -> tuple[AnyBlock, ...]:
    """Return the blocks of n records: the user's, or the recipe of each column of objects.

    Columns of objects share R. A column without entries in the sample has no blocks.
    """
    result: list[AnyBlock] = list(request.blocks or ())
    requests = column_requests(sample, request)
    sizes = [None] * len(requests) if request.R is None else split_evenly(request.R, len(requests))
    beside_bags = any("bag" in item.distances for item in requests.values())
    for (name, column_request), size in zip(requests.items(), sizes, strict=True):
        if request.blocks is not None or size == 0 or not len(sample[name].rows):
            continue
        values = sample[name].values
        if beside_bags and values.base == "sets" and len(column_request.distances) == 1:
            distance = column_request.distances[0] or usual_distance("sets")
            size = size or _BAGS_R * (2 if distance in _DIRECTED else 1)
            # Sets of nodes of graphs: their values have units and a level.
            specs = (BlockSpec("sets", training_objects, _LEVEL),)
            blocks: Sequence[Block] = _set_blocks(specs, distance, {}, size, "sets")
        else:
            blocks = _distance_blocks(values, replace(column_request, R=size), n)
        for block in blocks:
            family = f"{name}: {block.family}" if block.family else name
            result.append(replace(block, name=f"{name}: {block.name}", family=family, column=name))
    return (*result, *plain_blocks(sample))
