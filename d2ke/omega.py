# SPDX-License-Identifier: BSD-3-Clause
"""p(omega): samplers of random objects.

Every sampler draws nested objects: the first R' of R objects are those that a
draw of R' with the same seed gives, so that features for any R' <= R are the
first columns of one distance matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from d2ke._validate import choice, element_type, generator, integer, length_range, positive_number
from d2ke.objects import Objects, pack


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
    seed : int, SeedSequence or Generator
        Where the randomness comes from.
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
    for_lengths, for_values = generator(seed).spawn(2)
    offsets = _draw_offsets(for_lengths, R, low, high)
    values = for_values.standard_normal((offsets[-1], n_channels))
    with np.errstate(over="ignore"):
        values = (values * sigma).astype(dtype, copy=False)
    _check_overflow(values, f"sigma is too large for {dtype}: {sigma}")
    return Objects("vectors", values, offsets)


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
    seed : int, SeedSequence or Generator
        Where the randomness comes from.

    Returns
    -------
    Objects
        R strings of the alphabet's type.

    Raises
    ------
    TypeError, ValueError
        R < 1, an empty range of lengths, an empty alphabet or a letter twice.

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
    for_lengths, for_values = generator(seed).spawn(2)
    offsets = _draw_offsets(for_lengths, R, low, high)
    codes = for_values.integers(0, len(letters.alphabet), size=offsets[-1])
    values = codes.astype(letters.values.dtype)
    return Objects("strings", values, offsets, letters.alphabet, letters.letters)


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
    seed : int, SeedSequence or Generator
        Where the randomness comes from.
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
    low, high = (np.asarray(edge, dtype=np.float64) for edge in (low, high))
    for name, edge in (("low", low), ("high", high)):
        if edge.shape not in ((), (dim,)):
            raise ValueError(f"{name} must be a number or of shape ({dim},), got {edge.shape}")
        if not np.isfinite(edge).all():
            raise ValueError(f"{name} must be finite, got {edge}")
    if not (low < high).all():
        raise ValueError(f"low must be less than high, got low={low} and high={high}")
    for_sizes, for_values = generator(seed).spawn(2)
    offsets = _draw_offsets(for_sizes, R, smallest, largest)
    if region != "box":
        values = for_values.standard_normal((offsets[-1], dim))
        values /= np.linalg.norm(values, axis=1, keepdims=True)
        if region == "orthant":
            np.abs(values, out=values)
    else:
        values = for_values.random((offsets[-1], dim))
        with np.errstate(over="ignore", invalid="ignore"):
            values = low + values * (high - low)
    with np.errstate(over="ignore"):
        values = values.astype(dtype, copy=False)
    _check_overflow(values, f"low and high are too far apart for {dtype}: {low} and {high}")
    return Objects("vectors", values, offsets)


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


def _check_overflow(values: np.ndarray, message: str) -> None:
    if not np.isfinite(values).all():
        raise ValueError(message)


def _draw_offsets(rng: np.random.Generator, R: int, low: int, high: int) -> np.ndarray:
    offsets = np.zeros(R + 1, dtype=np.int64)
    np.cumsum(rng.integers(low, high + 1, size=R), out=offsets[1:])
    return offsets
