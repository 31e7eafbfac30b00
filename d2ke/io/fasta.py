# SPDX-License-Identifier: BSD-3-Clause
"""Sequences of FASTA files, with labels from their headers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from d2ke._base.checks import file_path
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke.io.columns import LabelledObjects
from d2ke.io.text import labels_of_text, lines_of
from d2ke.objects.container import Objects
from d2ke.objects.packing import pack

_LAST_FIELD = r".*\|\s*(.*)"  # the header has no blanks at its end
_NO_LETTER = re.compile(r"[^A-Za-z*.-]")


def read_fasta(path: Any, *, labels: str | None = None) -> tuple[Objects, np.ndarray | None]:
    r"""Read a FASTA file: a header after ``>``, then lines of a sequence, as often as there are.

    Parameters
    ----------
    path : path-like
        The file, UTF-8.
    labels : str, optional
        A regular expression with one group, which is the label where it first matches the header.
        Default: the last field of the header between ``|``.

    Returns
    -------
    objects : Objects
        The sequences, as they are written, in the order of the file.
    labels : ndarray of int64, float64 or str, shape (n,), or None
        The labels; numbers where all are numbers, as in `read_objects`. None without `labels` if
        no header has a ``|``.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    TypeError
        If `path` is not a path.
    ValueError
        If the file is not of this form, or holds no sequences; a sequence without letters; a header
        without a label, where others have one. The message names the file and the line.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from d2ke.io import read_fasta
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "genes.fasta"
    ...     _ = path.write_text(">first family=kin\nACG\nT\n>second family=pho\nGATTA\n")
    ...     objects, labels = read_fasta(path, labels=r"family=(\w+)")
    >>> list(objects), labels.tolist()
    (['ACGT', 'GATTA'], ['kin', 'pho'])
    """
    held = parse_fasta(path, labels)
    return held.objects, held.labels


def parse_fasta(path: Any, labels: str | None) -> LabelledObjects:
    """Read what `read_fasta` reads, with the first word of each header."""
    path = file_path("path", path)
    pattern = _label_pattern(labels)
    wheres: list[str] = []
    headers: list[str] = []
    parts: list[list[str]] = []
    for where, line in lines_of(path):
        if line.startswith(">"):
            wheres.append(where)
            headers.append(line[1:].strip())
            parts.append([])
        elif line:
            if not headers:
                raise ValueError(f"{where}: {line[:40]!r} comes before the first header (>)")
            bad = _NO_LETTER.search(line)
            if bad:
                raise ValueError(
                    f"{where}: {bad[0]!r} at position {bad.start()} is no letter of a sequence"
                )
            parts[-1].append(line)
    if not headers:
        raise ValueError(f"{path} holds no sequences")
    for where, header, part in zip(wheres, headers, parts, strict=True):
        if not part:
            raise ValueError(f"{where}: the sequence {header[:40]!r} has no letters")
    objects = pack(["".join(part) for part in parts], name=str(path))
    ids = [header.partition(" ")[0].partition("\t")[0] for header in headers]
    if labels is None and not any("|" in header for header in headers):
        return LabelledObjects(objects, None, ids)
    written = []
    for where, header in zip(wheres, headers, strict=True):
        match = pattern.search(header)
        written.append(match[1] if match else "")
        if not written[-1]:
            rule = "no field after |" if labels is None else f"no label by labels={labels!r}"
            raise ValueError(f"{where}: the header {header[:60]!r} has {rule}")
    found = labels_of_text(written, wheres.__getitem__)
    return LabelledObjects(objects, found, ids, written=written)


def _label_pattern(labels: str | None) -> re.Pattern[str]:
    """Return what finds the label in a header."""
    if labels is not None and not isinstance(labels, str):
        raise ArgumentTypeError("labels", f"must be a regular expression, a string, got {labels!r}")
    try:
        pattern = re.compile(_LAST_FIELD if labels is None else labels)
    except re.error as error:
        raise ArgumentError("labels", f"is not a regular expression, {labels!r}: {error}") from None
    if pattern.groups != 1:
        raise ArgumentError(
            "labels",
            f"must have one group, the label, as in 'family=(\\w+)'; {labels!r} has "
            f"{pattern.groups}",
        )
    return pattern
