# SPDX-License-Identifier: BSD-3-Clause
"""Handwritten digits, as chain codes of their outlines and as sets of points."""

from __future__ import annotations

from functools import partial
from typing import Any

from d2ke.datasets._box import read_box
from d2ke.datasets._dataset import SETS, STRINGS, Source

_DIGITS: dict[str, Any] = {
    "title": "Optical Recognition of Handwritten Digits",
    "page": "https://archive.ics.uci.edu/dataset/80/optical+recognition+of+handwritten+digits",
}

SOURCES = (
    *(
        Source(
            name=f"digits-str{directions}",
            loader=partial(read_box, "digits", f"str{directions}"),
            **STRINGS,
            alphabet="01234567"[:directions],
            **_DIGITS,
        )
        for directions in (8, 4)
    ),
    Source(
        name="digits-points",
        loader=partial(read_box, "digits", "points"),
        **SETS,
        **_DIGITS,
    ),
)
