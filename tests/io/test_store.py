# SPDX-License-Identifier: BSD-3-Clause
"""The folder of an index: kills, damage, full disks.

Histories are in tests/neighbors/test_index_files.py; random kills, random flips and readers beside
a writer in tests/neighbors/test_index_damage.py.
"""

import errno
import itertools
import json
import os
import pkgutil
import re
import shutil
import signal
import sys
from io import FileIO

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of
from reference import examples, same

from d2ke.io import manifest as manifests
from d2ke.io import store
from d2ke.io.segment_file import SegmentContent
from d2ke.io.store import Store

FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks at each kill")
HEADER = {"kind": "strings", "weights": [0.5, None], "name": "ä\ud800"}
WORDS = SegmentContent(
    {"n": 3},
    {
        "pieces": np.arange(12, dtype=np.int32).reshape(3, 4),
        "words": np.array(["a", "", "é\0😀"]),
        "none": np.zeros((0, 5)),
    },
)
FLAGS = SegmentContent([1.5, "x"], {"flags": np.array([True, False])})
OBJECTS = SegmentContent(None, {"x": np.array([None])})  # cannot be kept


@pytest.fixture
def path(tmp_path):
    return tmp_path / "names.d2ke"


def record(number):
    """A record that is recognised, of a length of its own."""
    return SegmentContent(
        {"number": number},
        {"number": np.array([number]), "filler": np.arange(number % 5, dtype=np.uint8)},
    )


def merged(numbers):
    return SegmentContent({}, {"number": np.array(numbers, np.int64)})


def numbers(opened):
    """Return the numbers of all segments and records of a store, or of what is in a folder."""
    if not isinstance(opened, Store):
        with Store.open(opened) as reader:
            return numbers(reader)
    contents = [*opened.segments, *opened.log]
    return [int(number) for content in contents for number in content.arrays.get("number", ())]


def same_content(one, other):
    assert one.meta == other.meta
    assert list(one.arrays) == list(other.arrays)
    for name, array in one.arrays.items():
        same(array, other.arrays[name])


def put(path, segments=(WORDS, FLAGS), records=2, header=HEADER):
    """Write an index with some records in its log."""
    Store.create(path, header, segments)
    with Store.open(path, writable=True) as writer:
        for number in range(records):
            writer.append(record(number))


def state(path):
    """Return all that an index holds, to be compared by ==."""
    with Store.open(path) as reader:
        contents = [
            (
                json.dumps(content.meta),
                [(k, a.dtype.str, a.shape, a.tobytes()) for k, a in content.arrays.items()],
            )
            for content in [*reader.segments, *reader.log]
        ]
        return json.dumps(reader.header), len(reader.segments), contents


def log_of(path):
    return next(path.glob("*.log"))


def only_named(path):
    """Check that a folder has what its manifest names, besides the lock."""
    named = manifests.read_manifest(path)
    assert {*os.listdir(path)} - {"lock"} == {"manifest.json", named.log, *named.segments}


def failing(number):
    def fail(*given):
        raise OSError(number, os.strerror(number))

    return fail


# ---------------------------------------------------------------- round trips

DTYPES = ["?", "i1", "<i2", ">i4", "<i8", "u1", "<u8", "<f2", ">f4", "<f8", "<U1", "<U7", ">U2"]
ARRAYS = st.sampled_from(DTYPES).flatmap(
    lambda dtype: arrays_of.arrays(
        dtype, arrays_of.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
    )
)
ORDERS = st.sampled_from([np.asarray, np.transpose, lambda array: array[..., ::-1]])
VIEWS = st.builds(lambda order, array: order(array) if array.ndim else array, ORDERS, ARRAYS)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
CONTENTS = st.builds(SegmentContent, JSON, st.dictionaries(st.text(max_size=3), VIEWS, max_size=4))


@settings(max_examples=examples(200))
@given(
    st.dictionaries(st.text(max_size=3), JSON),
    st.lists(CONTENTS, max_size=3),
    st.lists(CONTENTS, max_size=2),
)
def test_every_bit_comes_back(tmp_path, header, segments, added):
    """In the byte order of files, which is that of most machines, and aligned."""
    path = tmp_path / "any name"
    Store.create(path, header, segments)
    with Store.open(path, writable=True) as writer:
        for content in added:
            writer.append(content)
    with Store.open(path) as reader:
        assert reader.header == header
        assert len(reader.segments) == len(segments)
        found = [*reader.segments, *reader.log]
        for number, (one, given) in enumerate(zip(found, [*segments, *added], strict=True)):
            native = {
                name: np.array(array, array.dtype.newbyteorder("<"), order="C")
                for name, array in given.arrays.items()
            }
            same_content(one, SegmentContent(given.meta, native))
            for array in one.arrays.values():
                assert array.flags.c_contiguous
                assert array.flags.aligned
                assert array.size == 0 or not array.flags.writeable
                if number < len(segments) and array.size:
                    assert array.ctypes.data % 64 == 0


@pytest.mark.parametrize("dtype", [object, complex, "M8[D]", "S1", "i4,f8"])
def test_arrays_that_cannot_be_kept(path, dtype):
    put(path)
    before, content = state(path), SegmentContent(None, {"x": np.zeros(2, dtype)})
    with Store.open(path, writable=True) as writer:
        for call in (
            lambda: writer.append(content),
            lambda: writer.commit([WORDS, content], HEADER),
        ):
            with pytest.raises(TypeError, match=r"must hold .*, but 'x' holds"):
                call()
    for folder in (path, path.with_name("new")):
        with pytest.raises(TypeError, match="but 'x' holds"):
            Store.create(folder, {}, [FLAGS, content])
    assert state(path) == before
    assert os.listdir(path.parent) == [path.name]
    only_named(path)


# ---------------------------------------------------------------- readers and writers


def test_a_reader_keeps_its_snapshot(path):
    put(path)
    with Store.open(path, writable=True) as writer, Store.open(path) as reader:
        words, flags = reader.segments
        writer.append(record(2))
        writer.commit([writer.segments[1], record(7)], {"new": 1})
        writer.append(record(8))
        Store.open(path).close()
        assert reader.header == HEADER
        assert [content.meta for content in reader.log] == [{"number": 0}, {"number": 1}]
        reader.verify()
        assert reader.refresh()
        assert reader.segments[0] is flags
        assert [*map(numbers, (reader, path))] == [[7, 8]] * 2
        assert reader.header == {"new": 1}
        same_content(words, WORDS)  # its file is deleted, where an open one can be


def test_writers_and_readers_that_are_refused(path):
    put(path)
    lock = re.escape(str(path / "lock"))
    with Store.open(path) as reader, Store.open(path, writable=True) as writer:
        for call in (lambda: reader.append(FLAGS), lambda: reader.commit([], {})):
            with pytest.raises(ValueError, match=r"open for reading only; open it writable=True"):
                call()
        for call in (lambda: Store.open(path, writable=True), lambda: Store.create(path, {}, [])):
            with pytest.raises(BlockingIOError, match=f"names.d2ke is being written .*{lock}"):
                call()
        assert not writer.refresh()
        writer.append(record(2))
    for call in (reader.refresh, lambda: writer.append(FLAGS), lambda: writer.commit([], {})):
        with pytest.raises(ValueError, match=r"names\.d2ke is closed"):
            call()
    with Store.open(path, writable=True) as writer:
        assert [content.meta["number"] for content in writer.log] == [0, 1, 2]


def test_files_that_vanish_while_they_are_opened(path, monkeypatch):
    """A reader that read a manifest just before it was replaced takes the new one."""
    put(path, [merged([0])])
    read, left = manifests.read_manifest, [3]

    def overtaken(folder):
        manifest = read(folder)
        if left[0]:
            left[0] -= 1
            Store.create(path, {}, [merged([left[0]])])
        return manifest

    monkeypatch.setattr(store, "read_manifest", overtaken)
    assert numbers(path) == [0]
    assert not left[0]


@pytest.mark.parametrize("call", ["os.replace", "pathlib.Path.read_bytes"])
def test_a_manifest_in_use_is_tried_again(path, monkeypatch, call):
    """As on Windows, where a reader has it open for a moment, or a writer replaces it."""
    put(path)
    function, left = pkgutil.resolve_name(call), [3]

    def refused(*arguments):
        if os.path.basename(arguments[-1]) == "manifest.json" and left[0]:
            left[0] -= 1
            raise PermissionError(errno.EACCES, "Sharing violation", str(arguments[-1]))
        return function(*arguments)

    monkeypatch.delattr(os, "O_DIRECTORY", raising=False)
    monkeypatch.setattr(call, refused)
    monkeypatch.setattr(manifests, "_PAUSE", 0.0)
    with Store.open(path, writable=True) as writer:
        writer.commit([record(5)], {})
        assert numbers(writer) == [5]
    assert not left[0]
    only_named(path)


def test_old_files_that_cannot_be_deleted_are_deleted_later(path, monkeypatch):
    put(path)
    with Store.open(path, writable=True) as writer:
        with monkeypatch.context() as patch:
            patch.setattr(os, "unlink", failing(errno.EACCES))
            writer.commit([record(5)], {})
        assert len(list(path.glob("*.segment"))) == 3
        writer.commit(writer.segments, {})
        only_named(path)


# ---------------------------------------------------------------- what is refused


def test_other_paths(path):
    with pytest.raises(FileNotFoundError, match=r"there is no such folder: .*names\.d2ke"):
        Store.open(path)
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*nowhere"):
        Store.create(path.parent / "nowhere/x", {}, [])
    path.write_bytes(b"text")
    with pytest.raises(ValueError, match=r"names\.d2ke is a file; an index is a folder"):
        Store.open(path)
    with pytest.raises(FileExistsError, match=r"names\.d2ke exists and is no folder"):
        Store.create(path, {}, [])
    assert path.read_bytes() == b"text"


@pytest.mark.parametrize("name", ["text.csv", "manifest.json"])
def test_other_folders(path, name):
    path.mkdir()
    with pytest.raises(ValueError, match=r"names\.d2ke is not an index of d2ke"):
        Store.open(path, writable=True)
    assert os.listdir(path) == []
    (path / name).write_bytes(b'{"name": "another program"}')
    with pytest.raises(ValueError, match=r"names\.d2ke is not an index of d2ke"):
        Store.open(path)
    with pytest.raises(FileExistsError, match=f"is no index, and not empty: it has '{name}'"):
        Store.create(path, {}, [])
    assert os.listdir(path) == [name]
    (path / name).unlink()
    Store.create(path, {}, [record(3)])
    assert numbers(path) == [3]


def test_a_newer_format(path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(manifests, "VERSION", 7)
        put(path)
    before = {*os.listdir(path)}
    for writable in (False, True):
        with pytest.raises(ValueError, match=r"has version 7 of the format; .* a newer d2ke"):
            Store.open(path, writable=writable)
    with pytest.raises(TypeError):
        Store.create(path, {}, [OBJECTS])
    assert {*os.listdir(path)} == before


def test_missing_files_are_named(path):
    put(path)
    for name in {*os.listdir(path)} - {"lock"}:
        content = (path / name).read_bytes()
        (path / name).unlink()
        message = rf"names\.d2ke is damaged: (the file )?{name} is missing"
        with pytest.raises(ValueError, match=message):
            Store.open(path)
        (path / name).write_bytes(content)
    Store.open(path).close()


def test_damaged_arrays_are_named(path):
    put(path)
    with Store.open(path) as reader:
        assert reader.is_verified
        file = path / reader.segments[0].name
    content = bytearray(file.read_bytes())
    content[content.index(WORDS.arrays["pieces"].tobytes()) + 5] ^= 1
    file.write_bytes(content)
    message = r"names\.d2ke is damaged: segment 0, array pieces: "
    with pytest.raises(ValueError, match=message):
        Store.open(path)
    with Store.open(path, verify=False, writable=True) as writer:
        with pytest.raises(ValueError, match=message):
            writer.verify()
        assert not writer.is_verified
        with Store.open(path, verify=False) as reader:
            writer.commit([FLAGS], HEADER)
            assert reader.refresh()
            reader.verify()
            assert reader.is_verified
            writer.commit([FLAGS], HEADER)
            assert reader.refresh()
            assert not reader.is_verified  # what is new
        writer.verify()


def test_a_damaged_index_can_be_replaced(path):
    """And stays what it was, for who can repair it, where that fails."""
    put(path)
    file = path / "manifest.json"
    file.write_bytes(file.read_bytes().replace(b"strings", b"series"))
    before = {*os.listdir(path)}
    with pytest.raises(TypeError, match="'x' holds object"):
        Store.create(path, {}, [OBJECTS])
    assert {*os.listdir(path)} == before
    Store.create(path, {}, [record(4)])
    assert numbers(path) == [4]
    only_named(path)


@pytest.mark.parametrize("flips", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_every_byte(path, flips):
    """Each byte of each file, changed: the index is refused, or is what it was.

    So are files that are cut off there, logs apart, and longer ones.
    """
    put(path)
    before, refused, rng = state(path), 0, np.random.default_rng(flips)
    for file in path.iterdir():
        content = file.read_bytes()
        changes = []
        if content:  # a few zeros are no block that a power failure left unwritten
            changes = [content + bytes(n) for n in range(1, 8)]
        for place in range(len(content)):
            for mask in rng.choice(np.arange(1, 256), flips, replace=False):
                changes.append(bytearray(content))
                changes[-1][place] ^= int(mask)
            if file.suffix != ".log":
                changes.append(content[:place])
        for number, changed in enumerate(changes):
            file.write_bytes(changed)
            try:
                assert state(path) == before, (file.name, number)
                assert len(changed) == len(content)
            except ValueError as error:
                refused += 1
                assert "names.d2ke is damaged: " in str(error), (file.name, number)  # noqa: PT017
        file.write_bytes(content)
    assert refused > 1000
    assert state(path) == before


# ---------------------------------------------------------------- incomplete records


@pytest.mark.parametrize("zeros", [0, 8, 5000])
@pytest.mark.parametrize("before", [0, 2])
def test_a_torn_tail_at_every_byte(path, zeros, before):
    """Of the last record, with or without the zeros that a power failure leaves behind it."""
    put(path, [], records=before)
    log, there = log_of(path), [*range(before)]
    start = log.stat().st_size
    with Store.open(path, writable=True) as writer:
        writer.append(record(2))
    content = log.read_bytes()
    for size in range(start, len(content)):
        log.write_bytes(content[:size] + bytes(zeros))
        with Store.open(path) as reader, Store.open(path, writable=True) as writer:
            assert log.stat().st_size == start
            assert numbers(reader) == numbers(writer) == there
            assert not reader.refresh()
            writer.append(record(8))
            assert reader.refresh()
            assert numbers(reader) == numbers(writer) == numbers(path) == [*there, 8]


@pytest.mark.parametrize("call", ["write", "fsync"])
def test_a_record_that_is_not_written_whole(path, monkeypatch, call):
    """The disk is full in its middle, or cannot be flushed: the log is what it was."""
    put(path, [], records=1)
    write = os.write

    def half(fd, content):
        if len(content) < 20:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(fd, content[: len(content) // 2])

    with Store.open(path, writable=True, sync=True) as writer, Store.open(path) as reader:
        size = log_of(path).stat().st_size
        with monkeypatch.context() as patch:
            patch.setattr(os, call, half if call == "write" else failing(errno.EIO))
            problem = {"write": r"nothing was added to .*d2ke: No space", "fsync": "Input/output"}
            with pytest.raises(OSError, match=problem[call]) as got:
                writer.append(record(1))
        assert got.value.errno == (errno.ENOSPC if call == "write" else errno.EIO)
        assert numbers(writer) == [0]
        assert log_of(path).stat().st_size == size
        assert not reader.refresh()
        writer.append(record(2))
        assert reader.refresh()
        assert numbers(writer) == numbers(reader) == [0, 2]


def test_a_record_that_cannot_be_cut_off(path, monkeypatch):
    """No other one is written over it."""
    put(path, [], records=0)

    class Log(FileIO):
        def truncate(self, size):
            if os.path.getsize(self.name):
                failing(errno.EIO)()

    monkeypatch.setattr(store, "FileIO", Log)
    with Store.open(path, writable=True, sync=True) as writer:
        monkeypatch.setattr(os, "fsync", failing(errno.EIO))
        with pytest.raises(OSError, match="Input/output error"):
            writer.append(record(1))
        with pytest.raises(ValueError, match="is closed"):
            writer.append(record(2))


def test_a_manifest_that_cannot_be_read_after_a_commit(path, monkeypatch):
    """No record goes to the log that is no longer named."""
    put(path, [], records=0)
    with Store.open(path, writable=True) as writer:
        monkeypatch.setattr(store, "read_manifest", failing(errno.EIO))
        with pytest.raises(OSError, match="Input/output error"):
            writer.commit([], {})
        with pytest.raises(ValueError, match="is closed"):
            writer.append(record(2))


def test_records_are_flushed_where_that_is_asked_for(path, monkeypatch):
    put(path, [])
    flushed = []
    for sync in (False, True):
        with Store.open(path, writable=True, sync=sync) as writer, monkeypatch.context() as patch:
            patch.setattr(os, "fsync", flushed.append)
            writer.append(FLAGS)
            assert len(flushed) == sync


def test_a_folder_that_cannot_be_flushed(path, monkeypatch):
    """The manifest is replaced then, and the writer goes on with the new one."""
    put(path, [])

    def fail(place):
        if place.name == "manifest.json":
            failing(errno.EIO)()

    with Store.open(path, writable=True) as writer:
        with monkeypatch.context() as patch:
            patch.setattr("d2ke._base.files.sync_folder", fail)
            with pytest.raises(OSError, match="Input/output error"):
                writer.commit([merged([4, 5])], HEADER)
        writer.append(record(6))
        assert numbers(writer) == numbers(path) == [4, 5, 6]
    only_named(path)


# ---------------------------------------------------------------- full disks


def test_a_full_disk_leaves_the_old_state(small_disk):
    path = small_disk / "names.d2ke"
    put(path)
    before = state(path)
    large = SegmentContent(None, {"x": np.random.default_rng(0).random(10_000)})
    with Store.open(path, writable=True) as writer:
        disk = os.statvfs(small_disk)
        (small_disk / "filler").write_bytes(bytes(disk.f_bfree * disk.f_bsize - 60_000))
        for call in (
            lambda: writer.append(large),
            lambda: writer.commit([*writer.segments, large], HEADER),
            lambda: Store.create(small_disk / "new names.d2ke", {}, [FLAGS, large]),
        ):
            with pytest.raises(OSError, match=r"names\.d2ke") as got:
                call()
            assert got.value.errno == errno.ENOSPC
            assert state(path) == before
            only_named(path)
    with pytest.raises(OSError, match=r"names\.d2ke"):
        Store.create(path, {}, [large])
    assert state(path) == before
    assert sorted(os.listdir(small_disk)) == ["filler", "names.d2ke"]
    (small_disk / "filler").unlink()
    with Store.open(path, writable=True) as writer:
        writer.append(large)
        writer.commit([*writer.segments, large], HEADER)
        assert len(writer.segments) == 3


# ---------------------------------------------------------------- kills


CALLS = ("write", "fsync", "ftruncate", "replace", "unlink", "close", "mkdir")


def killed(function, at):
    """Return whether a process was killed before the call of that number; else it ended well."""
    child = os.fork()
    if child == 0:
        counter = itertools.count()

        def counted(call):
            def counting(*arguments, **options):
                if next(counter) == at:
                    os.kill(os.getpid(), signal.SIGKILL)
                return call(*arguments, **options)

            return counting

        for name in CALLS:
            if hasattr(os, name):
                setattr(os, name, counted(getattr(os, name)))
        try:
            function()
        finally:
            os._exit(int(sys.exc_info()[0] is not None))
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


def add_and_commit(path):
    with Store.open(path, writable=True) as writer:
        writer.append(record(3))
        writer.commit([writer.segments[0], merged([1, 2, 3, 4])], {})
        writer.append(record(5))


@FORKS
def test_a_writer_killed_before_every_call(tmp_path):
    source = tmp_path / "source"
    put(source, [merged([0]), merged([1])], records=0)
    with Store.open(source, writable=True) as writer:
        writer.append(record(2))
    wanted = [[0, 1, 2], [0, 1, 2, 3], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4, 5]]
    seen, at, ended = [], 0, False
    while not ended:
        path = tmp_path / str(at)
        shutil.copytree(source, path)
        ended = not killed(lambda path=path: add_and_commit(path), at)
        before = numbers(path)
        seen.append(wanted.index(before))
        with Store.open(path, writable=True) as writer:  # cleans up
            only_named(path)
            writer.append(record(9))
            assert numbers(writer) == [*before, 9]
        shutil.rmtree(path)
        at += 1
    assert seen == sorted(seen)
    assert set(seen) == {0, 1, 2, 3}


@FORKS
@pytest.mark.parametrize("exists", [False, True])
def test_an_index_is_written_whole_or_not_at_all(tmp_path, exists):
    at, ended, seen = 0, False, set()
    while not ended:
        path = tmp_path / str(at)
        if exists:
            Store.create(path, {}, [merged([1])])
        ended = not killed(lambda path=path: Store.create(path, {}, [merged([2]), FLAGS]), at)
        try:
            with Store.open(path) as reader:
                seen.add(int(reader.segments[0].arrays["number"][0]))
        except (ValueError, FileNotFoundError):
            assert not exists
            seen.add(None)
        Store.create(path, {}, [merged([3])])
        assert numbers(path) == [3]
        only_named(path)
        at += 1
    assert seen == {1 if exists else None, 2}
