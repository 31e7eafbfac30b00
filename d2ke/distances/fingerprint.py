# SPDX-License-Identifier: BSD-3-Clause
"""Digests of inputs: a file is resumed only with its original inputs."""

from __future__ import annotations

import functools
import hashlib
import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from scipy import LowLevelCallable

from d2ke._base.checks import plain
from d2ke._base.errors import ArgumentTypeError
from d2ke._base.resuming import UNKNOWN
from d2ke.distances.precomputed import Precomputed
from d2ke.distances.problem import PairwiseProblem
from d2ke.distances.record_pairs import RecordDistance
from d2ke.objects.container import Objects
from d2ke.objects.records import Records


def objects_digest(objects: Objects) -> str:
    """Return the SHA-256 of objects; it does not depend on the alphabet that they are packed in."""
    digest = hashlib.sha256()
    head = (objects.kind, objects.letters, len(objects), objects.dim, objects.channel_names)
    digest.update(repr(head).encode())
    digest.update(objects.offsets)
    if objects.has_letters:
        # Each letter in a form that depends on no other letter of the alphabet.
        if objects.letters == "token":
            digests = [hashlib.sha256(token).digest() for token in objects.alphabet.tolist()]
            symbols = np.frombuffer(b"".join(digests), np.uint8).reshape(-1, 32)
        else:
            symbols = objects.alphabet.astype(np.int64 if objects.letters == "int" else np.uint32)
        step = 1 << 20
        for start in range(0, len(objects.values), step):
            digest.update(symbols[objects.values[start : start + step]])
    else:
        digest.update(objects.dtype.str.encode())
        digest.update(objects.values)
        if objects.weights is not None:
            digest.update(b"weights")
            digest.update(objects.weights)
    return digest.hexdigest()


def sequence_digest(name: str, items: Sequence[Any]) -> str:
    """Return the SHA-256 of items of plain types: numbers, text, arrays, and tuples.

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
        contents: list[Any] = []
        for column_name, column in items.columns.items():
            contents += [column_name, column.kind, column.missing]
            contents += [] if column.values is None else [digest(column_name, column.values)]
        return sequence_digest(name, contents)
    return objects_digest(items) if isinstance(items, Objects) else sequence_digest(name, items)


def add_value(digest: Any, item: Any, name: str) -> None:
    """Add an item of a plain type to a digest; raise TypeError for any other, with its name."""
    if isinstance(item, np.ndarray) and item.dtype.kind in "biufcUS":
        digest.update(f"array {item.dtype.str} {item.shape} ".encode())
        digest.update(np.ascontiguousarray(item))
    elif isinstance(item, (list, tuple)):
        digest.update(f"{type(item).__name__} {len(item)} ".encode())
        for i, entry in enumerate(item):
            add_value(digest, entry, f"{name}[{i}]")
    elif isinstance(item, Objects):
        digest.update(objects_digest(item).encode())
    elif is_dataclass(item):
        add_value(digest, {field.name: getattr(item, field.name) for field in fields(item)}, name)
    elif isinstance(item, Mapping):
        entries = []
        for key, value in item.items():
            entry = hashlib.sha256()
            add_value(entry, (key, value), f"{name}[{key!r}]")
            entries.append(entry.digest())
        digest.update(f"mapping {len(entries)} ".encode() + b"".join(sorted(entries)))
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
    full_name = f"{of.__module__}.{of.__qualname__}"
    if isinstance(version, (str, int)) and not isinstance(version, bool):
        return f"{full_name} version {version!r}"
    if isinstance(function, functools.partial):
        inner = function_version(name, function.func)
        try:
            arguments = sequence_digest(name, [function.args, function.keywords])
        except TypeError:
            return f"{UNKNOWN}{full_name} has arguments that are not plain, and no version"
        return f"{inner} with SHA-256 {arguments}"
    if full_name.startswith("d2ke."):
        return full_name
    return f"{UNKNOWN}{full_name} has no version"


def description(pairs: PairwiseProblem) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the distance with its parameters, and digests of what it compares."""
    names = {"X": pairs.x}
    if pairs.y is not pairs.x:
        names[pairs.names.y] = pairs.y
    inputs = {name: digest(name, items) for name, items in names.items()}
    distance = pairs.distance
    if isinstance(distance, RecordDistance):
        columns = {name: description(pairs) for name, pairs in distance.columns.items()}
        for name, (_, record) in columns.items():
            if "version of distance" in record:
                inputs[f"version of distance of {name}"] = record["version of distance"]
        described = {name: record for name, (record, _) in columns.items()}
        return {"distance": described, "weights": distance.weights}, inputs
    if isinstance(distance, Precomputed):
        return {"distance": "precomputed"}, {"X": sequence_digest("X", [distance.D])}
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
