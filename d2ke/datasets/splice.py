# SPDX-License-Identifier: BSD-3-Clause
"""Splice: windows of 60 bases of primate DNA around splice junctions (strings)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from d2ke.datasets._dataset import STRINGS, Source, published
from d2ke.objects.container import Objects
from d2ke.objects.packing import pack

ALPHABET = "ACGT"
# D: A, G or T. N: any base. R: A or G. S: C or G.
AMBIGUITY_CODES = "DNRS"
CLASSES = ("EI", "IE", "N")
LENGTH = 60


def load_splice(path: Path, *, ambiguous: str = "keep") -> tuple[Objects, np.ndarray]:
    """Read ``splice.data``: on each line a class, a name and a sequence, divided by commas.

    15 of the 3190 sequences hold a letter that stands for several bases (D, N, R or S).

    Parameters
    ----------
    path : Path
        The file.
    ambiguous : {"keep", "drop"}, default "keep"
        ``"keep"``: such a letter is a symbol of its own, equal to itself and different from every
        base. Random strings are still made of A, C, G and T. ``"drop"``: the 15 sequences are
        left out.

    Returns
    -------
    objects : Objects
        The sequences in the order of the file.
    labels : ndarray of str
        ``"EI"`` (exon to intron, donor), ``"IE"`` (intron to exon, acceptor) or ``"N"`` (neither).

    Raises
    ------
    ValueError
        If a line is not of this form (the message names it), or no sequence is left.
    """
    sequences, labels = [], []
    # Latin-1 decodes any byte, so that a wrong one is reported with its line below.
    with open(path, encoding="latin-1") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            label, sequence = _fields(f"{path}, line {number}", line)
            if ambiguous == "keep" or set(sequence).issubset(ALPHABET):
                sequences.append(sequence)
                labels.append(label)
    if not sequences:
        raise ValueError(f"{path} holds no sequences")
    return pack(sequences), np.array(labels, dtype=str)


def _fields(where: str, line: str) -> tuple[str, str]:
    fields = [field.strip() for field in line.split(",")]
    if len(fields) != 3:
        raise ValueError(f"{where}: {len(fields)} fields instead of 3 (class, name, sequence)")
    label, _, sequence = fields
    if label not in CLASSES:
        raise ValueError(f"{where}: the class is {label!r}, not one of {', '.join(CLASSES)}")
    unknown = set(sequence) - set(ALPHABET + AMBIGUITY_CODES)
    if unknown:
        position = min(sequence.index(letter) for letter in unknown)
        raise ValueError(
            f"{where}: the sequence has {sequence[position]!r} at position {position}; the letters "
            f"are {ALPHABET} and the ambiguity codes {AMBIGUITY_CODES}"
        )
    if len(sequence) != LENGTH:
        raise ValueError(f"{where}: the sequence has {len(sequence)} letters instead of {LENGTH}")
    return label, sequence


SOURCE = Source(
    name="splice",
    loader=load_splice,
    **STRINGS,
    title="Molecular Biology (Splice-junction Gene Sequences)",
    page=(
        "https://archive.ics.uci.edu/dataset/69/molecular+biology+splice+junction+gene+sequences"
    ),
    files=("splice/splice.data",),
    alphabet=ALPHABET,
    counts=published((767, 768, 1655), lengths=(60, 60), n_train=2233),
    options={"ambiguous": {"keep": {}, "drop": published((762, 765, 1648), n_train=2222)}},
)
