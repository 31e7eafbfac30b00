# SPDX-License-Identifier: BSD-3-Clause
"""An index in a folder: full disks, interrupts, kills, and damaged files."""

import errno
import os
import signal
import sys
import time

import numpy as np
import pytest
from test_index import words
from test_index_files import contents, lengths_apart, opened

import d2ke
from d2ke.neighbors import collection
from d2ke.neighbors import index as indexes

FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks at each kill")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "names.d2ke"


def no_space(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_disk_that_has_no_room(path, monkeypatch):
    """Changes are not made in memory either; they are in the log if only segments have no room."""
    monkeypatch.setattr(indexes, "_LOG_RECORDS", 3)
    index = opened(d2ke.Index(words(9), distance="osa", ids=[*range(9)]), path, writable=True)
    with index, d2ke.Index.open(path) as reader:
        before = contents(index, ["abc"])
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", no_space)
            for call in (
                lambda: index.add(["x"], ids=[20]),
                lambda: index.remove([3]),
                lambda: index.remove(ids=[3, 4]),
            ):
                with pytest.raises(OSError, match=r"nothing was added to .*names\.d2ke: No space"):
                    call()
                assert contents(index, ["abc"]) == before
        with monkeypatch.context() as patch:
            patch.setattr("d2ke.io.manifest.write_segment", no_space)
            for i in range(5):
                assert index.add([f"x{i}"], ids=[20 + i]).tolist() == [9 + i]
            index.remove([10])
            with pytest.raises(OSError, match="No space"):
                index.save(path)
            assert reader.refresh()
            assert contents(reader, ["x1"]) == contents(index, ["x1"])
        assert index._store.log
        index.add(["y"], ids=[30])
        assert not index._store.log
        assert reader.refresh()
        assert contents(reader, ["x1"]) == contents(index, ["x1"])


def test_changes_that_are_interrupted(path, monkeypatch):
    """Ctrl-C comes when they are in the log and in memory."""
    index = opened(d2ke.Index(words(9), distance="osa"), path, writable=True)
    add = collection.Collection.add

    def interrupted(*given):
        signal.raise_signal(signal.SIGINT)
        return add(*given)

    with index, monkeypatch.context() as patch:
        patch.setattr(collection.Collection, "add", interrupted)
        with pytest.raises(KeyboardInterrupt):
            index.add(["x"])
        patch.undo()
        assert index.indices.tolist() == [*range(10)]
        assert contents(d2ke.Index.open(path), ["x"]) == contents(index, ["x"])
        assert index.add(["y"]).tolist() == [10]


def test_changes_that_were_written_and_cannot_be_made(path, monkeypatch):
    """No later one follows them, since its indices would not be those that it returned."""
    index = opened(d2ke.Index(words(9), distance="osa"), path, writable=True)

    def fail(*_):
        raise MemoryError

    with index, monkeypatch.context() as patch:
        patch.setattr(collection.Collection, "_merged", fail)
        with pytest.raises(MemoryError):
            index.add(["x"])
        with pytest.raises(ValueError, match="is closed"):
            index.add(["y"])
    with d2ke.Index.open(path, writable=True) as index:
        assert list(index.objects(index.indices)) == [*words(9), "x"]
        assert index.add(["y"]).tolist() == [10]


def test_a_damaged_array_that_was_not_read(path):
    """An index is not saved anew then: the copy would have right checksums."""
    d2ke.Index(words(3000), distance="levenshtein").save(path)
    [file] = path.glob("*.segment")
    content = bytearray(file.read_bytes())
    content[-1000] ^= 4
    file.write_bytes(content)
    message = r"names\.d2ke is damaged: segment 0, array "
    with pytest.raises(ValueError, match=message):
        d2ke.Index.open(path)
    index = d2ke.Index.open(path, verify=False)
    for call in (index.verify, lambda: index.save(path.with_name("copy.d2ke"))):
        with pytest.raises(ValueError, match=message):
            call()
    assert not path.with_name("copy.d2ke").exists()


def make_change(index, step):
    """Make the change of that number: words come, some leave, or all is saved."""
    if step % 7 == 6:
        if index._store is not None:
            index.save(index._store.path)
    elif step % 3 == 2:
        there = index.indices
        index.remove([there[step % len(there)], there[-1]])
    else:
        index.add(words(1 + step % 4, step), ids=[f"{step}.{i}" for i in range(1 + step % 4)])


def change_for_ever(path, step, pipe):
    with d2ke.Index.open(path, writable=True) as index:
        while True:
            make_change(index, step)
            step += 1
            os.write(pipe, b"%d\n" % step)


@FORKS
@pytest.mark.parametrize("kills", [8, pytest.param(200, marks=pytest.mark.slow)])
def test_kills_lose_no_change_that_returned(path, kills, monkeypatch):
    monkeypatch.setattr(collection, "_MIN_INDEXED", 4)
    monkeypatch.setattr(collection, "_MAX_TAIL", 8)
    monkeypatch.setattr(indexes, "_LOG_RECORDS", 3)
    names = [f"-{i}" for i in range(9)]
    plain = d2ke.Index(words(9), distance="levenshtein", ids=names)
    plain.save(path)
    rng, done = np.random.default_rng(kills), 0
    for _ in range(kills):
        source, sink = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                change_for_ever(path, done, sink)
            finally:
                os._exit(1)
        os.close(sink)
        told = done
        with open(source, "rb") as answers:
            for _ in range(rng.integers(1, 15)):
                told = int(answers.readline())
            time.sleep(rng.random() * 3e-3)
            os.kill(child, signal.SIGKILL)
            assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
            told = max([told, *map(int, answers.read().split(b"\n")[:-1])])
        for step in range(done, told):
            make_change(plain, step)
        done = told
        with d2ke.Index.open(path) as index:
            found = contents(index, words(3, done))
        if found != contents(plain, words(3, done)):
            make_change(plain, done)  # one that had not returned
            assert found == contents(plain, words(3, done))
            done += 1


@pytest.mark.parametrize("flips", [100, pytest.param(2_000, marks=pytest.mark.slow)])
def test_flips_and_truncations(path, flips, monkeypatch):
    """Files that were changed are refused, or the answers are the same."""
    monkeypatch.setattr(collection, "_MIN_INDEXED", 8)
    queries, how = words(5, 1), {"distance": lengths_apart}
    index = d2ke.Index(words(60), metric=True, ids=[f"{i}" for i in range(60)], **how)
    with opened(index, path, writable=True, **how) as index:
        for i in range(3):
            index.add(words(9, i), ids=[f"{i}.{j}" for j in range(9)])
            index.remove(ids=[f"{i}.4", f"{i}"])
    with d2ke.Index.open(path, **how) as index:
        assert any(name.startswith("pivots/") for name in index._store.segments[0].arrays)
    del index  # Windows writes to no file that is in memory

    def answers():
        with d2ke.Index.open(path, **how) as index:
            return contents(index, queries)

    before = answers()
    rng, refused = np.random.default_rng(flips), 0
    files = [file for file in path.iterdir() if file.stat().st_size]
    for _ in range(flips):
        file = files[rng.integers(len(files))]
        content = file.read_bytes()
        changed, place = bytearray(content), int(rng.integers(len(content)))
        cut = rng.random() < 0.3 and file.suffix != ".log"
        if cut:
            del changed[place:]
        else:
            changed[place] ^= 1 << int(rng.integers(8))
        file.write_bytes(changed)
        try:
            assert answers() == before, (file.name, place, cut)
        except ValueError as error:
            refused += 1
            assert " is damaged: " in str(error), (file.name, place, cut)  # noqa: PT017
        file.write_bytes(content)
    assert answers() == before
    assert refused > 0.8 * flips


@FORKS
@pytest.mark.parametrize("n", [150, pytest.param(3_000, marks=pytest.mark.slow)])
def test_two_readers_beside_a_writer(path, n, monkeypatch):
    """They see what was there at some moment, later ones later, and at the end all."""
    monkeypatch.setattr(collection, "_MIN_INDEXED", 8)
    monkeypatch.setattr(collection, "_MAX_TAIL", 16)
    monkeypatch.setattr(indexes, "_LOG_RECORDS", 5)
    d2ke.Index(["w0"], distance="levenshtein").save(path)
    children = []
    for verify in (True, False):
        child = os.fork()
        if child == 0:
            try:
                with d2ke.Index.open(path, verify=verify) as reader:
                    last = 0
                    while last < n:
                        reader.refresh()
                        numbers = reader.indices.tolist()
                        assert last <= numbers[-1]
                        last = numbers[-1]
                        # Each word leaves when the tenth after it has come.
                        assert numbers[0] in (0, last - 9, last - 10)
                        assert numbers == [*range(numbers[0], last + 1)]
                        found = reader.nearest([f"w{last}"], k=1, n_threads=1)
                        assert [one.tolist() for one in found] == [[[last]], [[0]]]
            finally:
                os._exit(int(sys.exc_info()[0] is not None))
        children.append(child)
    with d2ke.Index.open(path, writable=True) as writer:
        for i in range(1, n + 1):
            writer.add([f"w{i}"])
            if i >= 10:
                writer.remove([i - 10])
            if i % 40 == 0:
                writer.save(path)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]
