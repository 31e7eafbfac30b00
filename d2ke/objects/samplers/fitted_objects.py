# SPDX-License-Identifier: BSD-3-Clause
"""p(omega) from data: random objects like the training objects, and training objects themselves.

They are nested as those of `d2ke.objects.samplers.random_objects`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from d2ke._base.checks import generator, integer, length_range, positive_number
from d2ke.objects.compatibility import refuse_weights
from d2ke.objects.container import Objects, from_owned
from d2ke.objects.packing import as_objects
from d2ke.objects.samplers.random_objects import check_overflow, draw_offsets


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

    References
    ----------
    Wu, Yen, Xu, Ravikumar, Witbrock, "D2KE: From Distance to Kernel and Embedding", 2018,
    sections 4.1 and 4.3, on the choice of p(omega).

    Examples
    --------
    >>> import d2ke
    >>> list(d2ke.samplers.random_segments(3, ["abcdefgh", "ABCD"], length=(2, 4), seed=0))
    ['efgh', 'bcde', 'gh']
    """
    integer("R", R, 1)
    objects = as_objects("X", X)
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
    offsets = draw_offsets(for_lengths, R, (low, high))
    values = cut_segments(objects, offsets, for_places.random(R))
    if objects.kind != "strings":
        with np.errstate(over="ignore", invalid="ignore"):  # 0 times infinity is invalid
            values *= objects.dtype.type(scale)
        check_overflow(values, f"scale is too large for {objects.dtype}: {scale}")
    return from_owned(objects.kind, values, offsets, objects.alphabet, objects.letters)


def cut_segments(objects: Objects, offsets: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Return the values of segments, whose lengths are those between `offsets`.

    A draw from [0, 1) says where a segment begins, among all places with room for it.
    """
    lengths, room = np.diff(offsets), np.diff(objects.offsets)
    begins = np.empty(len(lengths), dtype=np.int64)
    for n in np.unique(lengths).tolist():
        ends = np.cumsum(np.maximum(room - n + 1, 0))
        here = lengths == n
        place = _pick(draws[here], ends[-1])
        item = np.searchsorted(ends, place, side="right")
        begins[here] = objects.offsets[item + 1] - n + 1 - (ends[item] - place)
    source = np.repeat(begins - offsets[:-1], lengths)
    source += np.arange(offsets[-1])
    return objects.values[source]


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

    Notes
    -----
    After letters that end a string of X and are nowhere else in it, the chain continues at a
    random place.

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
    objects = _of_kind("strings", X)
    integer("order", order, 1)
    chain = _Chain(objects, order)
    for_lengths, for_values = generator(seed).spawn(2)
    offsets = draw_offsets(for_lengths, R, length_range("length", length))
    draws = for_values.random(offsets[-1])
    places = np.empty(offsets[-1], dtype=np.int64)
    first, lengths = offsets[:-1], np.diff(offsets)
    places[first] = chain.anywhere(draws[first])
    for position in range(1, lengths.max()):
        here = first[lengths > position] + position
        places[here] = chain.next(places[here - 1], draws[here])
    return from_owned("strings", objects.values[places], offsets, objects.alphabet, objects.letters)


class _Chain:
    """Steps from a place in the strings to the one after a random place with the same context."""

    def __init__(self, strings: Objects, order: int):
        starts, ends = strings.offsets[:-1], strings.offsets[1:]
        within = np.arange(len(strings.values)) - np.repeat(starts, ends - starts)
        self.places = np.flatnonzero(within >= order - 1)  # the context fits into the string
        inner = self.places[np.isin(self.places, ends - 1, invert=True)]
        if not inner.size:
            raise ValueError(f"X must hold a string longer than order = {order}")
        # Contexts are numbered letter by letter, so that numbers never exceed what int64 holds.
        self.context = np.zeros(len(strings.values), dtype=np.int64)
        for back in range(order):
            pairs = self.context[self.places] * len(strings.alphabet)
            pairs += strings.values[self.places - back]
            self.context[self.places] = np.unique(pairs, return_inverse=True)[1]
        contexts = self.context[inner]
        self.inner = inner[np.argsort(contexts, kind="stable")]
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
        result[there] = self.inner[chosen] + 1
        return result


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

    References
    ----------
    Wu, Yen, Xu, Ravikumar, Witbrock, "D2KE: From Distance to Kernel and
    Embedding", 2018, sections 4.1 and 4.3, on the choice of p(omega).

    Examples
    --------
    >>> import d2ke
    >>> X = [[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0]]]
    >>> d2ke.samplers.resampled_sets(4, X, size=(3, 15), seed=0)
    <4 sets of 2-dimensional vectors, float64, lengths 3 to 15>
    """
    integer("R", R, 1)
    objects = as_objects("X", X, "sets")
    refuse_weights(objects, "X", "resampled_sets")
    if not len(objects.values):
        raise ValueError("X must hold at least one element, but all of its sets are empty")
    for_sizes, for_values = generator(seed).spawn(2)
    offsets = draw_offsets(for_sizes, R, length_range("size", size))
    chosen = for_values.integers(0, len(objects.values), size=offsets[-1])
    return from_owned("sets", objects.values[chosen], offsets)


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
    >>> list(d2ke.samplers.representatives(["AC", "GT", "GG", "TA"], 2, seed=0))
    ['GG', 'AC']
    """
    objects = as_objects("X", X)
    integer("R", R, 1, len(objects))
    return objects[generator(seed).permutation(len(objects))[:R]]


def _of_kind(kind: str, X: Any) -> Objects:
    objects = as_objects("X", X)
    if objects.kind != kind:
        raise TypeError(f"X must hold {kind}, got {objects!r}")
    return objects


def _pick(draws: np.ndarray, count: int | np.ndarray) -> np.ndarray:
    """Turn draws from [0, 1) into numbers from 0 to count - 1."""
    return (draws * count).astype(np.int64)
