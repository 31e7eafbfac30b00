# SPDX-License-Identifier: BSD-3-Clause
"""The Gram matrix of gapped words of strings beside its numpy form.

    python -m benchmarks.gapped [--n 2000] [--length 100] [--rounds 3] [--threads 1]

Random strings of DNA and of proteins, all 54 masks, processor seconds. The numpy form packs each
window's word into an integer, counts the words of each string in a sparse matrix of SciPy, and adds
its products with its transpose: by BLAS if there are few words, else as sparse matrices.
"""

from __future__ import annotations

import time
from functools import partial

import numpy as np
from scipy import sparse

import d2ke
from benchmarks import measure
from benchmarks.measure import Peer
from d2ke.distances.masks import GAPPED, Mask
from d2ke.distances.piece_kernels import Pieces, piece_kernel

LETTERS = {"DNA": 4, "proteins": 20}
FEW_WORDS = 5000  # up to which a dense product is faster


def in_numpy(strings: np.ndarray, n_letters: int) -> np.ndarray:
    """Compute the mean of the eight kernels with numpy and SciPy."""
    total = np.zeros((len(strings), len(strings)))
    for masks in GAPPED:
        K = sum(products(strings, mask, n_letters) for mask in masks)
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


def main() -> None:
    parser = measure.parser(__doc__, rounds=3, threads=1)
    parser.add_argument("--n", type=int, default=2000)
    parser.add_argument("--length", type=int, default=100)
    options = parser.parse_args()
    measure.peers_header(f"{options.n} strings of {options.length} letters; processor seconds")
    for kind, n_letters in LETTERS.items():
        drawn = np.random.default_rng(0).integers(0, n_letters, (options.n, options.length))
        weights = [1 / len(GAPPED)] * len(GAPPED)
        packed = d2ke.pack(drawn, kind="strings")
        ours = partial(piece_kernel, packed, None, Pieces(), weights, options.threads)
        peer = {"numpy": Peer(partial(in_numpy, drawn, n_letters), measure.close(1e-10))}
        measure.side_by_side(kind, ours, peer, options.rounds, clock=time.process_time)


if __name__ == "__main__":
    main()
