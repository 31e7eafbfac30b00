# SPDX-License-Identifier: BSD-3-Clause
"""Shares of letters in the decision of a model of bags: words of documents, codes of graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from d2ke.distances.string_rows import letter_counts
from d2ke.models.distance_blocks import FittedBlock
from d2ke.objects.compatibility import common_alphabet


def letter_shares(block: FittedBlock, x: Any, gains: np.ndarray) -> tuple[dict[str, Any], ...]:
    """Divide the shares of random objects among the letters that x has in common with them.

    `gains` are the shares of random objects beyond the share of one without a common letter. They
    are divided in proportion to the smaller frequency of the letter in x and in the random object;
    these sum to 1 - distance / 2.
    """
    alphabet, (x_codes, codes) = common_alphabet([x, block.omega])
    letters, counts = np.unique(x_codes, return_counts=True)
    members, times, offsets = letter_counts(block.omega, codes, max(1, len(alphabet)))
    owners = np.repeat(np.arange(len(block.omega)), np.diff(offsets))
    indices = np.minimum(np.searchsorted(letters, members), max(len(letters) - 1, 0))
    is_common = letters[indices] == members if len(letters) else np.zeros(len(members), bool)
    owners, indices = owners[is_common], indices[is_common]
    in_omega = times[is_common] / block.omega.lengths[owners]
    both = np.minimum(in_omega, counts[indices] / max(len(x_codes), 1))
    overlaps = np.bincount(owners, both, len(block.omega))
    shares = np.bincount(indices, both * gains[owners] / overlaps[owners], len(letters))
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
