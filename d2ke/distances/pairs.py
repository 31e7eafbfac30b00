# SPDX-License-Identifier: BSD-3-Clause
"""Check X and Y for a distance, and compile their pairs."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import LowLevelCallable

from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._ext import pairwise, user
from d2ke._ext.pairwise import PairwiseKernel
from d2ke.distances.distance import Distance
from d2ke.distances.problem import (
    DEFAULT_NAMES,
    UNCHANGED,
    ArgumentNames,
    CompiledPairs,
    PairBlock,
    PairwiseProblem,
    Report,
    Transform,
)
from d2ke.distances.registry import (
    BY_NAME,
    CheckedParameters,
    check_kind,
    check_parameters,
    find_distance,
    usual_distance,
)
from d2ke.distances.string_rows import not_empty
from d2ke.objects.compatibility import in_order, matched, refuse_weights
from d2ke.objects.container import Objects
from d2ke.objects.packing import as_objects
from d2ke.objects.values import list_of


def check_pairs(
    X: Any,
    Y: Any,
    distance: Any,
    params: Mapping[str, Any],
    names: ArgumentNames = DEFAULT_NAMES,
) -> PairwiseProblem:
    """Pack X and Y, check them and the parameters of a distance, and compute nothing yet.

    Functions of this package call it instead of `distance_matrix`:
    ``check_pairs(x, y, distance, params).compiled().run(out, n_threads)``. Packed objects are only
    checked for requirements of the distance.

    Parameters
    ----------
    X, Y, distance, params
        As for `distance_matrix`.
    names : ArgumentNames
        What errors call X and Y.

    Raises
    ------
    TypeError, ValueError
        As `distance_matrix`.
    """
    if Y is None:
        names = names._replace(y=names.x)
    if isinstance(distance, LowLevelCallable):
        return _compiled_problem(X, Y, distance, params, names)
    if callable(distance):
        return _python_problem(X, Y, distance, params, names)
    if distance is None:
        X = as_objects(names.x, X)
        distance = usual_distance(X.kind)
    row = find_distance(distance)
    checked = check_parameters(row, params)
    try:
        missing = row.missing is not None and row.missing(**checked)
        x = y = _packed(X, names.x, row.kind, missing)
        if Y is not None:
            y = matched(x, _packed(Y, names.y, row.kind, missing), names.x, names.y)
    except ArgumentTypeError as error:
        if error.argument == names.x:
            _refuse_kind(row, names.x, X)
        raise
    for name, objects in ((names.x, x),) if y is x else ((names.x, x), (names.y, y)):
        if row.shortest:
            row.check_lengths(name, objects)
        if objects.weights is not None and not row.weighted:
            refuse_weights(objects, name, f"distance {row.name!r}")
        if row.check is not None:
            row.check(name, objects, **checked)
    if row.check_pair is not None:
        row.check_pair(names.x, x, names.y, y)
    dtype = np.dtype(np.float64)
    if row.kind != "strings":
        dtype = np.promote_types(x.dtype, y.dtype)
    compile_ = partial(_named_pairs, row.name, checked)
    same = Y is None and row.is_symmetric(checked)
    params = CheckedParameters(params, row.name, checked)
    return PairwiseProblem(x, y, dtype, same, compile_, row.name, params, names)


def check_same_both_ways(pairs: PairwiseProblem) -> None:
    """Refuse pairs whose distance depends on which object is the first."""
    if pairs.same:
        return
    columns = getattr(pairs.distance, "columns", None)  # of records
    named = {name: c.distance for name, c in columns.items()} if columns else pairs.distance
    learn = "; learn_costs(wrong, right, symmetric=True) learns costs that are"
    raise ArgumentError(
        "distance",
        f"must be symmetric; {named!r} is not, with these parameters"
        f"{learn * ('weighted_levenshtein' in repr(named))}",
    )


def _refuse_kind(row: Distance, name: str, X: Any) -> None:
    """Refuse objects of another kind, if it is that for which they cannot be packed."""
    try:
        objects = as_objects(name, X)
    except (TypeError, ValueError):
        return
    check_kind(row, name, objects.kind)


def _named_pairs(name: str, parameters: Mapping[str, Any], block: PairBlock) -> CompiledPairs:
    """Compile a distance of the registry."""
    x, y, same, *_ = block
    return CompiledPairs(BY_NAME[name].prepare(x, y, same, **parameters), block)


@dataclass(frozen=True)
class _PythonDistance:
    """A Python callable; where Y is X, f(x_i, x_j) is computed for i <= j only.

    `numbers`: what errors call the objects of Y, if not by their positions.
    """

    function: Callable[..., Any]
    params: dict[str, Any]
    names: ArgumentNames
    y_is_x: bool
    numbers: np.ndarray | None = None

    def __call__(self, block: PairBlock) -> CompiledPairs:
        return _PythonPairs(self, block)

    def value(self, x: Any, y: Any, i: int, j: int) -> float:
        """Return the distance of the items x, number i of X, and y, number j of Y."""
        value = self.function(x, y, **self.params)
        j = j if self.numbers is None else int(self.numbers[j])
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        if not isinstance(value, numbers.Real):
            raise TypeError(f"{_pair(self.names, i, j)} must be a number, got {value!r}")
        try:
            value = float(value)
        except OverflowError:
            value = math.inf
        if not 0 <= value < math.inf:
            raise _not_a_distance(self.names, i, j, value)
        return value


class _PythonPairs(CompiledPairs):
    """The slow path: one pair at a time."""

    def pair_kernel(self) -> PairwiseKernel:
        distance, (x_items, y, _, first, first_column) = self.kernel, self.block

        def values(row: int, columns: list[int]) -> Iterator[float]:
            for column in columns:
                i, j = first + row, first_column + column
                if distance.y_is_x and j < i:
                    yield distance.value(y[column], x_items[row], j, i)
                else:
                    yield distance.value(x_items[row], y[column], i, j)

        return user.python(values, len(x_items), len(y))

    def run(
        self,
        out: np.ndarray,
        n_threads: int,
        report: Report = None,
        transform: Transform = UNCHANGED,
    ) -> None:
        distance, (x_items, y, same, first, first_column) = self.kernel, self.block
        row = np.empty(out.shape[1])
        for r, x in enumerate(x_items):
            i, start = first + r, r if same else 0
            for c, item in enumerate(y[start:], start):
                j = first_column + c
                swap = distance.y_is_x and j < i
                row[c] = distance.value(*((item, x, j, i) if swap else (x, item, i, j)))
            values = row[start:].astype(out.dtype).astype(np.float64)
            if transform.gamma is None:
                values *= transform.scale
            else:
                pairwise.exp_features(
                    values[None], values[None], transform.gamma, transform.scale, 1
                )
            out[r, start:] = values
            if same:
                out[start:, r] = out[r, start:]
            if report is not None:
                report((r + 1) * len(y), out.size)


def with_column_numbers(pairs: PairwiseProblem, numbers: np.ndarray) -> PairwiseProblem:
    """Return the same pairs; errors of a Python function call the objects of Y by these numbers."""
    compile_: Any = pairs.compile
    if isinstance(compile_, _PythonDistance):
        compile_ = replace(compile_, numbers=numbers)
    return replace(pairs, compile=compile_)


def numbered(pairs: PairwiseProblem) -> PairwiseProblem:
    """Return the pairs of the numbers of X's objects, for a Python function and Y=None.

    Any numbers, in any order, may then be rows and columns of a block.
    """
    items, numbers = pairs.x, list(range(len(pairs.x)))
    distance: Any = pairs.compile

    def value(i: int, j: int) -> float:
        i, j = min(i, j), max(i, j)
        return distance.value(items[i], items[j], i, j)

    compile_ = _PythonDistance(value, {}, pairs.names, False)
    return replace(pairs, x=numbers, y=numbers, compile=compile_, params={})


def _pair(names: ArgumentNames, i: int, j: int) -> str:
    """Name the distance of a pair, for errors."""
    return f"distance({names.x}[{i}], {names.y}[{j}])"


def _not_a_distance(names: ArgumentNames, i: int, j: int, value: float) -> ValueError:
    return ValueError(f"{_pair(names, i, j)} must be finite and >= 0, got {value}")


def _python_problem(
    X: Any, Y: Any, function: Any, params: Mapping[str, Any], names: ArgumentNames
) -> PairwiseProblem:
    if isinstance(X, Objects) and isinstance(Y, Objects):
        Y = in_order(Y, X.channel_names, names.y, names.x)
    x = list_of(names.x, X)
    y = x if Y is None else list_of(names.y, Y)
    _refuse_weights(X, Y, names, "a Python distance")
    same, params = Y is None, dict(params)
    compile_ = _PythonDistance(function, params, names, same)
    return PairwiseProblem(x, y, np.dtype(np.float64), same, compile_, function, params, names)


# The names of C of the types in the signatures below; on Windows a long has 32 bits.
_C_TYPES = dict.fromkeys(("int", "int32_t"), "int32") | dict.fromkeys(
    ("longlong", "int64_t", "intptr_t", "ssize_t", "Py_ssize_t", "npy_intp"), "intptr"
)
_C_TYPES["long"] = "int32" if np.dtype("l").itemsize == 4 else "intptr"

_SIGNATURES = {
    "double(double*,intptr,double*,intptr,intptr,void*)": "sets",
    "double(int32*,intptr,int32*,intptr,void*)": "strings",
}


def _compiled_problem(
    X: Any, Y: Any, function: Any, params: Mapping[str, Any], names: ArgumentNames
) -> PairwiseProblem:
    if params:
        raise TypeError(
            f"a compiled distance takes its parameters through user_data; got {', '.join(params)}"
        )
    plain = re.sub(r"\bconst\b|\s", "", function.signature.replace("long long", "longlong"))
    plain = re.sub(r"\w+", lambda word: _C_TYPES.get(word[0], word[0]), plain)
    kind = _SIGNATURES.get(plain)
    if kind is None:
        raise ValueError(
            f"distance has the C signature {function.signature!r}; it must be 'double (const "
            "double *, intptr_t, const double *, intptr_t, intptr_t, void *)' for vectors or "
            "'double (const int32_t *, intptr_t, const int32_t *, intptr_t, void *)' for strings"
        )
    x = y = _packed(X, names.x, kind)
    if Y is not None:
        y = matched(x, _packed(Y, names.y, kind), names.x, names.y)
    _refuse_weights(x, y, names, "a compiled distance")
    if kind != "strings":
        for name, objects in ((names.x, x), (names.y, y)):
            if objects.dtype != np.float64:
                raise TypeError(f"a compiled distance takes float64 vectors; {name} is float32")
    compile_ = partial(_UserPairs, function, names)
    return PairwiseProblem(x, y, np.dtype(np.float64), Y is None, compile_, function, {}, names)


class _UserPairs(CompiledPairs):
    """A compiled function of the user's."""

    def __init__(self, function: Any, names: ArgumentNames, block: PairBlock) -> None:
        address, data = user.addresses(function)
        x, y, same, *_ = block
        compile_: Callable[..., PairwiseKernel]
        if not x.has_letters:
            x_values, y_values, compile_ = x.values, y.values, user.vectors
        else:
            (x_values, y_values), compile_ = map(_code_points, (x, y)), user.strings
        kernel = compile_(address, data, x_values, x.offsets, y_values, y.offsets, same, function)
        super().__init__(kernel, block)
        self._names = names

    def run(
        self,
        out: np.ndarray,
        n_threads: int,
        report: Report = None,
        transform: Transform = UNCHANGED,
    ) -> None:
        try:
            super().run(out, n_threads, report, transform)
        except pairwise.NotADistance as error:
            row, column, value = error.args
            row, column = row + self.block.first, column + self.block.first_column
            raise _not_a_distance(self._names, row, column, value) from None


def _packed(items: Any, name: str, kind: str, missing: bool = False) -> Objects:
    """Pack at least one object of a kind; objects that are packed as such are not read again."""
    if not isinstance(items, Objects) or items.kind != kind or items.missing:
        items = as_objects(name, items, kind, missing)
    if not len(items):
        raise ArgumentError(name, "is empty: at least one object is needed")
    return items


def _refuse_weights(x: Any, y: Any, names: ArgumentNames, user: str) -> None:
    for name, objects in ((names.x, x), (names.y, y)):
        if isinstance(objects, Objects):
            refuse_weights(objects, name, user)


def _code_points(objects: Objects) -> np.ndarray:
    symbols = objects.alphabet
    if objects.letters == "token":
        raise TypeError("a compiled distance takes letters of 32 bits; tokens are none")
    if symbols.size and (symbols.min() < -(2**31) or symbols.max() >= 2**31):
        raise ValueError("a compiled distance takes letters of 32 bits; there are larger ones")
    return not_empty(symbols.astype(np.int32)[objects.values])
