# SPDX-License-Identifier: BSD-3-Clause
"""Names of the columns or variables that objects were read from."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from d2ke._base.errors import ArgumentError
from d2ke._base.text import listed
from d2ke.objects.typed import NOTES

LABELS = ("label", "labels", "class", "y", "target")
INDEX = re.compile(r"|unnamed: 0(\.\d+)?|__index_level_\d+__", re.I)  # of pandas, as a column


@dataclass(frozen=True)
class ColumnNames:
    """Names of columns or variables: of the objects or their values, the labels, ids, the time.

    After reading, `ids` is the column with the series of each row, and `rows` the column with the
    names of rows: "" for an index of pandas without a name. `unused` has all unused columns, and
    `uses` the columns of something else than text, numbers or lists: a key of `NOTES`, or for an
    unused column its type. `how` has the format of the file and the arguments of `read_objects`.
    """

    objects: Sequence[str] | None = None
    labels: str | None = None
    ids: str | None = None
    time: str | None = None
    unused: Sequence[str] = ()
    rows: str | None = None
    uses: Mapping[str, str] = field(default_factory=dict)
    how: Mapping[str, Any] = field(default_factory=dict)

    @property
    def explicit(self) -> list[tuple[str, str]]:
        """The arguments that name a column, and the names."""
        optional = (("labels", self.labels), ("ids", self.ids), ("time", self.time))
        named = [("objects", name) for name in self.objects or ()]
        return named + [(argument, name) for argument, name in optional if name is not None]

    def __str__(self) -> str:
        row_names = (("ids", self.rows),) if self.rows is not None else ()
        read: dict[str, list[str]] = {}
        for what, name in (*self.explicit, *row_names):
            read.setdefault(what, []).append(self._noted(name))
        used = [f"{what} from {listed(names, str)}" for what, names in read.items()]
        unused = listed(self.unused, self._noted)
        shown = ("channels_first", "series", "na_values")
        how = [f"{name} = {value!r}" for name, value in self.how.items() if name in shown]
        if "header" in self.how:
            how.append(f"labels from the headers, by {self.how['header']!r}")
        return "; ".join([*used, *how, *[f"not used: {unused}"] * bool(unused)])

    def _noted(self, name: str) -> str:
        use = self.uses.get(name)
        if not name:
            return "the index"
        return repr(name) if use is None else f"{name!r} ({NOTES.get(use, use)})"

    def check(self, path: Path | str, names: Collection[str], what: str) -> None:
        """Refuse names missing from the file, and one name for two arguments."""
        named = self.explicit if self.rows is None else [*self.explicit, ("ids", self.rows)]
        for argument, name in named:
            if name not in names:
                raise ArgumentError(
                    argument,
                    f"must name one of the {what}s: {path} has no {what} {name!r}; it has "
                    f"{listed(names) or 'none'}",
                )
        for i, (argument, name) in enumerate(self.explicit):
            for other, before in self.explicit[:i]:
                if before == name:
                    raise ArgumentError(
                        other, f"and {argument} name the same {what}, {name!r}, of {path}"
                    )

    def or_earlier(self, names: Container[str], earlier: ColumnNames) -> ColumnNames:
        """Return the earlier names, with the labels, ids and time of these names if given.

        Return these names if they name objects, or if the file lacks one of the earlier names
        other than labels and rows.
        """
        explicit = [name for _, name in self.explicit]
        ids = earlier.ids and (self.ids or earlier.ids)
        time = self.time or earlier.time
        needed = [name for name in (*(earlier.objects or ()), ids, time) if name is not None]
        if earlier == NOTHING or self.objects or any(name not in names for name in needed):
            return self
        labels, rows = (
            name if name in names and name not in explicit else None
            for name in (earlier.labels, earlier.rows)
        )
        rows = None if ids else self.ids or rows
        return replace(
            earlier, labels=self.labels or labels, ids=ids, time=time, unused=(), rows=rows
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the given names as a dict, with lists of objects and of unused columns."""
        values = {name: value for name, value in asdict(self).items() if value}
        lists = {name: list(values[name]) for name in ("objects", "unused") if name in values}
        return values | lists

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ColumnNames:
        """Rebuild names from the result of `to_dict`."""
        columns = cls(**values)
        return replace(
            columns, objects=tuple(columns.objects or ()) or None, unused=tuple(columns.unused)
        )


NOTHING = ColumnNames()


def find_usual(names: Sequence[str], usual: Sequence[str]) -> int | None:
    """Return the position of the column with a usual name; y beside z is an axis, not labels."""
    lower = [name.lower() for name in names]
    present = (name for name in usual if name in lower and not (name == "y" and "z" in lower))
    return next(map(lower.index, present), None)
