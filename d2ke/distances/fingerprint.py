# SPDX-License-Identifier: BSD-3-Clause
"""Digests of inputs: a file is resumed only with the inputs that it was begun with."""

from __future__ import annotations

import functools
import hashlib
import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from scipy import LowLevelCallable

from d2ke._base.checkpoint import UNKNOWN
from d2ke._base.errors import ArgumentTypeError
from d2ke.distances.problem import PairwiseProblem
from d2ke.distances.record_pairs import RecordDistance
from d2ke.io.hdf5 import plain
from d2ke.objects.container import Objects
from d2ke.objects.records import Records

_RUN = 1 << 20  # letters turned into symbols at a time


def objects_digest(objects: Objects) -> str:
    """Return the SHA-256 of objects; it does not depend on the alphabet that they are packed in."""
    digest = hashlib.sha256()
    head = (objects.kind, objects.letters, len(objects), objects.dim)
    digest.update(repr(head).encode())
    digest.update(objects.offsets)
    if objects.kind == "strings":
        symbols = _symbols(objects)
        for start in range(0, len(objects.values), _RUN):
            digest.update(symbols[objects.values[start : start + _RUN]])
    else:
        digest.update(objects.dtype.str.encode())
        digest.update(objects.values)
        if objects.weights is not None:
            digest.update(b"weights")
            digest.update(objects.weights)
    return digest.hexdigest()


def _symbols(objects: Objects) -> np.ndarray:
    """Return the letters of an alphabet in a form that depends on no other letter."""
    if objects.letters == "token":
        digests = [hashlib.sha256(token).digest() for token in objects.alphabet.tolist()]
        return np.frombuffer(b"".join(digests), np.uint8).reshape(-1, 32)
    return objects.alphabet.astype(np.int64 if objects.letters == "int" else np.uint32)


def sequence_digest(name: str, items: Sequence[Any]) -> str:
    """Return the SHA-256 of items of plain types: numbers, text, arrays, and tuples of them.

    Raises
    ------
    TypeError
        If an item is of another type, whose text may differ in another process.
    """
    digest = hashlib.sha256()
    for i, item in enumerate(items):
        add_value(digest, item, f"{name}[{i}]")
    return digest.hexdigest()


def digest(name: str, items: Objects | Records | Sequence[Any]) -> str:
    """Return the SHA-256 of objects, of records or of other items."""
    if isinstance(items, Records):
        parts: list[Any] = []
        for own, column in items.columns.items():
            parts += [own, column.kind, column.missing]
            parts += [] if column.values is None else [digest(own, column.values)]
        return sequence_digest(name, parts)
    return objects_digest(items) if isinstance(items, Objects) else sequence_digest(name, items)


def add_value(digest: Any, item: Any, name: str) -> None:
    """Add an item of a plain type to a digest; raise TypeError for any other, with its name."""
    if isinstance(item, np.ndarray) and item.dtype.kind in "biufcUS":
        digest.update(f"array {item.dtype.str} {item.shape} ".encode())
        digest.update(np.ascontiguousarray(item))
    elif isinstance(item, (list, tuple)):
        digest.update(f"{type(item).__name__} {len(item)} ".encode())
        for i, part in enumerate(item):
            add_value(digest, part, f"{name}[{i}]")
    elif isinstance(item, Objects):
        digest.update(objects_digest(item).encode())
    elif is_dataclass(item):
        add_value(digest, {one.name: getattr(item, one.name) for one in fields(item)}, name)
    elif isinstance(item, Mapping):
        parts = []
        for key, value in item.items():
            part = hashlib.sha256()
            add_value(part, (key, value), f"{name}[{key!r}]")
            parts.append(part.digest())
        digest.update(f"mapping {len(parts)} ".encode() + b"".join(sorted(parts)))
    elif item is None or isinstance(item, (str, bytes, bool, numbers.Number, np.generic)):
        text = repr(item).encode()
        digest.update(f"{type(item).__name__} {len(text)} ".encode() + text)
    else:
        raise ArgumentTypeError(
            name,
            f"is {type(item).__name__}; to be recognised when a file is resumed, it must "
            "be a number, text, an array, or a list, tuple or mapping of them",
        )


def function_version(name: str, function: Callable[..., Any]) -> str:
    """Return a function's module, qualified name and version, as a record keeps them.

    The version is the attribute ``version`` of the function, a str or an int. A
    `functools.partial` without one has its function's, and its arguments count. Functions of d2ke
    need none, as a record has d2ke's version. The result begins with `UNKNOWN` without a version.
    """
    version = getattr(function, "version", None)
    of = function if hasattr(function, "__qualname__") else type(function)
    known = f"{of.__module__}.{of.__qualname__}"
    if isinstance(version, (str, int)) and not isinstance(version, bool):
        return f"{known} version {version!r}"
    if isinstance(function, functools.partial):
        inner = function_version(name, function.func)
        try:
            arguments = sequence_digest(name, [function.args, function.keywords])
        except TypeError:
            return f"{UNKNOWN}{known} has arguments that are not plain, and no version"
        return f"{inner} with SHA-256 {arguments}"
    if known.startswith("d2ke."):
        return known
    return f"{UNKNOWN}{known} has no version"


def description(pairs: PairwiseProblem) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the distance with its parameters, and digests of what it compares."""
    names = {"X": pairs.x}
    if pairs.y is not pairs.x:
        names[pairs.names.y] = pairs.y
    inputs = {name: digest(name, part) for name, part in names.items()}
    distance = pairs.distance
    if isinstance(distance, RecordDistance):
        columns = {name: description(part) for name, part in distance.columns.items()}
        for name, (_, own) in columns.items():
            if "version of distance" in own:
                inputs[f"version of distance of {name}"] = own["version of distance"]
        described = {name: own for name, (own, _) in columns.items()}
        return {"distance": described, "weights": distance.weights}, inputs
    if callable(distance) or isinstance(distance, LowLevelCallable):
        inputs["version of distance"] = function_version("distance", distance)
    if isinstance(distance, LowLevelCallable):
        distance = distance.signature
    elif callable(distance):
        of = distance if hasattr(distance, "__qualname__") else type(distance)
        distance = f"{of.__module__}.{of.__qualname__}"
    params = {name: _plain(name, value) for name, value in pairs.params.items()}
    return {"distance": distance, **params}, inputs


def _plain(name: str, value: Any) -> Any:
    try:
        return plain(name, value)
    except TypeError:
        return f"SHA-256 {sequence_digest(name, [value])}"
