# SPDX-License-Identifier: BSD-3-Clause
"""The packages that d2ke is compared with, each called in its fastest way.

The only module that imports them. Each function takes prepared inputs and returns a dict from
the peer's name to a callable without arguments that returns the matrix of distances (not
necessarily in d2ke's layout: `full` brings it there), or to None where it is not installed.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

PACKAGES = ("dtaidistance", "rapidfuzz", "stringzillas-cpus", "numba", "numpy", "scipy")

# Columns of a block of the matrix product; 256 to 8192 were tried, this is the fastest or near it.
MHD_BLOCK = 1024


@dataclass(frozen=True, eq=False)
class Peer:
    """A call to be timed, and how its result becomes the (n, m) matrix."""

    call: Callable[[], Any]
    full: Callable[[Any], np.ndarray] = np.asarray

    def __call__(self) -> Any:
        """Do what is timed."""
        return self.call()


Peers = dict[str, "Peer | None"]


def versions() -> dict[str, str]:
    """Versions of the peers; "not installed" for those that are not."""
    result = {}
    for name in PACKAGES:
        try:
            result[name] = version(name)
        except PackageNotFoundError:
            result[name] = "not installed"
    return result


def limit_threads(n_threads: int) -> None:
    """Let OpenMP peers use n_threads, and BLAS one thread per calling thread.

    OpenBLAS's own threads wait for each other busily: one other process on the machine can
    make a product ten times slower. The peers below call it from threads of their own.
    """
    from threadpoolctl import threadpool_limits

    _installed("dtaidistance.dtw_ndim")
    threadpool_limits(limits=n_threads, user_api="openmp")
    threadpool_limits(limits=1, user_api="blas")


def dtw(x, y, n_threads: int, rws_window: bool = False) -> Peers:
    """Euclidean ground distance; y is None for pairs of x. dtaidistance has no such window."""
    peers: Peers = {} if rws_window else {"dtaidistance": None}
    if not rws_window and (module := _dtaidistance(x[0].shape[1])):
        n = len(x)
        series, options = _dtai_input([*x, *(y or ())])
        full = partial(_mirrored, n=n)
        if y is not None:
            options["block"] = ((0, n), (n, n + len(y)))
            full = lambda values: np.reshape(values, (n, -1))  # noqa: E731
        peers["dtaidistance"] = Peer(lambda: module.distance_matrix_fast(series, **options), full)
    return peers | _numba_dtw_peers(x, y, rws_window, n_threads)


def levenshtein(x, y, n_threads: int) -> Peers:
    """Short strings y against long ones x: rapidfuzz is fastest with the short ones as rows.

    For all pairs of x (y is None) it halves the work for one list, and uses SIMD for two.
    """
    calls = {"rapidfuzz": (y, x, np.transpose)}
    if y is None:
        calls = {
            "rapidfuzz symmetric": (x, x, np.asarray),
            "rapidfuzz SIMD": (x, list(x), np.asarray),
        }
    peers: Peers = dict.fromkeys(calls) | {"stringzillas": _stringzillas(x, y, n_threads)}
    if process := _installed("rapidfuzz.process"):
        scorer = import_module("rapidfuzz.distance").Levenshtein.distance
        options = {"scorer": scorer, "dtype": np.uint16, "workers": n_threads}
        for name, (rows, columns, full) in calls.items():
            peers[name] = Peer(partial(process.cdist, rows, columns, **options), full)
    return peers


def mhd(x, y, n_threads: int) -> Peers:
    """Multiply matrices: |x|^2 + |y|^2 - 2xy, then minima; y is None for pairs of x."""
    full = np.asarray if y is not None else _upper_mirrored
    peers: Peers = {
        "BLAS + reduceat": Peer(_blas_mhd(x, y, n_threads, _reduce_numpy), full),
        "BLAS + numba": None,
    }
    if _installed("numba"):
        reduce = _numba_kernels()["mhd"]
        peers["BLAS + numba"] = Peer(_blas_mhd(x, y, n_threads, reduce), full)
    return peers


def _installed(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        return None


def _dtaidistance(dim: int) -> Any:
    return _installed("dtaidistance.dtw" if dim == 1 else "dtaidistance.dtw_ndim")


def _dtai_input(items) -> tuple[list[np.ndarray], dict[str, Any]]:
    options = {"compact": True, "parallel": True, "inner_dist": "euclidean"}
    dim = items[0].shape[1]
    if dim == 1:
        return [np.ascontiguousarray(item[:, 0], dtype=np.double) for item in items], options
    return [np.ascontiguousarray(item, dtype=np.double) for item in items], options | {"ndim": dim}


def _stringzillas(x, y, n_threads: int) -> Peer | None:
    """All pairs by bytes, which are the letters of our workloads."""
    if not (stringzillas := _installed("stringzillas")):
        return None
    scope = stringzillas.DeviceScope(cpu_cores=n_threads)
    engine = stringzillas.LevenshteinDistances(capabilities=scope)
    strings = import_module("stringzilla").Strs
    rows, columns = strings(list(x)), None if y is None else strings(list(y))
    return Peer(lambda: engine(rows, columns, device=scope))


def _mirrored(condensed, n: int) -> np.ndarray:
    result = np.zeros((n, n))
    result[np.triu_indices(n, 1)] = condensed
    return result + result.T


def _upper_mirrored(upper: np.ndarray) -> np.ndarray:
    rows, columns = np.tril_indices(len(upper), -1)
    result = upper.copy()
    result[rows, columns] = upper[columns, rows]
    return result


def _packed(items) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.zeros(len(items) + 1, dtype=np.int64)
    np.cumsum([len(item) for item in items], out=offsets[1:])
    return np.ascontiguousarray(np.concatenate(items)), offsets


def _in_threads(row, lengths, n_threads: int) -> None:
    """Call row(i) for every object, the longest first."""
    order = np.argsort(-np.asarray(lengths), kind="stable").tolist()
    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(row, order))


def _numba_dtw_peers(x, y, rws_window: bool, n_threads: int) -> Peers:
    full = np.asarray if y is not None else _upper_mirrored
    names = {"numba loop": "dtw", "numba loop, fastmath": "dtw_fastmath"}
    if not _installed("numba"):
        return dict.fromkeys(names)
    return {
        name: Peer(_numba_dtw(x, y, rws_window, n_threads, _numba_kernels()[kernel]), full)
        for name, kernel in names.items()
    }


def _numba_dtw(x, y, rws_window: bool, n_threads: int, kernel) -> Callable[[], np.ndarray]:
    x_values, x_offsets = _packed(x)
    y_values, y_offsets = (x_values, x_offsets) if y is None else _packed(y)
    lengths = np.diff(x_offsets)

    def call():
        out = np.zeros((len(lengths), len(y_offsets) - 1))

        def row(i):
            item = x_values[x_offsets[i] : x_offsets[i + 1]]
            kernel(item, y_values, y_offsets, i if y is None else 0, rws_window, out[i])

        _in_threads(row, lengths, n_threads)
        return out

    return call


def _blas_mhd(x, y, n_threads: int, reduce) -> Callable[[], np.ndarray]:
    x_values, x_offsets = _packed(x)
    y_values, y_offsets = (x_values, x_offsets) if y is None else _packed(y)
    lengths = np.diff(x_offsets)
    m = len(y_offsets) - 1

    def call():
        out = np.zeros((len(lengths), m), dtype=x_values.dtype)
        y_norms = np.einsum("ij,ij->i", y_values, y_values)

        def row(i):
            item = x_values[x_offsets[i] : x_offsets[i + 1]]
            norms = np.einsum("ij,ij->i", item, item)
            scaled = -2 * item
            j = i if y is None else 0
            while j < m:
                stop = int(np.searchsorted(y_offsets, y_offsets[j] + MHD_BLOCK, "right")) - 1
                stop = min(max(stop, j + 1), m)
                part = slice(y_offsets[j], y_offsets[stop])
                product = scaled @ y_values[part].T
                starts = y_offsets[j : stop + 1] - y_offsets[j]
                reduce(product, norms, y_norms[part], starts, out[i, j:stop])
                j = stop

        _in_threads(row, lengths, n_threads)
        return out

    return call


def _reduce_numpy(product, x_norms, y_norms, starts, out) -> None:
    product += y_norms
    product += x_norms[:, None]
    nearest_x = np.sqrt(np.maximum(product.min(axis=0), 0))
    nearest_y = np.sqrt(np.maximum(np.minimum.reduceat(product, starts[:-1], axis=1), 0))
    means = np.add.reduceat(nearest_x, starts[:-1]) / np.diff(starts)
    np.maximum(means, nearest_y.mean(axis=0), out=out)


@cache
def _numba_kernels() -> dict[str, Callable]:
    numba = import_module("numba")

    def pair(x, y, width, cost):
        n, m = len(x), len(y)
        cost[: m + 1] = np.inf
        cost[0] = 0.0
        for i in range(n):
            low = max(0, i - width)
            diagonal, left = cost[low], np.inf
            cost[low] = np.inf
            for j in range(low, min(m, i + width + 1)):
                square = 0.0
                for k in range(x.shape[1]):
                    difference = x[i, k] - y[j, k]
                    square += difference * difference
                above = cost[j + 1]
                least = diagonal
                if above < least:
                    least = above
                if left < least:
                    least = left
                left = least + np.sqrt(square)
                cost[j + 1] = left
                diagonal = above
        return cost[m]

    def row(pair):
        @numba.njit(nogil=True)
        def dtw(x, values, offsets, first, rws_window, out):
            cost = np.empty(1 + np.diff(offsets).max())
            for j in range(first, len(offsets) - 1):
                y = values[offsets[j] : offsets[j + 1]]
                longer = max(len(x), len(y))
                width = longer
                if rws_window:
                    width = max(min(40, -(-longer // 10)), abs(len(x) - len(y)))
                out[j] = pair(x, y, width, cost)

        return dtw

    @numba.njit(nogil=True, fastmath=True)
    def mhd(product, x_norms, y_norms, starts, out):
        n, m = product.shape
        nearest_x = np.full(m, np.finfo(product.dtype).max, dtype=product.dtype)
        sums = np.zeros(len(out))
        for i in range(n):
            row = product[i]
            norm = x_norms[i]
            for k in range(m):
                square = row[k] + y_norms[k] + norm
                row[k] = square
                nearest_x[k] = min(nearest_x[k], square)
            for j in range(len(out)):
                least = row[starts[j]]
                for k in range(starts[j] + 1, starts[j + 1]):
                    least = min(least, row[k])
                sums[j] += np.sqrt(max(least, 0.0))
        for j in range(len(out)):
            total = 0.0
            for k in range(starts[j], starts[j + 1]):
                total += np.sqrt(max(nearest_x[k], 0.0))
            out[j] = max(total / (starts[j + 1] - starts[j]), sums[j] / n)

    # Infinities are in use, so only the flags that let the sum over channels be vectorised.
    fast = numba.njit(nogil=True, fastmath={"reassoc", "contract", "nsz"})(pair)
    return {"dtw": row(numba.njit(nogil=True)(pair)), "dtw_fastmath": row(fast), "mhd": mhd}
