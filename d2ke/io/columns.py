# SPDX-License-Identifier: BSD-3-Clause
"""Objects of a file, with the names of the columns or variables that they were read from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from d2ke.objects.column_names import NOTHING, ColumnNames
from d2ke.objects.container import Objects

STRINGS = ("sequence", "string", "text", "objects", "x")
IDS = ("id", "series", "series_id")
TIMES = ("time", "t", "step", "timestamp")


class LabelledObjects(tuple[Objects, np.ndarray | None]):
    r"""Objects and labels of a file: a pair, with the columns they were read from.

    ``print`` shows which columns or variables were read, and which were not.

    Parameters
    ----------
    objects : Objects or ParquetObjects
        The n objects.
    labels : ndarray of shape (n,), or None
        Their labels.
    columns : ColumnNames
        Names of the columns or variables: ``objects``, ``labels``, ``ids`` (of a long table) or
        ``rows`` (of other ids) and ``time``, if the format has names, and ``unused`` names.
    written : list of str, or None
        The labels as a text file has them, where they became numbers.
    note : str
        How a file without names of columns was read.
    filled : dict
        With ``missing="interpolate"``, how many ``values`` of how many ``series`` were filled in.

    Attributes
    ----------
    objects, labels, columns, written, note, filled
        As the parameters.
    ids : ndarray of int64 or str, shape (n,), or None
        The names of the objects in the file, ``objects.ids``: of a column or a variable, or the
        first words of headers.

    Examples
    --------
    >>> import os, tempfile
    >>> from d2ke.io import read_objects
    >>> file = os.path.join(tempfile.mkdtemp(), "genes.csv")
    >>> with open(file, "w", encoding="utf-8") as stream:
    ...     _ = stream.write("sequence,label,note\nACGT,coding,x\nTTTTA,other,y\n")
    >>> genes = read_objects(file)
    >>> genes
    <2 strings over 4 letters, lengths 4 to 5; labels of 2 different values; objects from
    'sequence'; labels from 'label'; not used: 'note'>
    >>> objects, labels = genes
    """

    def __new__(
        cls,
        objects: Any,
        labels: np.ndarray | None,
        columns: ColumnNames | None = None,
        written: Sequence[str] | None = None,
        note: str = "",
        filled: Mapping[str, Any] | None = None,
    ) -> LabelledObjects:
        """Make the pair."""
        self = super().__new__(cls, (objects, labels))
        self.columns, self.written = columns or NOTHING, written
        self.note, self.filled = note, filled or {}
        return self

    def with_objects(self, objects: Any) -> LabelledObjects:
        """Return the labels and names with other objects."""
        return LabelledObjects(objects, self[1], **vars(self))

    columns: ColumnNames
    written: Sequence[str] | None
    note: str
    filled: Mapping[str, Any]

    @property
    def objects(self) -> Any:
        """The objects."""
        return self[0]

    @property
    def labels(self) -> np.ndarray | None:
        """The labels, or None."""
        return self[1]

    @property
    def ids(self) -> np.ndarray | None:
        """The names of the objects, or None."""
        ids: np.ndarray | None = self[0].ids
        return ids

    def __repr__(self) -> str:
        rows = f", in {self.objects.lengths.sum()} rows" if self.columns.ids else ""
        labels = "no labels"
        if self.labels is not None:
            n_missing = int((self.labels == "").sum()) if self.labels.dtype.kind == "U" else 0
            n_different = len(np.unique(self.labels)) - bool(n_missing)
            labels = f"labels of {n_different} different values"
            labels += f", {n_missing} missing" * bool(n_missing)
        objects = str(self.objects).strip("<>").removesuffix(f"; {self.columns}")
        texts = objects + rows, labels, str(self.columns), self.note
        return f"<{'; '.join(filter(None, texts))}>"
