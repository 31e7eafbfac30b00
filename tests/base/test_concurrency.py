# SPDX-License-Identifier: BSD-3-Clause
"""Several Python threads at once, forked and spawned processes, and the caller's settings."""

import io
import multiprocessing
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import d2ke
from d2ke._base import blas as blas_module
from d2ke._base.blas import one_blas_thread
from d2ke._base.threads import worker_pool
from d2ke._ext import elastic, omp

ROOT = Path(__file__).parents[2]
RNG = np.random.default_rng(0)
SERIES = d2ke.pack([RNG.standard_normal((n, 3)) for n in RNG.integers(20, 90, 60)])
SETS = [RNG.standard_normal((n, 4)) for n in RNG.integers(5, 40, 50)]
STRINGS = ["".join(RNG.choice(list("ACGT"), n)) for n in RNG.integers(0, 200, 80)]
OMEGA = d2ke.samplers.random_strings(64, "ACGT", length=(2, 50), seed=0)
POINTS = np.concatenate([RNG.normal(5 * c, 1.0, (30, 3)) for c in range(3)])
LABELS = np.repeat(["a", "b", "c"], 30)
FEATURES = RNG.standard_normal((90, 20)) + np.repeat(np.arange(3), 30)[:, None]
GRAM = d2ke.discriminative.gaussian_gram(POINTS)
MODEL = d2ke.d2ke_train([s.count("G") > s.count("A") for s in STRINGS], STRINGS, R=64, seed=0)


def parts(result):
    """Return the arrays of a result."""
    if isinstance(result, np.ndarray | float):
        return [np.asarray(result)]
    return [value for value in vars(result).values() if isinstance(value, np.ndarray)]


CALLS = {
    "dtw": lambda n: d2ke.distance_matrix(SERIES, None, "dtw", n_threads=n),
    "mhd": lambda n: d2ke.distance_matrix(SERIES, SERIES[:20], "mhd", n_threads=n),
    "emd": lambda n: d2ke.distance_matrix(SETS, None, "emd", n_threads=n),
    "levenshtein": lambda n: d2ke.distance_matrix(STRINGS, None, "levenshtein", n_threads=n),
    "nearest strings": lambda n: d2ke.nearest(STRINGS, k=3, distance="levenshtein", n_threads=n)[0],
    "nearest": lambda n: d2ke.nearest(SERIES, k=3, distance="dtw", n_threads=n)[1],
    "embed": lambda n: d2ke.d2ke_embed(
        STRINGS, OMEGA, distance="levenshtein", gamma=0.1, n_threads=n
    ),
    "gram": lambda n: d2ke.d2ke_gram(
        STRINGS, omega=OMEGA, distance="levenshtein", gamma=0.1, n_threads=n
    ),
    "features": lambda n: d2ke.d2ke_features(np.abs(FEATURES), 0.5, n_threads=n),
    "kernel distance": lambda n: d2ke.kernel_distance(
        POINTS, POINTS[::-1] + 0.1, sigma=1.0, n_threads=n
    ),
    "kernel distance, rff": lambda n: d2ke.kernel_distance(
        POINTS, POINTS + 0.1, sigma=1.0, method="rff", eps=0.1, n_threads=n
    ),
    "kernel distances": lambda n: d2ke.kernel_distance_matrix(SETS, sigma=1.0, n_threads=n),
    "cdsk": lambda n: d2ke.cdsk(points=POINTS, n_clusters=3, seed=0),
    "lpdsk": lambda n: d2ke.lpdsk(
        y=np.where(np.arange(90) % 10 == 0, np.repeat([0, 1, 2], 30), -1), points=POINTS
    ),
    "train, logistic": lambda n: d2ke.train(LABELS, FEATURES, "-s 0", n_threads=n),
    "train, dual": lambda n: d2ke.train(LABELS, FEATURES, "-s 1 -c 0.01", n_threads=n, seed=5),
    "train, block": lambda n: d2ke.train(LABELS, FEATURES, solver="block", n_threads=n),
    "least squares": lambda n: d2ke.train_least_squares(LABELS, FEATURES, n_threads=n),
    "svmtrain": lambda n: d2ke.svmtrain(LABELS, GRAM),
    "predict": lambda n: d2ke.d2ke_predict(None, STRINGS, MODEL, n_threads=n)[2],
}


def settings():
    """What belongs to the process or to the calling thread, and is not ours to change."""
    pools = {(pool["filepath"], pool["num_threads"]) for pool in threadpool_info()}
    return pools, omp.max_threads(), np.geterr(), os.environ.copy()


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("n_threads", [1, 3])
def test_threads_at_once_get_the_same_bits(name, n_threads):
    call = CALLS[name]
    expected = parts(call(1))
    gate = threading.Barrier(4)

    def run(_):
        gate.wait()
        return [parts(call(n_threads)) for _ in range(2)]

    before = settings()
    with threadpool_limits(2):
        inside = settings()
        with ThreadPoolExecutor(4) as pool:
            results = [result for runs in pool.map(run, range(4)) for result in runs]
        assert settings() == inside
    assert settings() == before
    for result in results:
        assert all(a.tobytes() == b.tobytes() for a, b in zip(expected, result, strict=True))


class OwnError(Exception):
    """Raised in the midst of a call."""


def refuse(*_):
    raise OwnError


class Unfit:
    """What looks like a number until it is used."""

    def __index__(self):
        raise OwnError


def _interrupted():
    """Have the loop's visit to Python raise, as Ctrl-C does."""
    out, cross = np.empty((60, 60)), _prepared()
    cross.run(out, 2, True, progress=refuse)


def _prepared():
    values, offsets = SERIES.values, SERIES.offsets
    return elastic.dtw(values, offsets, values, offsets, elastic.NO_WINDOW, False, True)


def _fails_within(error):
    with one_blas_thread():
        raise error("in a limited part")


FAILS = {
    "a signal": _interrupted,
    "a distance": lambda: d2ke.distance_matrix(SETS, SETS, refuse),
    "a distance of parts": lambda: d2ke.d2ke_embed(
        SETS, SETS[:9], distance=refuse, gamma=1.0, n_threads=2
    ),
    "a product": lambda: _fails_within(np.linalg.LinAlgError),
    "too many labels": lambda: d2ke.train(LABELS[:-1], FEATURES, n_threads=2),
    "a solver's option": lambda: d2ke.train(LABELS, FEATURES, "-s 0 -c -1", n_threads=2),
    "least squares": lambda: d2ke.train_least_squares(LABELS, FEATURES, n_threads=Unfit()),
}


@pytest.mark.parametrize("name", FAILS)
@pytest.mark.parametrize("times", [1, 4])
def test_settings_stay_when_calls_fail(name, times):
    def run(_):
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                FAILS[name]()
        except (OwnError, TypeError, ValueError, FloatingPointError, np.linalg.LinAlgError):
            return True
        return False

    with threadpool_limits(2):
        before = settings()
        if times == 1:
            assert run(0)
        else:
            with ThreadPoolExecutor(times) as pool:
                assert all(pool.map(run, range(times)))
        assert settings() == before


def test_one_thread_fails_while_others_compute():
    """Who fails lifts no limit of the others, and leaves none."""
    names = ["gram", "kernel distance, rff", "train, block", "least squares"]
    expected = {name: parts(CALLS[name](1)) for name in names}
    stop = threading.Event()

    def fail():
        while not stop.is_set():
            with pytest.raises(np.linalg.LinAlgError):
                FAILS["a product"]()

    with threadpool_limits(2):
        before = settings()
        with ThreadPoolExecutor(4) as pool:
            failing = [pool.submit(fail) for _ in range(2)]
            try:
                for name, result in [
                    (name, pool.submit(CALLS[name], 2)) for name in names for _ in range(3)
                ]:
                    for a, b in zip(expected[name], parts(result.result(120)), strict=True):
                        assert a.tobytes() == b.tobytes(), name
            finally:
                stop.set()
            for one in failing:
                one.result(60)
        assert settings() == before


def test_one_blas_thread_is_lifted_by_the_last():
    def blas():  # numpy's and scipy's; other tests load more, that nothing here computes with
        return [
            library.get_num_threads() for group in blas_module._libraries() for library in group
        ]

    entered, leave = threading.Event(), threading.Event()

    def first():
        with one_blas_thread():
            entered.set()
            leave.wait(60)

    with threadpool_limits(2, user_api="blas"):
        before = blas()
        assert set(before) == {2}
        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(first)
            entered.wait(60)
            with one_blas_thread():
                leave.set()
                future.result(60)
                assert set(blas()) <= {1}  # the first has left, and lifts nothing
        assert blas() == before


def test_a_blas_with_a_setting_for_each_thread(monkeypatch):
    """OpenBLAS on OpenMP: every thread sets and restores its own."""

    class Library:
        own = threading.local()

        def get_num_threads(self):
            return getattr(self.own, "count", 4)

        def set_num_threads(self, count):
            self.own.count = count

    library = Library()
    monkeypatch.setattr(blas_module, "_libraries", lambda: ([], [library]))

    def run(_):
        before = library.get_num_threads()
        with one_blas_thread():
            gate.wait(60)
            inside = library.get_num_threads()
            with one_blas_thread():
                pass
            inside = max(inside, library.get_num_threads())
        return before, inside, library.get_num_threads()

    gate = threading.Barrier(3)
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(run, range(3))) == [(4, 1, 4)] * 3
    with worker_pool(2, blas_module.limit_blas_of_thread) as pool:
        assert list(pool.map(lambda _: library.get_num_threads(), range(4))) == [1] * 4


def work(seed):
    """Compute in a child process; return the bits."""
    return [
        part.tobytes() for name in ("dtw", "embed", "kernel distances", "train, dual", "svmtrain")
        for part in parts(CALLS[name](3))
    ]  # fmt: skip


def printed_config():
    with redirect_stdout(io.StringIO()) as text:
        d2ke.show_config()
    return text.getvalue()


@pytest.mark.parametrize(
    "method", [pytest.param("spawn", marks=pytest.mark.slow), "forkserver", "fork"]
)
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_processes_compute_the_same(method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} on this system")
    expected = work(0)  # OpenMP has threads in this process now
    with multiprocessing.get_context(method).Pool(2) as pool:
        config = pool.apply(printed_config)
        assert (" 1 (a forked process)\n" in config) == (method == "fork")
        for result in pool.map_async(work, range(2)).get(timeout=120):
            assert result == expected
