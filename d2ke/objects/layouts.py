# SPDX-License-Identifier: BSD-3-Clause
"""Layouts of series: which axis holds the channels, and the layouts of aeon, tslearn and xarray."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2ke._base.errors import ArgumentError, ArgumentTypeError, warn


class Layout(NamedTuple):
    """How items are read: the axis of the channels, padding and missing values.

    Attributes
    ----------
    channels_first : bool
        Whether 2-D items are (dim, length).
    explicit : bool
        Whether the user chose that; if not, items that may be meant otherwise bring a warning.
    advice : str
        The code that chooses it, for the warning; ``{}`` stands for True or False.
    missing : bool
        Whether NaN stands for values that are missing; if not, it is refused.
    lengths : array_like or None
        How much of each row of a padded array counts.
    weighted : bool
        Whether weights are given beside the items, whose weights are then ignored.
    """

    channels_first: bool = False
    explicit: bool = False
    advice: str = "channels_first={}"
    missing: bool = False
    lengths: Any = None
    weighted: bool = False

    def hint(self) -> str:
        """Return the end of an error about items whose numbers of channels differ."""
        shape = "(length, dim)" if self.channels_first else "(dim, length)"
        return f" (for items of shape {shape}: {self.advice.format(not self.channels_first)})"

    def warn(self, name: str, steps: int, channels: int) -> None:
        """Warn of items that all have more channels than steps, unless a layout was chosen."""
        if self.explicit or not 0 < steps < channels:
            return
        shape = (channels, steps) if self.channels_first else (steps, channels)
        warn(
            f"every item of {name} has shape {shape} and is read as "
            f"{_counted(steps, 'vector')} of {_counted(channels, 'channel')}; for "
            f"{_counted(channels, 'vector')} of {_counted(steps, 'channel')}: "
            f"{self.advice.format(not self.channels_first)}; to keep this reading without a "
            f"warning: {self.advice.format(self.channels_first)}"
        )


def _counted(n: int, what: str) -> str:
    return f"{n} {what}{'s' if n > 1 else ''}"


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


def _from_tslearn(items: Any, name: str) -> tuple[Any, NDArray[Any], bool]:
    """Read (n, length, channels), where shorter series end in NaN."""
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
    present: NDArray[np.bool_] = np.any(~np.isnan(items), axis=2)
    missing = np.flatnonzero(~present.any(axis=1))
    if missing.size:
        raise ArgumentError(name, "is NaN throughout; leave this series out", missing[0])
    return items, items.shape[1] - present[:, ::-1].argmax(axis=1), False


# Functions that return a library's series, padded lengths, and whether channels come first.
LAYOUTS: dict[str, Callable[[Any, str], tuple[Any, Any, bool]]] = {
    "aeon": _from_aeon, "tslearn": _from_tslearn
}  # fmt: skip


def is_xarray(items: Any) -> bool:
    """Return whether items are an array or a data set of xarray."""
    return type(items).__module__.partition(".")[0] == "xarray"


def from_xarray(items: Any, name: str) -> Any:
    """Return an array of xarray as (n, length[, dim]), by the name of its dimension `time`."""
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
    dims = [dim for dim in items.dims if dim != "time"]
    return items.transpose(dims[0], "time", *dims[1:]).to_numpy()
