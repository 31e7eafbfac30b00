# SPDX-License-Identifier: BSD-3-Clause
"""MAT-files of version 4: a header of 20 bytes and the numbers, one matrix after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse

from d2ke._base.damage import Damaged


def variables(file: BinaryIO, size: int) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield the name and entry of each variable; read headers only."""
    file.seek(0)
    codes = ("f8", "f4", "i4", "i2", "u2", "u1")
    largest_type = 4052  # MOPT = 4052, the largest of the documented values
    while file.tell() < size:
        raw = file.read(20)
        order = "<" if 0 <= int.from_bytes(raw[:4], "little") <= largest_type else ">"
        code, rows, columns, imaginary, length = (int(x) for x in np.frombuffer(raw, f"{order}i4"))
        machine, rest = divmod(code, 1000)
        zero, stored, kind = rest // 100, rest // 10 % 10, rest % 10
        if not 0 <= code <= largest_type or zero or stored > 5 or kind > 2:
            raise Damaged(f"the type of the variable at byte {file.tell() - 20} is {code}")
        if machine not in (0, 1):
            raise Damaged("its numbers are in the format of a VAX or a Cray, not IEEE")
        if rows < 0 or columns < 0 or imaginary not in (0, 1) or not 1 <= length <= 1024:
            raise Damaged(f"the header at byte {file.tell() - 20} is not one of version 4")
        name = file.read(length).split(b"\0")[0].decode("latin-1")
        full = imaginary and kind != 2  # a complex sparse matrix has a fourth column instead
        nbytes = rows * columns * np.dtype(codes[stored]).itemsize * (2 if full else 1)
        start = file.tell()
        if start + nbytes > size:
            raise Damaged(f"{name} needs {nbytes} bytes from byte {start}, beyond the file's end")
        dtype = np.dtype(order + codes[stored])
        yield name, (start, dtype, (rows, columns), bool(full), kind)
        file.seek(start + nbytes)


def described(file: BinaryIO, entry: tuple[Any, ...]) -> tuple[tuple[int, ...], str]:
    """Return shape and class of the variable of an entry of `variables`."""
    _, _, shape, _, kind = entry
    if kind != 2:
        return shape, "char" if kind == 1 else "double"
    # The last row of the table has the shape.
    sizes = tuple(_last_of_column(file, entry, column) for column in (0, 1))
    return tuple(int(n) if 0 <= n < 2**53 else 0 for n in sizes), "sparse"


def _last_of_column(file: BinaryIO, entry: tuple[Any, ...], column: int) -> float:
    """Return the number in the last row of a column, 0 if there is none."""
    start, dtype, (rows, columns), _, _ = entry
    if not rows or column >= columns:
        return 0.0
    file.seek(start + ((column + 1) * rows - 1) * dtype.itemsize)
    return float(np.frombuffer(file.read(dtype.itemsize), dtype)[0])


def read(file: BinaryIO, entry: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the node of the variable of an entry of `variables`."""
    start, dtype, shape, is_complex, kind = entry
    file.seek(start)
    count = shape[0] * shape[1]
    halves = []
    for _ in range(2 if is_complex else 1):
        raw = np.frombuffer(file.read(count * dtype.itemsize), dtype=dtype)
        halves.append(raw.astype(np.float64).reshape(shape, order="F"))
    if kind == 2:
        return _sparse(halves[0])
    values = halves[0]
    if is_complex:
        values = values.astype(np.complex128)
        values.imag = halves[1]
    return ("char", values.astype(np.uint16)) if kind == 1 else ("array", values)


def _sparse(table: np.ndarray) -> tuple[Any, ...]:
    """Return a matrix from its rows (i, j, value[, imaginary part]); the last is its shape."""
    size = int(table[-1, 0]), int(table[-1, 1])
    if size[1] > max(2**24, len(table)):  # columns take memory here but not in the file
        raise Damaged(f"a sparse matrix of {len(table) - 1} numbers has {size[1]} columns")
    data = table[:-1, 2]
    if table.shape[1] == 4:
        data = data.astype(np.complex128)
        data.imag = table[:-1, 3]
    with np.errstate(invalid="ignore"):
        rows, columns = (table[:-1, :2] - 1).astype(np.int64).T
    matrix = scipy.sparse.csc_array(scipy.sparse.coo_array((data, (rows, columns)), shape=size))
    return "sparse", size, matrix.data, matrix.indices, matrix.indptr
