# SPDX-License-Identifier: BSD-3-Clause
"""The destination of a matrix of distances or features, and the options of its computation."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from d2ke._base.checks import byte_count, element_type, flag, integer
from d2ke._base.threads import team_size


@dataclass(frozen=True)
class Output:
    """The options of a public function that fills a matrix, checked when it is made.

    Attributes
    ----------
    out : ndarray, Path or None
        The array to fill, the feature store to write, or None for a new array.
    dtype : numpy.dtype or None
        Of the result; None: that of the objects.
    max_memory : int or None
        Bytes that the blocks of a file may take, the objects included.
    resume : bool
        Whether a file that was interrupted is completed.
    n_threads : int
        Threads; with a client, those of each block.
    progress : bool
        Whether a progress bar is shown.
    client : dask.distributed.Client or None
        Whose workers compute the blocks. It is checked where it is first used, by asking them.
    """

    out: Any = None
    dtype: Any = None
    max_memory: Any = None
    resume: bool = False
    n_threads: Any = None
    progress: bool = False
    client: Any = None

    def __post_init__(self) -> None:
        out, dtype, limit, n_threads = self.out, self.dtype, self.max_memory, self.n_threads
        resume = flag("resume", self.resume)
        if isinstance(out, (str, os.PathLike)):
            out = Path(out)
        elif resume:
            raise TypeError(f"resume goes with a file, a path as out; out is {type(out).__name__}")
        if dtype is not None:
            dtype = element_type("dtype", dtype)
            if isinstance(out, np.ndarray) and out.dtype != dtype:
                raise TypeError(f"out holds {out.dtype}, but dtype is {dtype}")
        if limit is not None:
            limit = byte_count("max_memory", limit)
            if out is None:
                raise TypeError(
                    "max_memory goes with out, a path or an array: it makes the blocks smaller "
                    "that are computed at a time"
                )
        if self.client is None:
            n_threads = team_size(n_threads)
        else:
            n_threads = 1 if n_threads is None else integer("n_threads", n_threads, 1)
        checked = {"out": out, "dtype": dtype, "max_memory": limit, "resume": resume,
                   "n_threads": n_threads}  # fmt: skip
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def to_file(self) -> bool:
        """True if the result is a feature store."""
        return isinstance(self.out, Path)

    @property
    def lazy(self) -> bool:
        """True if the result is a dask array."""
        return self.client is not None and self.out is None
