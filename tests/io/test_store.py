# SPDX-License-Identifier: BSD-3-Clause
"""The folder of an index: histories, kills, damage, full disks, a writer beside readers."""

import errno
import itertools
import json
import os
import re
import shutil
import signal
import sys
import time
import zlib
from contextlib import ExitStack
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of
from reference import examples, same

from d2ke.io import manifest as manifests
from d2ke.io import segment_file, store
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
    """Return the numbers of all segments and records."""
    contents = [*opened.segments, *opened.log]
    return [int(number) for content in contents for number in content.arrays["number"]]


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


def state(path, **options):
    """Return all that an index holds, to be compared by ==."""
    with Store.open(path, **options) as reader:
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
    wanted = {"manifest.json", named.log, *(name for name, _, _ in named.segments)}
    assert {*os.listdir(path)} - {"lock"} == wanted


# ---------------------------------------------------------------- round trips

DTYPES = ["?", "i1", "<i2", ">i4", "<i8", "u1", "<u8", "<f2", ">f4", "<f8", "<U1", "<U7", ">U2"]
ARRAYS = st.sampled_from(DTYPES).flatmap(
    lambda dtype: arrays_of.arrays(
        dtype, arrays_of.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
    )
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
CONTENTS = st.builds(SegmentContent, JSON, st.dictionaries(st.text(max_size=3), ARRAYS, max_size=4))


@settings(max_examples=examples(200))
@given(st.dictionaries(st.text(max_size=3), JSON), st.lists(CONTENTS, max_size=3), CONTENTS)
def test_every_bit_comes_back(tmp_path, header, segments, added):
    path = tmp_path / "any name"
    Store.create(path, header, segments)
    with Store.open(path, writable=True) as writer:
        writer.append(added)
        same_content(writer.log[0], native(added))
    with Store.open(path) as reader:
        assert reader.header == header
        assert len(reader.segments) == len(segments)
        for content, found in zip([*segments, added], [*reader.segments, *reader.log], strict=True):
            same_content(found, native(content))
            for array in found.arrays.values():
                assert array.flags.c_contiguous
                assert array.flags.aligned
                assert not array.flags.writeable


def native(content):
    """Return the content in the byte order of files, which is that of most machines."""
    arrays = {
        name: np.array(array, array.dtype.newbyteorder("<"), order="C")
        for name, array in content.arrays.items()
    }
    return SegmentContent(content.meta, arrays)


def test_any_order_of_memory(path):
    square = np.arange(20.0).reshape(4, 5)
    views = {"F": np.asfortranarray(square), "T": square.T, "step": square[::2, ::-1]}
    Store.create(path, {}, [SegmentContent(None, views)])
    with Store.open(path) as reader:
        for name, view in views.items():
            same(reader.segments[0].arrays[name], view)


def test_arrays_of_segments_begin_at_multiples_of_64_bytes(path):
    put(path)
    with Store.open(path) as reader:
        for segment in reader.segments:
            for array in segment.arrays.values():
                assert array.size == 0 or array.ctypes.data % 64 == 0


def test_what_is_appended_is_what_was_given(path):
    """Though the caller changes it afterwards."""
    put(path, records=0)
    content = SegmentContent({"list": [1]}, {"x": np.arange(3)})
    with Store.open(path, writable=True) as writer:
        writer.append(content)
        content.meta["list"][0], content.arrays["x"][0] = 9, 9
        assert writer.log[0].meta == {"list": [1]}
        same(writer.log[0].arrays["x"], np.arange(3))


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.array([None]), "'x' holds object"),
        (np.ones(2, complex), "'x' holds complex128"),
        (np.array(["2020"], "M8[D]"), r"'x' holds datetime64\[D\]"),
        (np.array([b"a"]), r"'x' holds \|S1"),
        (np.zeros(2, "i4,f8"), "'x' holds"),
        (np.ma.masked_equal([1, 2], 1), "'x' is of type MaskedArray"),
        ([1, 2], "'x' is of type list"),
    ],
)
def test_arrays_that_cannot_be_kept(path, array, message):
    put(path)
    before = state(path)
    content = SegmentContent(None, {"x": array})
    with Store.open(path, writable=True) as writer:
        for call in (lambda: writer.append(content), lambda: writer.commit([WORDS, content])):
            with pytest.raises(TypeError, match=message):
                call()
    with pytest.raises(TypeError, match=message):
        Store.create(path, {}, [content])
    with pytest.raises(TypeError, match=message):
        Store.create(path.with_name("new"), {}, [content])
    assert state(path) == before
    assert os.listdir(path.parent) == [path.name]
    only_named(path)


# ---------------------------------------------------------------- histories


@settings(max_examples=examples(200))
@given(st.data())
def test_histories_against_a_list(tmp_path, data):
    """Appends, commits of some merged segments, and reopening, as a list would have it."""
    path, wanted, n_headers = tmp_path / "history", [], 0
    Store.create(path, {"n": 0}, [])
    steps = st.sampled_from(["append", "append", "commit", "reopen", "refresh", "create"])
    with ExitStack() as stack, Store.open(path) as reader:
        writer = stack.enter_context(Store.open(path, writable=True))
        for step in data.draw(st.lists(steps, max_size=12)):
            if step == "append":
                wanted.append(len(wanted))
                writer.append(record(wanted[-1]))
            elif step == "commit":
                kept = writer.segments[: data.draw(st.integers(0, len(writer.segments)))]
                n = sum(len(segment.arrays["number"]) for segment in kept)
                n_headers += 1
                writer.commit([*kept, merged(wanted[n:])], {"n": n_headers})
                assert writer.segments[: len(kept)] == kept
            elif step == "refresh":
                changed = numbers(reader) != wanted or reader.header != writer.header
                assert reader.refresh() >= changed
                assert numbers(reader) == wanted
                assert reader.header == writer.header
                assert not reader.refresh()
            else:
                writer.close()
                if step == "create":
                    Store.create(path, {"n": n_headers}, [merged(wanted)])
                sync = data.draw(st.booleans())
                writer = stack.enter_context(Store.open(path, writable=True, sync=sync))
            assert numbers(writer) == wanted
            assert writer.header == {"n": n_headers}
            with Store.open(path) as other:
                assert numbers(other) == wanted
    Store.open(path, writable=True).close()
    only_named(path)


def test_a_reader_keeps_its_snapshot(path):
    put(path)
    with Store.open(path, writable=True) as writer, Store.open(path) as reader:
        words = reader.segments[0]
        writer.append(record(2))
        writer.commit([record(7)], {"new": 1})
        writer.append(record(8))
        Store.open(path).close()
        assert reader.header == HEADER
        assert [content.meta for content in reader.log] == [{"number": 0}, {"number": 1}]
        reader.verify()
        assert reader.refresh()
        assert numbers(reader) == [7, 8]
        assert reader.header == {"new": 1}
        same_content(words, WORDS)  # its file is deleted, where an open one can be
        assert not writer.refresh()
    with pytest.raises(ValueError, match=r"names\.d2ke is closed"):
        reader.refresh()
    with pytest.raises(ValueError, match="is closed"):
        writer.append(FLAGS)
    assert repr(reader) == "<names.d2ke: segments 0, log 0, closed>"


def test_segments_of_another_index(path):
    """They are copied to a new one; `commit` keeps only those that it has."""
    put(path)
    with Store.open(path) as reader, Store.open(path, writable=True) as writer:
        Store.create(path.with_name("copy"), {}, reader.segments)
        with pytest.raises(ValueError, match=r"segments\[1\] is not in .*names\.d2ke"):
            writer.commit([FLAGS, reader.segments[0]])
    with Store.open(path.with_name("copy")) as copy:
        same_content(copy.segments[0], WORDS)
        same_content(copy.segments[1], FLAGS)


def test_only_writers_write(path):
    put(path)
    with Store.open(path) as reader:
        for call in (lambda: reader.append(FLAGS), lambda: reader.commit([])):
            with pytest.raises(ValueError, match=r"open for reading only; open it writable=True"):
                call()


def test_a_second_writer_is_refused(path):
    put(path)
    lock = re.escape(str(path / "lock"))
    with Store.open(path, writable=True) as writer:
        for call in (lambda: Store.open(path, writable=True), lambda: Store.create(path, {}, [])):
            with pytest.raises(BlockingIOError, match=f"names.d2ke is being written .*{lock}"):
                call()
        writer.append(record(2))
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
    with Store.open(path) as reader:
        assert numbers(reader) == [0]
    assert not left[0]


def test_bytes_that_change_while_a_log_is_read(path, monkeypatch):
    """An incomplete record of a killed writer is overwritten by the next one."""
    put(path)
    log = log_of(path)
    right = log.read_bytes()
    log.write_bytes(right[:-5] + b"\1" + right[-4:])
    records = segment_file._records

    def overtaken(content, *places):
        try:
            return records(content, *places)
        finally:
            log.write_bytes(right)

    monkeypatch.setattr(segment_file, "_records", overtaken)
    with Store.open(path) as reader:
        assert numbers(SimpleNamespace(segments=(), log=reader.log)) == [0, 1]


@pytest.mark.parametrize("call", ["replace", "open"])
def test_a_manifest_in_use_is_tried_again(path, monkeypatch, call):
    """As on Windows, where a reader has it open for a moment, or a writer replaces it."""
    put(path)
    function, left = getattr(os, call), [3]

    def refused(*arguments):
        place = arguments[-1] if call == "replace" else arguments[0]
        if os.path.basename(place) == "manifest.json" and left[0]:
            left[0] -= 1
            raise PermissionError(errno.EACCES, "Sharing violation", str(place))
        return function(*arguments)

    monkeypatch.delattr(os, "O_DIRECTORY", raising=False)
    monkeypatch.setattr(os, call, refused)
    monkeypatch.setattr(manifests, "_PAUSE", 0.0)
    with Store.open(path, writable=True) as writer:
        writer.commit([record(5)])
        assert numbers(writer) == [5]
    assert not left[0]
    only_named(path)


def test_old_files_that_cannot_be_deleted_are_deleted_later(path, monkeypatch):
    put(path)

    def refused(target):
        raise PermissionError(errno.EACCES, "Sharing violation", str(target))

    with Store.open(path, writable=True) as writer:
        with monkeypatch.context() as patch:
            patch.setattr(os, "unlink", refused)
            writer.commit([record(5)])
        assert len(list(path.glob("*.segment"))) == 3
        writer.commit(writer.segments)
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
    with Store.open(path) as reader:
        assert numbers(reader) == [3]


def test_a_newer_format(path):
    put(path)
    file = path / "manifest.json"
    text = file.read_bytes().replace(b'"version": 1', b'"version": 7')
    text = text[: text.rindex(b', "CRC-32"')]
    file.write_bytes(text + b', "CRC-32": "%08x"}\n' % zlib.crc32(text))
    for writable in (False, True):
        with pytest.raises(ValueError, match=r"has version 7 of the format; .* a newer d2ke"):
            Store.open(path, writable=writable)


def test_files_are_plain(path):
    """The manifest is JSON, and no file is one that runs code when it is read."""
    put(path)
    manifest = json.loads((path / "manifest.json").read_text("utf-8"))
    assert manifest["header"] == HEADER
    assert manifest["format"] == "d2ke index"
    assert set(manifest["made_with"]) == {"d2ke", "instructions"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "pickle", None)
        assert state(path)[1] == 2


def test_missing_files_are_named(path):
    put(path)
    with Store.open(path) as reader:
        second = reader.segments[1].name
    for name, message in (
        (second, f"segment 1: the file {second} is missing"),
        (log_of(path).name, "log: the file .* is missing"),
        ("manifest.json", "manifest.json is missing"),
    ):
        content = (path / name).read_bytes()
        (path / name).unlink()
        with pytest.raises(ValueError, match=rf"names\.d2ke is damaged: {message}"):
            Store.open(path)
        (path / name).write_bytes(content)
    Store.open(path).close()


def test_damaged_arrays_are_named(path):
    put(path)
    with Store.open(path) as reader:
        file = path / reader.segments[0].name
    content = bytearray(file.read_bytes())
    content[content.index(WORDS.arrays["pieces"].tobytes()) + 5] ^= 1
    file.write_bytes(content)
    message = r"names\.d2ke is damaged: segment 0, array pieces: "
    with pytest.raises(ValueError, match=message):
        Store.open(path)
    with Store.open(path, verify=False, writable=True) as reader:
        with pytest.raises(ValueError, match=message):
            reader.verify()
        reader.commit([FLAGS])
        reader.verify()


def test_a_damaged_index_can_be_replaced(path):
    """And stays what it was, for who can repair it, where that fails."""
    put(path)
    file = path / "manifest.json"
    file.write_bytes(file.read_bytes().replace(b"strings", b"series"))
    before = {*os.listdir(path)}
    with pytest.raises(TypeError, match="'x' is of type list"):
        Store.create(path, {}, [SegmentContent(None, {"x": [1]})])
    assert {*os.listdir(path)} == before
    Store.create(path, {}, [record(4)])
    with Store.open(path) as reader:
        assert numbers(reader) == [4]
    only_named(path)


def test_swapped_segments(path):
    """Two files that are right, at each other's place."""
    put(path, [merged([1, 2]), merged([3, 4])])
    one, other = (path / name for name, _, _ in manifests.read_manifest(path).segments)
    first, second = one.read_bytes(), other.read_bytes()
    assert len(first) == len(second)
    one.write_bytes(second)
    other.write_bytes(first)
    with pytest.raises(ValueError, match="segment 0: it is not the file that was written"):
        Store.open(path, verify=False)


@pytest.mark.parametrize("flips", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_every_byte(path, flips):
    """Each byte of each file, changed: the index is refused, or is what it was."""
    put(path)
    before, refused, rng = state(path), 0, np.random.default_rng(flips)
    for file in path.iterdir():
        content = file.read_bytes()
        for place in range(len(content)):
            for mask in rng.choice(np.arange(1, 256), flips, replace=False):
                changed = bytearray(content)
                changed[place] ^= int(mask)
                file.write_bytes(changed)
                try:
                    assert state(path) == before, (file.name, place, mask)
                except ValueError as error:
                    refused += 1
                    assert "names.d2ke is damaged: " in str(error), (file.name, place, mask)  # noqa: PT017
        file.write_bytes(content)
    assert refused > 1000
    assert state(path) == before


def test_truncated_files(path):
    """A shorter log has fewer records, which are the first ones; other files are refused."""
    put(path, records=3)
    header, n_segments, contents = state(path)
    found = set()
    for file in path.iterdir():
        content = file.read_bytes()
        step = 3 if file.suffix == ".log" else 7
        for size in range(0, len(content), step):
            file.write_bytes(content[:size])
            try:
                got = state(path)
            except ValueError as error:
                assert "names.d2ke is damaged: " in str(error)  # noqa: PT017
                continue
            assert file.suffix == ".log", file.name
            assert size >= 8  # without its front it is not a log
            n = len(got[2])
            assert got == (header, n_segments, contents[:n])
            found.add(n - n_segments)
        file.write_bytes(content + b"\0" * 4)  # and longer ones
        if content:
            with pytest.raises(ValueError, match="is damaged"):
                state(path)
        file.write_bytes(content)
    assert found == {0, 1, 2}


def test_several_flips(path):
    """Errors of any number of bits, at places and of lengths drawn at random."""
    put(path)
    before, rng = state(path), np.random.default_rng(0)
    files = [file for file in path.iterdir() if file.stat().st_size]
    for _ in range(examples(1200)):
        file = files[rng.integers(len(files))]
        content = file.read_bytes()
        first = rng.integers(len(content))
        changed = np.frombuffer(content, np.uint8).copy()
        part = changed[first : first + rng.integers(1, 60)]
        part ^= rng.integers(0, 256, len(part), dtype=np.uint8)
        file.write_bytes(changed.tobytes())
        try:
            assert state(path) == before
        except ValueError as error:
            assert "names.d2ke is damaged: " in str(error)  # noqa: PT017
        file.write_bytes(content)


# ---------------------------------------------------------------- incomplete records


@pytest.mark.parametrize("zeros", [0, 8, 5000])
def test_a_torn_tail_at_every_byte(path, zeros):
    """Of the last record, with or without the zeros that a power failure leaves behind it."""
    put(path, [], records=2)
    log = log_of(path)
    start = log.stat().st_size
    with Store.open(path, writable=True) as writer:
        writer.append(record(2))
    content = log.read_bytes()
    for size in range(start, len(content)):
        log.write_bytes(content[:size] + bytes(zeros))
        with Store.open(path) as reader, Store.open(path, writable=True) as writer:
            assert numbers(reader) == numbers(writer) == [0, 1]
            assert not reader.refresh()
            writer.append(record(8))
            assert reader.refresh()
            assert numbers(reader) == numbers(writer) == [0, 1, 8]
        with Store.open(path, writable=True) as writer:
            assert numbers(writer) == [0, 1, 8]
            writer.append(record(9))
        with Store.open(path) as reader:
            assert numbers(reader) == [0, 1, 8, 9]


def test_few_zeros_at_the_end_are_damage(path):
    """They are no blocks that a power failure left unwritten."""
    put(path)
    log = log_of(path)
    content = log.read_bytes()
    for n in range(1, 8):
        for changed in (content + bytes(n), content[:-n] + bytes(n)):
            log.write_bytes(changed)
            with pytest.raises(ValueError, match="is damaged: log, record"):
                Store.open(path)


def test_a_record_that_is_not_written_whole(path, monkeypatch):
    """The disk is full in its middle, or cannot be flushed: the log is what it was."""
    put(path, [], records=1)
    write, sync = os.write, os.fsync

    def half(fd, content):
        if len(content) < 20:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(fd, content[: len(content) // 2])

    def fail(fd):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with Store.open(path, writable=True, sync=True) as writer, Store.open(path) as reader:
        size = log_of(path).stat().st_size
        monkeypatch.setattr(os, "write", half)
        with pytest.raises(OSError, match=r"nothing was added to .*names\.d2ke: No space") as got:
            writer.append(record(1))
        assert got.value.errno == errno.ENOSPC
        monkeypatch.setattr(os, "write", write)
        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="Input/output error"):
            writer.append(record(1))
        monkeypatch.setattr(os, "fsync", sync)
        assert numbers(writer) == [0]
        assert log_of(path).stat().st_size == size
        assert not reader.refresh()
        writer.append(record(2))
        assert reader.refresh()
        assert numbers(writer) == numbers(reader) == [0, 2]


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
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    with Store.open(path, writable=True) as writer:
        with monkeypatch.context() as patch:
            patch.setattr("d2ke._base.files.sync_folder", fail)
            with pytest.raises(OSError, match="Input/output error"):
                writer.commit([merged([4, 5])])
        writer.append(record(6))
        assert numbers(writer) == [4, 5, 6]
    with Store.open(path) as reader:
        assert numbers(reader) == [4, 5, 6]
    only_named(path)


# ---------------------------------------------------------------- full disks


@pytest.mark.parametrize("free", [0, 60_000])
@pytest.mark.parametrize("reserves", [True, False])
def test_a_full_disk_leaves_the_old_state(small_disk, monkeypatch, free, reserves):
    path = small_disk / "names.d2ke"
    put(path)
    before = state(path)
    if not reserves:  # as file systems do that reserve nothing
        monkeypatch.setattr(os, "posix_fallocate", lambda *arguments: None)
        monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=2**60))
    large = SegmentContent(None, {"x": np.random.default_rng(0).random(10_000)})
    with Store.open(path, writable=True) as writer:
        disk = os.statvfs(small_disk)
        (small_disk / "filler").write_bytes(bytes(disk.f_bfree * disk.f_bsize - free))
        calls = {
            "append": lambda: writer.append(large),
            "commit": lambda: writer.commit([*writer.segments, large]),
            "create": lambda: Store.create(small_disk / "new names.d2ke", {}, [FLAGS, large]),
        }
        for call in calls.values():
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
        writer.commit([*writer.segments, large])
        assert len(writer.segments) == 3


# ---------------------------------------------------------------- kills


CALLS = ("write", "fsync", "ftruncate", "replace", "unlink", "posix_fallocate", "close", "mkdir")


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
        writer.commit([writer.segments[0], merged([1, 2, 3, 4])])
        writer.append(record(5))


@FORKS
def test_a_writer_killed_before_every_call(tmp_path):
    source = tmp_path / "source"
    Store.create(source, {}, [merged([0]), merged([1])])
    with Store.open(source, writable=True) as writer:
        writer.append(record(2))
    wanted = [[0, 1, 2], [0, 1, 2, 3], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4, 5]]
    seen, at, ended = [], 0, False
    while not ended:
        path = tmp_path / str(at)
        shutil.copytree(source, path)
        ended = not killed(lambda path=path: add_and_commit(path), at)
        with Store.open(path) as reader:
            seen.append(wanted.index(numbers(reader)))
            before = numbers(reader)
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
        with Store.open(path) as reader:
            assert numbers(reader) == [3]
        only_named(path)
        at += 1
    assert seen == {1 if exists else None, 2}


def write_for_ever(path, pipe):
    """Append numbers, and tell each that was appended; merge the log and the segments at times."""
    with Store.open(path, writable=True) as writer:
        n = len(numbers(writer))
        while True:
            writer.append(record(n))
            n += 1
            os.write(pipe, b"%d\n" % n)
            if n % 6 == 0:
                in_log = [content.meta["number"] for content in writer.log]
                kept = writer.segments if n % 30 else ()
                added = in_log if kept else range(n)
                writer.commit([*kept, merged(added)])


@FORKS
@pytest.mark.parametrize("kills", [20, pytest.param(200, marks=pytest.mark.slow)])
def test_kills_lose_nothing_that_was_appended(path, kills):
    Store.create(path, {}, [])
    rng, told = np.random.default_rng(kills), 0
    for _ in range(kills):
        source, sink = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                write_for_ever(path, sink)
            finally:
                os._exit(1)
        os.close(sink)
        with open(source, "rb") as answers:
            for _ in range(rng.integers(1, 20)):
                told = int(answers.readline())
            time.sleep(rng.random() * 3e-3)
            os.kill(child, signal.SIGKILL)
            assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
            told = max([told, *map(int, answers.read().split(b"\n")[:-1])])
        with Store.open(path) as reader:
            found = numbers(reader)
        assert found == list(range(len(found)))
        assert told <= len(found) <= told + 1  # one whose append had not returned
    Store.open(path, writable=True).close()
    only_named(path)


@FORKS
@pytest.mark.parametrize("n", [200, pytest.param(2_000, marks=pytest.mark.slow)])
def test_two_readers_beside_a_writer(path, n):
    """At any time they see the first numbers, and at the end all of them."""
    Store.create(path, {}, [])
    children = []
    for verify in (True, False):
        child = os.fork()
        if child == 0:
            try:
                with Store.open(path, verify=verify) as reader:
                    before = 0
                    while before < n:
                        reader.refresh()
                        found = numbers(reader)
                        assert found == list(range(len(found)))
                        assert len(found) >= before
                        before = len(found)
            finally:
                os._exit(int(sys.exc_info()[0] is not None))
        children.append(child)
    with Store.open(path, writable=True) as writer:
        for number in range(n):
            writer.append(record(number))
            if number % 7 == 6:
                kept = writer.segments if number % 70 else ()
                added = range(sum(len(one.arrays["number"]) for one in kept), number + 1)
                writer.commit([*kept, merged(added)])
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]
