# SPDX-License-Identifier: BSD-3-Clause
"""Sequences of FASTA files, with labels from their headers."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from d2ke._base.errors import ArgumentError
from d2ke.io.columns import LabelledObjects
from d2ke.io.text import lines_of
from d2ke.objects.column_names import ColumnNames
from d2ke.objects.fields import labels_of_text
from d2ke.objects.packing import pack
from d2ke.objects.tables import with_ids


def read_fasta(path: Path, labels: str | None, of_model: str | None = None) -> LabelledObjects:
    """Read the sequences, and the first word of each header as its id.

    `labels` is a regular expression whose group is the label where it first matches a header. By
    default it is `of_model`, if each header has such a label; else the last field after ``|``
    is a guess, which is the label if each header has it and no more than half of them differ.
    """
    explicit = labels is not None
    last_field = "|"  # the label is the last field after it
    if labels is None and of_model != last_field:
        labels = of_model
    pattern = None if labels is None else _label_pattern(labels)
    wheres: list[str] = []
    headers: list[str] = []
    fields: list[list[str]] = []
    no_letter = re.compile(r"[^A-Za-z*.-]")
    for where, line in lines_of(path):
        if line.startswith(">"):
            wheres.append(where)
            headers.append(line[1:].strip())
            fields.append([])
        elif line:
            if not headers:
                raise ValueError(f"{where}: {line[:40]!r} comes before the first header (>)")
            bad = no_letter.search(line)
            if bad:
                raise ValueError(
                    f"{where}: {bad[0]!r} at position {bad.start()} is no letter of a sequence"
                )
            fields[-1].append(line)
    if not headers:
        raise ValueError(f"{path} holds no sequences")
    sequences = list(map("".join, fields))
    if "" in sequences:
        i = sequences.index("")
        raise ValueError(f"{wheres[i]}: the sequence {headers[i][:40]!r} has no letters")
    ids = np.array([(header.split(None, 1) or [""])[0] for header in headers])
    objects = with_ids(pack(sequences, name=str(path)), ids)
    written = []
    for header in headers:
        if pattern is None:  # an expression would take quadratic time where there is no |
            written.append(header.rpartition("|")[2].strip() if "|" in header else "")
        else:
            match = pattern.search(header)
            written.append(match[1] or "" if match else "")
    if "" in written and explicit:
        i = written.index("")
        problem = f"the header {headers[i][:60]!r} has no label by labels={labels!r}"
        raise ValueError(f"{wheres[i]}: {problem}")
    guessed = pattern is None and of_model is None
    if "" in written or (guessed and 2 * len(set(written)) > len(written)):
        piped = guessed and any("|" in header for header in headers)
        note = "the last fields after | are no labels, as they do not repeat" * piped
        return LabelledObjects(objects, None, note=note)
    columns = ColumnNames(how={"header": last_field if labels is None else labels})
    classes = labels_of_text(written, wheres.__getitem__)
    return LabelledObjects(objects, classes, columns, written)


def _label_pattern(labels: str) -> re.Pattern[str]:
    try:
        pattern = re.compile(labels)
    except re.error as error:
        raise ArgumentError("labels", f"is not a regular expression, {labels!r}: {error}") from None
    if pattern.groups != 1:
        raise ArgumentError(
            "labels",
            f"must have one group, the label, as in 'family=(\\w+)'; {labels!r} has "
            f"{pattern.groups}",
        )
    return pattern
