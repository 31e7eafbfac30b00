# SPDX-License-Identifier: BSD-3-Clause
"""Any value as a list of leaves, each with a digest or with its numbers, and their comparison."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from snapshot_cases import PUBLIC_TYPES, Watched

_ARGUMENT = re.compile(r"\w+(\[\d+\])?(?= )")
_TEXT = ".text of the error"


class Leaf(NamedTuple):
    """One number, text or array within a value.

    Attributes
    ----------
    path : str
        Where it is, such as ``.tried[3][1]``.
    type : str
        Its type, with the shape of an array.
    text : str
        What must be equal: the text itself, or a digest and something for people to read.
    values : ndarray or None
        Floats that may differ by rounding; `text` is empty then.
    """

    path: str
    type: str
    text: str
    values: np.ndarray | None = None


def leaves(value: Any, rounding: bool, path: str = "") -> Iterator[Leaf]:
    """Take a value apart; with `rounding` floats are kept, else digests."""
    kind = type(value)
    name = kind.__name__
    for base in kind.__mro__:
        if base in PUBLIC_TYPES:
            Watched.used.add(PUBLIC_TYPES[base])
    if isinstance(value, np.ndarray):
        yield from _array_leaves(value, rounding, path)
    elif isinstance(value, (float, np.floating)):
        if rounding:
            yield Leaf(path, name, "", np.array(value, dtype=np.float64))
        else:
            yield Leaf(path, name, repr(float(value)))
    elif value is None or isinstance(value, (str, bytes, int, np.generic, np.dtype, slice)):
        yield Leaf(
            path, name, str(value) if isinstance(value, (np.generic, np.dtype)) else repr(value)
        )
    elif sparse.issparse(value):
        yield Leaf(path, name, repr(value.shape))
        for part in ("data", "indices", "indptr"):
            yield from leaves(getattr(value, part), rounding, f"{path}.{part}")
    elif isinstance(value, Mapping):
        yield Leaf(path, name, repr([str(key) for key in value]))
        for key, one in value.items():
            yield from leaves(one, rounding, f"{path}[{key!r}]")
    elif isinstance(value, (list, tuple)):
        yield Leaf(path, name, f"{len(value)} items")
        for i, one in enumerate(value):
            yield from leaves(one, rounding, f"{path}[{i}]")
    elif isinstance(value, BaseException):
        yield from _error_leaves(value, path)
    else:
        yield Leaf(path, name, "")
        for one in _attributes(value):
            yield from leaves(getattr(value, one), rounding, f"{path}.{one}")


def _error_leaves(error: BaseException, path: str) -> Iterator[Leaf]:
    """Take apart an error: its type, the argument and the index that its text begins with."""
    known = next(base for base in type(error).__mro__ if base.__module__ == "builtins")
    text = str(error)
    named = _ARGUMENT.match(text)
    yield Leaf(path, known.__name__, "" if named is None else named[0])
    yield Leaf(f"{path}{_TEXT}", "text", text)


def changed_texts(before: list[Leaf], after: list[Leaf]) -> Iterator[tuple[str, str, str]]:
    """Yield the place, the old and the new text of each error whose text differs."""
    earlier = {leaf.path: leaf.text for leaf in before if leaf.path.endswith(_TEXT)}
    for leaf in after:
        if leaf.text != earlier.get(leaf.path, leaf.text):
            yield leaf.path.removesuffix(_TEXT), earlier[leaf.path], leaf.text


def _attributes(value: Any) -> list[str]:
    """Return the names of the public attributes that hold an object's contents."""
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
    else:
        names = list(getattr(type(value), "__slots__", ()))
    names = [name for name in names if not name.startswith("_")]
    if not names:
        raise TypeError(f"{type(value).__name__} cannot be taken apart")
    return names


def _array_leaves(array: np.ndarray, rounding: bool, path: str) -> Iterator[Leaf]:
    name = f"{array.dtype} {array.shape}"
    if array.dtype.names:
        yield Leaf(path, f"record {array.shape}", repr(array.dtype.names))
        for field in array.dtype.names:
            yield from _array_leaves(array[field], rounding, f"{path}[{field!r}]")
    elif array.dtype == object:
        yield Leaf(path, name, "")
        for i, one in enumerate(array.ravel()):
            yield from leaves(one, rounding, f"{path}{{{i}}}")
    elif rounding and array.dtype.kind in "fc":
        yield Leaf(path, name, "", np.ascontiguousarray(array))
    else:
        digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
        yield Leaf(path, name, f"{digest[:32]} {_summary(array)}")


def _summary(array: np.ndarray) -> str:
    """Return a few values of an array, so that people see how it differs from another."""
    flat = array.ravel()
    if array.size > 6:
        flat = flat[np.linspace(0, array.size - 1, 6).astype(int)]
    return "of " + np.array2string(flat, precision=17, max_line_width=1000)


def compare_leaves(before: list[Leaf], after: list[Leaf], rtol: float | None) -> list[str]:
    """Return how two values differ, a line for each of the first leaves that do."""
    found = []
    earlier = {leaf.path: leaf for leaf in before}
    later = {leaf.path: leaf for leaf in after}
    for path in dict.fromkeys([*earlier, *later]):
        if path.endswith(_TEXT):
            continue
        where = path or "the value"
        if path not in later:
            found.append(f"{where} is no more")
        elif path not in earlier:
            found.append(f"{where} is new")
        else:
            text = _difference(earlier[path], later[path], rtol)
            if text:
                found.append(f"{where} {text}")
    return found if len(found) <= 8 else [*found[:8], f"and {len(found) - 8} more"]


def count_changed(before: list[Leaf], after: list[Leaf]) -> int:
    """Return how many arrays of floats have other bits than before."""
    earlier = {leaf.path: leaf.values for leaf in before if leaf.values is not None}
    later = {leaf.path: leaf.values for leaf in after if leaf.values is not None}
    return sum(
        earlier[path].tobytes() != later[path].tobytes() for path in earlier.keys() & later.keys()
    )


def _apart(old: str, new: str) -> list[str]:
    """Cut two long texts to where they begin to differ."""
    same = [a == b for a, b in zip(old, new, strict=False)]
    first = same.index(False) if False in same else len(same)
    begin = max(0, first - 60) if max(len(old), len(new)) > 300 else 0
    return [
        ("..." if begin else "") + text[begin : begin + 300] + "..." * (len(text) > begin + 300)
        for text in (old, new)
    ]


def _difference(before: Leaf, after: Leaf, rtol: float | None) -> str:
    if before.type != after.type:
        return f"was {before.type} and is {after.type}"
    if before.text != after.text:
        old, new = _apart(before.text, after.text)
        return f"({after.type}) was {old} and is {new}"
    if (before.values is None) != (after.values is None):
        return "is compared otherwise than it was recorded; record anew"
    if before.values is None:
        return ""
    old, new = before.values, after.values
    same = (old == new) | (np.isnan(old) & np.isnan(new))
    if same.all():
        return ""
    finite = np.isfinite(old) & np.isfinite(new)
    if not (finite | same).all():
        return f"({after.type}) has other infinite values or nan than before"
    largest = float(np.abs(old[finite]).max())
    error = float(np.abs(new[finite].astype(complex) - old[finite]).max())
    if error <= (rtol or 0.0) * largest:
        return ""
    number = f"{old} and is {new}" if old.ndim == 0 else f"largest {largest:.6g}"
    return f"({after.type}) differs by {error:.3g}, more than {rtol:g} relative: was {number}"
