# SPDX-License-Identifier: BSD-3-Clause
"""Parameters as short text, for reports and messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

_FEW_ENTRIES = 4


def show(values: Mapping[str, Any]) -> str:
    """Return parameters on one line."""
    return ", ".join(f"{name} {shown(value)}" for name, value in values.items()) or "no parameters"


def shown(value: Any) -> str:
    """Return a parameter in a few characters; a range as "1 to 25"."""
    if isinstance(value, (tuple, list)):
        return " to ".join(map(shown, value))
    return f"{value:.4g}" if isinstance(value, float) else entries(value)


def entries(value: Any) -> str:
    """Return the text of a value; of a large mapping, such as one of costs, its size."""
    large = isinstance(value, Mapping) and len(value) > _FEW_ENTRIES
    return f"{{{len(value)} entries}}" if large else str(value)


def listed(items: Iterable[Any], show: Callable[[Any], str] = repr) -> str:
    """Return the first of some names, and how many more there are."""
    names = list(items)
    max_names = 10
    more = f", ... and {len(names) - max_names} more" * (len(names) > max_names)
    return ", ".join(map(show, names[:max_names])) + more


def is_value(label: Any) -> bool:
    """Return whether a prediction is a number of a regression rather than a class."""
    return isinstance(label, (float, np.floating))


def target_text(label: Any) -> str:
    """Return what the shares of a prediction add to."""
    return "the prediction" if is_value(label) else f"the decision for {label}"


def shortened(text: str, n: int) -> str:
    """Return a text of at most n letters, the last one an ellipsis where it is cut."""
    return text if len(text) <= n else f"{text[: n - 1]}…"


def distance_text(distance: float) -> str:
    """Return a distance; an empty text for NaN, which stands for none."""
    return "" if distance != distance else f"{distance:.4g}"


def object_text(item: Any) -> str:
    """Return a string, cut; of vectors, how many they are; of a record, its entries."""
    if isinstance(item, Mapping):
        return ", ".join(f"{name} {object_text(entry)}" for name, entry in item.items())
    if item is None or isinstance(item, (int, float)):
        return "missing" if item is None else f"{item:.4g}"
    if isinstance(item, (str, bytes)):
        text = item if isinstance(item, str) else repr(item)
        max_letters = 18
        return text if len(text) <= max_letters else f"{text[:max_letters]}... ({len(text)})"
    array = np.asarray(item)
    return f"{array.shape[0]} x {array.shape[1]}" if array.ndim == 2 else f"{array.size} letters"
