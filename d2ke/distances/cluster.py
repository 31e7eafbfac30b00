# SPDX-License-Identifier: BSD-3-Clause
"""Blocks of rows computed by the workers of a dask cluster.

A task is a block of rows. Its arguments are the packed objects of the rows, and the recipe: what
all blocks have in common, such as the objects of the columns. The scheduler keeps both, so that the
results of a lost worker can be computed again.

dask's own waits cancel what they wait for on Ctrl-C, which may be a transfer that it shares with
later calls; those would fail. So this module waits by itself, and what it no longer wants runs on.
"""

from __future__ import annotations

import asyncio
import inspect
import pickle
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol
from uuid import uuid4

import numpy as np
from scipy import LowLevelCallable

from d2ke._base.errors import ArgumentTypeError
from d2ke._base.signals import TICK, check_interrupt, deferred_interrupts
from d2ke._base.threads import team_size
from d2ke._ext import isa
from d2ke._version import __version__
from d2ke.distances.problem import CompiledPairs, PairBlock, PairwiseProblem, Transform

MOST_BLOCK_BYTES = 1 << 24
# Blocks under way for each thread of the workers: one at work, one that waits for the thread,
# and one that waits for this process.
_AHEAD = 3
# Shorter blocks have too much overhead, longer ones make the end uneven. This process hands over
# some hundred blocks a second, so that with more threads than that blocks are longer.
_BLOCK_SECONDS = 1.0
_BLOCKS_A_SECOND = 100
_BLOCKS_OF_ARRAY = 8  # at least, for each thread, so that all have work to the end
_COUNT_SECONDS = 1.0  # between two counts of the workers' threads
_PATIENCE = 60  # seconds for an answer of the scheduler
_NO_WARNING = {"distributed.admin.large-graph-warning-threshold": "1000 PB"}
_INSTALL = 'pip install "distributed>=2025.1" "dask[array]>=2025.1"'


class Work(Protocol):
    """The work on a block of rows."""

    def block(self, part: Any, first: int, check: Callable[[int, int], None] | None) -> Any:
        """Compute a block of rows, which count from `first`; `check` raises to stop it."""


@dataclass(frozen=True)
class MatrixWork:
    """Compute rows of a matrix; the part is the objects of the rows."""

    compile: Callable[[PairBlock], CompiledPairs]
    y: Any
    dtype: np.dtype
    n_threads: int
    transform: Transform

    def block(self, part: Any, first: int, check: Callable[[int, int], None] | None) -> np.ndarray:
        """Return the rows."""
        block = np.empty((len(part), len(self.y)), self.dtype)
        compiled = self.compile(PairBlock(part, self.y, first=first))
        compiled.run(block, team_size(self.n_threads), check, self.transform)
        return block


class _Recipe(NamedTuple):
    """The parts that all blocks share."""

    work: Work
    made_with: tuple[str, str]


class Remote:
    """All pairs of a call, of which workers compute blocks of rows.

    Parameters
    ----------
    pairs : PairwiseProblem
        What is compared.
    client : dask.distributed.Client
        The client of the workers.
    work : Work
        What they do; it is sent to each worker once.
    part : callable, optional
        ``part(rows)`` returns what is sent for each block; None for the objects of the rows.

    Attributes
    ----------
    pairs : PairwiseProblem
        What is compared.
    """

    def __init__(
        self,
        pairs: PairwiseProblem,
        client: Any,
        work: Work,
        part: Callable[[slice], Any] | None = None,
    ):
        if isinstance(pairs.distance, LowLevelCallable):
            raise TypeError(
                "distance is a scipy.LowLevelCallable, an address that means nothing to the "
                "workers of client; give a distance's name or a Python callable"
            )
        self._client = _checked(client)
        self.pairs, self._part = pairs, part or pairs.part
        for name, value in (("distance", pairs.distance), *pairs.params.items()):
            _pickled(name, value)
        recipe = _Recipe(work, _made_with())
        self._recipe = _pickled(pairs.names.x if pairs.y is pairs.x else pairs.names.y, recipe)

    @property
    def recipe_bytes(self) -> int:
        """Bytes of the recipe, which each worker holds once."""
        return len(self._recipe)

    def array(self) -> Any:
        """Return a dask array of which nothing is computed yet."""
        from dask.array import Array

        n, m = self.pairs.shape
        most = MOST_BLOCK_BYTES // (m * self.pairs.dtype.itemsize)
        with deferred_interrupts(), _starting():
            n_threads = self._n_threads()
        step = max(1, min(most, -(-n // (_BLOCKS_OF_ARRAY * n_threads))))
        name = f"d2ke-{uuid4().hex}"
        recipe = f"d2ke-recipe-{uuid4().hex}"
        graph: dict[Any, Any] = {recipe: (_opened, self._recipe)}
        heights = []
        for i, start in enumerate(range(0, n, step)):
            rows = slice(start, min(start + step, n))
            graph[name, i, 0] = (_block, recipe, self._packed(rows), start)
            heights.append(rows.stop - rows.start)
        return Array(graph, name, (tuple(heights), (m,)), dtype=self.pairs.dtype)

    def blocks(
        self, missing: Callable[[int, int], range], height: int, most: int
    ) -> Generator[tuple[slice, Any], None, None]:
        """Give blocks of rows in the order in which they are ready.

        ``missing(first, most)`` returns the next missing bands, at most so many, from `first` on;
        a band is `height` rows. Blocks under way are cancelled when the iterator is closed. If
        tasks fail, the error of the first rows is raised. For use in `deferred_interrupts`.
        """
        from distributed import as_completed

        client, n = self._client, self.pairs.shape[0]
        n_bands = -(-n // height)
        finished = as_completed(loop=client.loop)
        group = f"d2ke-{uuid4().hex}"
        waiting: dict[Any, Any] = {}
        failed: tuple[int, Exception] | None = None
        first, count, n_threads, counted = 0, 1, 0, -np.inf
        recipe = None
        try:
            recipe = self._broadcast()
            while True:
                if time.monotonic() - counted > _COUNT_SECONDS:  # workers come and go
                    n_threads, counted = self._n_threads(), time.monotonic()
                    ahead = _AHEAD * n_threads
                while failed is None and len(waiting) < ahead:
                    # Blocks get shorter towards the end, so that all threads end together.
                    bands = missing(first, max(1, min(count, most, (n_bands - first) // ahead)))
                    if not bands:
                        break
                    first = bands.stop
                    rows = slice(bands.start * height, min(bands.stop * height, n))
                    key = (group, bands.start)
                    future = self._submit(_timed, recipe, self._packed(rows), rows.start, key=key)
                    waiting[future] = rows
                    finished.add(future)
                if not waiting:
                    break
                future = _next(finished)
                rows = waiting.pop(future, None)
                if rows is None:  # cancelled
                    continue
                try:
                    seconds, block = _answer(client, future.result)
                except Exception as error:
                    if future.cancelled() or client.status != "running":
                        raise ConnectionError(f"client lost its blocks: {error}") from error
                    failed = rows.start, error
                    for later in [f for f in waiting if waiting[f].start > rows.start]:
                        later.release()
                        del waiting[later]
                    continue
                future.release()
                bands_done = -(-(rows.stop - rows.start) // height)
                wanted = _BLOCK_SECONDS * max(1, n_threads / _BLOCKS_A_SECOND)
                count = int(wanted * bands_done / max(seconds, 1e-9))
                yield rows, block
            if failed is not None:
                raise failed[1]
        except Exception as error:
            if client.status == "running" or isinstance(error, ConnectionError):
                raise
            raise ConnectionError(f"client lost its scheduler: {error}") from error
        finally:
            # Unlike `Client.cancel` this does not wait: the client may be about to be closed.
            with suppress(Exception):
                for future in (recipe, *waiting):
                    if future is not None:
                        future.release()

    def _n_threads(self) -> int:
        """Return how many threads all workers have; 1 if there are none yet."""
        counts = _answer(self._client, partial(self._client.scheduler.ncores, workers=None))
        return max(1, sum(counts.values()))

    def _broadcast(self) -> Any:
        """Send the recipe to every worker; those that join later get it from others."""
        recipe = self._submit(_opened, self._recipe, pure=False)
        if _answer(self._client, recipe.exception) is not None:
            _answer(self._client, recipe.result)
        with _starting():
            _answer(self._client, partial(self._client.replicate, [recipe]))
        return recipe

    def _submit(self, *task: Any, **options: Any) -> Any:
        import dask

        with dask.config.set(_NO_WARNING):
            return self._client.submit(*task, **options)

    def _packed(self, rows: slice) -> bytes:
        name = f"{self.pairs.names.x}[{rows.start}:{rows.stop}]"
        return _pickled(name, self._part(rows))


def _checked(client: Any) -> Any:
    """Return the client if its workers compute the same bits as this process."""
    try:
        import dask.array  # noqa: F401
        from distributed import Client
    except ImportError as error:
        raise ImportError(f"client needs dask ({error}): {_INSTALL}") from error
    if not isinstance(client, Client):
        raise TypeError(
            f"client must be a dask.distributed.Client, got {type(client).__name__}; "
            "Client(...) makes one of a cluster or an address"
        )
    if client.status != "running":
        raise ValueError(f"client must be connected, but it is {client.status}")
    if client.asynchronous:
        raise ValueError("client must not be asynchronous: the call waits for its results")
    others = {}
    with deferred_interrupts(), _starting():
        answers = _answer(client, partial(client.run, _made_with, on_error="return"))
    for address, answer in answers.items():
        if isinstance(answer, OSError):
            raise ConnectionError(
                f"client lost the worker {address} when the call began ({answer}); call again"
            ) from answer
        if isinstance(answer, Exception):
            others[address] = f"no d2ke that fits ({type(answer).__name__}: {answer})"
        elif answer != _made_with():
            others[address] = _text(answer)
    if others:
        raise _different(_made_with(), others)
    return client


@contextmanager
def _starting() -> Iterator[None]:
    """Say in plain words that dask lost a connection before there were blocks to lose."""
    try:
        yield
    except ConnectionError:
        raise
    except Exception as error:
        raise ConnectionError(
            "client lost its scheduler or a worker when the call began "
            f"({type(error).__name__}: {error}); call again with a client that is connected"
        ) from error


def _answer(client: Any, call: Callable[[], Any]) -> Any:
    """Return what a call of dask's returns, made in the client's loop; Ctrl-C leaves it alone."""

    async def called() -> Any:
        answer = call()  # in the loop, dask's functions return something to await
        return await answer if inspect.isawaitable(answer) else answer

    coroutine = called()
    try:
        future = asyncio.run_coroutine_threadsafe(coroutine, client.loop.asyncio_loop)
    except RuntimeError as error:
        coroutine.close()
        raise ConnectionError(f"client is closed: {error}") from error
    while not wait([future], TICK).done:
        check_interrupt()
        if client.status == "closed" and not wait([future], TICK).done:
            raise ConnectionError("client was closed during the call")
    return future.result()


def _next(finished: Any) -> Any:
    """Return the next future that is done."""
    while not (finished.has_ready() or finished.is_empty()):
        with finished.thread_condition:
            finished.thread_condition.wait(TICK)
        check_interrupt()
    return next(finished)


def _pickled(name: str, value: Any) -> bytes:
    import cloudpickle

    try:
        return cloudpickle.dumps(value, protocol=5)
    except Exception as error:
        raise ArgumentTypeError(
            name, f"cannot be pickled to be sent to the workers of client: {error}"
        ) from error


def _made_with() -> tuple[str, str]:
    """Return what the last bits of results depend on besides the inputs."""
    return __version__, isa.selected()


def _text(made_with: tuple[str, str]) -> str:
    return "d2ke {} with the instruction set {}".format(*made_with)


def _different(ours: tuple[str, str], others: dict[str, str]) -> ValueError:
    listed = "; ".join(f"{address} has {version}" for address, version in sorted(others.items()))
    return ValueError(
        f"client has workers whose results may differ in the last bits: {listed}; this process "
        f"has {_text(ours)}. Install the same version everywhere, and start this process and all "
        "workers with one D2KE_ISA (baseline, avx2 or avx512) that all their processors have"
    )


# ---------------------------------------------------------------- what runs on workers


def _opened(recipe: bytes) -> _Recipe:
    try:
        return pickle.loads(recipe)
    except (AttributeError, ImportError) as error:
        raise ImportError(
            f"distance, or what it needs, cannot be imported by the workers of client: {error}"
        ) from error


def _block(recipe: _Recipe, packed: bytes, first: int) -> Any:
    """Compute a block of rows, which count from `first`."""
    if recipe.made_with != _made_with():  # a worker that joined later
        from distributed import get_worker

        raise _different(recipe.made_with, {get_worker().address: _text(_made_with())})
    return recipe.work.block(pickle.loads(packed), first, _cancellation())


def _cancellation() -> Callable[[int, int], None] | None:
    """Return a check that stops this task when it is cancelled, which dask itself does not."""
    from distributed import get_worker

    try:
        worker = get_worker()
    except ValueError:  # a dask array is computed without a cluster
        return None
    key = worker.get_current_task()

    def check(done: int, total: int) -> None:
        task = worker.state.tasks.get(key)
        if task is None or task.state == "cancelled":
            raise InterruptedError("the block is not wanted any more")

    return check


def _timed(recipe: _Recipe, packed: bytes, first: int) -> tuple[float, Any]:
    started = time.perf_counter()
    block = _block(recipe, packed, first)
    return time.perf_counter() - started, block
