# SPDX-License-Identifier: BSD-3-Clause
"""The default blocks of each kind of objects: one fixed recipe for all data of a kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from d2ke.distances.registry import find_distance, usual_distance
from d2ke.models import views
from d2ke.models.blocks import SAMPLE, Block
from d2ke.models.windows import windows
from d2ke.objects.container import Objects
from d2ke.objects.samplers.strings import pieces
from d2ke.objects.samplers.training import MIXED, noise, resampled, segments, training_objects

# Default number of features of all blocks together.
_DEFAULT_R = {"series": (4000, 4000), "strings": (1536, 4096), "sets": (4096, 4096)}
_FEW, _MANY_WINDOWS = 4000, 13000  # up to so many series: features, which then cost little
_CELLS = 2e8  # of the distances of the whole course, for one series
_LEAST_COURSE, _LEAST_WINDOWS = 60, 13  # features; of fewer, all are nearest shapes
_SETS = ("mhd", "hausdorff", "chamfer", "emd", "kernel")
_DIRECTED = {"mhd": "directed_mhd", "hausdorff": "directed_hausdorff"}
_DESCRIPTOR = 16  # values of a vector, at least
_PIECES = 4096  # of strings, besides the features of the other blocks
_SCORED = 512  # strings: with fewer, those outside a fold carry too little signal about the pieces
_CLASSES = 64  # of more, each score of pieces costs too much
_LONG = 300  # letters: in longer strings, infix matches carry most of the signal


def default_size(kind: str, n: int) -> int:
    """Return the number of features for n objects: a tenth of n, within the limits of the kind."""
    low, high = _DEFAULT_R[kind]
    return min(max(low, n // 10), high)


def feature_limit(blocks: Any, R: int | None, n: int) -> int | None:
    """Return how many features a model of n objects has at most, if the user leaves that open.

    Up to `SAMPLE` objects, more features than objects cost little.
    """
    return SAMPLE if blocks is None and R is None and n > SAMPLE else None


def default_blocks(
    X: Any, distance: Any, parameters: Mapping[str, Any], R: int | None, n: int
) -> tuple[Block, ...]:
    """Return the blocks for n objects and a distance, or the usual distance of their kind.

    X is a sample of the objects. Several distances share R, and each has the blocks that it would
    have alone.
    """
    if isinstance(distance, (list, tuple)):
        if parameters:
            names = ", ".join(parameters)
            raise TypeError(f"several distances have no common parameters ({names}); give blocks")
        total = R or max(sum(b.R for b in default_blocks(X, d, {}, None, n)) for d in distance)
        sizes = zip(distance, shares(total, len(distance)), strict=True)
        return tuple(
            replace(block, name=f"{block.name}, {_name(d)}")
            for d, size in sizes
            if size
            for block in default_blocks(X, d, {}, size, n)
        )
    if distance is not None and not isinstance(distance, str):
        return (Block("training objects", distance, training_objects, R or 512, (), parameters),)
    if distance is None and X.kind == "series" and not parameters:
        return _series_and_windows(X, R or (_MANY_WINDOWS if n <= _FEW else _FEW))
    row = find_distance(usual_distance(X.kind) if distance is None else distance)
    if row.kind == "strings":
        if parameters or row.name != "levenshtein":
            return (
                Block("training objects", row.name, training_objects, R or 512, (), parameters),
            )
        return _strings(X, R, n)
    if row.kind == "series":
        return _series(row.name, parameters, R or default_size("series", n))
    return _sets(X, row.name, parameters, R)


def scores_pieces(blocks: Sequence[Block], n: int, k: int) -> bool:
    """Return whether pieces get scores: those of many strings with few targets do."""
    return n >= _SCORED and k <= _CLASSES and any(block.family == "pieces" for block in blocks)


def beside_scores(blocks: Sequence[Block], R: int | None) -> tuple[Block, ...]:
    """Return the recipe of strings without its pieces; the other blocks have all of a given R."""
    others = [block for block in blocks if block.family != "pieces"]
    if R is None:
        return tuple(others)
    sizes = _in_proportion(R, [block.R for block in others])
    return tuple(block.resized(size) for block, size in zip(others, sizes, strict=True))


def shares(R: int, n: int) -> list[int]:
    """Divide R into n nearly equal shares."""
    return [R * (i + 1) // n - R * i // n for i in range(n)]


def _in_proportion(R: int, weights: Sequence[int]) -> list[int]:
    """Divide R in proportion to weights; of a small R, the first have more."""
    ends = np.cumsum([0, *weights], dtype=object)  # of int, which no R is too large for
    return np.diff(-(-R * ends // ends[-1])).tolist()


def _name(distance: Any) -> str:
    return distance if isinstance(distance, str) else getattr(distance, "__name__", "function")


def _series(distance: str, parameters: dict[str, Any], R: int) -> tuple[Block, ...]:
    level = (views.standardize,)
    slope = (views.standardize, views.difference, views.standardize)
    # Segments of a few steps measure how often a series is near each level, in any order.
    short = (0.0, 0.07)
    laws = (
        ("noise", partial(noise, lengths=(short, MIXED[0])), level),
        ("short segments", partial(segments, lengths=(short,)), level),
        ("segments", segments, level),
        ("training series", training_objects, level),
        ("segments of differences", partial(segments, lengths=(short, *MIXED)), slope),
        ("training differences", training_objects, slope),
    )
    if parameters.get("ground") == "haversine":  # of places, which no view may change
        laws = (("segments", segments, ()), ("training series", training_objects, ()))
    blocks = []
    for (name, sampler, applied), size in zip(laws, shares(R, len(laws)), strict=True):
        if size:
            blocks.append(Block(name, distance, sampler, size, applied, parameters))
    return tuple(blocks)


def _series_and_windows(X: Objects, R: int) -> tuple[Block, ...]:
    """Return the recipe of series: windows anywhere, windows nearby, and the whole course."""
    level = (views.standardize,)
    slope = (views.standardize, views.difference, views.standardize)
    if R < _LEAST_WINDOWS:
        nearest = partial(windows, kinds=("nearest",))
        return (Block("shapes", "window", nearest, R, level, gamma_scale=2.0, family="windows"),)
    of_all, nearby, course = (R * k // 13 for k in (8, 1, 4))
    blocks = []
    for kinds, size in ((("nearest", "rare"), of_all), (("nearby",), nearby)):
        laws = [(view, shape) for view in (level, slope) for shape in (True, False)]
        for (applied, shape), share in zip(laws, shares(size, len(laws)), strict=True):
            if share >= len(kinds):
                name = f"{'shapes' if shape else 'windows'}{' of differences' * (applied is slope)}"
                blocks.append(
                    Block(
                        name if len(kinds) > 1 else f"{name} nearby",
                        "window",
                        partial(windows, normalize=shape, kinds=kinds),
                        share,
                        applied,
                        gamma_scale=2.0,
                        family="windows" if len(kinds) > 1 else "windows nearby",
                    )
                )
    cells = float(np.median(X.lengths)) ** 2 / 4
    course = int(min(course, _CELLS / max(cells, 1.0)))
    if course >= _LEAST_COURSE:
        blocks += [replace(block, family="whole course") for block in _series("dtw", {}, course)]
    return tuple(blocks)


def _strings(X: Objects, R: int | None, n: int) -> tuple[Block, ...]:
    """Return the recipe of strings; of given R, half are pieces."""
    long = float(np.median(X.lengths)) > _LONG
    n_pieces = _PIECES if R is None else R // 2
    R = default_size("strings", n) if R is None else R - n_pieces
    infix = partial(segments, lengths=((0.05, 0.12), (0.1, 0.25), (0.2, 0.5)), longest=60)
    whole = partial(segments, lengths=((0.3, 0.6), (0.5, 1.0)))
    anywhere = {"mode": "infix"}
    half, other = partial(views.part, stop=0.5), partial(views.part, start=0.5)
    middle = partial(views.part, start=1 / 3, stop=2 / 3)
    before = partial(views.part, start=0.4, stop=0.5)
    after = partial(views.part, start=0.5, stop=0.6)
    # Shares of R, of 24.
    laws = (
        ("training strings", training_objects, (), {}, 2 if long else 3),
        ("segments", whole, (), {}, 1),
        ("anywhere", infix, (), anywhere, 10 if long else 6),
        ("anywhere, with ends", infix, (views.mark_ends,), anywhere, 5 if long else 6),
        ("first halves", training_objects, (half,), {}, 1 if long else 2),
        ("second halves", training_objects, (other,), {}, 1 if long else 2),
        ("middles", training_objects, (middle,), {}, 2),
        ("before the middle", training_objects, (before,), {}, 1),
        ("after the middle", training_objects, (after,), {}, 1),
    )
    sizes = _in_proportion(R, [law[-1] for law in laws])
    blocks = [
        Block(name, "levenshtein", sampler, size, applied, options, family="parts")
        for (name, sampler, applied, options, _), size in zip(laws, sizes, strict=True)
        if size
    ]
    if n_pieces:
        # gamma is so large that a piece is found or not: one letter's difference counts little.
        blocks.append(
            Block(
                "pieces", "levenshtein", pieces, n_pieces, (views.mark_ends,), anywhere,
                gamma_scale=8.0, sd_power=0.5, family="pieces",
            )
        )  # fmt: skip
    return tuple(blocks)


def _sets(
    X: Objects, distance: str, parameters: dict[str, Any], R: int | None
) -> tuple[Block, ...]:
    """Return the recipe of sets; half of a given R are of centred sets, if they are used.

    Descriptors, of many values that are not negative, stay as they are; sets of points may have
    been moved.
    """
    descriptors = X.dim >= _DESCRIPTOR and (X.values >= 0).all()
    roots = [(", roots", (views.square_root,))] if descriptors and distance in _SETS else []
    families = [("sets", "", [("", ()), *roots])]
    if not descriptors:
        families.append(("centred sets", "centred, ", [("", (views.centre,))]))
    sizes = [_DEFAULT_R["sets"][0]] * len(families) if R is None else shares(R, len(families))
    ends = [("", distance, False)]
    if distance in _DIRECTED:
        directed = _DIRECTED[distance]
        ends = [(", to omega", directed, False), (", from omega", directed, True)]
    blocks = []
    for (family, prefix, variants), total in zip(families, sizes, strict=True):
        laws = [("resampled", resampled), ("training sets", training_objects)]
        laws = [(*law, *view, *end) for law in laws for view in variants for end in ends]
        for law, size in zip(laws, shares(total, len(laws)), strict=True):
            name, sampler, view, through, end, kind, from_omega = law
            if size:
                blocks.append(
                    Block(
                        prefix + name + view + end,
                        kind,
                        sampler,
                        size,
                        through,
                        parameters,
                        from_omega,
                        family=family,
                    )
                )
    return tuple(blocks)
