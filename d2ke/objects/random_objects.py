# SPDX-License-Identifier: BSD-3-Clause
"""p(omega): samplers of random objects.

Every sampler draws nested objects: the first R' of R objects are those that a
draw of R' with the same seed gives, so that features for any R' <= R are the
first columns of one distance matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from d2ke._base.checks import (
    choice,
    element_type,
    generator,
    integer,
    length_range,
    positive_number,
)
from d2ke._base.memory import needs, require_memory
from d2ke.objects.container import Objects, offsets_of, refuse_weights
from d2ke.objects.packing import pack

needs("random_series", "13 N + 16 n", "fewer or shorter objects")


def random_series(
    R: int,
    n_channels: int,
    *,
    length: int | tuple[int, int],
    sigma: float,
    seed: Any,
    dtype: Any = np.float64,
) -> Objects:
    """Draw random time series: lengths uniform, elements independent N(0, sigma^2).

    Parameters
    ----------
    R : int
        Number of series, at least 1.
    n_channels : int
        Channels of each series, at least 1.
    length : int or (int, int)
        Range of the lengths, both ends included; an integer fixes the length.
    sigma : float
        Standard deviation of the elements. (The authors' MATLAB scripts divide
        by what they call sigma: theirs is 1 / this.)
    seed : int, SeedSequence, Generator or RandStream
        Where the randomness comes from. A `matlab_compat.RandStream` is drawn from object by
        object, each one's length before its values, as in a MATLAB loop.
    dtype : {float64, float32}
        Element type; float32 is the rounded float64 draw.

    Returns
    -------
    Objects
        R series.

    Raises
    ------
    TypeError, ValueError
        R < 1, n_channels < 1, an empty range of lengths, sigma <= 0.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    References
    ----------
    Wu, Yen, Xu, Ravikumar, Witbrock, "D2KE: From Distance to Kernel and
    Embedding", 2018, section 5.1.

    Examples
    --------
    >>> import d2ke
    >>> d2ke.random_series(3, 2, length=(1, 10), sigma=1.0, seed=0)
    <3 sequences of 2-dimensional vectors, float64, lengths 1 to 10>
    """
    integer("R", R, 1)
    integer("n_channels", n_channels, 1)
    low, high = length_range("length", length)
    sigma = positive_number("sigma", sigma)
    dtype = element_type("dtype", dtype)
    offsets, values = _draw(
        seed,
        R,
        (low, high),
        lambda generator, n: generator.standard_normal((n, n_channels)),
        lambda stream, n: stream.randn(n_channels, n).T,
        ("random_series", n_channels),
    )
    with np.errstate(over="ignore"):
        values *= sigma
        values = values.astype(dtype, copy=False)
    _check_overflow(values, f"sigma is too large for {dtype}: {sigma}")
    return Objects("vectors", values, offsets)


needs("random_strings", "12 N + 16 n", "fewer or shorter objects")


def random_strings(R: int, alphabet: Any, *, length: int | tuple[int, int], seed: Any) -> Objects:
    """Draw random strings: lengths uniform, letters uniform.

    Parameters
    ----------
    R : int
        Number of strings, at least 1.
    alphabet : str, bytes or sequence of int
        The letters, each once.
    length : int or (int, int)
        Range of the lengths, both ends included; an integer fixes the length.
    seed : int, SeedSequence, Generator or RandStream
        Where the randomness comes from. A `matlab_compat.RandStream` is drawn from object by
        object, each one's length before its values, as in a MATLAB loop.

    Returns
    -------
    Objects
        R strings of the alphabet's type.

    Raises
    ------
    TypeError, ValueError
        R < 1, an empty range of lengths, an empty alphabet or a letter twice.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    References
    ----------
    Wu, Yen, Xu, Ravikumar, Witbrock, "D2KE: From Distance to Kernel and
    Embedding", 2018, section 5.1.

    Examples
    --------
    >>> import d2ke
    >>> list(d2ke.random_strings(3, "ACGT", length=(2, 5), seed=0))
    ['GGCAA', 'GACCT', 'TT']
    """
    integer("R", R, 1)
    low, high = length_range("length", length)
    if not isinstance(alphabet, (str, bytes, Sequence, np.ndarray)):
        raise TypeError(
            "alphabet must be a str, bytes or a sequence of integers, got "
            f"{type(alphabet).__name__}"
        )
    if len(alphabet) == 0:
        raise ValueError("alphabet is empty: at least one letter is needed")
    letters = pack([alphabet], kind="strings", name="alphabet")
    if len(letters.alphabet) != len(letters.values):
        codes, counts = np.unique(letters.values, return_counts=True)
        twice = np.flatnonzero(letters.values == codes[counts > 1][0])
        raise ValueError(
            f"alphabet must name each letter once; {alphabet[twice[0]]!r} is at positions "
            f"{twice[0]} and {twice[1]}"
        )
    n_letters = len(letters.alphabet)
    offsets, codes = _draw(
        seed,
        R,
        (low, high),
        lambda generator, n: generator.integers(0, n_letters, size=n),
        lambda stream, n: stream.randi([0, n_letters - 1], n, 1)[:, 0],
        ("random_strings", 1),
    )
    values = codes.astype(letters.values.dtype)
    return Objects("strings", values, offsets, letters.alphabet, letters.letters)


needs("random_segments", "18 N + 64 n", "fewer or shorter objects")


def random_segments(
    R: int, X: Any, *, length: int | tuple[int, int], scale: float = 1.0, seed: Any
) -> Objects:
    """Draw random segments of X: lengths uniform, places uniform among those with room for one.

    That lies between independent elements (`random_series`, `random_strings`) and objects of X
    themselves (`representatives`).

    Parameters
    ----------
    R : int
        Number of segments, at least 1.
    X : Objects or what `pack` takes
        The training series or strings.
    length : int or (int, int)
        Range of the lengths, both ends included; an integer fixes the length.
    scale : float, default 1.0
        Factor of the values of series, above 0.
    seed : int, SeedSequence or Generator
        Where the randomness comes from.

    Returns
    -------
    Objects
        R objects of the kind and the element type of X.

    Raises
    ------
    TypeError
        If an argument is of a wrong type.
    ValueError
        R < 1, an empty range of lengths, no object of X is as long as the longest length, values
        that are out of the element type's range, or a scale other than 1 for strings.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    References
    ----------
    Wu, Yen, Xu, Ravikumar, Witbrock, "D2KE: From Distance to Kernel and Embedding", 2018,
    sections 4.1 and 4.3, on the choice of p(omega).

    Examples
    --------
    >>> import d2ke
    >>> list(d2ke.random_segments(3, ["abcdefgh", "ABCD"], length=(2, 4), seed=0))
    ['efgh', 'bcde', 'gh']
    """
    integer("R", R, 1)
    objects = pack(X, name="X")
    refuse_weights(objects, "X", "random_segments")
    low, high = length_range("length", length)
    scale = positive_number("scale", scale)
    if objects.kind == "strings" and scale != 1:
        raise ValueError(f"scale is for series, but X holds strings; got scale = {scale}")
    room = np.diff(objects.offsets)
    if room.max(initial=0) < high:
        raise ValueError(
            f"length goes up to {high}, but the longest object of X has {room.max(initial=0)} "
            "elements"
        )
    for_lengths, for_places = generator(seed).spawn(2)
    offsets = _draw_offsets(for_lengths, R, (low, high), "random_segments", objects.dim)
    lengths, draws = np.diff(offsets), for_places.random(R)
    begins = np.empty(R, dtype=np.int64)
    for one in np.unique(lengths).tolist():
        ends = np.cumsum(np.maximum(room - one + 1, 0))
        here = lengths == one
        place = _pick(draws[here], ends[-1])
        item = np.searchsorted(ends, place, side="right")
        begins[here] = objects.offsets[item + 1] - one + 1 - (ends[item] - place)
    source = np.repeat(begins - offsets[:-1], lengths)
    source += np.arange(offsets[-1])
    values = objects.values[source]
    if objects.kind == "vectors":
        with np.errstate(over="ignore", invalid="ignore"):  # 0 times infinity is invalid
            values *= objects.dtype.type(scale)
        _check_overflow(values, f"scale is too large for {objects.dtype}: {scale}")
    return Objects(objects.kind, values, offsets, objects.alphabet, objects.letters)


needs("markov_strings", "18 N + 96 M + 64 n", "fewer or shorter objects")


def markov_strings(
    R: int, X: Any, *, length: int | tuple[int, int], order: int = 1, seed: Any
) -> Objects:
    """Draw random strings like X: lengths uniform, letters from a Markov chain fitted to X.

    Each letter follows the last `order` ones as often as it follows them in X. That lies between
    letters that are uniform (`random_strings`) and strings of X themselves (`representatives`).

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
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    Notes
    -----
    After letters that end a string of X and are nowhere else in it, the chain goes on
    at a random place.

    References
    ----------
    Wu, Yen, Xu, Ravikumar, Witbrock, "D2KE: From Distance to Kernel and
    Embedding", 2018, sections 4.1 and 4.3, on the choice of p(omega).

    Examples
    --------
    >>> import d2ke
    >>> list(d2ke.markov_strings(3, ["abcabcabc", "abcabc"], length=(3, 8), seed=0))
    ['bcabcab', 'bcabcabc', 'abc']
    """
    integer("R", R, 1)
    objects = _of_kind("strings", X)
    integer("order", order, 1)
    chain = _Chain(objects, order)
    for_lengths, for_values = generator(seed).spawn(2)
    offsets = _draw_offsets(
        for_lengths, R, length_range("length", length), "markov_strings", 1, M=len(objects.values)
    )
    draws = for_values.random(offsets[-1])
    places = np.empty(offsets[-1], dtype=np.int64)
    first, lengths = offsets[:-1], np.diff(offsets)
    places[first] = chain.anywhere(draws[first])
    for position in range(1, lengths.max()):
        here = first[lengths > position] + position
        places[here] = chain.next(places[here - 1], draws[here])
    return Objects("strings", objects.values[places], offsets, objects.alphabet, objects.letters)


class _Chain:
    """Goes from a place in the strings to the one after a random place with the same context."""

    def __init__(self, strings: Objects, order: int):
        starts, ends = strings.offsets[:-1], strings.offsets[1:]
        within = np.arange(len(strings.values)) - np.repeat(starts, ends - starts)
        self.places = np.flatnonzero(within >= order - 1)  # the context fits into the string
        going = self.places[np.isin(self.places, ends - 1, invert=True)]
        if not going.size:
            raise ValueError(f"X must hold a string longer than order = {order}")
        # Contexts are numbered letter by letter, so that numbers never exceed what int64 holds.
        self.context = np.zeros(len(strings.values), dtype=np.int64)
        for back in range(order):
            pairs = self.context[self.places] * len(strings.alphabet)
            pairs += strings.values[self.places - back]
            self.context[self.places] = np.unique(pairs, return_inverse=True)[1]
        contexts = self.context[going]
        self.going = going[np.argsort(contexts, kind="stable")]
        self.count = np.bincount(contexts, minlength=self.context.max() + 1)
        self.first = np.cumsum(self.count) - self.count

    def anywhere(self, draws: np.ndarray) -> np.ndarray:
        """Return random places."""
        return self.places[_pick(draws, len(self.places))]

    def next(self, places: np.ndarray, draws: np.ndarray) -> np.ndarray:
        """Return the places after random ones with the contexts of these."""
        context = self.context[places]
        count = self.count[context]
        result = self.anywhere(draws)
        there = count > 0
        chosen = self.first[context[there]] + _pick(draws[there], count[there])
        result[there] = self.going[chosen] + 1
        return result


def _edge(name: str, given: Any, dim: int) -> np.ndarray:
    """Return one side of a box as float64."""
    edge = np.asarray(given)
    if edge.dtype.kind not in "iuf":
        raise TypeError(f"{name} must hold numbers, got {given!r}")
    if edge.shape not in ((), (dim,)):
        raise ValueError(f"{name} must be a number or of shape ({dim},), got {edge.shape}")
    if not np.isfinite(edge).all():
        raise ValueError(f"{name} must be finite, got {edge}")
    return edge.astype(np.float64)


needs("random_sets", "18 N + 16 n", "fewer or smaller sets")


def random_sets(
    R: int,
    dim: int,
    *,
    size: int | tuple[int, int],
    seed: Any,
    region: str = "sphere",
    low: Any = 0.0,
    high: Any = 1.0,
    dtype: Any = np.float64,
) -> Objects:
    """Draw random sets of vectors: sizes uniform, elements uniform on a sphere or in a box.

    Parameters
    ----------
    R : int
        Number of sets, at least 1.
    dim : int
        Dimension of the vectors, at least 1.
    size : int or (int, int)
        Range of the sizes, both ends included; an integer fixes the size.
    seed : int, SeedSequence, Generator or RandStream
        Where the randomness comes from. A `matlab_compat.RandStream` is drawn from object by
        object, each one's length before its values, as in a MATLAB loop.
    region : {"sphere", "orthant", "box"}
        ``"sphere"``: the unit sphere (the paper's choice for descriptors of
        unit length). ``"orthant"``: that part of it where no coordinate is
        negative, as with SIFT and other histograms. ``"box"``: between `low`
        and `high`.
    low, high : float or array_like of shape (dim,)
        The box, low < high; used with ``region="box"`` only.
    dtype : {float64, float32}
        Element type; float32 is the rounded float64 draw.

    Returns
    -------
    Objects
        R sets.

    Raises
    ------
    TypeError, ValueError
        R < 1, dim < 1, an empty range of sizes, an unknown region, an empty box.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    References
    ----------
    Wu, Yen, Xu, Ravikumar, Witbrock, "D2KE: From Distance to Kernel and
    Embedding", 2018, section 5.1.

    Examples
    --------
    >>> import d2ke
    >>> d2ke.random_sets(4, 128, size=(3, 15), seed=0)
    <4 sequences of 128-dimensional vectors, float64, lengths 3 to 15>
    """
    integer("R", R, 1)
    integer("dim", dim, 1)
    smallest, largest = length_range("size", size)
    choice("region", region, ["sphere", "orthant", "box"])
    dtype = element_type("dtype", dtype)
    low, high = _edge("low", low, dim), _edge("high", high, dim)
    if not (low < high).all():
        raise ValueError(f"low must be less than high, got low={low} and high={high}")
    offsets, values = _draw(
        seed,
        R,
        (smallest, largest),
        lambda generator, n: (
            generator.random((n, dim)) if region == "box" else generator.standard_normal((n, dim))
        ),
        lambda stream, n: stream.rand(dim, n).T if region == "box" else stream.randn(dim, n).T,
        ("random_sets", dim),
    )
    if region == "box":
        with np.errstate(over="ignore", invalid="ignore"):
            values = low + values * (high - low)
    else:
        values /= np.linalg.norm(values, axis=1, keepdims=True)
        if region == "orthant":
            np.abs(values, out=values)
    with np.errstate(over="ignore"):
        values = values.astype(dtype, copy=False)
    _check_overflow(values, f"low and high are too far apart for {dtype}: {low} and {high}")
    return Objects("vectors", values, offsets)


needs("resampled_sets", "17 N + 16 n", "fewer or smaller sets")


def resampled_sets(R: int, X: Any, *, size: int | tuple[int, int], seed: Any) -> Objects:
    """Draw random sets of the elements of X: sizes uniform, elements uniform among all sets'.

    That lies between elements from a region of space (`random_sets`) and sets of X themselves
    (`representatives`): the elements are those of the data, the sets mix them.

    Parameters
    ----------
    R : int
        Number of sets, at least 1.
    X : Objects or what `pack` takes
        The training sets of vectors.
    size : int or (int, int)
        Range of the sizes, both ends included; an integer fixes the size.
    seed : int, SeedSequence or Generator
        Where the randomness comes from.

    Returns
    -------
    Objects
        R sets of the element type of X; an element may be in a set twice.

    Raises
    ------
    TypeError
        If X does not hold vectors, or has weights, or an argument is of a wrong type.
    ValueError
        R < 1, an empty range of sizes, or X has no elements.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    References
    ----------
    Wu, Yen, Xu, Ravikumar, Witbrock, "D2KE: From Distance to Kernel and
    Embedding", 2018, sections 4.1 and 4.3, on the choice of p(omega).

    Examples
    --------
    >>> import d2ke
    >>> X = [[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0]]]
    >>> d2ke.resampled_sets(4, X, size=(3, 15), seed=0)
    <4 sequences of 2-dimensional vectors, float64, lengths 3 to 15>
    """
    integer("R", R, 1)
    objects = _of_kind("vectors", X)
    refuse_weights(objects, "X", "resampled_sets")
    if not len(objects.values):
        raise ValueError("X must hold at least one element, but all of its sets are empty")
    for_sizes, for_values = generator(seed).spawn(2)
    offsets = _draw_offsets(for_sizes, R, length_range("size", size), "resampled_sets", objects.dim)
    chosen = for_values.integers(0, len(objects.values), size=offsets[-1])
    return Objects("vectors", objects.values[chosen], offsets)


needs("representatives", "16 N + b N + 64 n", "fewer objects")


def representatives(X: Any, R: int, *, seed: Any) -> Objects:
    """Draw R of the objects themselves without replacement, p(omega) = p(x).

    Parameters
    ----------
    X : Objects or what `pack` takes
        The training objects.
    R : int
        Number of representatives, from 1 to len(X).
    seed : int, SeedSequence or Generator
        Where the randomness comes from.

    Returns
    -------
    Objects
        R objects of X in random order.

    Raises
    ------
    TypeError, ValueError
        R < 1 or R > len(X).

    References
    ----------
    Wu, Yen, Xu, Ravikumar, Witbrock, "D2KE: From Distance to Kernel and
    Embedding", 2018, eq. (8): the representative-set method.

    Examples
    --------
    >>> import d2ke
    >>> list(d2ke.representatives(["AC", "GT", "GG", "TA"], 2, seed=0))
    ['GG', 'AC']
    """
    objects = pack(X, name="X")
    integer("R", R, 1, len(objects))
    return objects[generator(seed).permutation(len(objects))[:R]]


def _of_kind(kind: str, X: Any) -> Objects:
    objects = pack(X, name="X")
    if objects.kind != kind:
        raise TypeError(f"X must hold {kind}, got {objects!r}")
    return objects


def _pick(draws: np.ndarray, count: int | np.ndarray) -> np.ndarray:
    """Turn draws from [0, 1) into numbers from 0 to count - 1."""
    return (draws * count).astype(np.int64)


def _check_overflow(values: np.ndarray, message: str) -> None:
    if not np.isfinite(values).all():
        raise ValueError(message)


def _draw(
    seed: Any,
    R: int,
    lengths: tuple[int, int],
    from_generator: Callable[[np.random.Generator, int], np.ndarray],
    from_stream: Callable[[Any, int], np.ndarray],
    what: tuple[str, int],
) -> tuple[np.ndarray, np.ndarray]:
    """Draw the offsets and the values of R objects.

    A MATLAB-like stream is one sequence: each object's length comes before its values there, so
    that the objects are those that a MATLAB loop draws. `what` is the function that was called,
    and how many numbers an element has.
    """
    if hasattr(seed, "randi"):
        parts = [from_stream(seed, seed.randi(list(lengths))) for _ in range(R)]
        return offsets_of([len(part) for part in parts]), np.concatenate(parts)
    for_lengths, for_values = generator(seed).spawn(2)
    offsets = _draw_offsets(for_lengths, R, lengths, *what)
    return offsets, from_generator(for_values, offsets[-1])


def _draw_offsets(
    rng: np.random.Generator,
    R: int,
    lengths: tuple[int, int],
    function: str,
    dim: int,
    **sizes: int,
) -> np.ndarray:
    """Draw lengths, and ask for the memory of objects of these lengths."""
    low, high = lengths
    require_memory(function, n=R, N=R * low * dim, **sizes)
    offsets = offsets_of(rng.integers(low, high + 1, size=R))
    require_memory(function, n=R, N=int(offsets[-1]) * dim, **sizes)
    return offsets
