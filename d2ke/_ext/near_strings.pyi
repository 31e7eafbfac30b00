# SPDX-License-Identifier: BSD-3-Clause
"""Type stubs of near_strings.pyx, which has the documentation."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

WORK: int
LEVENSHTEIN: int
OSA: int
INDEL: int
DAMERAU: int
WHOLE: int
LONGER: int
BOTH: int

class Index:
    @property
    def pieces(self) -> int: ...
    def __init__(self, y: Strings, pieces: int) -> None: ...
    def arrays(self) -> dict[str, NDArray[Any]]: ...
    @classmethod
    def from_arrays(cls, pieces: int, arrays: Mapping[str, NDArray[Any]]) -> Index: ...

class Scratch: ...

class Strings:
    @property
    def letters(self) -> NDArray[np.uint32]: ...
    @property
    def offsets(self) -> NDArray[np.int64]: ...
    @property
    def bags(self) -> NDArray[np.uint8]: ...
    @property
    def blocks(self) -> NDArray[np.uint8]: ...
    @property
    def codes(self) -> NDArray[np.uint8]: ...
    @property
    def grams(self) -> NDArray[np.uint64]: ...
    @property
    def powers(self) -> NDArray[np.uint64]: ...
    @property
    def starts(self) -> NDArray[np.int64]: ...
    @property
    def n(self) -> int: ...
    @property
    def longest(self) -> int: ...
    @property
    def n_letters(self) -> int: ...
    def arrays(self) -> dict[str, NDArray[Any]]: ...
    @classmethod
    def from_arrays(cls, n_letters: int, arrays: Mapping[str, NDArray[Any]]) -> Strings: ...
    def __init__(
        self,
        letters: NDArray[np.uint32],
        offsets: NDArray[np.int64],
        n_letters: int,
        longest: int,
        rows: bool = False,
    ) -> None: ...

def search(
    x: Strings,
    y: Strings,
    rows: NDArray[np.int64],
    edits: int,
    share: int,
    radius: int,
    value: float,
    index: Index | None,
    half: bool,
    skip: bool,
    heaps: tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]] | None,
    counts: NDArray[np.int64],
    work: NDArray[np.int64],
    n_threads: int,
    progress: Callable[[int, int], object] | None = None,
) -> NDArray[np.int64]: ...
def bounded(
    x: NDArray[np.uint32], y: NDArray[np.uint32], n_letters: int, cut: int, edits: int = ...
) -> tuple[int, int]: ...
