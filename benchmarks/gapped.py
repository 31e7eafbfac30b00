# SPDX-License-Identifier: BSD-3-Clause
"""The Gram matrix of gapped words of strings beside its numpy form, in the same run.

    python -m benchmarks.gapped [--n 2000] [--length 100] [--rounds 3] [--threads 1] [--quick]

Random strings of DNA and of proteins, all 54 masks. The numpy form packs each window's word into an
integer, counts the words of each string in a sparse matrix of SciPy, and adds its products with its
transpose: by BLAS where there are few words, else as sparse matrices. Times are processor times,
the least of the rounds; memory is what a process grows by.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from scipy import sparse

import d2ke
from benchmarks import measure
from d2ke._ext import isa
from d2ke.distances.masks import GAPPED, Mask
from d2ke.distances.piece_kernels import Pieces, piece_kernel

LETTERS = {"DNA": 4, "proteins": 20}
FEW_WORDS = 5000  # up to which a dense product is faster


def drawn(kind: str, n: int, length: int) -> np.ndarray:
    """Draw n strings of one length, as numbers of letters."""
    return np.random.default_rng(0).integers(0, LETTERS[kind], (n, length))


def ours(kind: str, n: int, length: int, n_threads: int) -> np.ndarray:
    """Compute the mean of the eight kernels with d2ke."""
    objects = d2ke.pack(drawn(kind, n, length), kind="strings")
    return piece_kernel(objects, None, Pieces(), [1 / len(GAPPED)] * len(GAPPED), n_threads)


def in_numpy(kind: str, n: int, length: int) -> np.ndarray:
    """Compute the same with numpy and SciPy."""
    strings, total = drawn(kind, n, length), np.zeros((n, n))
    for masks in GAPPED:
        K = sum(products(strings, mask, LETTERS[kind]) for mask in masks)
        roots = np.sqrt(np.diag(K))
        total += K / np.outer(roots, roots) / len(GAPPED)
    return total


def products(strings: np.ndarray, mask: Mask, n_letters: int) -> np.ndarray:
    """Return the products of the roots of counts of words on a mask, for all pairs."""
    n, length = strings.shape
    windows = np.zeros((n, length - mask[-1]), np.int64)
    for place in mask:
        windows = windows * n_letters + strings[:, place : place + windows.shape[1]]
    words, columns = np.unique(windows, return_inverse=True)
    rows = np.repeat(np.arange(n), windows.shape[1])
    ones = np.ones(windows.size)
    counts = sparse.csr_array((ones, (rows, columns.ravel())), shape=(n, len(words)))
    roots = counts.sqrt()
    if len(words) <= FEW_WORDS:
        dense = roots.toarray()
        return dense @ dense.T
    return (roots @ roots.T).toarray()


def memory(kind: str, n: int, length: int) -> float:
    """Return how many MB d2ke's computation grows by, for a process of its own."""
    ours(kind, 10, length, 1)
    return measure.resident_peak(partial(ours, kind, n, length, 1))["peak"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table."""
    parser = measure.parser(__doc__ or "", rounds=3, threads=True, quick="few strings")
    parser.set_defaults(threads=1)
    parser.add_argument("--n", type=int, default=2000)
    parser.add_argument("--length", type=int, default=100)
    options = parser.parse_args(arguments)
    n, length = 100 if options.quick else options.n, options.length
    print(f"{measure.processor()}: {n} strings of {length} letters, {options.threads} threads\n")
    measure.header("strings", "numpy, s", "d2ke, s", "ratio", "d2ke, MB")
    for kind in LETTERS:
        theirs, wanted = measure.least(partial(in_numpy, kind, n, length))
        seconds, K = measure.least(partial(ours, kind, n, length, options.threads), options.rounds)
        np.testing.assert_allclose(K, wanted, rtol=1e-10)
        grown = measure.in_child("benchmarks.gapped:memory", kind, n, length, isa=isa.selected())
        measure.row(
            kind, f"{theirs:.2f}", f"{seconds:.2f}", f"{theirs / seconds:.1f}", f"{grown:.0f}"
        )


if __name__ == "__main__":
    main()
