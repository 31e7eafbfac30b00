# SPDX-License-Identifier: BSD-3-Clause
"""MATLAB's one random stream for all: `rng`, `rand`, `randn`, `randi`, `randperm`."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from d2ke._base.checks import choice
from d2ke._base.errors import ArgumentError
from d2ke._base.keywords import hinted
from matlab_compat._cells import Struct
from matlab_compat.rand_stream import RandStream

# The stream of `rng`, as MATLAB has one; there is none until `rng` is called.
_stream: RandStream | None = None


@hinted
def rng(seed: Any = None, generator: str = "twister") -> Struct | None:
    """Start the stream of `rand`, `randn`, `randi` and `randperm`.

    Parameters
    ----------
    seed : {"default", "shuffle"}, int or mapping, optional
        "default" is seed 0; "shuffle" takes one from the clock; a mapping that `rng` returned
        puts the stream back to where it was. None changes nothing.
    generator : {"twister"}
        The only one there is.

    Returns
    -------
    Struct or None
        ``Type``, ``Seed`` and ``State`` of the stream as it was before; None if there was none.

    Raises
    ------
    TypeError, ValueError
        An invalid seed or generator.

    Examples
    --------
    >>> _ = rng("default")
    >>> before = rng()
    >>> randi(10, 1, 4)
    array([[ 9, 10,  2, 10]])
    >>> _ = rng(before)
    >>> randi(10, 1, 4)
    array([[ 9, 10,  2, 10]])
    """
    global _stream
    choice("generator", generator, ["twister"])
    before = None
    if _stream is not None:
        before = Struct(Type="twister", Seed=_stream.Seed, State=_stream.State)
    if isinstance(seed, Mapping):
        missing = {"Type", "Seed", "State"} - set(seed)
        if missing:
            raise ArgumentError("seed", f"must be what rng() returned; it has no {sorted(missing)}")
        choice("seed['Type']", seed["Type"], ["twister"])
        stream = RandStream(seed["Seed"])
        stream.State = seed["State"]
        _stream = stream
    elif isinstance(seed, str):
        shuffled = choice("seed", seed, ["default", "shuffle"]) == "shuffle"
        _stream = RandStream(time.time_ns() // 10_000_000 % 2**32 if shuffled else 0)
    elif seed is not None:
        _stream = RandStream(seed)
    return before


def global_stream() -> RandStream:
    """Return the stream that `rng` started.

    Returns
    -------
    RandStream

    Raises
    ------
    RuntimeError
        `rng` was not called yet.

    Examples
    --------
    >>> _ = rng(3)
    >>> global_stream()
    RandStream(3)
    """
    if _stream is None:
        raise RuntimeError("no random stream yet: call rng('default') or rng(seed) first")
    return _stream


@hinted
def rand(*size: Any) -> Any:
    """Draw uniform numbers from the stream of `rng`, see `RandStream.rand`.

    Parameters
    ----------
    *size : int or sequence of int
        As in MATLAB.

    Returns
    -------
    float or ndarray of float64

    Raises
    ------
    RuntimeError
        `rng` was not called yet.
    TypeError, ValueError
        Wrong sizes.

    Examples
    --------
    >>> _ = rng("default")
    >>> rand(2).round(4)
    array([[0.8147, 0.127 ],
           [0.9058, 0.9134]])
    """
    return global_stream().rand(*size)


@hinted
def randn(*size: Any) -> Any:
    """Draw normal numbers from the stream of `rng`, see `RandStream.randn`.

    Parameters
    ----------
    *size : int or sequence of int
        As in MATLAB.

    Returns
    -------
    float or ndarray of float64

    Raises
    ------
    RuntimeError
        `rng` was not called yet.
    TypeError, ValueError
        Wrong sizes.

    Examples
    --------
    >>> _ = rng("default")
    >>> round(randn(), 4)
    0.5377
    """
    return global_stream().randn(*size)


@hinted
def randi(limits: Any, *size: Any) -> Any:
    """Draw integers from the stream of `rng`, see `RandStream.randi`.

    Parameters
    ----------
    limits : int or (int, int)
        The largest, or the smallest and the largest.
    *size : int or sequence of int
        As in MATLAB.

    Returns
    -------
    int or ndarray of int64

    Raises
    ------
    RuntimeError
        `rng` was not called yet.
    TypeError, ValueError
        Wrong limits or sizes.

    Examples
    --------
    >>> _ = rng("default")
    >>> randi([0, 4], 1, 5)
    array([[4, 4, 0, 4, 3]])
    """
    return global_stream().randi(limits, *size)


@hinted
def randperm(n: int) -> np.ndarray:
    """Draw an order of 1 to n from the stream of `rng`, see `RandStream.randperm`.

    Parameters
    ----------
    n : int
        At least 0.

    Returns
    -------
    ndarray of int64, shape (1, n)

    Raises
    ------
    RuntimeError
        `rng` was not called yet.
    TypeError, ValueError
        n is not an integer of at least 0.

    Examples
    --------
    >>> _ = rng("default")
    >>> randperm(4)
    array([[3, 1, 2, 4]])
    """
    return global_stream().randperm(n)
