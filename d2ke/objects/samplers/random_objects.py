# SPDX-License-Identifier: BSD-3-Clause
"""p(omega): random objects from a distribution that is known, such as uniform or normal.

Samplers draw nested objects: the first R' of R objects are the same as in a draw of R' objects with
the same seed, so that features for any R' <= R are the first columns of one distance matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import singledispatch
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
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.keywords import hinted
from d2ke.objects.container import Objects, from_owned, offsets_of
from d2ke.objects.packing import as_objects, pack


@singledispatch
def as_stream(seed: Any) -> Any:
    """Return None, or for a registered type of seed an adapter: one sequence of random numbers.

    An adapter has the methods ``integers(low, high, size=None)``, ``random(size)`` and
    ``standard_normal(size)`` of numpy's Generator. `random_series`, `random_strings` and
    `random_sets` draw from it object by object, each one's length before its values, where a
    Generator is spawned into one for all lengths and one for all values.
    """
    return None


@hinted
def random_series(
    R: int,
    n_channels: int | None = None,
    *,
    length: int | tuple[int, int],
    sigma: float | None = None,
    seed: Any,
    X: Any = None,
    dtype: Any = np.float64,
) -> Objects:
    """Draw random time series: lengths uniform, elements independent N(0, sigma^2).

    Parameters
    ----------
    R : int
        Number of series, at least 1.
    n_channels : int, optional
        Channels of each series, at least 1; by default as in X.
    length : int or (int, int)
        Range of the lengths, both ends included; an integer fixes the length.
    sigma : float, optional
        Standard deviation of the elements; by default of all values of X. (The authors'
        MATLAB scripts divide by what they call sigma: theirs is 1 / this.)
    seed : int, SeedSequence, Generator or RandStream
        Where the randomness comes from; a `RandStream` of `matlab_compat` is drawn from object
        by object, each one's length before its values, as in a MATLAB loop.
    X : Objects or what `pack` takes, optional
        The training series, instead of `n_channels`, `sigma` or both.
    dtype : {float64, float32}
        Element type; float32 is the rounded float64 draw.

    Returns
    -------
    Objects
        R series.

    Raises
    ------
    TypeError, ValueError
        R < 1, n_channels < 1, an empty range of lengths, sigma <= 0; neither X nor both of
        n_channels and sigma.

    References
    ----------
    Wu, Yen, Xu, Ravikumar, Witbrock, "D2KE: From Distance to Kernel and
    Embedding", 2018, section 5.1.

    Examples
    --------
    >>> import d2ke
    >>> d2ke.samplers.random_series(3, 2, length=(1, 10), sigma=1.0, seed=0)
    <3 series of 2-dimensional vectors, float64, lengths 1 to 10>
    >>> d2ke.samplers.random_series(3, length=5, seed=0, X=[[1.0, 2.0, 3.0], [2.0, 4.0]])
    <3 series of 1-dimensional vectors, float64, lengths 5 to 5>
    """
    integer("R", R, 1)
    names = None
    if X is not None:
        series = as_objects("X", X)
        if series.has_letters:
            raise ArgumentTypeError("X", "holds strings, but series are needed")
        names = series.channel_names if n_channels in (None, series.dim) else None
        n_channels = series.dim if n_channels is None else n_channels
        if sigma is None and len(series.values):
            sigma = float(series.values.std(dtype=np.float64))
    n_channels = _needed("n_channels", n_channels)
    integer("n_channels", n_channels, 1)
    lengths = length_range("length", length)
    sigma = positive_number("sigma", _needed("sigma", sigma))
    dtype = element_type("dtype", dtype)

    def vectors(rng: Any, n: int) -> np.ndarray:
        return rng.standard_normal((n, n_channels))

    offsets, values = draw_objects(seed, R, lengths, vectors)
    with np.errstate(over="ignore"):
        values *= sigma
        values = values.astype(dtype, copy=False)
    check_overflow(values, f"sigma is too large for {dtype}: {sigma}")
    return from_owned("series", values, offsets, channel_names=names)


def _needed(name: str, value: Any) -> Any:
    if value is None:
        raise ArgumentTypeError(name, "is needed, or X, the training series that it is taken from")
    return value


@hinted
def random_strings(R: int, alphabet: Any, *, length: int | tuple[int, int], seed: Any) -> Objects:
    """Draw random strings: lengths uniform, letters uniform.

    Parameters
    ----------
    R : int
        Number of strings, at least 1.
    alphabet : str, bytes or sequence of int or of tokens
        The letters, each once; tokens are as `pack` takes them.
    length : int or (int, int)
        Range of the lengths, both ends included; an integer fixes the length.
    seed : int, SeedSequence, Generator or RandStream
        Where the randomness comes from; a `RandStream` of `matlab_compat` is drawn from object
        by object, each one's length before its values, as in a MATLAB loop.

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
    >>> list(d2ke.samplers.random_strings(3, "ACGT", length=(2, 5), seed=0))
    ['GGCAA', 'GACCT', 'TT']
    """
    integer("R", R, 1)
    lengths = length_range("length", length)
    if not isinstance(alphabet, (str, bytes, Sequence, np.ndarray)):
        raise TypeError(
            "alphabet must be a str, bytes or a sequence of integers or of tokens, got "
            f"{type(alphabet).__name__}"
        )
    if len(alphabet) == 0:
        raise ValueError("alphabet is empty: at least one letter is needed")
    if not isinstance(alphabet, str) and all(isinstance(x, str) and len(x) == 1 for x in alphabet):
        joined = "".join(map(str, alphabet))
        raise TypeError(f"alphabet is a sequence of single letters; write {joined[:20]!r}")
    letters = pack([alphabet], kind="strings", name="alphabet")
    if len(letters.alphabet) != len(letters.values):
        codes, counts = np.unique(letters.values, return_counts=True)
        twice = np.flatnonzero(letters.values == codes[counts > 1][0])
        raise ValueError(
            f"alphabet must name each letter once; {alphabet[twice[0]]!r} is at positions "
            f"{twice[0]} and {twice[1]}"
        )
    n_letters = len(letters.alphabet)
    offsets, codes = draw_objects(
        seed, R, lengths, lambda rng, n: rng.integers(0, n_letters, size=n)
    )
    values = codes.astype(letters.values.dtype)
    return from_owned("strings", values, offsets, letters.alphabet, letters.letters)


@hinted
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
        Where the randomness comes from; a `RandStream` of `matlab_compat` is drawn from object
        by object, each one's length before its values, as in a MATLAB loop.
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
    >>> d2ke.samplers.random_sets(4, 128, size=(3, 15), seed=0)
    <4 sets of 128-dimensional vectors, float64, lengths 3 to 15>
    """
    integer("R", R, 1)
    integer("dim", dim, 1)
    sizes = length_range("size", size)
    choice("region", region, ["sphere", "orthant", "box"])
    dtype = element_type("dtype", dtype)
    low, high = _edge("low", low, dim), _edge("high", high, dim)
    if not (low < high).all():
        raise ValueError(f"low must be less than high, got low={low} and high={high}")

    def vectors(rng: Any, n: int) -> np.ndarray:
        return (rng.random if region == "box" else rng.standard_normal)((n, dim))

    offsets, values = draw_objects(seed, R, sizes, vectors)
    if region == "box":
        with np.errstate(over="ignore", invalid="ignore"):
            values = low + values * (high - low)
    else:
        values /= np.linalg.norm(values, axis=1, keepdims=True)
        if region == "orthant":
            np.abs(values, out=values)
    with np.errstate(over="ignore"):
        values = values.astype(dtype, copy=False)
    check_overflow(values, f"low and high are too far apart for {dtype}: {low} and {high}")
    return from_owned("sets", values, offsets)


def _edge(name: str, value: Any, dim: int) -> np.ndarray:
    """Return one side of a box as float64."""
    edge = np.asarray(value)
    if edge.dtype.kind not in "iuf":
        raise ArgumentTypeError(name, f"must hold numbers, got {value!r}")
    if edge.shape not in ((), (dim,)):
        raise ArgumentError(name, f"must be a number or of shape ({dim},), got {edge.shape}")
    if not np.isfinite(edge).all():
        raise ArgumentError(name, f"must be finite, got {edge}")
    return edge.astype(np.float64)


def draw_objects(
    seed: Any,
    R: int,
    lengths: tuple[int, int],
    draw_values: Callable[[Any, int], np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """Draw the offsets and the values of R objects."""
    (low, high), sequence = lengths, as_stream(seed)
    if sequence is not None:
        objects = [draw_values(sequence, sequence.integers(low, high + 1)) for _ in range(R)]
        return offsets_of(list(map(len, objects))), np.concatenate(objects)
    for_lengths, for_values = generator(seed).spawn(2)
    offsets = offsets_of(for_lengths.integers(low, high + 1, size=R))
    return offsets, draw_values(for_values, offsets[-1])


def check_overflow(values: np.ndarray, message: str) -> None:
    """Refuse values that are not finite."""
    if not np.isfinite(values).all():
        raise ValueError(message)
