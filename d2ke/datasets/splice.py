# SPDX-License-Identifier: BSD-3-Clause
"""Splice: windows of 60 bases of primate DNA around splice junctions (strings)."""

from __future__ import annotations

import numpy as np

from d2ke.datasets._box import read_box
from d2ke.datasets._dataset import STRINGS, Source
from d2ke.objects.container import Objects

ALPHABET = "ACGT"
# The other letters are D: A, G or T. N: any base. R: A or G. S: C or G.


def load_splice(*, ambiguous: str = "keep") -> tuple[Objects, np.ndarray]:
    """Return the sequences and their classes.

    15 of the 3190 sequences hold a letter that stands for several bases (D, N, R or S).

    Parameters
    ----------
    ambiguous : {"keep", "drop"}, default "keep"
        ``"keep"``: such a letter is a symbol of its own, equal to itself and different from every
        base. Random strings are still made of A, C, G and T. ``"drop"``: the 15 sequences are
        left out.

    Returns
    -------
    objects : Objects
        The sequences in the order of UCI's file.
    labels : ndarray of str
        ``"EI"`` (exon to intron, donor), ``"IE"`` (intron to exon, acceptor) or ``"N"`` (neither).
    """
    objects, labels = read_box("splice")
    if ambiguous == "drop":
        kept = [i for i, sequence in enumerate(objects) if set(sequence).issubset(ALPHABET)]
        objects, labels = objects[kept], labels[kept]
    return objects, labels


SOURCE = Source(
    name="splice",
    loader=load_splice,
    **STRINGS,
    title="Molecular Biology (Splice-junction Gene Sequences)",
    page=(
        "https://archive.ics.uci.edu/dataset/69/molecular+biology+splice+junction+gene+sequences"
    ),
    alphabet=ALPHABET,
    options={"ambiguous": ("keep", "drop")},
)
