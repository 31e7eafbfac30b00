# SPDX-License-Identifier: BSD-3-Clause
"""Japanese vowels: one utterance of nine speakers, as series of 12 cepstral coefficients."""

from __future__ import annotations

from functools import partial

from d2ke.datasets._box import read_box
from d2ke.datasets._dataset import SERIES, Source

SOURCE = Source(
    name="japanese-vowels",
    loader=partial(read_box, "japanese_vowels"),
    **SERIES,
    title="Japanese Vowels",
    page="https://archive.ics.uci.edu/dataset/128/japanese+vowels",
    n_train=270,
)
