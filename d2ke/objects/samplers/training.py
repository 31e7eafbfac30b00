# SPDX-License-Identifier: BSD-3-Clause
"""Random objects from training objects: a sample, segments, sets of vectors, noise, Markov chains.

A sampler is a function ``sampler(R, X, *, seed)`` with options between X and seed. Lengths are
given by a range in elements, or by several ranges relative to the median length of X.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from d2ke._base.checks import generator, integer, length_range, positive_number
from d2ke._base.errors import ArgumentError
from d2ke._base.keywords import hinted
from d2ke.objects.compatibility import refuse_weights
from d2ke.objects.container import Objects, from_owned, offsets_of, take, with_fields
from d2ke.objects.packing import as_objects
from d2ke.objects.samplers.random_objects import check_overflow, draw_objects
from d2ke.objects.strings import select_pieces
from d2ke.objects.values import list_of

# Ranges of lengths, relative to the median length of the training objects.
MIXED = ((0.05, 0.2), (0.1, 0.4), (0.2, 0.6), (0.4, 1.0))


@hinted
def training_objects(R: int, X: Any, *, seed: Any) -> tuple[Any, np.ndarray]:
    """Draw up to R of the training objects without replacement; return their rows too.

    Parameters
    ----------
    R : int
        Number of objects; if X has fewer, all of X.
    X : Objects or sequence
        The training objects.
    seed : int, SeedSequence or Generator
        Where the randomness comes from.

    Returns
    -------
    tuple of Objects or list, and ndarray of int64
        The objects in random order, and their indices in X.

    Raises
    ------
    TypeError, ValueError
        R < 1, a seed of another type, or X is empty or not a sequence.

    References
    ----------
    Wu, Yen, Xu, Ravikumar, Witbrock, "D2KE: From Distance to Kernel and
    Embedding", 2018, eq. (8): the representative-set method, p(omega) = p(x).

    Examples
    --------
    >>> import d2ke
    >>> omega, rows = d2ke.samplers.training_objects(9, d2ke.pack(["a", "b"]), seed=0)
    >>> sorted(omega)
    ['a', 'b']
    """
    integer("R", R, 1)
    items = X if isinstance(X, Objects) else list_of("X", X)
    indices = generator(seed).permutation(len(items))[:R]
    return take(items, indices), indices


@hinted
def segments(
    R: int,
    X: Any,
    *,
    lengths: Sequence[tuple[float, float]] = MIXED,
    length: int | tuple[int, int] | None = None,
    longest: int | None = None,
    scale: float = 1.0,
    seed: Any,
) -> Objects:
    """Draw R segments of X: lengths uniform, starts uniform among all that leave room.

    Segments are a compromise between independent elements (`random_series`, `random_strings`) and
    whole objects of X (`training_objects`).

    Parameters
    ----------
    R : int
        Number of segments, at least 1.
    X : Objects or what `pack` takes
        The training series or strings.
    lengths : sequence of (float, float)
        Ranges of lengths relative to the median length of X; each has an equal share of R.
    length : int or (int, int), optional
        A range of lengths in elements instead of `lengths`, both ends included; an integer fixes
        the length.
    longest : int, optional
        Longer lengths of `lengths` become this.
    scale : float, default 1.0
        Factor of the values of series, above 0.
    seed : int, SeedSequence or Generator
        Where the randomness comes from.

    Returns
    -------
    Objects
        R objects of the kind and the element type of X; with `lengths`, none if all objects of X
        are empty.

    Raises
    ------
    TypeError
        If an argument is of a wrong type, or X has weights.
    ValueError
        R < 1, an empty range of lengths, no object of X is as long as the longest length, values
        that are out of the element type's range, or a scale other than 1 for strings.

    References
    ----------
    Wu, Yen, Xu, Ravikumar, Witbrock, "D2KE: From Distance to Kernel and Embedding", 2018,
    sections 4.1 and 4.3, on the choice of p(omega).

    Examples
    --------
    >>> import d2ke
    >>> list(d2ke.samplers.segments(3, ["abcdefgh", "ABCD"], length=(2, 4), seed=0))
    ['efgh', 'bcde', 'gh']
    >>> d2ke.samplers.segments(4, ["abcdefgh"], lengths=[(0.25, 0.5)], seed=0)
    <4 strings over 8 letters, lengths 2 to 4>
    """
    integer("R", R, 1)
    objects = as_objects("X", X)
    refuse_weights(objects, "X", "segments")
    scale = positive_number("scale", scale)
    if objects.has_letters and scale != 1:
        raise ValueError(f"scale is for series, but X holds strings; got scale = {scale}")
    if length is None:
        if not objects.lengths.any():
            return objects[:0]
        ranges = _relative_ranges("lengths", lengths)
        draws = _draw_lengths(R, objects, ranges, seed, longest)
    else:
        span, available = length_range("length", length), objects.lengths.max(initial=0)
        if available < span[1]:
            raise ValueError(
                f"length goes up to {span[1]}, but the longest object of X has {available} elements"
            )
        draws = _draw_range(R, span, seed)
    chunks = []
    for _, sizes, rng in draws:
        begins, uniform = np.empty(len(sizes), dtype=np.int64), rng.random(len(sizes))
        for n in np.unique(sizes).tolist():
            # In object i, max(0, lengths[i] - n + 1) segments of n elements begin.
            ends = np.cumsum(np.maximum(objects.lengths - n + 1, 0))
            same = sizes == n
            number = (uniform[same] * ends[-1]).astype(np.int64)
            item = np.searchsorted(ends, number, side="right")
            begins[same] = objects.offsets[item + 1] - n + 1 - (ends[item] - number)
        chunks.append((begins, sizes))
    result = select_pieces(objects, *map(np.concatenate, zip(*chunks, strict=True)))
    if scale == 1:
        return result
    with np.errstate(over="ignore", invalid="ignore"):  # 0 times infinity is invalid
        values = result.values * objects.dtype.type(scale)
    check_overflow(values, f"scale is too large for {objects.dtype}: {scale}")
    return with_fields(result, values=values)


@hinted
def resampled(
    R: int,
    X: Any,
    *,
    size: int | tuple[int, int] | None = None,
    seed: Any,
) -> Objects:
    """Draw R sets of vectors of X: sizes uniform, vectors uniform among the vectors of all sets.

    They are a compromise between vectors from a region of space (`random_sets`) and whole sets of X
    (`training_objects`): the vectors come from the data, and the sets mix them.

    Parameters
    ----------
    R : int
        Number of sets, at least 1.
    X : Objects or what `pack` takes
        The training sets; their weights are ignored.
    size : int or (int, int), optional
        A range of sizes, both ends included; an integer fixes the size. By default half of the sets
        have .02 to .1, and half .1 to .3, of the median size of X.
    seed : int, SeedSequence or Generator
        Where the randomness comes from.

    Returns
    -------
    Objects
        R sets of the element type of X, without weights; a vector may be in a set twice. By
        default none if all sets of X are empty.

    Raises
    ------
    TypeError
        If X does not hold vectors, or an argument is of a wrong type.
    ValueError
        R < 1, an empty range of sizes, or X has no vectors to draw from.

    References
    ----------
    Wu, Yen, Xu, Ravikumar, Witbrock, "D2KE: From Distance to Kernel and
    Embedding", 2018, sections 4.1 and 4.3, on the choice of p(omega).

    Examples
    --------
    >>> import d2ke
    >>> X = [[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0]]]
    >>> d2ke.samplers.resampled(4, X, size=(3, 15), seed=0)
    <4 sets of 2-dimensional vectors, float64, lengths 3 to 15>
    """
    integer("R", R, 1)
    objects = as_objects("X", X, "sets")
    if size is not None:
        draws = _draw_range(R, length_range("size", size), seed)
        if not len(objects.values):
            raise ValueError("X must hold at least one element, but all of its sets are empty")
    elif not len(objects.values):
        return objects[:0]
    else:
        draws = _draw_lengths(R, objects, np.array([(0.02, 0.1), (0.1, 0.3)]), seed)
    n = len(objects.values)
    chunks = [
        (objects.values[rng.integers(0, n, size=counts.sum())], counts) for _, counts, rng in draws
    ]
    return _join(objects, chunks)


@hinted
def noise(
    R: int,
    X: Any,
    *,
    lengths: Sequence[tuple[float, float]] = MIXED,
    seed: Any,
) -> Objects:
    """Draw R random series of independent normal values, with the channels and lengths of X.

    Their standard deviation is 1, 2 or 4; each range of lengths has each in turn.

    Parameters
    ----------
    R : int
        Number of series.
    X : Objects or what `pack` takes
        The training series, for the number of channels, the element type and the lengths.
    lengths : sequence of (float, float)
        Ranges of lengths relative to the median length of X.
    seed : int, SeedSequence or Generator
        Where the randomness comes from.

    Returns
    -------
    Objects
        R series.

    Examples
    --------
    >>> import d2ke
    >>> d2ke.samplers.noise(3, d2ke.pack([[0.0] * 20]), seed=0).dim
    1
    """
    X = as_objects("X", X)
    ranges = _relative_ranges("lengths", lengths)
    sigmas = (1.0, 2.0, 4.0)
    spans = np.repeat(ranges, len(sigmas), axis=0)  # each range with each deviation
    chunks = []
    for number, counts, rng in _draw_lengths(R, X, spans, seed):
        values = rng.standard_normal((counts.sum(), X.dim))
        values *= sigmas[number % len(sigmas)]
        chunks.append((values.astype(X.dtype, copy=False), counts))
    return _join(X, chunks)


Draw = tuple[int, np.ndarray, np.random.Generator]  # number of a range, lengths, their values' rng


def _relative_ranges(name: str, value: Any) -> np.ndarray:
    """Check ranges (low, high) relative to the median length; return them as rows."""
    try:
        ranges = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        ranges = np.empty(0)
    if ranges.ndim != 2 or ranges.shape[1] != 2 or not (ranges >= 0).all():
        raise ArgumentError(
            name,
            "must be ranges (low, high) of numbers >= 0, relative to the median length, such "
            f"as [(0.1, 0.4)]; got {value!r}",
        )
    return ranges


def _draw_lengths(
    R: int,
    X: Objects,
    ranges: np.ndarray,
    seed: Any,
    longest: int | None = None,
) -> Iterator[Draw]:
    """Draw lengths from ranges relative to the median length, each with an equal share of R."""
    middle, limit = float(np.median(X.lengths)), int(X.lengths.max())
    if longest is not None:
        limit = min(limit, longest)
    seeds, n = generator(seed).spawn(len(ranges)), len(ranges)
    for number, (low, high) in enumerate(ranges.tolist()):
        size = R * (number + 1) // n - R * number // n
        if not size:
            continue
        high = min(max(round(high * middle), 1), limit)
        low = min(max(round(low * middle), 1), high)
        for_lengths, for_values = seeds[number].spawn(2)
        yield number, for_lengths.integers(low, high + 1, size=size), for_values


def _draw_range(R: int, span: tuple[int, int], seed: Any) -> Iterator[Draw]:
    """Draw all lengths from one range."""
    for_lengths, for_values = generator(seed).spawn(2)
    yield 0, for_lengths.integers(span[0], span[1] + 1, size=R), for_values


def _join(X: Objects, chunks: list[tuple[np.ndarray, np.ndarray]]) -> Objects:
    """Return objects of the kind of X, without weights, from values and lengths."""
    values, lengths = map(np.concatenate, zip(*chunks, strict=True))
    fields = X.alphabet, X.letters
    offsets = offsets_of(lengths)
    return from_owned(X.kind, values, offsets, *fields, channel_names=X.channel_names)


@hinted
def markov_strings(
    R: int, X: Any, *, length: int | tuple[int, int], order: int = 1, seed: Any
) -> Objects:
    """Draw random strings like X: lengths uniform, letters from a Markov chain fitted to X.

    Each letter follows the last `order` ones as often as it follows them in X. This is a compromise
    between uniform letters (`random_strings`) and whole strings of X (`training_objects`).

    Parameters
    ----------
    R : int
        Number of strings, at least 1.
    X : Objects or what `pack` takes
        The training strings.
    length : int or (int, int)
        Range of the lengths, both ends included; an integer fixes the length.
    order : int, default 1
        Number of letters that the next one depends on, at least 1.
    seed : int, SeedSequence or Generator
        Where the randomness comes from.

    Returns
    -------
    Objects
        R strings with the alphabet of X.

    Raises
    ------
    TypeError
        If X does not hold strings, or an argument is of a wrong type.
    ValueError
        R < 1, order < 1, an empty range of lengths, or X has no string longer than `order`.

    Notes
    -----
    After letters that occur in X only at the end of a string, the chain continues at a random
    position.

    References
    ----------
    Wu, Yen, Xu, Ravikumar, Witbrock, "D2KE: From Distance to Kernel and
    Embedding", 2018, sections 4.1 and 4.3, on the choice of p(omega).

    Examples
    --------
    >>> import d2ke
    >>> list(d2ke.samplers.markov_strings(3, ["abcabcabc", "abcabc"], length=(3, 8), seed=0))
    ['bcabcab', 'bcabcabc', 'abc']
    """
    integer("R", R, 1)
    objects = as_objects("X", X, "strings")
    integer("order", order, 1)
    starts, ends = objects.offsets[:-1], objects.offsets[1:]
    within = np.arange(len(objects.values)) - np.repeat(starts, ends - starts)
    anywhere = np.flatnonzero(within >= order - 1)  # the context fits into the string
    inner = anywhere[np.isin(anywhere, ends - 1, invert=True)]
    if not inner.size:
        raise ValueError(f"X must hold a string longer than order = {order}")
    # Contexts are numbered letter by letter, so that numbers never exceed what int64 holds.
    context = np.zeros(len(objects.values), dtype=np.int64)
    for back in range(order):
        pairs = context[anywhere] * len(objects.alphabet) + objects.values[anywhere - back]
        context[anywhere] = np.unique(pairs, return_inverse=True)[1]
    # The positions of context c that a letter follows are inner[first[c] : first[c] + count[c]].
    inner = inner[np.argsort(context[inner], kind="stable")]
    count = np.bincount(context[inner], minlength=context.max() + 1)
    first = np.cumsum(count) - count
    span = length_range("length", length)
    offsets, draws = draw_objects(seed, R, span, lambda rng, n: rng.random(n))
    lengths = np.diff(offsets)
    positions = anywhere[(draws * len(anywhere)).astype(np.int64)]
    for step in range(1, lengths.max()):
        here = offsets[:-1][lengths > step] + step
        last = context[positions[here - 1]]
        here, last = here[count[last] > 0], last[count[last] > 0]
        positions[here] = inner[first[last] + (draws[here] * count[last]).astype(np.int64)] + 1
    values = objects.values[positions]
    return from_owned("strings", values, offsets, objects.alphabet, objects.letters)
