# SPDX-License-Identifier: BSD-3-Clause
"""Neighbours searched by the workers of a dask cluster: the bits of one process."""

import logging
import os

import numpy as np
import pytest
from neighbor_cases import same_graph
from reference import same
from scipy import LowLevelCallable

import d2ke
from d2ke.distances.pairs import check_pairs
from d2ke.distances.problem import ArgumentNames
from d2ke.neighbors import block_search
from d2ke.neighbors.problem import NeighborSearch
from d2ke.neighbors.strategies import choose_strategy

cloudpickle = pytest.importorskip("cloudpickle")
distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.skipif(os.name != "posix", reason="files and signals as POSIX has them")

RNG = np.random.default_rng(0)
STRINGS = d2ke.pack(["".join(RNG.choice(list("ACGT"), n)) for n in RNG.integers(0, 20, 1100)])
WALKS = d2ke.pack(RNG.standard_normal((330, 20, 1)).cumsum(axis=1), channels_first=False)
CLOUDS = d2ke.pack(
    list(30 * RNG.standard_normal((330, 1, 2)) + RNG.standard_normal((330, 4, 2))),
    channels_first=False,
)
NUMBERS = [float(x) for x in RNG.permutation(330)]


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=":0",
            memory_limit=None,
            silence_logs=logging.CRITICAL,
        ) as workers,
        distributed.Client(workers) as found,
    ):
        yield found


def gap(x, y):
    return abs(x - y)


def turned(x, y):
    """Not symmetric, so that it shows which of the two was asked."""
    return abs(x - 2.0 * y)


CASES = {
    "levenshtein": (STRINGS, {"distance": "levenshtein"}, 2),
    "dtw": (WALKS, {"distance": "dtw", "window": 3}, 20.0),
    "hausdorff": (CLOUDS, {"distance": "hausdorff"}, 10.0),
    "mhd": (CLOUDS, {"distance": "mhd"}, 10.0),
    "metric": (NUMBERS, {"distance": gap, "metric": True}, 5.0),
    "turned": (NUMBERS, {"distance": turned}, 50.0),
}


@pytest.mark.parametrize(
    ("name", "other"), [*((name, False) for name in CASES), ("levenshtein", True), ("turned", True)]
)
def test_the_bits_of_one_process(client, name, other):
    X, options, radius = CASES[name]
    Y = X[: len(X) // 2] if other else None
    wanted, computed = (
        d2ke.nearest(X, Y, k=4, **options),
        d2ke.nearest(X, Y, k=4, client=client, info=True, **options),
    )
    for got, expected in zip(computed, wanted, strict=False):
        same(got, expected)
    info = computed[-1]
    assert info.pairs == len(X) * len(X if Y is None else Y)
    assert info.computed + sum(info.ruled_out.values()) == info.pairs
    graph = d2ke.within(X, Y, radius=radius, client=client, **options)
    same_graph(graph, d2ke.within(X, Y, radius=radius, **options))
    assert graph.nnz


def test_what_a_worker_prepared_is_not_sent_to_others():
    pairs = check_pairs(STRINGS, None, "levenshtein", {}, ArgumentNames("nearest"))
    search = NeighborSearch(pairs, True, True, 2, None, 1)
    work = block_search.BlockSearch(search, choose_strategy(search))
    expected, _ = work.rows(slice(5, 9))
    copied, _ = cloudpickle.loads(cloudpickle.dumps(work)).rows(slice(5, 9))
    for got, wanted in zip(copied, expected, strict=True):
        same(got, wanted)


def test_to_a_file_that_one_process_began(client, tmp_path, monkeypatch):
    path, options = tmp_path / "near.h5", {"distance": "levenshtein", "k": 4}
    d2ke.nearest(STRINGS, out=path, **options)
    whole = path.read_bytes()
    path.unlink()
    search = block_search.BlockSearch.rows

    def interrupted(self, rows, *arguments, **keywords):
        if rows.start >= 400:
            raise KeyboardInterrupt
        return search(self, rows, *arguments, **keywords)

    with monkeypatch.context() as patch:
        patch.setattr(block_search, "_MOST_ROWS", 100)
        patch.setattr(block_search.BlockSearch, "rows", interrupted)
        with pytest.raises(KeyboardInterrupt):
            d2ke.nearest(STRINGS, out=path, **options)
    _, info = d2ke.nearest(
        STRINGS, out=path, resume=True, client=client, info=True, max_memory="1GB", **options
    )
    assert 0 < info.pairs < len(STRINGS) ** 2
    assert path.read_bytes() == whole


def refuse(x, y):
    if (x, y) == (3.0, 5.0):
        return -1.0
    return abs(x - y)


def test_errors_of_workers_come_back(client):
    with pytest.raises(ValueError, match=r"distance\(X\[3\], Y\[5\]\) must be finite and >= 0"):
        d2ke.nearest([0.0, 1.0, 2.0, 3.0, 4.0, 5.0], k=1, distance=refuse, client=client)
    X = [float(x * x) for x in range(30)]
    with pytest.raises(ValueError, match=r"no metric: distance\(X\[\d+\], X\[\d+\]\) is"):
        d2ke.nearest(X, k=1, distance=square, metric=True, client=client)


def square(x, y):
    return (x - y) ** 2


def test_what_workers_cannot_have(client):
    numba = pytest.importorskip("numba")
    double = numba.types.CPointer(numba.types.double)
    size = numba.types.intp
    signature = numba.types.double(double, size, double, size, size, numba.types.voidptr)
    function = numba.cfunc(signature)(lambda x, n, y, m, dim, data: 1.0)
    with pytest.raises(TypeError, match="LowLevelCallable"):
        d2ke.nearest([[1.0], [2.0]], k=1, distance=LowLevelCallable(function.ctypes), client=client)


def test_the_graph_has_to_fit(client):
    with pytest.raises(ValueError, match="within radius that are known so far"):
        d2ke.within(STRINGS, radius=20, distance="levenshtein", client=client, max_memory="9MB")
