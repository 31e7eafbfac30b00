# SPDX-License-Identifier: BSD-3-Clause
"""Missing values of series filled in, linearly in time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from d2ke._base.checks import choice
from d2ke._base.errors import ArgumentError
from d2ke.objects.container import Objects, with_fields


def check_missing(missing: Any) -> None:
    """Refuse anything but None and "interpolate"."""
    if missing is not None:
        choice("missing", missing, ["interpolate"])


def fill_gaps(
    objects: Objects, name: str, times: Sequence[np.ndarray] | None = None
) -> tuple[Objects, dict[str, Any]]:
    """Fill in NaN of each channel, linearly between its neighbours in time; ends are repeated.

    `times` are those of each series, by default its steps. The dict has the rule, and how many
    values of how many series were filled, as a model keeps them.
    """
    values = objects.values.copy()
    gaps = np.isnan(values)
    rows = np.flatnonzero(gaps.any(axis=1))
    numbers = np.unique(np.searchsorted(objects.offsets, rows, side="right") - 1)
    for i in numbers.tolist():
        steps = slice(objects.offsets[i], objects.offsets[i + 1])
        since = np.arange(len(values[steps])) if times is None else times[i]
        for channel, gap in enumerate(gaps[steps].T):
            if gap.all():
                called = "" if objects.ids is None else f"({objects.ids[i].item()!r}) "
                problem = f"{called}has no value in channel {channel}, so none can be filled in"
                raise ArgumentError(name, problem, i)
            series = values[steps, channel]
            series[gap] = np.interp(since[gap], since[~gap], series[~gap])
    counts = {"rule": "interpolate", "values": int(gaps.sum()), "series": len(numbers)}
    return with_fields(objects, values=values, missing=False), counts
