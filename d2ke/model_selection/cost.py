# SPDX-License-Identifier: BSD-3-Clause
"""The memory that the steps of a search need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from d2ke._base.memory import needs
from d2ke._base.threads import thread_count
from d2ke.model_selection.fold_sums import (
    fewer_operations,
    product_bytes,
)
from d2ke.model_selection.squared_hinge import hinge_bytes
from d2ke.model_selection.squared_loss import hat_bytes

# What it takes to verify a store and find its median; and what HDF5 and the allocator keep.
_VERIFY_BYTES, SPARE_BYTES = 3 << 24, 1 << 25

# What is held for each distance, at once, or of all of them.
_BYTES_OF_NEIGHBORS = 64

_NUMBERS_OF_LED = 8

_NUMBERS_OF_KERNEL, _NUMBERS_OF_MACHINE = 3, 2


_SMALLER = "give a part of the objects, fewer threads, or a smaller R"
needs(
    "search",
    {
        '"d2ke", "rsm": blocks of the hat matrix': "24 n R + 40 n R T + 48 M^2 T + 32 H^2 T "
        "+ 112 n k + 320 R k f + W",
        '"d2ke", "rsm": blocks of the hat matrix, folder': "16 n R + 40 n R T + 48 M^2 T "
        "+ 32 H^2 T + 112 n k + 320 R k f + W",
        '"d2ke", "rsm": sums of products, folder': "8 R^2 f + 56 R^2 T + 8 R k f C + 112 n k "
        "+ 320 R k f + 256 MiB + W",
    },
    _SMALLER,
)
needs(
    "search",
    {
        '"d2ke", "rsm": sums of products': "32 n R + 8 R^2 f + 56 R^2 T + 8 R k f C + 112 n k "
        "+ 320 R k f + 256 MiB + W",
    },
    f"a folder for the distances; {_SMALLER}",
)
needs(
    "search",
    {
        '"knn"': "24 n^2 + W",
        '"knn", within is a file': "64 n + 64 MiB",
        '"gdk_led"': "48 n^2 + 64 n R + 32 H^2 + 112 n k f + W",
    },
    "give a part of the objects",
)
needs(
    "search",
    {'"dsk_rbf", "dsk_nd"': "24 n^2 + 24 n^2 T + Q T + W"},
    "give a part of the objects, or fewer threads",
)


@dataclass(frozen=True)
class Load:
    """What the time and the memory of a search for features depend on.

    Attributes
    ----------
    n, n_folds, n_classes, n_costs : int
        Rows, folds, classes, values of C.
    n_views : int
        How many settings there may be with the same gamma.
    n_threads : int
        Threads.
    hinge : bool
        Whether the squared hinge loss is tried.
    """

    n: int
    n_folds: int
    n_classes: int
    n_costs: int
    n_views: int
    n_threads: int
    hinge: bool

    @classmethod
    def of(cls, codes: np.ndarray, values: Mapping[str, Sequence], fit: Mapping[str, Any]) -> Load:
        """Make the load of a search over these values of R, scaling, C and loss."""
        return cls(
            len(codes),
            fit["n_folds"],
            int(codes.max()) + 1,
            len(values["C"]),
            len(values["scaling"]) * len(values["R"]),
            thread_count(fit["n_threads"]),
            "squared_hinge" in values["loss"],
        )

    def by_products(self, R: int, limit: int | None) -> bool:
        """Whether to sum products for R features: if that is cheaper, or nothing else fits."""
        cheaper = fewer_operations(self.n, R, self.n_folds, self.n_classes, self.n_costs)
        if limit is None:
            return cheaper
        if cheaper:
            return self.product_bytes(R) <= limit or self.hat_bytes(R) > limit
        return self.hat_bytes(R) > limit >= self.product_bytes(R)

    def product_bytes(self, R: int) -> int:
        """Return the bytes that sums of products take."""
        counts = self.n_folds, self.n_classes, self.n_costs, self.n_views
        return product_bytes(R, *counts, self.n_threads)

    def hat_bytes(self, R: int) -> int:
        """Return the bytes that the hat matrix of a setting takes, with its features."""
        return hat_bytes(self.n, R, self.n_folds)

    def hinge_bytes(self, R: int) -> int:
        """Return the bytes that the squared hinge loss takes, beside the features."""
        return hinge_bytes(self.n, R, self.n_folds, self.n_classes, self.n_threads)

    def needed(self, sizes: Sequence[int], *, in_file: bool) -> int:
        """Return the bytes for these numbers of features, beside distances that are in memory."""
        most = _VERIFY_BYTES
        for R in sizes:
            most = max(most, min(self.product_bytes(R), self.hat_bytes(R)))
            if self.hinge:
                features = 0 if in_file else 2 * 8 * self.n * R
                most = max(most, self.hinge_bytes(R) + features)
        return most + SPARE_BYTES


def gram_bytes(method: str, n: int, n_threads: int) -> int:
    """Return about how many bytes a search takes beside the distances among n objects."""
    if method == "knn":
        return _BYTES_OF_NEIGHBORS * max(n, 1 << 20)
    if method == "gdk_led":
        return _NUMBERS_OF_LED * 8 * n**2
    return (_NUMBERS_OF_KERNEL + _NUMBERS_OF_MACHINE * n_threads) * 8 * n**2
