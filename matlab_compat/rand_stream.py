# SPDX-License-Identifier: BSD-3-Clause
"""MATLAB's default random stream as a class, `RandStream`.

The words are the Mersenne twister's. Uniform numbers are made of two words each, normal
numbers by the ziggurat method with 256 levels (Marsaglia & Tsang 2000), also of two words each
and, in about one draw of a hundred, of more. All kinds of draws share one stream, so their order
matters, as in MATLAB. Values agree with MATLAB's published ones to about 1e-14.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from functools import cache
from typing import Any

import numpy as np

from d2ke._base.checks import choice
from d2ke._base.errors import ArgumentError
from d2ke.objects.samplers.random_objects import as_stream
from matlab_compat._cells import whole

_LEVELS = 256
_CHUNK = 1 << 14  # draws at a time: their arrays stay in the cache


class RandStream:
    """One stream of random numbers, as ``RandStream('mt19937ar', 'Seed', seed)`` in MATLAB.

    Parameters
    ----------
    seed : int, default 0
        From 0 to 2^32 - 1; 0 as for ``rng('default')``.

    Attributes
    ----------
    Seed : int
        The seed that the stream started from.
    State : ndarray of uint32, shape (625, 1)
        The twister's 624 words, and the position of the next; can be set, to go back.

    Raises
    ------
    TypeError, ValueError
        A seed that is not such an integer.

    Notes
    -----
    Arrays are filled column by column. Sizes are given as in MATLAB: none for one number, ``n``
    for n x n, ``m, n, ...`` or one sequence of sizes; the result is in MATLAB's memory order.

    `d2ke.samplers.random_series` takes a stream as its `seed` and then draws the series as the
    Random Warping Series code of Wu et al. (2018) does: a length, its values, the next length.

    Examples
    --------
    >>> stream = RandStream(0)
    >>> stream.randn(1, 3).round(4)
    array([[ 0.5377,  1.8339, -2.2588]])
    """

    def __init__(self, seed: int = 0) -> None:
        self.Seed = whole("seed", seed, 0, 2**32 - 1)
        self._twister = np.random.MT19937()
        # A plain integer goes to the twister's own initialisation; numpy's public way hashes it.
        self._twister._legacy_seeding(self.Seed or 5489)  # what seed 0 stands for

    def __repr__(self) -> str:
        return f"RandStream({self.Seed})"

    @property
    def State(self) -> np.ndarray:
        """The twister's words and the position of the next."""
        state = self._twister.state["state"]
        return np.append(state["key"], state["pos"]).astype(np.uint32)[:, np.newaxis]

    @State.setter
    def State(self, state: Any) -> None:
        words = np.asarray(state)
        n_words = 624  # of the twister's state
        if words.size != n_words + 1 or words.dtype.kind not in "iuf":
            raise ArgumentError(
                "State",
                f"must hold {n_words + 1} numbers, got {words.dtype} of shape {words.shape}",
            )
        words = words.reshape(-1)
        low, high = words.min(), words.max()
        if not (low >= 0 and high < 2**32 and words[-1] <= n_words and np.all(words % 1 == 0)):
            raise ArgumentError(
                "State",
                "must hold integers from 0 to 2^32 - 1, the last of them at most "
                f"{n_words}; got {low} to {high}, the last {words[-1]}",
            )
        key: Any = {"key": words[:-1].astype(np.uint32), "pos": int(words[-1])}
        self._twister.state = {"bit_generator": "MT19937", "state": key}

    def rand(self, *size: Any) -> Any:
        """Draw uniform numbers between 0 and 1, exclusive.

        Parameters
        ----------
        *size : int or sequence of int
            As in MATLAB.

        Returns
        -------
        float or ndarray of float64

        Raises
        ------
        TypeError, ValueError
            Sizes that are not integers of at least 0.

        Examples
        --------
        >>> RandStream(0).rand(1, 5).round(4)
        array([[0.8147, 0.9058, 0.127 , 0.9134, 0.6324]])
        """
        return _shaped(self._uniforms, size)

    def randn(self, *size: Any) -> Any:
        """Draw standard normal numbers.

        Parameters
        ----------
        *size : int or sequence of int
            As in MATLAB.

        Returns
        -------
        float or ndarray of float64

        Raises
        ------
        TypeError, ValueError
            Sizes that are not integers of at least 0.

        References
        ----------
        G. Marsaglia, W. W. Tsang, "The ziggurat method for generating random variables",
        Journal of Statistical Software 5(8), 2000.

        Examples
        --------
        >>> RandStream(0).randn(2).round(4)
        array([[ 0.5377, -2.2588],
               [ 1.8339,  0.8622]])
        """
        return _shaped(self._normals, size)

    def randi(self, limits: Any, *size: Any) -> Any:
        """Draw uniform integers.

        Parameters
        ----------
        limits : int or (int, int)
            The largest (then the smallest is 1), or the smallest and the largest.
        *size : int or sequence of int
            As in MATLAB.

        Returns
        -------
        int or ndarray of int64
            (Doubles in MATLAB; integers can be indices here.)

        Raises
        ------
        TypeError, ValueError
            Limits that are not integers, in the wrong order or beyond 2^53; wrong sizes.

        Examples
        --------
        >>> RandStream(0).randi([1, 25])
        21
        """
        pair = np.asarray(limits).reshape(-1)
        if len(pair) > 2 or len(pair) == 0:
            raise ArgumentError("limits", f"must be imax or [imin, imax], got {limits!r}")
        max_integer = 2**53
        low = whole("imin", pair[0], -max_integer, max_integer) if len(pair) == 2 else 1
        high = whole("imax", pair[-1], -max_integer, max_integer)
        if high < low or high - low >= max_integer:
            raise ArgumentError(
                "limits", f"must be in order, less than 2^53 apart; got {low} and {high}"
            )
        span = high - low + 1
        return _shaped(lambda n: low + (self._uniforms(n) * span).astype(np.int64), size)

    def randperm(self, n: int) -> np.ndarray:
        """Draw a random order of 1 to n.

        Parameters
        ----------
        n : int
            At least 0. (Of MATLAB's ``randperm(n, k)`` no description exists; it is left out.)

        Returns
        -------
        ndarray of int64, shape (1, n)
            From 1, as in MATLAB: ``order = stream.randperm(n).ravel() - 1`` is an index.

        Raises
        ------
        TypeError, ValueError
            n is not an integer of at least 0.

        Examples
        --------
        >>> RandStream(0).randperm(6)
        array([[6, 3, 5, 1, 2, 4]])
        """
        n = whole("n", n, 0)
        return np.argsort(self._uniforms(n), kind="stable")[np.newaxis] + 1

    def _pairs(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Take the next n pairs of words."""
        words = self._twister.random_raw(2 * n).view(np.int64)  # the conversion to float is faster
        return words[::2], words[1::2]

    def _uniforms(self, n: int) -> np.ndarray:
        out = np.empty(n)
        for start in range(0, n, _CHUNK):
            chunk = out[start : start + _CHUNK]
            chunk[:] = _uniform(*self._pairs(len(chunk)))
        while not out.all():  # 0 is drawn again, and what follows it moves up
            out = out[out > 0]
            out = np.append(out, _uniform(*self._pairs(n - len(out))))
        return out

    def _normals(self, n: int) -> np.ndarray:
        out = np.empty(n)
        done = 0
        while done < n:
            # No more pairs than numbers are missing: none is taken that is not used.
            numbers = self._some_normals(min(n - done, _CHUNK))
            out[done : done + len(numbers)] = numbers
            done += len(numbers)
        return out

    def _some_normals(self, n: int) -> np.ndarray:
        """Return the normal numbers, at most n, that the next n pairs of words give.

        Nearly all pairs give one number each. A few need further uniform numbers, which are the
        following pairs, and perhaps more pairs.
        """
        X, Y = _levels()
        first, second = self._pairs(n)
        level = second >> 24
        z = ((first >> 3) << 24 | second & 0xFFFFFF) * 2.0**-52
        z -= 1
        z *= X[1:][level]
        doubtful = np.flatnonzero(np.abs(z) >= X[level])
        if len(doubtful) == 0:
            return z

        is_number = np.ones(n, dtype=bool)  # pairs that are numbers

        def uniform(i: int) -> tuple[float, int]:
            """Return the uniform number of pair i, or of a later one if it is 0; and the next i."""
            u = 0.0
            while u == 0:
                if i < n:
                    is_number[i] = False
                    u = float(_uniform(first[i], second[i]))
                else:
                    u = float(_uniform(*self._pairs(1))[0])
                i += 1
            return u, i

        # The wedges of all, as if no two were neighbours; the loop corrects neighbours.
        following = np.minimum(doubtful + 1, n - 1)
        u = _uniform(first[following], second[following])
        below, above = Y[1:][level[doubtful]], Y[level[doubtful]]
        value = z[doubtful]
        inside = below + u * (above - below) < np.exp(-value * value / 2)
        simple = (level[doubtful] < _LEVELS - 1) & (doubtful + 1 < n) & (u > 0)
        free = 0  # the first pair that no earlier number has used
        edge = 3.65415288536101  # beyond it the top level ends
        for i, accepted, plain in zip(
            doubtful.tolist(), inside.tolist(), simple.tolist(), strict=True
        ):
            if i < free:
                continue
            if plain:
                is_number[i] = accepted
                is_number[i + 1] = False
                free = i + 2
            elif level[i] < _LEVELS - 1:
                u_i, free = uniform(i + 1)
                low, high = Y[level[i] + 1], Y[level[i]]
                is_number[i] = low + u_i * (high - low) < math.exp(-z[i] * z[i] / 2)
            else:
                x, y, free = 1.0, 0.0, i + 1
                while 2 * y <= x * x:
                    u_i, free = uniform(free)
                    x = -math.log(u_i) / edge
                    u_i, free = uniform(free)
                    y = -math.log(u_i)
                z[i] = math.copysign(edge + x, z[i])
        return z[is_number]


@as_stream.register(RandStream)
class _Sequence:
    """The methods of numpy's Generator that d2ke's samplers call, row by row from a stream."""

    def __init__(self, stream: RandStream) -> None:
        self._stream = stream

    def integers(self, low: int, high: int, size: int | None = None) -> Any:
        limits = [low, high - 1]
        if size is None:
            return self._stream.randi(limits)
        return self._stream.randi(limits, size, 1)[:, 0]

    def random(self, size: tuple[int, int]) -> np.ndarray:
        return self._stream.rand(*reversed(size)).T

    def standard_normal(self, size: tuple[int, int]) -> np.ndarray:
        return self._stream.randn(*reversed(size)).T


def _uniform(first: Any, second: Any) -> Any:
    return ((first >> 5) << 26 | second >> 6) * 2.0**-53


@cache
def _levels() -> tuple[np.ndarray, np.ndarray]:
    """Return the edges X and heights Y = f(X) of the levels, f(x) = exp(-x^2 / 2).

    MATLAB's tables hold 15 significant digits.
    """
    with localcontext() as context:
        context.prec = 50
        edge, area = Decimal("3.6541528853610088"), Decimal("0.0049286732339746568")

        def height(x: Decimal) -> Decimal:
            return (-x * x / 2).exp()

        X = [Decimal(0)] * (_LEVELS + 1)
        X[_LEVELS - 1], X[_LEVELS] = edge, area / height(edge)
        for i in range(_LEVELS - 2, 0, -1):
            X[i] = (-2 * (area / X[i + 1] + height(X[i + 1])).ln()).sqrt()
        Y = [height(x) for x in X]
    first, second = (np.array([float(f"{value:.14e}") for value in table]) for table in (X, Y))
    return first, second


def _shaped(draw: Any, size: tuple[Any, ...]) -> Any:
    """Draw the numbers of a MATLAB size, column by column."""
    if len(size) == 1 and not isinstance(size[0], str) and np.size(size[0]) != 1:
        size = tuple(np.ravel(size[0]))
        if len(size) < 2:
            raise ValueError(f"a size given as a sequence needs two numbers or more, got {size}")
    if size and isinstance(size[-1], str):
        choice("the class of the numbers", size[-1], ["double"])
        size = size[:-1]
    lengths = [whole(f"size[{i}]", value, 0) for i, value in enumerate(size)]
    if not lengths:
        return draw(1)[0].item()
    if len(lengths) == 1:
        lengths *= 2
    while len(lengths) > 2 and lengths[-1] == 1:
        lengths.pop()
    return draw(math.prod(lengths)).reshape(lengths, order="F")
