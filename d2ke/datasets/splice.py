# SPDX-License-Identifier: BSD-3-Clause
"""Splice: windows of 60 bases of primate DNA around splice junctions (strings).

15 of the 3190 sequences hold a letter that stands for several bases: D, N, R or S. It is a symbol
of its own, equal to itself and different from every base. The classes are ``"EI"`` (exon to intron,
donor), ``"IE"`` (intron to exon, acceptor) and ``"N"`` (neither).
"""

from __future__ import annotations

from functools import partial

from d2ke.datasets._box import read_box
from d2ke.datasets._dataset import STRINGS, Source

SOURCE = Source(
    name="splice",
    loader=partial(read_box, "splice"),
    **STRINGS,
    title="Molecular Biology (Splice-junction Gene Sequences)",
    page=(
        "https://archive.ics.uci.edu/dataset/69/molecular+biology+splice+junction+gene+sequences"
    ),
    alphabet="ACGT",
)
