# SPDX-License-Identifier: BSD-3-Clause
"""X and Y checked for a distance, and all their pairs computed."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import LowLevelCallable

from d2ke._ext import pairwise, user
from d2ke.distances.registry import BY_NAME, check_parameters, find_distance, not_empty
from d2ke.objects.container import Objects, check_compatible, refuse_weights
from d2ke.objects.packing import pack


def check_pairs(
    X: Any,
    Y: Any,
    distance: Any,
    params: Mapping[str, Any],
    names: tuple[str, str] = ("X", "Y"),
) -> Pairs:
    """Check and pack everything that a distance matrix needs, and compute nothing yet.

    `names` are what the caller's caller knows X and Y as, for the errors.
    """
    if isinstance(distance, LowLevelCallable):
        return _compiled_pairs(X, Y, distance, params, names)
    if callable(distance):
        return _python_pairs(X, Y, distance, params, names)
    row = find_distance(distance)
    checked = check_parameters(row, params)
    x = _checked(X, row.kind, row.shortest, row.name, names[0])
    y = x if Y is None else _checked(Y, row.kind, row.shortest, row.name, names[1])
    check_compatible(x, y, *names)
    if not row.weighted:
        _refuse_weights(x, y, names, f"distance {row.name!r}")
    same = Y is None and row.symmetric
    dtype = np.float64
    if row.kind == "vectors":
        dtype = np.promote_types(x.dtype, y.dtype)

    compiled = partial(_named, row.name, checked)
    return Pairs(x, y, np.dtype(dtype), same, compiled, row.name, dict(params), names)


class Prepared:
    """A compiled distance with its arguments, ready to fill a matrix."""

    def __init__(self, cross, same):
        self._cross = cross
        self._same = same

    def run(self, out, n_threads, report, gamma=None, scale=1.0):
        """Fill `out` with scale * d, or with scale * exp(-gamma * d) where gamma is given."""
        self._cross.run(out, n_threads, self._same, report, gamma, scale)


def _named(name, parameters, x, y, same, first=0):
    """Prepare a distance of the registry; rows count from `first`."""
    try:
        return Prepared(BY_NAME[name].prepare(x, y, same, **parameters), same)
    except ValueError as error:
        raise _counted(error, first) from None


def _counted(error, first):
    """Return the error with the number that its row has when rows count from `first`."""
    text = re.sub(r"X\[(\d+)\]", lambda row: f"X[{int(row[1]) + first}]", str(error), count=1)
    return ValueError(text)


class _PythonCross(Prepared):
    """The slow path: a Python callable on any objects.

    Rows count from `first`. Where Y is X, `among`, f(x_i, x_j) is computed for i <= j only.
    """

    def __init__(self, function, params, names, among, x, y, same, first=0):
        super().__init__(None, same)
        self._x, self._y, self._names = x, y, names
        self._function, self._params = function, params
        self._first, self._half = first, among and not same

    def run(self, out, n_threads, report, gamma=None, scale=1.0):
        row = np.empty(out.shape[1])
        for i, x in enumerate(self._x, self._first):
            start = i if self._same else 0
            for j in range(start, len(self._y)):
                turned = self._half and j < i
                row[j] = self._value(*((self._y[j], x, j, i) if turned else (x, self._y[j], i, j)))
            values = row[start:].astype(out.dtype).astype(np.float64)
            if gamma is None:
                values *= scale
            else:
                pairwise.exp_features(values[None], values[None], gamma, scale, 1)
            out[i - self._first, start:] = values
            if self._same:
                out[start:, i] = out[i, start:]
            if report is not None:
                report((i - self._first + 1) * len(self._y), out.size)

    def _value(self, x, y, i, j):
        value = self._function(x, y, **self._params)
        where = f"distance({self._names[0]}[{i}], {self._names[1]}[{j}])"
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        if not isinstance(value, numbers.Real):
            raise TypeError(f"{where} must be a number, got {value!r}")
        try:
            value = float(value)
        except OverflowError:
            value = math.inf
        if not 0 <= value < math.inf:
            raise ValueError(f"{where} must be finite and >= 0, got {value}")
        return value


def _python_pairs(X, Y, function, params, names):
    x = _sequence(X, names[0])
    y = x if Y is None else _sequence(Y, names[1])
    _refuse_weights(X, Y, names, "a Python distance")
    among = Y is None
    compiled = partial(_PythonCross, function, dict(params), names, among)
    return Pairs(x, y, np.dtype(np.float64), among, compiled, function, dict(params), names)


_WORDS = {
    "double": "double",
    "int": "int32",
    "int32_t": "int32",
    "long": "intptr",
    "longlong": "intptr",
    "int64_t": "intptr",
    "intptr_t": "intptr",
    "ssize_t": "intptr",
    "Py_ssize_t": "intptr",
    "npy_intp": "intptr",
    "void": "void",
}

_SIGNATURES = {
    "double(double*,intptr,double*,intptr,intptr,void*)": "vectors",
    "double(int32*,intptr,int32*,intptr,void*)": "strings",
}


def _compiled_pairs(X, Y, function, params, names):
    if params:
        raise TypeError(
            f"a compiled distance takes its parameters through user_data; got {', '.join(params)}"
        )
    plain = re.sub(r"\bconst\b|\s", "", function.signature.replace("long long", "longlong"))
    plain = re.sub(r"\w+", lambda word: _WORDS.get(word[0], word[0]), plain)
    kind = _SIGNATURES.get(plain)
    if kind is None:
        raise ValueError(
            f"distance has the C signature {function.signature!r}; it must be 'double (const "
            "double *, intptr_t, const double *, intptr_t, intptr_t, void *)' for vectors or "
            "'double (const int32_t *, intptr_t, const int32_t *, intptr_t, void *)' for strings"
        )
    x = _checked(X, kind, 0, "distance", names[0])
    y = x if Y is None else _checked(Y, kind, 0, "distance", names[1])
    check_compatible(x, y, *names)
    _refuse_weights(x, y, names, "a compiled distance")
    if kind == "vectors":
        for name, objects in zip(names, (x, y), strict=True):
            if objects.dtype != np.float64:
                raise TypeError(f"a compiled distance takes float64 vectors; {name} is float32")
    compiled = partial(_UserCross, function, kind)
    return Pairs(x, y, np.dtype(np.float64), Y is None, compiled, function, {}, names)


class _UserCross(Prepared):
    """A compiled function of the user's; rows count from `first`."""

    def __init__(self, function, kind, x, y, same, first=0):
        address, data = user.addresses(function)
        if kind == "vectors":
            x_values, y_values, compile_ = x.values, y.values, user.vectors
        else:
            (x_values, y_values), compile_ = map(_code_points, (x, y)), user.strings
        cross = compile_(address, data, x_values, x.offsets, y_values, y.offsets, same, function)
        super().__init__(cross, same)
        self._first = first

    def run(self, out, n_threads, report, gamma=None, scale=1.0):
        try:
            super().run(out, n_threads, report, gamma, scale)
        except ValueError as error:
            raise _counted(error, self._first) from None


def _checked(items, kind, shortest, distance, name):
    objects = pack(items, kind=kind, name=name)
    if len(objects) == 0:
        raise ValueError(f"{name} is empty: at least one object is needed")
    short = np.flatnonzero(objects.lengths < shortest)
    if short.size:
        raise ValueError(
            f"{name}[{short[0]}] is empty: {distance} is defined for objects of at least "
            f"{shortest} vector{'s' if shortest > 1 else ''}"
        )
    return objects


def _refuse_weights(x, y, names, user):
    for name, objects in zip(names, (x, y), strict=True):
        if isinstance(objects, Objects):
            refuse_weights(objects, name, user)


def _sequence(items, name):
    if isinstance(items, (str, bytes)):
        raise TypeError(f"{name} must be a sequence of objects, got one {type(items).__name__}")
    try:
        result = list(items)
    except TypeError:
        raise TypeError(
            f"{name} must be a sequence of objects, got {type(items).__name__}"
        ) from None
    if not result:
        raise ValueError(f"{name} is empty: at least one object is needed")
    return result


def _code_points(objects: Objects) -> np.ndarray:
    symbols = objects.alphabet
    if symbols.size and (symbols.min() < -(2**31) or symbols.max() >= 2**31):
        raise ValueError("a compiled distance takes letters of 32 bits; there are larger ones")
    return not_empty(symbols.astype(np.int32)[objects.values])


@dataclass(frozen=True)
class Pairs:
    """All pairs of a checked X and a checked Y, of which nothing is computed yet.

    Attributes
    ----------
    x, y : Objects or list
        What is compared; the same object where no Y was given.
    dtype : numpy.dtype
        Of the result.
    same : bool
        Whether only half of the pairs need be computed.
    compiled : callable
        ``compiled(x, y, same, first=0)`` prepares the distance; `first` is the serial number of
        x's first item, for errors. It can be pickled if the user's function can.
    distance : str or callable
        The registry's name, or the user's function.
    params : dict
        The distance's parameters as they were given.
    names : tuple of str
        What the caller's caller knows X and Y as.
    """

    x: Any
    y: Any
    dtype: np.dtype
    same: bool
    compiled: Callable[..., Prepared]
    distance: Any
    params: dict[str, Any]
    names: tuple[str, str]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the result."""
        return len(self.x), len(self.y)

    def prepared(self) -> Prepared:
        """Prepare all of them."""
        return self.compiled(self.x, self.y, self.same)

    def part(self, rows: slice) -> Any:
        """Return some items of x."""
        x = self.x
        return x.span(rows.start, rows.stop) if isinstance(x, Objects) else x[rows]

    def rows(self, rows: slice) -> Prepared:
        """Prepare some rows, with the same bits."""
        return self.compiled(self.part(rows), self.y, False, first=rows.start)
