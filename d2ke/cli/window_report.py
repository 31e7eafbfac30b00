# SPDX-License-Identifier: BSD-3-Clause
"""The picture of windows on the page of `d2ke train --report`."""

from __future__ import annotations

import io
from collections.abc import Sequence

from d2ke.models.explain import Explanation


def windows_picture(reasons: Sequence[Explanation], names: Sequence[str]) -> bytes:
    """Draw series with the windows that are found in them, one below the other."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.4 * len(reasons)), layout="constrained")
    rows = figure.subplots(len(reasons), 1, squeeze=False)[:, 0]
    for why, name, axes in zip(reasons, names, rows, strict=True):
        why.plot(limit=len(why.windows) or 1, ax=axes)
        axes.set_title(f"{name}: {axes.get_title()}", fontsize=10)
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=110)
    return content.getvalue()
