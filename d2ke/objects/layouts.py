# SPDX-License-Identifier: BSD-3-Clause
"""Series in the layouts of other libraries: aeon, tslearn, xarray."""

from __future__ import annotations

from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentError, ArgumentTypeError

LAYOUTS = ("aeon", "tslearn")


def from_layout(items: Any, layout: str, name: str) -> tuple[Any, np.ndarray | None, bool]:
    """Return series of aeon or tslearn, the lengths of padded ones, and if channels come first."""
    return _from_aeon(items, name) if layout == "aeon" else _from_tslearn(items, name)


def _from_aeon(items: Any, name: str) -> tuple[Any, None, bool]:
    """Read (n, channels, length), (n, length), or a list of (channels, length)."""
    if isinstance(items, np.ndarray) and items.dtype.kind not in "OUST":
        if items.ndim not in (2, 3):
            raise ArgumentError(
                name,
                f"has shape {items.shape}; layout='aeon' is (n, channels, length), "
                "(n, length), or a list of (channels, length)",
            )
        return items, None, items.ndim == 3
    if not isinstance(items, (list, tuple, np.ndarray)):
        raise ArgumentTypeError(
            name,
            f"is {type(items).__name__}; layout='aeon' is an array (n, channels, length), "
            "or a list of arrays (channels, length)",
        )
    for i, item in enumerate(items):
        if np.ndim(item) != 2:
            raise ArgumentError(
                name, f"has shape {np.shape(item)}; layout='aeon' needs (channels, length)", i
            )
    return items, None, True


def _from_tslearn(items: Any, name: str) -> tuple[Any, np.ndarray, bool]:
    """Read (n, length, channels), where the rest of shorter series is NaN."""
    if not isinstance(items, np.ndarray):
        raise ArgumentTypeError(
            name, f"is {type(items).__name__}; layout='tslearn' is one array (n, length, channels)"
        )
    if items.ndim != 3 or items.dtype.kind not in "biuf" or 0 in items.shape[1:]:
        raise ArgumentError(
            name,
            f"has shape {items.shape} and element type {items.dtype}; layout='tslearn' is "
            "numbers (n, length, channels)",
        )
    if np.ma.is_masked(items):
        raise ArgumentTypeError(name, "has masked elements; layout='tslearn' has NaN for the rest")
    there: np.ndarray = np.any(~np.isnan(items), axis=2)
    missing = np.flatnonzero(~there.any(axis=1))
    if missing.size:
        raise ArgumentError(name, "is NaN throughout; leave this series out", missing[0])
    return items, items.shape[1] - there[:, ::-1].argmax(axis=1), False


def from_xarray(items: Any, name: str) -> Any:
    """Return an array of xarray as (n, length[, dim]), by the name of its dimension `time`.

    Anything else is returned as it is.
    """
    if type(items).__module__.partition(".")[0] != "xarray":
        return items
    if not hasattr(items, "to_numpy"):
        raise ArgumentTypeError(
            name,
            f"is one {type(items).__name__} of xarray; a DataArray is needed: choose one "
            "of its variables",
        )
    if items.ndim == 1:
        return items.to_numpy()
    if "time" not in items.dims or items.ndim not in (2, 3):
        raise ArgumentError(
            name,
            f"has the dimensions {', '.join(map(str, items.dims))}; series of a DataArray "
            "are (objects, time) or (objects, time, channels) with one called time: rename(...) "
            "it, or pack(X.to_numpy()) as an array",
        )
    others = [one for one in items.dims if one != "time"]
    return items.transpose(others[0], "time", *others[1:]).to_numpy()
