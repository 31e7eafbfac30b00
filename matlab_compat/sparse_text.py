# SPDX-License-Identifier: BSD-3-Clause
"""LIBSVM's sparse text format: `libsvmread` and `libsvmwrite`."""

from __future__ import annotations

import os
from array import array
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from d2ke._base.checks import file_path
from d2ke._base.errors import ArgumentError
from d2ke._base.files import atomic_write
from d2ke._base.keywords import hinted
from d2ke.io.text import lines_of
from d2ke.objects.fields import finite_numbers
from matlab_compat._cells import column, vector
from matlab_compat._outputs import Outputs


@hinted
def libsvmread(filename: str | os.PathLike[str]) -> tuple[np.ndarray, sparse.csr_array]:
    """Read labels and features from a file of lines ``label index:value index:value ...``.

    Parameters
    ----------
    filename : str or path
        The file; indices start at 1.

    Returns
    -------
    labels : ndarray, n x 1
        One for each line.
    X : csr_array, n x d
        The features; d is the largest index.

    Raises
    ------
    OSError
        The file cannot be read.
    ValueError
        A line is not of that form, has an index below 1, indices that do not ascend, or a number
        that is not finite; the message names the line.

    Examples
    --------
    >>> import tempfile
    >>> file = tempfile.mktemp()
    >>> libsvmwrite(file, [[1], [-1]], [[0.0, 2.5], [1.0, 0.0]])
    >>> labels, X = libsvmread(file)
    >>> labels.ravel(), X.toarray()
    (array([ 1., -1.]), array([[0. , 2.5], [1. , 0. ]]))
    """
    labels, values, indices, starts = array("d"), array("d"), array("q"), array("q", [0])
    max_index = 2**31 - 1  # LIBSVM's int
    for where, line in lines_of(file_path("filename", filename)):
        if not line:
            continue
        label, *pairs = line.split()
        labels.extend(finite_numbers(f"{where}, label", [label]))
        columns, texts = [], []
        for pair in pairs:
            index, colon, text = pair.partition(":")
            if not (colon and index.isdecimal() and 1 <= int(index) <= max_index):
                raise ValueError(
                    f"{where}: {pair!r} is not index:value with an index from 1 to {max_index}"
                )
            columns.append(int(index) - 1)
            texts.append(text)
        if any(a >= b for a, b in pairwise(columns)):
            raise ValueError(f"{where}: the indices do not ascend")
        values.extend(finite_numbers(where, texts))
        indices.extend(columns)
        starts.append(len(indices))
    width = max(indices, default=-1) + 1
    arrays = (np.array(values), np.array(indices), np.array(starts))
    matrix = sparse.csr_array(arrays, shape=(len(labels), width))
    return Outputs("libsvmread", label_vector=column(np.array(labels)), instance_matrix=matrix)


@hinted
def libsvmwrite(filename: str | os.PathLike[str], labels: Any, X: Any) -> None:
    r"""Write labels and features as lines ``label index:value index:value ...``.

    Parameters
    ----------
    filename : str or path
        The file; it appears when it is complete.
    labels : array_like, n x 1
        Numbers.
    X : array_like or scipy sparse, n x d
        The features; zeros are left out. Numbers are written so that reading gives the same.

    Raises
    ------
    OSError
        The file cannot be written.
    ValueError
        Sizes that do not fit, values that are not finite.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mktemp())
    >>> libsvmwrite(file, [[1], [-1]], [[0.0, 2.5], [1.0, 0.0]])
    >>> file.read_text("utf-8")
    '1 2:2.5\n-1 1:1\n'
    """
    path = file_path("filename", filename)
    y = vector("labels", labels).astype(np.float64)
    rows = sparse.csr_array(X, dtype=np.float64)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    if rows.ndim != 2 or rows.shape[0] != len(y):
        raise ArgumentError("labels", f"has {len(y)} entries, but X is of shape {rows.shape}")
    for name, values in (("labels", y), ("X", rows.data)):
        if not np.isfinite(values).all():
            raise ArgumentError(name, "must be finite throughout")
    with atomic_write(path) as file:
        for i, label in enumerate(y.tolist()):
            row = slice(rows.indptr[i], rows.indptr[i + 1])
            pairs = zip(rows.indices[row].tolist(), rows.data[row].tolist(), strict=True)
            line = " ".join([_number(label), *(f"{j + 1}:{_number(v)}" for j, v in pairs)])
            file.write(f"{line}\n".encode())


def _number(value: float) -> str:
    """Return the shortest text that reads as the same number."""
    return repr(value).removesuffix(".0")
