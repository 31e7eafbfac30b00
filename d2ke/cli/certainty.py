# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities, prediction sets and novelty that `d2ke predict` writes and reports."""

from __future__ import annotations

import re
from itertools import compress
from typing import Any

import numpy as np

from d2ke.explain.conformal import sets_of
from d2ke.models.model import D2KEModel


def certainty(
    model: D2KEModel,
    decisions: np.ndarray,
    p_values: np.ndarray,
    alpha: float,
    true: np.ndarray | None,
) -> tuple[dict[str, np.ndarray], list[str]]:
    """Return the columns of the result, and sentences that summarise them."""
    sets, n = sets_of(decisions, model.calibration, alpha), len(decisions)
    columns: dict[str, np.ndarray]
    covered: Any = None
    if not model.task.n_probabilities:
        columns = dict(zip(("low", "high"), sets.T, strict=True))
        width = f"{sets[0, 1] - sets[0, 0]:.4g} wide" if n else ""
        text, hold = f"intervals at alpha {alpha:g}: {width}", "values"
        if true is not None:
            covered = (sets[:, 0] <= true) & (true <= sets[:, 1])
    else:
        # Classes are joined by |, so | in a name becomes \|.
        names = [re.sub(r"([\\|])", r"\\\1", str(name)) for name in model.task.classes.tolist()]
        texts = ["|".join(compress(names, row)) for row in sets.tolist()]
        probabilities = model.calibration.probabilities(decisions)
        columns = {"probability": probabilities.max(axis=1), "set": np.array(texts, dtype=str)}
        mean = f"{sets.sum(axis=1).mean():.2f} classes on average" if n else ""
        text, hold = f"sets of classes at alpha {alpha:g}: {mean}", "classes"
        if true is not None:
            covered = (sets & (model.task.classes == true[:, None])).any(axis=1)
    columns["novelty"] = p_values
    if covered is not None and n:
        text += f"; {100 * covered.mean():.1f} % hold the true {hold}"
    return columns, [text, strangers(model, p_values)[1]] if n else []


def strangers(model: D2KEModel, p_values: np.ndarray) -> tuple[np.ndarray, str]:
    """Return the novel objects, the most novel first, and a sentence about them."""
    # Below 1 / (m + 1) p-values are ranks only.
    level = max(0.01, 1 / (len(model.reference.scores) + 1))
    order = np.argsort(p_values, kind="stable")
    order = order[: np.count_nonzero(p_values <= level)]
    usual = f"(novelty at most {level:.2g}, as {100 * level:.2g} % of objects like these have)"
    count = len(order) or "none"
    return order, f"strangers: {count} of {len(p_values)} are unlike all training objects {usual}"
