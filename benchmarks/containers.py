# SPDX-License-Identifier: BSD-3-Clause
"""Columns of other libraries packed: from their Arrow buffers beside the list of their values.

`python -m benchmarks.containers`; `--rows N` for fewer strings. Each case runs in a process of its
own, which makes the column first. Times are the processor's, the least of some rounds; memory is
the peak of the resident set above what the process had with the column, the result included.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

import d2ke
from benchmarks import measure
from d2ke._ext import isa
from papers.peak import peak_memory

ROUNDS = 2
SERIES = 50  # numbers in each series; a tenth as many series as strings


def strings(n: int, letters: bytes) -> pa.Array:
    """Return n strings of 8 to 15 letters, without making a `str`."""
    rng = np.random.default_rng(0)
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum(rng.integers(8, 16, n), out=offsets[1:])
    codes = rng.integers(0, len(letters), offsets[-1], dtype=np.uint8)
    # Each letter in Latin-1 is one letter of UTF-8, of one byte or of two.
    points = np.frombuffer(letters, np.uint8)[codes]
    wide = np.zeros(len(points) + 1, np.int64)
    np.cumsum(1 + (points >= 128), out=wide[1:])
    text = np.frombuffer(points.tobytes().decode("latin-1").encode(), np.uint8)
    offsets = wide[offsets]
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(text)]
    return pa.Array.from_buffers(pa.large_string(), n, buffers)


def make(name: str, n: int) -> Any:
    """Return a column."""
    if name == "series":
        values = np.random.default_rng(0).random(n // 10 * SERIES)
        offsets = np.arange(0, len(values) + 1, SERIES)
        return pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(values))
    column = strings(n, "ACGTäöü".encode("latin-1") if "accents" in name else b"ACGT")
    if name.startswith("polars"):
        import polars

        return polars.from_arrow(column)
    if name.startswith("pandas"):
        import pandas

        return pandas.Series(column.to_pandas(), dtype="string[pyarrow]")
    if name.startswith("dictionary"):
        return pa.chunked_array([column[: n // 100]] * 100).dictionary_encode()
    return column


CASES = {
    "pyarrow, strings": "large_string",
    "pyarrow, strings with accents": "large_string",
    "polars, strings": "string_view",
    "pandas, strings": "string[pyarrow]",
    "dictionary, strings": "dictionary, a hundredth of them different",
    "series": "large_list of double",
}


def listed(column: Any) -> list[Any]:
    """Return what a column holds as Python objects."""
    return column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()


def run(name: str, way: str, n: int) -> tuple[float, int, int]:
    """Return the seconds, the peak and the size of the result."""
    d2ke.pack(make(name, 1000))  # loads what is needed
    column = make(name, n)

    def call() -> d2ke.Objects:
        return d2ke.pack(column if way == "arrow" else listed(column))

    seconds, X = measure.least(call, ROUNDS)
    size = X.nbytes
    del X
    # Last, since it has the allocator return all memory at once, which takes time.
    with peak_memory() as peak:
        call()
    return seconds, peak.bytes, size


def main() -> None:
    parser = measure.parser(__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    n = parser.parse_args().rows
    measure.header("column", "type", "way", "seconds", "peak, MB", "result, MB")
    for name, kind in CASES.items():
        for way in ("arrow", "list"):
            seconds, *sizes = measure.in_child(
                "benchmarks.containers:run", name, way, n, isa=isa.selected()
            )
            measure.row(name, kind, way, f"{seconds:.2f}", *(f"{one / 1e6:.0f}" for one in sizes))


if __name__ == "__main__":
    main()
