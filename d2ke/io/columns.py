# SPDX-License-Identifier: BSD-3-Clause
"""Objects of a file, with the names of the columns or variables that they were read from."""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentError


@dataclass(frozen=True)
class Columns:
    """Names of columns or variables: of the objects or their values, the labels, ids, the time."""

    objects: Sequence[str] | None = None
    labels: str | None = None
    ids: str | None = None
    time: str | None = None

    @property
    def explicit(self) -> list[tuple[str, str]]:
        """The arguments that name a column, and the names."""
        others = (("labels", self.labels), ("ids", self.ids), ("time", self.time))
        named = [("objects", name) for name in self.objects or ()]
        return named + [(argument, name) for argument, name in others if name is not None]

    def check(self, path: Path | str, names: Collection[str], what: str) -> None:
        """Refuse names that a file does not have, and one name for two arguments."""
        for i, (argument, name) in enumerate(self.explicit):
            if name not in names:
                raise ArgumentError(
                    argument,
                    f"must name one of the {what}s: {path} has no {what} {name!r}; it has "
                    f"{', '.join(map(repr, names)) or 'none'}",
                )
            for other, before in self.explicit[:i]:
                if before == name:
                    raise ArgumentError(
                        other, f"and {argument} name the same {what}, {name!r}, of {path}"
                    )

    def or_earlier(self, names: Container[str], earlier: Columns) -> Columns:
        """Return itself, or the earlier names if it names nothing and a file has them.

        The file must have all earlier names except that of the labels.
        """
        needed = (*(earlier.objects or ()), earlier.ids, earlier.time)
        if self != NOTHING or any(name not in names for name in needed if name is not None):
            return self
        return earlier if earlier.labels in names else replace(earlier, labels=None)

    def to_dict(self) -> dict[str, Any]:
        """Return the names that are not None, objects as a list."""
        values = {**vars(self), "objects": None if self.objects is None else list(self.objects)}
        return {name: value for name, value in values.items() if value is not None}

    @classmethod
    def of_dict(cls, values: Any) -> Columns:
        """Rebuild names from the result of `to_dict`; anything else is a TypeError."""
        if not isinstance(values, Mapping):
            raise TypeError(f"names of columns must be a mapping, got {type(values).__name__}")
        columns = cls(**values)
        objects = [] if columns.objects is None else columns.objects
        others = [name for name in (columns.labels, columns.ids, columns.time) if name is not None]
        if not isinstance(objects, list) or not all(type(n) is str for n in [*objects, *others]):
            raise TypeError("names of columns must be strings, those of objects in a list")
        return replace(columns, objects=tuple(objects) or None)


NOTHING = Columns()
LABELS = ("label", "labels", "class", "y", "target")


def find_usual(names: Sequence[str], usual: Sequence[str]) -> int | None:
    """Return the number of the column with a usual name; the y of axes y and z has no labels."""
    lower = [name.lower() for name in names]
    known = (one for one in usual if one in lower and not (one == "y" and "z" in lower))
    return next(map(lower.index, known), None)


@dataclass(frozen=True, eq=False)
class FileObjects:
    """The objects and labels of a file.

    Attributes
    ----------
    objects : Objects or ParquetObjects
        The n objects.
    labels : ndarray of shape (n,), or None
        Their labels.
    ids : list of str, or None
        Their names in the file: ids of series, or the first words of headers.
    columns : Columns
        Where they were read, in files of named columns or variables.
    written : list of str, or None
        The labels as a text file has them, where they became numbers.
    unused : list of str
        The other columns or variables.
    """

    objects: Any
    labels: np.ndarray | None
    ids: list[str] | None = None
    columns: Columns = NOTHING
    written: Sequence[str] | None = None
    unused: Sequence[str] = ()
