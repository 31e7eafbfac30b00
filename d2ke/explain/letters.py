# SPDX-License-Identifier: BSD-3-Clause
"""Shares of letters in the decision of a model of bags: words of documents, codes of graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from d2ke.distances.string_rows import letter_counts
from d2ke.models.distance_blocks import FittedBlock
from d2ke.objects.compatibility import common_alphabet


def letter_shares(block: FittedBlock, x: Any, gains: np.ndarray) -> tuple[dict[str, Any], ...]:
    """Divide what random objects add among the letters of x that they share with it.

    `gains` are what each random object adds to the decision beyond one without a common letter.
    It is divided by the smaller one of the shares in x and in the random object, whose sum over the
    letters is 1 - distance / 2.
    """
    alphabet, (x_codes, codes) = common_alphabet([x, block.omega])
    letters, counts = np.unique(x_codes, return_counts=True)
    members, times, offsets = letter_counts(block.omega, codes, max(1, len(alphabet)))
    owners = np.repeat(np.arange(len(block.omega)), np.diff(offsets))
    places = np.minimum(np.searchsorted(letters, members), max(len(letters) - 1, 0))
    is_common = letters[places] == members if len(letters) else np.zeros(len(members), bool)
    owners, places = owners[is_common], places[is_common]
    in_omega = times[is_common] / block.omega.lengths[owners]
    both = np.minimum(in_omega, counts[places] / max(len(x_codes), 1))
    overlaps = np.bincount(owners, both, len(block.omega))
    shares = np.bincount(places, both * gains[owners] / overlaps[owners], len(letters))
    order = np.argsort(-shares, kind="stable")
    item = x[0]
    return tuple(
        {
            "letter": item[int(np.argmax(x_codes == letters[k]))],
            "share": float(shares[k]),
            "places": np.flatnonzero(x_codes == letters[k]),
        }
        for k in order
    )
