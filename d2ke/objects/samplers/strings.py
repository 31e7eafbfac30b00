# SPDX-License-Identifier: BSD-3-Clause
"""Random strings from training strings: a Markov chain of their letters, and pieces of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from d2ke._base.checks import generator, integer, length_range
from d2ke._base.keywords import hinted
from d2ke.objects.container import Objects, from_owned
from d2ke.objects.packing import as_objects
from d2ke.objects.samplers.random_objects import draw_offsets


@hinted
def markov_strings(
    R: int, X: Any, *, length: int | tuple[int, int], order: int = 1, seed: Any
) -> Objects:
    """Draw random strings like X: lengths uniform, letters from a Markov chain fitted to X.

    Each letter follows the last `order` ones as often as it follows them in X. That lies between
    letters that are uniform (`random_strings`) and strings of X themselves (`training_objects`).

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
    objects = as_objects("X", X)
    if objects.kind != "strings":
        raise TypeError(f"X must hold strings, got {objects!r}")
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


def _pick(draws: np.ndarray, count: int | np.ndarray) -> np.ndarray:
    """Turn draws from [0, 1) into numbers from 0 to count - 1."""
    return (draws * count).astype(np.int64)
