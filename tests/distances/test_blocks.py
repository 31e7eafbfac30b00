# SPDX-License-Identifier: BSD-3-Clause
"""Results streamed to a file: the bits of those in memory, whatever happens on the way."""

import errno
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import h5py
import numpy as np
import pytest
import reference
from hypothesis import example, given, settings
from hypothesis import strategies as st

import d2ke
from d2ke.distances import blocks as blocks_module
from d2ke.distances.fingerprint import objects_digest
from d2ke.io import FeatureFile, load_features, open_features, save_features
from d2ke.io.store import layout
from d2ke.io.store.hdf5 import HEADER_BYTES
from d2ke.io.store.writer import PartialStore

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="locks and writes as POSIX has them"),
    # Tiny arrays, which are meant as they are.
    pytest.mark.filterwarnings("ignore:every item of .* has shape"),
]

RNG = np.random.default_rng(0)
STRINGS = d2ke.pack(["".join(RNG.choice(list("ACGT"), n)) for n in RNG.integers(0, 20, 700)])
OMEGA = d2ke.random_strings(150, "ACGT", length=(2, 8), seed=0)
HOW = {"distance": "levenshtein", "gamma": 0.3}
VECTORS = d2ke.pack([RNG.standard_normal((n, 2)) for n in RNG.integers(1, 6, 40)])
WEIGHTED = d2ke.pack(VECTORS, weights=[RNG.random(n) + 0.1 for n in VECTORS.lengths])


def same(a, b):
    assert a.dtype == b.dtype
    assert a.shape == b.shape
    assert a.tobytes() == b.tobytes()


@pytest.fixture
def file(tmp_path):
    return tmp_path / "features.h5"


@pytest.fixture(scope="module")
def features():
    return d2ke.d2ke_embed(STRINGS, OMEGA, **HOW)


def embed(file, **more):
    with d2ke.d2ke_embed(STRINGS, OMEGA, **{**HOW, "out": file, **more}) as store:
        store.verify()
        return store.read()


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    """The disk is not waited for: what a kill leaves is the same, and a power cut is not tested."""
    monkeypatch.setattr(os, "fsync", lambda fd: None)


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of a few rows, so that few rows make many of them."""
    monkeypatch.setattr(layout, "_BLOCK_ROWS", 8)
    monkeypatch.setattr(blocks_module, "_RUN_SECONDS", 0.0)


class StopError(Exception):
    pass


def interrupted(file, monkeypatch, blocks=5, error=StopError, **more):
    """Begin, and fail after some blocks."""
    write, left = PartialStore.write, [blocks]

    def fail(self, rows, Z, stop):
        if not left[0]:
            raise error("enough")
        left[0] -= 1
        return write(self, rows, Z, stop)

    with monkeypatch.context() as patch:
        patch.setattr(PartialStore, "write", fail)
        with pytest.raises(error, match="enough"):
            embed(file, **more)


# ---------------------------------------------------------------- the same bits


@settings(max_examples=reference.examples(40))
@given(data=st.data())
def test_same_bits_for_every_block_size(tmp_path, data, features):
    """Blocks and runs of any number of rows, with edges that do not fall together."""
    n = data.draw(st.integers(1, 700), "n")
    m = data.draw(st.integers(1, 150), "m")
    rows = data.draw(st.integers(1, 64), "rows of a block")
    blocks = data.draw(st.integers(1, 40), "blocks of a run")
    dtype = data.draw(st.sampled_from(["f4", "f8"]))
    values = data.draw(st.sampled_from([64, 1000, 1 << 15]), "values of a tile")
    wanted = np.empty((n, m), dtype)
    d2ke.distance_matrix(STRINGS[:n], OMEGA[:m], "levenshtein", out=wanted)
    path = tmp_path / "x.h5"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "_BLOCK_ROWS", rows)
        patch.setattr(layout, "_TILE_VALUES", max(values, rows))
        patch.setattr(blocks_module, "_RUN_SECONDS", 1e9)
        patch.setattr(blocks_module, "_MOST_RUN_BYTES", blocks * rows * m * wanted.itemsize)
        with d2ke.distance_matrix(
            STRINGS[:n], OMEGA[:m], "levenshtein", out=path, dtype=dtype
        ) as store:
            store.verify()
            same(store.read(), wanted)
            assert store.omega() == OMEGA[:m]
    same(load_features(path).Z, wanted)
    assert os.listdir(tmp_path) == ["x.h5"]
    path.unlink()


@pytest.mark.parametrize("distance", d2ke.distance_names())
@pytest.mark.parametrize("among", [True, False])
def test_same_bits_for_every_distance(file, small_blocks, distance, among):
    X = STRINGS[:60] if distance == "levenshtein" else WEIGHTED if distance == "emd" else VECTORS
    Y = None if among else X[5:20]
    params = reference.given(distance)
    for n_threads in (1, 2):
        wanted = d2ke.distance_matrix(X, Y, distance, n_threads=n_threads, **params)
        with d2ke.distance_matrix(X, Y, distance, n_threads=n_threads, out=file, **params) as store:
            same(store.read(), wanted)
        file.unlink()


def turned(x, y):
    """Not symmetric, so that it shows which of the two was asked."""
    return abs(x - 2.0 * y)


@pytest.mark.parametrize("Y", [None, [3.0, 4.0]])
def test_same_bits_for_a_python_function(file, small_blocks, Y):
    X = [float(x) for x in range(30)]
    wanted = d2ke.distance_matrix(X, Y, turned)
    with d2ke.distance_matrix(X, Y, turned, out=file) as store:
        same(store.read(), wanted)
        assert store.parameters["distance"] == f"{__name__}.turned"


def test_same_bits_for_a_compiled_function(file, small_blocks):
    numba = pytest.importorskip("numba")
    from numba import types as t
    from scipy import LowLevelCallable

    pointer = t.CPointer(t.double)

    @numba.cfunc(t.double(pointer, t.intp, pointer, t.intp, t.intp, t.voidptr))
    def first(x, n_x, y, n_y, dim, data):
        return abs(x[0] - y[0]) if x[0] < 50 else -1.0

    function = LowLevelCallable(first.ctypes)
    X = d2ke.pack(np.arange(40.0)[:, None])
    wanted = d2ke.distance_matrix(X, X[:7], function)
    with d2ke.distance_matrix(X, X[:7], function, out=file) as store:
        same(store.read(), wanted)
    file.unlink()
    with pytest.raises(ValueError, match=r"distance\(X\[50\], Y\[\d\]\) must be finite"):
        d2ke.distance_matrix(d2ke.pack(np.arange(60.0)[:, None]), X[:7], function, out=file)


def test_rsm_and_plain_distances(file, features):
    with d2ke.rsm_embed(STRINGS, OMEGA, **HOW, out=str(file)) as store:
        same(store.read(), features)
    file.unlink()
    wanted = d2ke.d2ke_embed(STRINGS, OMEGA, distance="levenshtein", link="distance")
    with d2ke.d2ke_embed(STRINGS, OMEGA, distance="levenshtein", link="distance", out=file) as one:
        same(one.read(), wanted)
        assert one.parameters == {"distance": "levenshtein", "link": "distance"}


def test_single_precision(file, features):
    wanted = np.empty(features.shape, np.float32)
    d2ke.d2ke_embed(STRINGS, OMEGA, **HOW, out=wanted)
    same(embed(file, dtype=np.float32), wanted)
    same(d2ke.d2ke_embed(STRINGS, OMEGA, **HOW, dtype="f4"), wanted)


def test_short_writes_put_each_byte_in_its_place(file, features, monkeypatch):
    """As the system may write less than it was given."""
    pwrite, preadv = os.pwrite, os.preadv
    monkeypatch.setattr(
        os, "pwrite", lambda fd, content, place: pwrite(fd, memoryview(content)[:4097], place)
    )
    monkeypatch.setattr(
        os, "preadv", lambda fd, buffers, place: preadv(fd, [buffers[0][:4099]], place)
    )
    same(embed(file), features)


def test_blocks_wider_than_usual(file):
    omega = d2ke.random_strings(9000, "ACGT", length=(2, 8), seed=0)
    wanted = d2ke.d2ke_embed(STRINGS, omega, **HOW)
    with d2ke.d2ke_embed(STRINGS, omega, **HOW, out=file) as store:
        same(store.read(), wanted)
        store.verify()


def test_wide_matrices_have_low_blocks():
    assert layout.tile_shape((10**6, 1024)) == (256, 128)
    assert layout.tile_shape((10**6, 8192)) == (256, 128)
    height, width = layout.tile_shape((10**6, 10**6))
    assert height * 10**6 * 8 <= 1 << 24
    assert height * width <= 1 << 15


# ---------------------------------------------------------------- the store


def test_the_file_is_that_of_save_features(file, tmp_path, features):
    """The same datasets, table and header; one reader for both."""
    embed(file)
    save_features(tmp_path / "y.h5", features, omega=OMEGA, parameters={**HOW, "link": "exp"})
    with h5py.File(file) as one, h5py.File(tmp_path / "y.h5") as other:
        assert set(one) - set(other) == {"inputs"}
        for name in ("chunks", "fletcher32", "dtype", "shape"):
            assert getattr(one["Z"], name) == getattr(other["Z"], name)
        datasets = "omega/values", "omega/offsets", "omega/alphabet", "parameters/gamma", "Z"
        for name in (*datasets, "blocks"):
            same(one[name][()], other[name][()])
    lines = file.read_bytes()[:HEADER_BYTES].split(b"\n")
    size, start, stop = map(int, lines[1].split())
    assert size == file.stat().st_size
    assert 0.9 * size < stop - start == features.nbytes
    part = load_features(file, rows=slice(3, 9), columns=slice(50))
    same(part.Z, features[3:9, :50])
    assert part.parameters == {"distance": "levenshtein", "gamma": 0.3, "link": "exp"}
    # As far as libraries of HDF5 1.8 go.
    assert file.read_bytes()[HEADER_BYTES + 8] in (0, 2)


def test_reading_by_parts(file, features):
    with d2ke.d2ke_embed(STRINGS, OMEGA, **HOW, out=file) as store:
        assert isinstance(store, FeatureFile)
        assert (store.shape, store.dtype, len(store)) == (features.shape, features.dtype, 700)
        assert store.path == file
        assert store.labels() is None
        for n_rows in (None, 1, 99, 699, 700, 9999):
            parts = list(store.blocks(n_rows))
            assert [rows.start for rows, _ in parts] == list(range(0, 700, n_rows or 700))
            same(np.vstack([Z for _, Z in parts]), features)
        with pytest.raises(ValueError, match="the stop of rows must be between -700 and 700"):
            store.read(slice(701))
        with pytest.raises(ValueError, match="n_rows must be at least 1, got 0"):
            list(store.blocks(0))
        assert repr(store) == "<features.h5: 700 x 150, float64>"
    assert repr(store) == "<features.h5: 700 x 150, float64, closed>"
    with pytest.raises(ValueError, match=r"features\.h5 is closed"):
        store.read()
    store.close()


def test_damage_is_named_by_its_rows(file, small_blocks, features):
    embed(file)
    content = bytearray(file.read_bytes())
    with h5py.File(file) as store:
        blocks = layout.get_blocks(store)
    height, width = blocks.tile
    i, j = 4 * height, 128 // width * width
    content[blocks.start + (i * 150 + j) * 8 + 5] ^= 1
    file.write_bytes(content)
    with open_features(file) as store:
        where = rf"rows {i} to {i + height - 1}, columns {j} to {min(j + width, 150) - 1}\)"
        with pytest.raises(ValueError, match=where):
            store.verify()
        with pytest.raises(ValueError, match=where):
            store.read()
        same(store.read(slice(i)), features[:i])
        same(store.read(slice(i + height, 700)), features[i + height :])


def test_digests_see_what_objects_are():
    X = d2ke.pack(["AC", "", "GT"])
    assert objects_digest(X) == objects_digest(d2ke.pack(["AC", "", "GT", "XYZ"])[:3])
    others = [["AC", "", "GA"], ["ACG", "", "T"], [b"AC", b"", b"GT"]]
    digests = {objects_digest(d2ke.pack(items)) for items in others}
    for dtype in ("f4", "f8"):
        one = d2ke.pack([np.ones((2, 3), dtype)])
        digests |= {objects_digest(one), objects_digest(d2ke.pack([np.ones((3, 2), dtype)]))}
        digests |= {objects_digest(d2ke.pack(one, weights=[w])) for w in ([1, 2], [2, 1])}
    assert len(digests | {objects_digest(X)}) == 12


# ---------------------------------------------------------------- resuming


@pytest.mark.parametrize("blocks", [0, 1, 5, 86])
def test_a_resumed_file_is_the_same(file, small_blocks, monkeypatch, features, blocks):
    interrupted(file, monkeypatch, blocks)
    assert os.listdir(file.parent) == ["features.h5.part"]
    with pytest.raises(ValueError, match=r"features\.h5\.part is not complete"):
        open_features(f"{file}.part")
    before = Path(f"{file}.part").read_bytes()
    with pytest.raises(FileExistsError, match=r"holds a part .* resume=True resumes it"):
        embed(file)
    assert Path(f"{file}.part").read_bytes() == before
    computed = []
    run = d2ke.distances.problem.CompiledPairs.run

    def count(self, out, *rest):
        computed.append(len(out))
        run(self, out, *rest)

    monkeypatch.setattr(d2ke.distances.problem.CompiledPairs, "run", count)
    same(embed(file, resume=True), features)
    assert sum(computed) == 700 - 8 * blocks
    assert os.listdir(file.parent) == ["features.h5"]


def test_a_file_that_is_complete(file, features):
    same(embed(file, resume=True), features)  # there was nothing to resume
    before = file.stat().st_mtime_ns
    with pytest.raises(FileExistsError, match=r"features\.h5 exists already: with resume=True"):
        embed(file)
    same(embed(file, resume=True), features)
    assert file.stat().st_mtime_ns == before
    assert os.listdir(file.parent) == ["features.h5"]


def test_a_file_of_save_features_is_not_resumed(file, features):
    save_features(file, features)
    with pytest.raises(FileExistsError, match="has no record of what it was made from"):
        embed(file, resume=True)
    assert os.listdir(file.parent) == ["features.h5"]


CHANGES = {
    "X was '": {"X": STRINGS[::-1]},
    "n was 700 and is 10": {"X": STRINGS[:10]},
    "omega was '": {"omega": OMEGA[::-1]},
    "R was 150 and is 149": {"omega": OMEGA[:149]},
    "gamma was 0.3 and is 0.4": {"gamma": 0.4},
    "dtype was 'float64' and is 'float32'": {"dtype": "f4"},
    "link was 'exp' and is 'distance'; gamma was 0.3 and is not given": {
        "gamma": None,
        "link": "distance",
    },
}


@pytest.mark.parametrize("message", CHANGES)
@pytest.mark.parametrize("complete", [True, False])
def test_what_has_changed_is_named(file, small_blocks, monkeypatch, message, complete):
    if complete:
        embed(file)
    else:
        interrupted(file, monkeypatch)
    how = {"X": STRINGS, "omega": OMEGA, **HOW, **CHANGES[message]}
    names = sorted(os.listdir(file.parent))
    with pytest.raises(ValueError, match="was made from something else: .*" + message):
        d2ke.d2ke_embed(**how, out=file, resume=True)
    assert sorted(os.listdir(file.parent)) == names
    embed(file, resume=True)


def test_a_changed_distance_is_named(file, small_blocks, monkeypatch):
    X = VECTORS
    interrupted_matrix(file, monkeypatch, X, "dtw", window=3)
    for distance, params, message in (
        ("dtw", {"window": 4}, "window was 3 and is 4$|window was 3 and is 4;"),
        ("dtw", {}, "window was 3 and is not given"),
        ("mhd", {}, "distance was 'dtw' and is 'mhd'"),
        ("dtw", {"window": 3, "ground": "sqeuclidean"}, "ground was not given and is 'sqeucl"),
    ):
        with pytest.raises(ValueError, match=message):
            d2ke.distance_matrix(X, None, distance, out=file, resume=True, **params)


def interrupted_matrix(file, monkeypatch, X, distance, **params):
    with monkeypatch.context() as patch:
        patch.setattr(PartialStore, "finish", lambda self: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            d2ke.distance_matrix(X, None, distance, out=file, **params)


def test_a_changed_function_is_named(file, monkeypatch):
    interrupted_matrix(file, monkeypatch, [1.0, 2.0], lambda x, y: abs(x - y))
    with pytest.raises(ValueError, match="content of distance was '"):
        d2ke.distance_matrix([1.0, 2.0], None, lambda x, y: 2 * abs(x - y), out=file, resume=True)
    with pytest.raises(ValueError, match="X was '"):
        d2ke.distance_matrix([1.0, 3.0], None, lambda x, y: abs(x - y), out=file, resume=True)
    d2ke.distance_matrix([1.0, 2.0], None, lambda x, y: abs(x - y), out=file, resume=True).close()
    with pytest.raises(TypeError, match=r"X\[1\] is object; to be recognised"):
        d2ke.distance_matrix([1.0, object()], None, lambda x, y: 0.0, out=file)


def test_other_instructions_are_named(file, small_blocks, monkeypatch, isa):
    from d2ke._ext import isa as instructions

    others = [name for name in instructions.supported() if name != isa]
    if not others:
        pytest.skip("this processor has one instruction set only")
    interrupted(file, monkeypatch)
    instructions.select(others[0])
    with pytest.raises(ValueError, match=f"instructions was '{isa}' and is '{others[0]}'"):
        embed(file, resume=True)
    instructions.select(isa)
    embed(file, resume=True)
    instructions.select(others[0])
    embed(file, resume=True)  # the rows are there already


def spans(part):
    """Return where the header of a part says that Z and the table are."""
    start, stop, *table = map(int, part.read_bytes().split(b"\n")[1].split()[1:])
    return (start, stop), tuple(table)


def test_damaged_rows_are_computed_anew(file, small_blocks, monkeypatch, features):
    interrupted(file, monkeypatch, 20)
    part = Path(f"{file}.part")
    content = bytearray(part.read_bytes())
    content[spans(part)[0][0] + 30_000] ^= 4
    part.write_bytes(content)
    with pytest.warns(RuntimeWarning, match=r"damaged in rows 24 to 31; they are computed anew"):
        same(embed(file, resume=True), features)


def test_rows_that_the_table_does_not_name_do_not_matter(file, small_blocks, monkeypatch, features):
    """Such as a power cut may leave of them."""
    interrupted(file, monkeypatch, 20)
    part = Path(f"{file}.part")
    content = bytearray(part.read_bytes())
    start = spans(part)[0][0] + 20 * 8 * 150 * 8
    content[start : start + 50_000] = os.urandom(50_000)
    part.write_bytes(content)
    same(embed(file, resume=True), features)


@pytest.mark.filterwarnings("ignore:.*damaged in rows:RuntimeWarning")
@settings(max_examples=reference.examples(60))
@given(at=st.floats(0, 1, exclude_max=True), how=st.sampled_from(["none", "change"]))
def test_a_damaged_table_loses_blocks_at_most(tmp_path, features, at, how):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "_BLOCK_ROWS", 64)
        patch.setattr(blocks_module, "_RUN_SECONDS", 0.0)
        file = tmp_path / "features.h5"
        interrupted(file, patch, 7)
        part = Path(f"{file}.part")
        content = bytearray(part.read_bytes())
        start, stop = spans(part)[1]
        place = start + int(at * (stop - start))
        if how == "none":  # the rest was not on the disk
            content[place:stop] = bytes(stop - place)
        else:
            content[place] ^= 1
        part.write_bytes(content)
        same(embed(file, resume=True), features)
        assert os.listdir(tmp_path) == ["features.h5"]
        file.unlink()


@settings(max_examples=reference.examples(100))
@given(at=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
@example(at=40.5 / 13821, bit=0)  # the header: Z would end beyond the file
def test_damaged_structure_is_refused(tmp_path, at, bit):
    """Whatever byte it is that is neither of the rows nor of the table."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "_BLOCK_ROWS", 64)
        file = tmp_path / "features.h5"
        Path(f"{file}.part").unlink(missing_ok=True)
        interrupted(file, patch, 1)
        part = Path(f"{file}.part")
        before = part.read_bytes()
        (start, stop), (first, last) = sorted(spans(part))
        places = [*range(130), *range(HEADER_BYTES, start), *range(stop, first)]
        places += range(last, len(before))
        content = bytearray(before)
        content[places[int(at * len(places))]] ^= 1 << bit
        part.write_bytes(content)
        with pytest.raises(
            (ValueError, FileExistsError), match=r"\.part (is damaged|was begun|exists, and is not)"
        ) as got:
            embed(file, resume=True)
        assert "remove it" in str(got.value)
        assert part.read_bytes() == content


def test_a_part_of_another_length_is_refused(file, small_blocks, monkeypatch):
    interrupted(file, monkeypatch)
    part = Path(f"{file}.part")
    content = part.read_bytes()
    for other in (content[:-1], content + b"x", content[:600]):
        part.write_bytes(other)
        with pytest.raises(ValueError, match=r"\.part is damaged: it has \d+ bytes .* remove it"):
            embed(file, resume=True)


@pytest.mark.parametrize("content", [b"mine", b"\0" * 999, b"\x89HDF\r\n\x1a\n" + b"x" * 999])
def test_a_part_that_is_not_ours_is_refused(file, content):
    part = Path(f"{file}.part")
    part.write_bytes(content)
    for resume in (True, False):
        with pytest.raises(FileExistsError, match=r"\.part exists, and is not a part .* remove it"):
            embed(file, resume=resume)
    assert part.read_bytes() == content


def test_links_and_devices_are_not_written_to(file):
    part = Path(f"{file}.part")
    part.symlink_to(file.parent / "mine")
    for target in (None, b"mine"):
        if target:
            (file.parent / "mine").write_bytes(target)
        with pytest.raises(OSError, match="symbolic links"):
            embed(file, resume=True)
    assert (file.parent / "mine").read_bytes() == b"mine"
    part.unlink()
    os.mkfifo(part)
    with pytest.raises(FileExistsError, match=r"\.part is no file"):
        embed(file, resume=True)


# ---------------------------------------------------------------- kills

STEPS = """
import os, signal, sys
import numpy as np
import d2ke
from d2ke.distances import blocks as _stream
from d2ke.io.store import layout

layout._BLOCK_ROWS = 64
_stream._RUN_SECONDS = 0.0
X = d2ke.pack(["ACGT"[: i % 5] * (i % 7) for i in range(200)])
omega = d2ke.random_strings(20, "ACGT", length=(2, 8), seed=0)
how = {"distance": "levenshtein", "gamma": 0.3, "n_threads": 1}
wanted = d2ke.d2ke_embed(X, omega, **how)
path = sys.argv[1]
os.fsync = lambda fd: None
NAMES = "open pwrite fsync ftruncate replace unlink posix_fallocate close".split()

def run(kill_at):
    # Whether it came to its end, in a process that kills itself before some call of the system.
    child = os.fork()
    if child == 0:
        calls = [0]
        def counted(function):
            def call(*arguments, **keywords):
                if calls[0] == kill_at:
                    os.kill(os.getpid(), signal.SIGKILL)
                calls[0] += 1
                return function(*arguments, **keywords)
            return call
        for name in NAMES:
            if hasattr(os, name):
                setattr(os, name, counted(getattr(os, name)))
        try:
            d2ke.d2ke_embed(X, omega, **how, out=path, resume=True).close()
        finally:
            os._exit(int(sys.exc_info()[0] is not None))
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return not os.WIFSIGNALED(status)

kills = 0
while not run(kills):
    kills += 1
    for again in range(2):  # the first one that resumes is killed as well
        run(3 + kills % 11 if again == 0 else None)
    with d2ke.io.open_features(path) as store:
        store.verify()
        assert store.read().tobytes() == wanted.tobytes()
    assert os.listdir(os.path.dirname(path)) == [os.path.basename(path)]
    os.unlink(path)
print(kills)
"""


@pytest.mark.slow
def test_a_kill_before_any_call_of_the_system(file):
    done = subprocess.run(
        [sys.executable, "-c", STEPS, str(file)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 20


@pytest.mark.slow
def test_kills_at_random_moments(tmp_path):
    memory = Path("/dev/shm")  # where fsync takes no time
    folder = memory if os.access(memory, os.W_OK) else tmp_path
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.kill_stream", "--trials=5", f"--folder={folder}"],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "results that are the same bit for bit: 5" in done.stdout


@pytest.mark.slow
def test_interrupt_within_a_second(tmp_path, file):
    """Also while the writer waits for the disk; the file can be resumed at once."""
    script = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "import os, numpy as np, d2ke\n"
        "fsync = os.fsync\n"
        "def slow(fd):\n"
        "    fsync(fd); time.sleep(0.3)\n"
        "os.fsync = slow\n"
        "X = d2ke.pack(np.zeros((3000, 400, 2)))\n"
        "print('ready', flush=True)\n"
        "try:\n"
        "    d2ke.distance_matrix(X, X, 'dtw', out=sys.argv[1], n_threads=1)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', flush=True)\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script, str(file)], stdout=subprocess.PIPE, text=True
    )
    watchdog = threading.Timer(60, child.kill)
    watchdog.start()
    try:
        assert child.stdout.readline().strip() == "ready"
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(1.5)
        started = time.perf_counter()
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline().strip() == "interrupted"
        assert time.perf_counter() - started < 1.2
        assert child.wait() == 0
    finally:
        watchdog.cancel()
        child.kill()
        child.wait()
        child.stdout.close()
    assert Path(f"{file}.part").exists()


def test_errors_of_the_distance_leave_what_can_be_resumed(file, small_blocks):
    broken = [True]

    def distance(x, y):
        if x == 25.0 and broken[0]:
            raise StopError
        return abs(x - y)

    distance.version = "1"  # whether it is broken does not count
    X = [float(x) for x in range(30)]
    with pytest.raises(StopError):
        d2ke.distance_matrix(X, [1.0], distance, out=file)
    broken[0] = False
    with d2ke.distance_matrix(X, [1.0], distance, out=file, resume=True) as store:
        same(store.read(), d2ke.distance_matrix(X, [1.0], distance))
    file.unlink()
    with pytest.raises(ValueError, match=r"distance\(X\[25\], Y\[0\]\) must be finite and >= 0"):
        d2ke.distance_matrix(X, [1.0], lambda x, y: 24.0 - x + abs(x - 24) / 2, out=file)


# ---------------------------------------------------------------- one at a time


def test_two_processes_do_not_write_one_file(file, small_blocks, features):
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; from pathlib import Path; from d2ke._base.resume import open_locked\n"
            "fd = open_locked(Path(sys.argv[1] + '.part'), Path(sys.argv[1]))\n"
            "print('locked', flush=True); sys.stdin.read()",
            str(file),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout.readline().strip() == "locked"
        for resume in (True, False):
            with pytest.raises(BlockingIOError, match=r"features\.h5 is being written by another"):
                embed(file, resume=resume)
    finally:
        holder.kill()
        holder.communicate()
    same(embed(file, resume=True), features)  # the lock went with the process


def test_two_calls_of_one_process_do_not(file, small_blocks):
    def distance(x, y):
        with pytest.raises(BlockingIOError, match="is being written by another call"):
            d2ke.distance_matrix([1.0], None, lambda x, y: 0.0, out=file, resume=True)
        return 0.0

    d2ke.distance_matrix([1.0], None, distance, out=file).close()


# ---------------------------------------------------------------- limits


def test_memory_that_cannot_suffice_is_refused_first(file):
    with pytest.raises(ValueError, match=r"max_memory is 1000 bytes, but (\d+) are needed") as got:
        embed(file, max_memory=1000)
    assert "objects of omega" in str(got.value)
    assert os.listdir(file.parent) == []
    needed = int(re.search(r"but (\d+) are", str(got.value))[1])
    with pytest.raises(ValueError, match="max_memory is"):
        embed(file, max_memory=needed - 1)
    embed(file, max_memory=needed)


def test_memory_of_arrays(features):
    with pytest.raises(ValueError, match=r"700 x 150 values of float64 .* give a path as out"):
        d2ke.d2ke_embed(STRINGS, OMEGA, **HOW, max_memory=features.nbytes)
    same(d2ke.d2ke_embed(STRINGS, OMEGA, **HOW, max_memory="1 MB"), features)


@pytest.mark.parametrize(
    ("given", "meant"),
    [("512MiB", 2**29), ("1GB", 10**9), ("1.5 kb", 1500), ("2tib", 2**41), ("7B", 7), (8, 8)],
)
def test_sizes(given, meant):
    from d2ke._base.checks import byte_count

    assert byte_count("max_memory", given) == meant


@pytest.mark.parametrize(
    ("more", "error", "message"),
    [
        ({"max_memory": "1XB"}, ValueError, "max_memory must be a number of bytes or text such as"),
        ({"max_memory": 0}, ValueError, "max_memory must be at least 1, got 0"),
        ({"max_memory": 1.5}, TypeError, "max_memory must be an integer, got 1.5"),
        ({"max_memory": "0B"}, ValueError, "max_memory must be at least 1"),
        ({"resume": 1}, TypeError, "resume must be True or False, got 1"),
        ({"dtype": "i4"}, TypeError, "dtype must be float64 or float32, got int32"),
        ({"out": b"x"}, TypeError, "out must be an ndarray of float32 or float64, got bytes"),
        ({"out": 3}, TypeError, "out must be an ndarray of float32 or float64, got int"),
        ({"out": None, "resume": True}, TypeError, "resume goes with a file, a path as out"),
        (
            {"out": np.empty((700, 150)), "dtype": "f4"},
            TypeError,
            "out holds float64, but dtype is float32",
        ),
    ],
)
def test_arguments_that_cannot_be(file, more, error, message):
    with pytest.raises(error, match=message):
        d2ke.d2ke_embed(STRINGS, OMEGA, **{**HOW, "out": file, **more})
    assert os.listdir(file.parent) == []


def test_folders(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder; a file's name is needed"):
        embed(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"missing/features\.h5"):
        embed(tmp_path / "missing" / "features.h5")


def test_a_folder_that_cannot_be_written_to(file):
    """By a user of no rights where this one is the superuser, whom no folder refuses."""
    folder = tempfile.mkdtemp()
    os.chmod(folder, 0o555)
    script = (
        "import os, sys, d2ke\n"
        "def call(path):\n"
        "    d2ke.distance_matrix(['A'], ['B'], 'levenshtein', out=path).close()\n"
        "call(sys.argv[2])\n"  # imports all that it needs
        "if os.getuid() == 0: os.setuid(65534)\n"
        "call(sys.argv[1] + '/features.h5')\n"
    )
    try:
        done = subprocess.run(
            [sys.executable, "-c", script, folder, str(file)],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert re.search(rf"PermissionError: .*{folder}/features\.h5", done.stderr), done.stderr
    finally:
        os.rmdir(folder)


def full(*arguments):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_is_seen_before_the_start(file, monkeypatch):
    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with pytest.raises(OSError, match=r"features\.h5 takes (\d+) bytes: No space") as got:
        embed(file)
    assert got.value.errno == errno.ENOSPC
    assert int(re.search(r"takes (\d+)", str(got.value))[1]) > 700 * 150 * 8
    assert os.listdir(file.parent) == []


def test_free_space_is_looked_at_before_the_start(file, monkeypatch):
    real = os.statvfs(file.parent)

    class Little:
        f_bavail, f_frsize = 10, real.f_frsize

    monkeypatch.setattr(os, "statvfs", lambda folder: Little)
    with pytest.raises(
        OSError, match=r"features\.h5 takes \d+ bytes: only \d+ bytes are free in /"
    ):
        embed(file)
    assert os.listdir(file.parent) == []


@pytest.mark.parametrize(("stage", "name"), [("write", "pwrite"), ("sync", "fsync")])
def test_a_disk_that_gets_full(file, small_blocks, monkeypatch, features, stage, name):
    """On file systems that reserve no space; what was written is kept."""
    work = getattr(PartialStore, stage)

    def fail(self, rows, *rest):
        if rows.start == 240:
            with monkeypatch.context() as patch:
                patch.setattr(os, name, full)
                return work(self, rows, *rest)
        return work(self, rows, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(PartialStore, stage, fail)
        message = r"features\.h5\.part: No space .* at rows 2\d\d to \d+; the file takes \d+ bytes"
        with pytest.raises(OSError, match=message) as got:
            embed(file)
    assert got.value.errno == errno.ENOSPC
    same(embed(file, resume=True), features)


def test_a_limit_of_file_sizes(file):
    script = (
        "import resource, sys, d2ke\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))\n"
        "X = ['ACGT'] * 700\n"
        "d2ke.distance_matrix(X, X[:150], 'levenshtein', out=sys.argv[1])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(file)], capture_output=True, text=True, timeout=60
    )
    assert re.search(r"OSError: .*features\.h5 takes \d+ bytes: File too large", done.stderr)
    assert os.listdir(file.parent) == []


def test_a_small_disk(small_disk, small_blocks, monkeypatch, features):
    file = small_disk / "features.h5"
    (small_disk / "other").write_bytes(bytes(1_500_000))
    with pytest.raises(OSError, match=r"features\.h5 takes \d+ bytes: only \d+ bytes are free"):
        embed(file)
    assert os.listdir(small_disk) == ["other"]
    (small_disk / "other").unlink()
    # As on file systems that reserve no space, the disk gets full on the way.
    monkeypatch.setattr(os, "posix_fallocate", lambda *arguments: None)
    write = PartialStore.write

    def fill_up(self, rows, Z, stop):
        if rows.start == 80:
            with open(small_disk / "other", "wb", buffering=0) as filler:
                while filler.write(bytes(4096)) == 4096:
                    pass
        return write(self, rows, Z, stop)

    with monkeypatch.context() as patch:
        patch.setattr(PartialStore, "write", fill_up)
        with pytest.raises(OSError, match="No space left on device"):
            embed(file)
    with pytest.raises(OSError, match=r"\.part: No space left on device at rows \d+ to \d+; the"):
        embed(file, resume=True)
    (small_disk / "other").unlink()
    same(embed(file, resume=True), features)


def test_memory_stays_within_the_limit(file):
    """As the system counts it, in a process of its own, for a file five times the limit."""
    script = (
        "import sys, numpy as np, d2ke\n"
        "from benchmarks.measure import resident_peak\n"
        "rng = np.random.default_rng(0)\n"
        "X = d2ke.pack([bytes(rng.integers(0, 4, 8, dtype='u1')) for _ in range(1000)])\n"
        "X = X[np.arange(60000) % 1000]\n"
        "omega = X[:500]\n"
        "how = {'distance': 'levenshtein', 'gamma': 0.1, 'n_threads': 1}\n"
        "d2ke.d2ke_embed(X[:9], omega[:3], **how, out=sys.argv[1] + '0').close()\n"
        "def call():\n"
        "    d2ke.d2ke_embed(X, omega, **how, out=sys.argv[1], max_memory='48MB').close()\n"
        "    return np.zeros(1)\n"
        "print(resident_peak(call)['peak'], X.nbytes + omega.nbytes)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(file)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    peak, held = map(float, done.stdout.split())
    assert peak * 2**20 + held < 48e6
    assert file.stat().st_size > 240e6


# ---------------------------------------------------------------- training


@pytest.fixture(scope="module", params=[None, "gzip"])
def trained(request, tmp_path_factory):
    """Features of three classes, in an array and in a store."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((1500, 40))
    y = (Z[:, :3] + 0.3 * rng.standard_normal((1500, 3))).argmax(axis=1)
    path = tmp_path_factory.mktemp("store") / "features.h5"
    save_features(path, Z, compression=request.param)
    return y, Z, path


def same_model(a, b):
    same(a.weights, b.weights)
    assert (a.bias is None) == (b.bias is None)
    if a.bias is not None:
        same(a.bias, b.bias)


@pytest.mark.parametrize(
    ("solver", "options"),
    [
        ("liblinear", "-s 2 -B 1 -c 1"),
        ("liblinear", "-s 1 -c 0.1"),
        ("block", "-s 2 -B 1 -c 1"),
        ("block", "-s 2 -c 10"),
    ],
)
def test_models_are_those_of_the_array(trained, solver, options):
    y, Z, path = trained
    wanted = d2ke.train(y, Z, options, solver=solver, n_threads=2)
    same_model(d2ke.train(y, path, options, solver=solver, n_threads=2), wanted)
    with open_features(path) as store:
        same_model(d2ke.train(y, store, options, solver=solver, n_threads=2), wanted)
        for (labels, accuracy, decision), source in (
            (d2ke.predict(y, store, wanted), "open"),
            (d2ke.predict(y, str(path), wanted), "name"),
        ):
            labels_, accuracy_, decision_ = d2ke.predict(y, Z, wanted)
            assert (labels == labels_).all(), source
            assert accuracy == accuracy_
            same(decision, decision_)


@pytest.mark.parametrize("loss", ["squared", "squared_hinge"])
def test_classifiers_are_those_of_the_array(trained, loss):
    y, Z, path = trained
    wanted = d2ke.train_classifier(y, Z, loss=loss, C=1.0)
    same_model(d2ke.train_classifier(y, path, loss=loss, C=1.0), wanted)


def test_least_squares_with_more_columns_than_rows(file):
    Z = np.random.default_rng(0).standard_normal((20, 50))
    y = np.arange(20) % 3
    save_features(file, Z)
    same_model(d2ke.train_least_squares(y, file), d2ke.train_least_squares(y, Z))


@pytest.mark.parametrize("kind", ["standard", "center", "none"])
def test_scaling_of_a_store(trained, kind):
    y, Z, path = trained
    wanted, ours = d2ke.Scaling.fit(Z, kind), d2ke.Scaling.fit(path, kind)
    np.testing.assert_allclose(ours.mean, wanted.mean, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(ours.sd, wanted.sd, rtol=1e-12)
    scaled = wanted.apply(path)
    assert (scaled.shape, scaled.dtype, len(scaled)) == (Z.shape, Z.dtype, 1500)
    same(scaled[100:200], wanted.apply(Z)[100:200])
    same_model(
        d2ke.train(y, scaled, solver="block"), d2ke.train(y, wanted.apply(Z), solver="block")
    )


@settings(max_examples=reference.examples(60))
@given(data=st.data())
def test_rows_for_solvers(tmp_path, data):
    from d2ke.io.store.rows import StoredRows

    n, m = data.draw(st.integers(1, 300)), data.draw(st.integers(1, 200))
    Z = np.random.default_rng(0).random((n, m), dtype=data.draw(st.sampled_from(["f4", "f8"])))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "_BLOCK_ROWS", data.draw(st.integers(1, 64)))
        save_features(tmp_path / "x", Z)
    rows = StoredRows("Z", tmp_path / "x")
    for _ in range(5):
        part = slice(data.draw(st.integers(0, n)), data.draw(st.integers(0, n + 5)))
        same(rows[part], Z[part])
    same(rows[:], Z)
    with pytest.raises(ValueError, match="without a step"):
        rows[::2]


def test_stores_that_cannot_be_trained_on(file):
    Z = np.ones((300, 5))
    Z[260, 3] = np.inf
    save_features(file, Z)
    with pytest.raises(ValueError, match=r"Z has inf at position \(260, 3\); every value must"):
        d2ke.train([0, 1] * 150, file)
    save_features(file, np.ones((300, 5)))
    with pytest.raises(ValueError, match="y has 4 labels, but Z has 300 rows"):
        d2ke.train([0, 1] * 2, file)
    content = bytearray(file.read_bytes())
    content[-100] ^= 1
    file.write_bytes(content)
    with pytest.raises(ValueError, match="is damaged: Z cannot be read"):
        d2ke.train([0, 1] * 150, file, solver="block")
    with pytest.raises(FileNotFoundError):
        d2ke.train([0, 1], file.parent / "none.h5")


def test_training_that_cannot_fit_is_refused_first(trained):
    y, Z, path = trained
    for source in (Z, path):
        with pytest.raises(ValueError, match=r"max_memory is 900000 bytes, but LIBLINEAR's copy"):
            d2ke.train(y, source, max_memory=900_000)
        with pytest.raises(ValueError, match=r"but 3 problems of 1500 rows and 41 weights take"):
            d2ke.train(y, source, solver="block", max_memory=900_000)
        wanted = d2ke.train(y, Z, "-s 2", solver="block")
        model = d2ke.train(y, source, "-s 2", solver="block", max_memory="100MB")
        same_model(model, wanted)


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["block", "liblinear"])
def test_training_stays_within_the_limit(file, solver):
    script = (
        "import sys, re, numpy as np, d2ke\n"
        "from benchmarks.measure import resident_peak\n"
        "rng = np.random.default_rng(0)\n"
        "Z = rng.standard_normal((40000, 300))\n"
        "y = Z[:, :4].argmax(axis=1)\n"
        "path, solver = sys.argv[1:]\n"
        "d2ke.io.save_features(path, Z)\n"
        "how = {'solver': solver, 'n_threads': 2}\n"
        "d2ke.train(y[:500], Z[:500], '-s 2', **how)\n"
        "del Z\n"
        "try:\n"
        "    d2ke.train(y, path, '-s 2', **how, max_memory=1)\n"
        "except ValueError as error:\n"
        "    needed = int(str(error).split()[-1])\n"
        "def call():\n"
        "    d2ke.train(y, path, '-s 2', **how, max_memory=needed)\n"
        "    return np.zeros(1)\n"
        "print(resident_peak(call)['peak'] * 2**20, needed)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(file), solver],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    peak, needed = map(float, done.stdout.split())
    assert peak < needed, (peak, needed)
