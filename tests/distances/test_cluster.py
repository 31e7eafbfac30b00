# SPDX-License-Identifier: BSD-3-Clause
"""Blocks of rows computed by the workers of a dask cluster: the bits of one process."""

import asyncio
import logging
import os
import signal
import sys
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest
from reference import examples, same
from scipy import LowLevelCallable

import d2ke
from d2ke._ext import isa as instructions
from d2ke.distances import blocks as blocks_module
from d2ke.distances import cluster as cluster_module
from d2ke.distances import matrix
from d2ke.io.store import layout
from d2ke.io.store.writer import PartialStore

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.skipif(os.name != "posix", reason="stores and signals as POSIX has them")

RNG = np.random.default_rng(0)
STRINGS = d2ke.pack(["".join(RNG.choice(list("ACGT"), n)) for n in RNG.integers(0, 20, 700)])
OMEGA = d2ke.random_strings(40, "ACGT", length=(2, 8), seed=0)
SERIES = d2ke.pack([RNG.standard_normal((n, 2)) for n in RNG.integers(1, 6, 60)])
SINGLE = d2ke.pack([np.asarray(x, np.float32) for x in SERIES])
WEIGHTED = d2ke.pack(SERIES, weights=[RNG.random(n) + 0.1 for n in SERIES.lengths])
NUMBERS = [float(x) for x in range(60)]
ROWS = 16  # of a block
HOW = {"distance": "levenshtein", "gamma": 0.3}


@contextmanager
def cluster(n_workers, **more):
    """Processes with one thread each, restarted when they are killed."""
    with (
        distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            dashboard_address=":0",
            memory_limit=None,
            silence_logs=logging.CRITICAL,
            **more,
        ) as workers,
        distributed.Client(workers) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client():
    with cluster(2) as found:
        yield found


@pytest.fixture
def file(tmp_path):
    return tmp_path / "features.h5"


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    """The disk is not waited for."""
    monkeypatch.setattr(os, "fsync", lambda fd: None)


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of a few rows, so that few rows make many of them."""
    monkeypatch.setattr(layout, "_BLOCK_ROWS", ROWS)


def turned(x, y):
    """Not symmetric, so that it shows which of the two was asked."""
    return abs(x - 2.0 * y)


turned.version = "1"


def scaled(x, y, by):
    return by * abs(x - y)


scaled.version = "1"


def third(x, y):
    return abs(x - y) / 3


third.version = "1"


def logged(log, seconds):
    """A distance that writes down each row that it computes, and takes its time."""

    def function(x, y):
        if y == 0.0:
            descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(descriptor, f"{os.getpid()} {int(x)}\n".encode())
            os.close(descriptor)
            time.sleep(seconds)
        return abs(x - y)

    function.version = "1"  # the same results, whatever log and seconds are
    return function


def lines(log):
    return [tuple(map(int, line.split())) for line in log.read_text().splitlines()]


def at_rest(log):
    before = len(lines(log))
    time.sleep(0.3)
    return len(lines(log)) == before


def wait_until(condition, seconds=30):
    stop = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < stop
        time.sleep(0.02)


# ---------------------------------------------------------------- the same bits


CASES = {
    "strings, features": (d2ke.d2ke_embed, (STRINGS, OMEGA), HOW),
    "strings, link": (
        d2ke.rsm_embed,
        (STRINGS, OMEGA),
        {"distance": "levenshtein", "link": "distance"},
    ),
    "strings among themselves": (d2ke.distance_matrix, (STRINGS[:90], None, "levenshtein"), {}),
    "letters of int": (
        d2ke.distance_matrix,
        (d2ke.pack([[3, 500], [7], []] * 9, kind="strings"), None, "levenshtein"),
        {},
    ),
    "series": (d2ke.distance_matrix, (SERIES, SERIES[:9], "dtw"), {"window": 2}),
    "series, float32": (d2ke.d2ke_embed, (SINGLE, SINGLE[:9]), {"distance": "dtw", "gamma": 2.0}),
    "sets among themselves": (d2ke.distance_matrix, (SERIES, None, "directed_mhd"), {}),
    "weighted sets": (d2ke.distance_matrix, (WEIGHTED, WEIGHTED[5:11], "emd"), {}),
    "weighted sets among themselves": (
        d2ke.distance_matrix,
        (WEIGHTED, None, "kernel"),
        {"sigma": 0.7, "normalize": True},
    ),
    "function": (d2ke.distance_matrix, (NUMBERS, [1.0, 5.0], scaled), {"by": 0.1}),
    "function, features": (
        d2ke.d2ke_embed,
        (NUMBERS, [1.0, 5.0]),
        {"distance": third, "gamma": 0.2},
    ),
    "function among themselves": (d2ke.distance_matrix, (NUMBERS, None, turned), {}),
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("case", CASES)
def test_same_bits(client, file, small_blocks, case):
    function, given, how = CASES[case]
    wanted = function(*given, **how)
    array = function(*given, **how, client=client)
    assert isinstance(array, da.Array)
    assert array.numblocks[0] > 1
    assert array.numblocks[1] == 1
    assert array.dtype == wanted.dtype
    same(array.compute(), wanted)
    for dtype in (np.float32, np.float64):
        out, local = np.empty(wanted.shape, dtype), np.empty(wanted.shape, dtype)
        assert function(*given, **how, client=client, out=out) is out
        same(out, function(*given, **how, out=local))
    with function(*given, **how, client=client, out=file) as store:
        store.verify()
        same(store.read(), wanted)
        made_from = store.parameters, store.inputs
    with function(*given, **how, out=file, resume=True) as store:
        assert (store.parameters, store.inputs) == made_from


def test_blocks_of_an_array(client):
    """They are ordinary ones: parts can be had, reduced, and computed without the cluster."""
    Z = d2ke.d2ke_embed(STRINGS, OMEGA, **HOW)
    array = d2ke.d2ke_embed(STRINGS, OMEGA, **HOW, client=client, n_threads=2)
    same(array[123:130, 3:5].compute(), Z[123:130, 3:5])
    np.testing.assert_allclose((array.T @ array).compute(), Z.T @ Z, rtol=1e-12)
    same(array.persist().compute(), Z)
    same(array.compute(scheduler=dask.get), Z)
    single = d2ke.d2ke_embed(STRINGS, OMEGA, **HOW, client=client, dtype="f4")
    same(single.compute(), d2ke.d2ke_embed(STRINGS, OMEGA, **HOW, dtype="f4"))


@pytest.mark.slow
def test_four_workers(file, small_blocks, tmp_path):
    with cluster(4) as client:
        with d2ke.d2ke_embed(STRINGS, OMEGA, **HOW, client=client, out=file) as store:
            same(store.read(), d2ke.d2ke_embed(STRINGS, OMEGA, **HOW))
        log = tmp_path / "log"
        X = [float(x) for x in range(400)]
        D = np.empty((400, 2))
        d2ke.distance_matrix(X, [0.0, 1.0], logged(log, 0.005), client=client, out=D)
        rows = lines(log)
        assert sorted(row for _, row in rows) == list(range(400))
        assert len({process for process, _ in rows}) == 4


# ---------------------------------------------------------------- what travels, and how much ahead


def test_only_blocks_of_rows_travel(client, file, small_blocks, monkeypatch):
    sent = []
    submit = cluster_module.Remote._submit

    def count(self, function, *arguments, **how):
        sent.append(sum(len(part) for part in arguments if isinstance(part, bytes)))
        return submit(self, function, *arguments, **how)

    monkeypatch.setattr(cluster_module.Remote, "_submit", count)
    X = d2ke.pack(["ACGT" * 500] * 320)
    d2ke.distance_matrix(X, OMEGA, "levenshtein", client=client, out=file).close()
    recipe, *blocks = sent
    assert recipe < OMEGA.nbytes + 3000
    # Letters take a byte, an offset eight; what else a block has is less than a kilobyte.
    assert X.nbytes < sum(blocks) < X.nbytes + 1000 * len(blocks)


def test_few_blocks_are_ahead(client, file, small_blocks, monkeypatch):
    """However slow the disk is, workers do not pile up results."""
    ahead, most = [0], []
    submit, write = cluster_module.Remote._submit, PartialStore.write

    def submitted(self, *task, **how):
        ahead[0] += 1
        most.append(ahead[0])
        return submit(self, *task, **how)

    def written(*arguments):
        time.sleep(0.005)
        ahead[0] -= 1
        return write(*arguments)

    monkeypatch.setattr(cluster_module.Remote, "_submit", submitted)
    monkeypatch.setattr(PartialStore, "write", written)
    monkeypatch.setattr(cluster_module, "_BLOCK_SECONDS", 0.0)
    d2ke.distance_matrix(STRINGS, OMEGA, "levenshtein", client=client, out=file).close()
    assert len(most) == 1 + 44  # blocks of ROWS rows, and the recipe
    # Ahead of two threads, and between us and the disk.
    assert max(most) <= 1 + 2 * cluster_module._AHEAD + blocks_module._BUFFERS + 2


def test_max_memory(client, file):
    how = {**HOW, "client": client, "out": file}
    with pytest.raises(ValueError, match=r"max_memory is 1000 bytes, but \d+ are needed"):
        d2ke.d2ke_embed(STRINGS, OMEGA, **how, max_memory=1000)
    assert not file.exists()
    d2ke.d2ke_embed(STRINGS, OMEGA, **how, max_memory="64MB").close()


def test_progress(client, file, small_blocks, monkeypatch):
    seen = []

    @contextmanager
    def bar(wanted, task):
        assert (wanted, task) == (True, "distances")
        yield lambda done, total: seen.append((done, total))

    monkeypatch.setattr(blocks_module, "progress_bar", bar)
    monkeypatch.setattr(matrix, "progress_bar", bar)
    for out in (file, np.empty((700, 40))):
        seen.clear()
        d2ke.distance_matrix(STRINGS, OMEGA, "levenshtein", client=client, out=out, progress=True)
        assert len(seen) > 2
        assert seen == sorted(seen)
        assert seen[-1] == (28000, 28000)


# ---------------------------------------------------------------- going on


@pytest.mark.parametrize("begun_by", ["client", "local"])
def test_going_on_elsewhere(client, file, small_blocks, monkeypatch, begun_by):
    first, second = {"client": client}, {}
    if begun_by == "local":
        first, second = second, first
    write, left = PartialStore.write, [5]

    def fail(*arguments):
        if not left[0]:
            raise OSError("enough")
        left[0] -= 1
        return write(*arguments)

    monkeypatch.setattr(blocks_module, "_RUN_SECONDS", 0.0)
    monkeypatch.setattr(cluster_module, "_BLOCK_SECONDS", 0.0)
    with monkeypatch.context() as patch:
        patch.setattr(PartialStore, "write", fail)
        with pytest.raises(OSError, match="enough"):
            d2ke.d2ke_embed(STRINGS, OMEGA, **HOW, out=file, **first)
    counted = []

    def count(*arguments):
        counted.append(arguments[1])
        return write(*arguments)

    monkeypatch.setattr(PartialStore, "write", count)
    with pytest.raises(ValueError, match=r"gamma was 0\.3 and is 0\.4"):
        d2ke.d2ke_embed(STRINGS, OMEGA, **{**HOW, "gamma": 0.4}, out=file, resume=True, **second)
    with d2ke.d2ke_embed(STRINGS, OMEGA, **HOW, out=file, resume=True, **second) as store:
        store.verify()
        same(store.read(), d2ke.d2ke_embed(STRINGS, OMEGA, **HOW))
    assert len(counted) == 44 - 5


def test_interrupt(client, file, small_blocks, tmp_path):
    """Within a second; what was finished is kept, and the workers have nothing left to do."""
    log = tmp_path / "log"
    X = [float(x) for x in range(800)]
    sent = []

    def interrupt():
        wait_until(lambda: log.exists() and len(lines(log)) > 60)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        d2ke.distance_matrix(X, [0.0, 1.0], logged(log, 0.02), client=client, out=file)
    assert time.monotonic() - sent[0] < 3  # one, on a machine with other work
    thread.join()
    wait_until(lambda: not any(client.processing().values()))
    wait_until(lambda: at_rest(log))
    assert len(lines(log)) < 400
    kept = [rows for _, rows in lines(log)]
    with d2ke.distance_matrix(X, [0.0, 1.0], logged(log, 0), out=file, resume=True) as store:
        assert (store.read() == np.abs(np.subtract.outer(X, [0.0, 1.0]))).all()
    assert len(lines(log)) < len(kept) + 800 - ROWS  # not all of it anew


@contextmanager
def one_process():
    """Workers that are threads of this process: their tasks are over in no time."""
    with (
        dask.config.set({"distributed.admin.system-monitor.interval": "60s"}),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=False,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        ) as workers,
        distributed.Client(workers) as client,
    ):
        yield client


def test_interrupts_at_any_moment(monkeypatch):
    """None is lost, and the client serves the next call."""
    monkeypatch.setattr(cluster_module, "_BLOCK_SECONDS", 0.0)
    rng = np.random.default_rng(0)
    out = np.empty((100, 40))
    outcomes, times = [], examples(25)
    with one_process() as client:

        def call():
            d2ke.distance_matrix(STRINGS[:100], OMEGA, "levenshtein", client=client, out=out)

        call()
        started = time.monotonic()
        call()
        seconds = time.monotonic() - started
        for _ in range(times):
            press = threading.Timer(seconds * rng.random(), os.kill, (os.getpid(), signal.SIGINT))
            try:
                press.start()
                call()
                press.join()
                time.sleep(0.2)  # for one that Python has not delivered yet
            except KeyboardInterrupt:
                outcomes.append("interrupted")
            else:
                outcomes.append("lost")
            press.join()
        call()
    assert outcomes == ["interrupted"] * times


def test_an_interrupt_during_a_transfer(monkeypatch):
    """dask has transfers in common: if one is cancelled, all later ones fail."""
    gather, out = distributed.Client._gather_remote, np.empty((20, 40))

    async def interrupted(*arguments):
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(0.5)
        return await gather(*arguments)

    with one_process() as client:
        with monkeypatch.context() as patch:
            patch.setattr(distributed.Client, "_gather_remote", interrupted)
            with pytest.raises(KeyboardInterrupt):
                d2ke.distance_matrix(STRINGS[:20], OMEGA, "levenshtein", client=client, out=out)
        d2ke.distance_matrix(STRINGS[:20], OMEGA, "levenshtein", client=client, out=out)
    same(out, d2ke.distance_matrix(STRINGS[:20], OMEGA, "levenshtein"))


def test_interrupts_reach_the_callers_handler(tmp_path):
    """It need not raise, and it is there again after the call."""
    log, pressed = tmp_path / "log", []

    def press():
        wait_until(lambda: log.exists() and len(lines(log)) > 60)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press)
    previous = signal.signal(signal.SIGINT, lambda number, frame: pressed.append(number))
    try:
        ours = signal.getsignal(signal.SIGINT)
        with one_process() as client:
            thread.start()
            function = logged(log, 0.005)
            D = np.empty((800, 1))
            X = [float(x) for x in range(800)]
            d2ke.distance_matrix(X, [0.0], function, client=client, out=D)
            thread.join()
            assert signal.getsignal(signal.SIGINT) is ours
    finally:
        signal.signal(signal.SIGINT, previous)
    assert pressed == [signal.SIGINT]
    assert (D[:, 0] == X).all()


# ---------------------------------------------------------------- lost workers


@pytest.mark.slow
@pytest.mark.parametrize("lost", ["one", "all"])
def test_killed_workers_cost_their_blocks(file, small_blocks, tmp_path, lost):
    log = tmp_path / "log"
    X = [float(x) for x in range(600)]
    Y = [0.0, 1.0, 2.0]
    with cluster(2) as client, pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster_module, "_BLOCK_SECONDS", 0.0)  # blocks of ROWS rows
        processes = list(client.run(os.getpid).values())

        def kill():
            wait_until(lambda: log.exists() and len(lines(log)) > 100)
            for process in processes[: 1 if lost == "one" else 2]:
                os.kill(process, signal.SIGKILL)

        thread = threading.Thread(target=kill)
        thread.start()
        function = logged(log, 0.005)
        with d2ke.distance_matrix(X, Y, function, client=client, out=file) as store:
            thread.join()
            assert (store.read() == np.abs(np.subtract.outer(X, Y))).all()
    rows = [row for _, row in lines(log)]
    assert set(rows) == set(range(600))
    # Each had one block at work, and at most all others that were ahead.
    assert len(rows) - 600 <= 2 * cluster_module._AHEAD * ROWS


@pytest.mark.slow
def test_killed_worker_and_an_array(client):
    """Whatever a worker held is computed anew by the others."""
    array = d2ke.d2ke_embed(STRINGS, OMEGA, **HOW, client=client).persist()
    distributed.wait(array)
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
    same(array.compute(), d2ke.d2ke_embed(STRINGS, OMEGA, **HOW))
    client.wait_for_workers(2)


# ---------------------------------------------------------------- errors


class OwnError(Exception):
    pass


def test_errors_are_those_of_one_process(client, file, small_blocks):
    """The first bad row is named, whichever block was the first to fail."""

    def bad(x, y):
        if x == 57:
            time.sleep(0.05)
        return -1.0 if x >= 57 else abs(x - y)

    def raising(x, y):
        if x >= 57:
            raise OwnError(f"no {x}")
        return 0.0

    for out in (np.empty((60, 2)), file):
        for function, error in ((bad, ValueError), (raising, OwnError)):
            messages = []
            for where in (None, client):
                with pytest.raises(error) as caught:
                    d2ke.distance_matrix(
                        NUMBERS, [3.0, 4.0], function, client=where, out=out, resume=False
                    )
                messages.append(str(caught.value))
                (file.parent / "features.h5.part").unlink(missing_ok=True)
            assert messages[0] == messages[1]
            assert "57" in messages[0]
    with pytest.raises(ValueError, match=r"distance\(X\[57\], Y\[57\]\) must be finite"):
        d2ke.distance_matrix(NUMBERS, None, bad, client=client)[57].compute()


def test_a_named_distance_names_its_rows(client, file, small_blocks):
    weights = [[2.0**600 if i == 31 else 1.0] for i in range(40)]
    X = d2ke.pack([[[1.0]]] * 40, weights=weights)
    for where in (None, client):
        for out in (file, np.empty((40, 3))):
            with pytest.raises(ValueError, match=r"the weights of X\[31\] are too large"):
                d2ke.distance_matrix(X, X[:3], "kernel", sigma=1.0, client=where, out=out)
        for part in file.parent.iterdir():
            part.unlink()


def test_a_block_that_kills_its_workers_is_given_up():
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        cluster(1) as client,
        pytest.raises(distributed.KilledWorker),
    ):
        d2ke.distance_matrix(
            [1.0], [1.0], lambda x, y: os._exit(1), client=client, out=np.empty((1, 1))
        )


def test_what_cannot_be_sent(client):
    lock = threading.Lock()

    def locked(x, y, at=None):
        with lock:
            return abs(x - y)

    message = " cannot be pickled to be sent to the workers of client: "
    with pytest.raises(TypeError, match="^distance" + message):
        d2ke.distance_matrix(NUMBERS, None, locked, client=client)
    with pytest.raises(TypeError, match="^at" + message):
        d2ke.distance_matrix(NUMBERS, None, turned, client=client, at=lock)
    with pytest.raises(TypeError, match="^Y" + message):
        d2ke.distance_matrix(NUMBERS, [lock], turned, client=client)
    with pytest.raises(TypeError, match=r"^X\[0:1\]" + message):
        d2ke.distance_matrix([lock], NUMBERS, turned, client=client)
    with pytest.raises(TypeError, match=r"^X\[0:1\]" + message):
        d2ke.distance_matrix([lock], NUMBERS, turned, client=client, out=np.empty((1, 60)))


def test_a_compiled_function_stays_here(client):
    numba = pytest.importorskip("numba")
    from numba import types as t

    pointer = t.CPointer(t.double)

    @numba.cfunc(t.double(pointer, t.intp, pointer, t.intp, t.intp, t.voidptr))
    def first(x, n_x, y, n_y, dim, data):
        return abs(x[0] - y[0])

    with pytest.raises(TypeError, match=r"distance is a scipy\.LowLevelCallable, .* of client"):
        d2ke.distance_matrix(SERIES, None, LowLevelCallable(first.ctypes), client=client)


def test_what_is_no_client(client, monkeypatch):
    def call(given):
        return d2ke.distance_matrix(NUMBERS, None, turned, client=given)

    with pytest.raises(TypeError, match=r"client must be a dask\.distributed\.Client, got str"):
        call(client.scheduler.address)
    with distributed.Client(client.scheduler.address) as closed:
        pass
    with pytest.raises(ValueError, match="client must be connected, but it is closed"):
        call(closed)
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "distributed", None)
        with pytest.raises(ImportError, match=r'client needs dask .*: pip install "distributed'):
            call(client)


def test_a_client_that_is_closed_meanwhile(client, file, tmp_path):
    log = tmp_path / "log"
    with distributed.Client(client.scheduler.address) as other:

        def close():
            wait_until(log.exists)
            other.close()

        thread = threading.Thread(target=close)
        thread.start()
        with pytest.raises(ConnectionError, match="client lost its "):
            d2ke.distance_matrix(
                NUMBERS * 20, [0.0], logged(log, 0.01), client=other, out=np.empty((1200, 1))
            )
        thread.join()


@pytest.mark.parametrize("step", ["run", "replicate"])
def test_a_client_that_is_closed_at_the_start(step, monkeypatch):
    with one_process() as first, distributed.Client(first.scheduler.address) as client:

        async def never(*arguments, **options):
            await client._close()
            raise AttributeError("'NoneType' object has no attribute 'send'")

        monkeypatch.setattr(client, step, never)
        with pytest.raises(ConnectionError, match=r"client (lost|was closed)"):
            d2ke.distance_matrix(NUMBERS, [0.0], turned, client=client, out=np.empty((60, 1)))


def test_a_worker_that_is_retired_at_the_start(monkeypatch):
    with one_process() as client:
        run = client.run

        async def lost(*arguments, **options):
            answers = await run(*arguments, **options)
            return dict.fromkeys(answers, OSError("Timed out trying to connect"))

        monkeypatch.setattr(client, "run", lost)
        with pytest.raises(ConnectionError, match=r"client lost the worker .* call again"):
            d2ke.distance_matrix(NUMBERS, [0.0], turned, client=client)
        monkeypatch.undo()

        async def retired(*arguments, **options):
            raise KeyError("inproc://worker")

        monkeypatch.setattr(client, "replicate", retired)
        with pytest.raises(ConnectionError, match=r"lost its scheduler or a worker .*KeyError"):
            d2ke.distance_matrix(NUMBERS, [0.0], turned, client=client, out=np.empty((60, 1)))


def test_other_instructions_are_refused(monkeypatch, file):
    ours = instructions.selected()
    others = [name for name in instructions.supported() if name != ours]
    if not others:
        pytest.skip("this processor has one instruction set only")
    with cluster(1, env={"D2KE_ISA": others[0]}) as client:
        (address,) = client.nthreads()
        message = (
            f"client has workers whose results may differ in the last bits: {address} has d2ke "
            f"{d2ke.__version__} with the instruction set {others[0]}; this process has d2ke "
            f"{d2ke.__version__} with the instruction set {ours}.* one D2KE_ISA"
        )
        for out in (None, file, np.empty((700, 40))):
            with pytest.raises(ValueError, match=message):
                d2ke.d2ke_embed(STRINGS, OMEGA, **HOW, client=client, out=out)
        # It may also come when the work has begun.
        monkeypatch.setattr(cluster_module, "_checked", lambda client: client)
        with pytest.raises(ValueError, match=message):
            d2ke.d2ke_embed(STRINGS, OMEGA, **HOW, client=client).compute()
        with pytest.raises(ValueError, match=message):
            d2ke.d2ke_embed(STRINGS, OMEGA, **HOW, client=client, out=np.empty((700, 40)))


def test_arguments_that_do_not_go_together(client):
    how = {**HOW, "client": client}
    with pytest.raises(TypeError, match="max_memory goes with out"):
        d2ke.d2ke_embed(STRINGS, OMEGA, **how, max_memory="1GB")
    with pytest.raises(TypeError, match="resume goes with a file"):
        d2ke.d2ke_embed(STRINGS, OMEGA, **how, resume=True)
    with pytest.raises(ValueError, match="n_threads must be at least 1, got 0"):
        d2ke.d2ke_embed(STRINGS, OMEGA, **how, n_threads=0)
    with pytest.raises(ValueError, match="out must have shape"):
        d2ke.d2ke_embed(STRINGS, OMEGA, **how, out=np.empty((1, 1)))
