# SPDX-License-Identifier: BSD-3-Clause
"""Distances and features written to files: the bits of the arrays, kills, refusals."""

import errno
import json
import os
import re
import shutil
import signal
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import h5py
import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import same

import d2ke
from d2ke._base.resuming import locked
from d2ke.io import feature_writer, load_features, open_features, save_features

# Tiny arrays, which are meant as they are.
pytestmark = pytest.mark.filterwarnings("ignore:every item of .* has shape")

CHUNK_BYTES = "d2ke.io.features._CHUNK_BYTES"
RNG = np.random.default_rng(0)
STRINGS = d2ke.pack(["".join(RNG.choice(list("ACGT"), n)) for n in RNG.integers(0, 20, 700)])
EQUAL = d2ke.samplers.random_strings(60, "ACGT", length=(9, 9), seed=1)
OMEGA = d2ke.samplers.random_strings(150, "ACGT", length=(2, 8), seed=0)
HOW = {"distance": "levenshtein", "gamma": 0.3}
VECTORS = d2ke.pack([RNG.standard_normal((n, 2)) for n in RNG.integers(1, 6, 40)])
WEIGHTED = d2ke.pack(VECTORS, weights=[RNG.random(n) + 0.1 for n in VECTORS.lengths])


@pytest.fixture
def file(tmp_path):
    return tmp_path / "features.h5"


@pytest.fixture(scope="module")
def features():
    return d2ke.d2ke_embed(STRINGS, OMEGA, **HOW)


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of a few rows, one at a time."""
    monkeypatch.setattr(CHUNK_BYTES, 1 << 13)
    monkeypatch.setattr(feature_writer, "_RUN_SECONDS", 0.0)


def files(folder):
    """Return the names in a folder without those of locks, which stay where removing them races."""
    return sorted(name for name in os.listdir(folder) if not name.endswith(".lock"))


def read(path):
    with open_features(path) as stored:
        return stored.read()


# ---------------------------------------------------------------- bits


@settings(max_examples=reference.examples(30), deadline=None)
@given(data=st.data())
def test_same_bits_for_every_block_size(tmp_path, data):
    n = data.draw(st.integers(1, 300), "n")
    m = data.draw(st.integers(1, 60), "m")
    dtype = data.draw(st.sampled_from(["f4", "f8"]))
    n_threads = data.draw(st.sampled_from([1, 2]))
    wanted = d2ke.distance_matrix(STRINGS[:n], OMEGA[:m], "levenshtein", dtype=dtype)
    path = tmp_path / "x.h5"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CHUNK_BYTES, data.draw(st.integers(1, 1 << 16), "chunk"))
        patch.setattr(feature_writer, "_RUN_BYTES", data.draw(st.integers(1, 1 << 18), "run"))
        d2ke.write_distances(
            path, STRINGS[:n], OMEGA[:m], distance="levenshtein", dtype=dtype, n_threads=n_threads
        )
    with open_features(path) as stored:
        same(stored.read(), wanted)
        assert stored.omega() == OMEGA[:m]
        assert stored.labels() is None
    assert files(tmp_path) == ["x.h5"]
    path.unlink()


@pytest.mark.parametrize("distance", d2ke.distance_names())
@pytest.mark.parametrize("among", [True, False])
def test_same_bits_for_every_distance(file, small_blocks, distance, among):
    X = STRINGS[:60] if distance in reference.STRINGS else VECTORS
    X = WEIGHTED if distance == "emd" else EQUAL if distance == "hamming" else X
    Y = None if among else X[5:20]
    params = reference.given(distance)
    d2ke.write_distances(file, X, Y, distance=distance, n_threads=2, **params)
    same(read(file), d2ke.distance_matrix(X, Y, distance, **params))


@pytest.mark.parametrize("dtype", [None, "float32"])
@pytest.mark.parametrize("link", [{"gamma": 0.3}, {"link": "distance"}])
def test_features_of_random_objects(file, small_blocks, dtype, link):
    how = {"distance": "levenshtein", "dtype": dtype, **link}
    d2ke.write_features(file, STRINGS, OMEGA, labels=["a", "b"] * 350, **how)
    with open_features(file) as stored:
        same(stored.read(), d2ke.d2ke_embed(STRINGS, OMEGA, **how))
        assert stored.parameters == {"distance": "levenshtein", "link": "exp", **link}
        assert stored.omega() == OMEGA
        assert stored.labels().tolist() == ["a", "b"] * 350
        assert {"X", "omega_or_model", "labels", "d2ke", "instructions"} <= set(stored.record)


def test_features_of_a_model(file, small_blocks, words, model):
    d2ke.write_features(file, words, model)
    with open_features(file) as stored:
        same(stored.read(), d2ke.d2ke_transform(words, model))
        assert stored.dtype == np.float32
        assert sum(stored.parameters["sizes"]) == model.R
        assert stored.parameters["blocks"] == tuple(block.name for block in model.blocks)
    # A model that was saved and loaded is the same model.
    d2ke.save_model(file.parent / "m.h5", model)
    before = file.stat().st_mtime_ns
    d2ke.write_features(file, words, d2ke.load_model(file.parent / "m.h5"))
    assert file.stat().st_mtime_ns == before


@pytest.fixture(scope="module")
def words():
    drawn = np.random.default_rng(0).choice(list("ACGT"), (300, 30))
    return d2ke.pack(["".join(one) for one in drawn])


@pytest.fixture(scope="module")
def model(words):
    return d2ke.d2ke_train([str(word).count("A") > 7 for word in words[:90]], words[:90], R=64)


def test_compiled_functions(file):
    """A class derived from scipy.LowLevelCallable gives it a version."""
    numba = pytest.importorskip("numba")
    from numba import types as t
    from scipy import LowLevelCallable

    pointer = t.CPointer(t.double)

    @numba.cfunc(t.double(pointer, t.intp, pointer, t.intp, t.intp, t.voidptr))
    def first(x, n_x, y, n_y, dim, data):
        return abs(x[0] - y[0])

    class Versioned(LowLevelCallable):
        version = 1

    X = d2ke.pack(np.arange(40.0)[:, None])
    with pytest.raises(ValueError, match=r"LowLevelCallable has no version\."):
        d2ke.write_distances(file, X, distance=LowLevelCallable(first.ctypes))
    function = Versioned(first.ctypes)
    d2ke.write_distances(file, X, X[:7], distance=function)
    same(read(file), d2ke.distance_matrix(X, X[:7], function))


def test_the_file_is_that_of_save_features(file, tmp_path, features):
    """The same datasets, one reader for both, and libraries of HDF5 1.8 read it."""
    d2ke.write_features(file, STRINGS, OMEGA, **HOW)
    save_features(tmp_path / "y.h5", features, omega=OMEGA, parameters={**HOW, "link": "exp"})
    with h5py.File(file) as one, h5py.File(tmp_path / "y.h5") as other:
        assert set(one) - set(other) == {"record"}
        assert one["Z"].chunks == other["Z"].chunks
        assert one["Z"].fletcher32
        assert other["Z"].fletcher32
        for name in ("omega/values", "omega/offsets", "omega/alphabet", "parameters", "Z"):
            same(one[name][()], other[name][()])
    part = load_features(file, rows=slice(3, 9), columns=slice(50))
    same(part.Z, features[3:9, :50])
    assert file.read_bytes()[512 + 8] in (0, 2)


# ---------------------------------------------------------------- kills


CALLS = ("open", "write", "ftruncate", "replace", "unlink", "posix_fallocate", "close")


def runs(write, calls, kill_at):
    """Return whether it came to its end, in a process that kills itself before some call."""
    child = os.fork()
    if child == 0:
        count = 0

        def counted(function):
            def call(*arguments, **keywords):
                nonlocal count
                if count == kill_at:
                    os.kill(os.getpid(), signal.SIGKILL)
                count += 1
                return function(*arguments, **keywords)

            return call

        for name in calls:
            if hasattr(os, name):
                setattr(os, name, counted(getattr(os, name)))
        try:
            write()
        finally:
            os._exit(int(sys.exc_info()[0] is not None))
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return not os.WIFSIGNALED(status)


def kill_before_every_call(path, write, check, calls=CALLS, step=1):
    """Kill `write` before each call, resume it until it ends, and check the file; return how many.

    It must be alone in its folder then, but for a lock. With a `step`, calls between are left out.
    """
    path, kills = Path(path), 0
    while not runs(write, calls, kills):
        kills += step
        for kill_at in (3 + kills % 11, None):  # the first one that resumes is killed as well
            runs(write, calls, kill_at)
        check()
        assert {*path.parent.iterdir()} == {path, path.with_name(f"{path.name}.lock")}
        path.unlink()
    return kills


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks at each kill")
@pytest.mark.parametrize("step", [9, pytest.param(1, marks=pytest.mark.slow)])
def test_killed_before_every_call(tmp_path, step):
    folder = tmp_path / "only"
    folder.mkdir()
    path = folder / "z.h5"
    X, omega = STRINGS[:14], OMEGA[:8]
    wanted = d2ke.d2ke_embed(X, omega, **HOW)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CHUNK_BYTES, 8 * 64)
        patch.setattr(feature_writer, "_RUN_SECONDS", 0.0)
        patch.setattr(os, "fsync", lambda fd: None)
        n = kill_before_every_call(
            path,
            lambda: d2ke.write_features(path, X, omega, n_threads=1, **HOW),
            lambda: same(read(path), wanted),
            step=step,
        )
    assert n > 10


def test_interrupted_and_resumed(file, small_blocks, features, monkeypatch):
    sync, left, unfinished = os.fsync, [6], file.with_name("features.h5.part")

    def stop(fd):
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt
        sync(fd)

    monkeypatch.setattr(os, "fsync", stop)
    with pytest.raises(KeyboardInterrupt):
        d2ke.write_features(file, STRINGS, OMEGA, **HOW)
    assert not file.exists()
    with pytest.raises(FileNotFoundError, match=r"rows are missing in features\.h5\.part"):
        open_features(file)
    with pytest.raises(ValueError, match=r"h5\.part is not complete, the call"):
        open_features(f"{file}.part")
    # Rows that were done are not computed again.
    computed, run = [], feature_writer._fill

    def counted(stream, seal, compute, *rest):
        def counting(rows, Z, report):
            computed.append(rows)
            compute(rows, Z, report)

        run(stream, seal, counting, *rest)

    monkeypatch.setattr(feature_writer, "_fill", counted)
    done = int(re.match(rb"d2ke features; rows (\d+);", unfinished.read_bytes())[1])
    d2ke.write_features(file, STRINGS, OMEGA, **HOW)
    assert 0 < done < 700
    assert sum(len(range(700)[rows]) for rows in computed) == 700 - done
    same(read(file), features)
    assert files(file.parent) == [file.name]


# ---------------------------------------------------------------- what is refused


def test_a_complete_file_is_left_as_it_is(file, features):
    d2ke.write_features(file, STRINGS, OMEGA, **HOW)
    before = file.stat().st_mtime_ns
    d2ke.write_features(file, STRINGS, OMEGA, **HOW)
    assert file.stat().st_mtime_ns == before
    assert files(file.parent) == [file.name]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gamma": 0.4}, r"gamma was 0\.3 and is 0\.4"),
        ({"link": "distance", "gamma": None}, "gamma was 0.3 and is not given"),
        ({"distance": "indel"}, "distance was 'levenshtein' and is 'indel'"),
        ({"mode": "prefix"}, "mode was not given and is 'prefix'"),
        ({"dtype": "f4"}, "dtype was 'float64' and is 'float32'"),
        ({"labels": range(700)}, "labels was not given"),
        ({"X": STRINGS[::-1]}, "X was"),
        ({"X": STRINGS[:20]}, "n was 700 and is 20"),
        ({"omega_or_model": OMEGA[::-1]}, "omega_or_model was"),
    ],
)
@pytest.mark.parametrize("unfinished", [True, False])
def test_other_arguments_are_named(file, change, message, unfinished, monkeypatch):
    call = {"X": STRINGS, "omega_or_model": OMEGA, **HOW}
    if unfinished:
        with monkeypatch.context() as patch:
            patch.setattr(feature_writer, "_fill", lambda *arguments: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                d2ke.write_features(file, **call)
    else:
        d2ke.write_features(file, **call)
    with pytest.raises(ValueError, match=rf"made from something else: .*{message}"):
        d2ke.write_features(file, **{**call, **change})
    d2ke.write_features(file, **call)


def test_functions_without_a_version(file):
    def distance(x, y):
        return 1.0

    with pytest.raises(ValueError, match=r"has no version\. Give the function an attribute"):
        d2ke.write_distances(file, STRINGS, distance=distance)
    y, X = np.arange(20) > 9, ["a" * i for i in range(20)]
    trained = d2ke.d2ke_train(y, X, distance=lambda a, b: abs(len(a) - len(b)))
    with pytest.raises(ValueError, match="version of distance of block 0 is not known"):
        d2ke.write_features(file, X, trained)
    assert os.listdir(file.parent) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"text", "is not a features file: another program wrote it; remove it first"),
        (None, "does not say what it was made from; remove it first"),
    ],
)
def test_other_files_stay(file, content, message):
    if content is None:
        save_features(file, np.eye(2))
    else:
        file.write_bytes(content)
    before = file.read_bytes()
    with pytest.raises(FileExistsError, match=message):
        d2ke.write_features(file, STRINGS, OMEGA, **HOW)
    assert file.read_bytes() == before
    file.rename(f"{file}.part")
    if content is not None:
        with pytest.raises(FileExistsError, match="not an unfinished features file"):
            d2ke.write_features(file, STRINGS, OMEGA, **HOW)
        assert Path(f"{file}.part").read_bytes() == before


@pytest.mark.parametrize(
    ("name", "value"), [("distance", "dtw"), ("gamma", 1.0), ("dtype", "f4"), ("link", "distance")]
)
def test_arguments_that_a_model_has(file, words, model, name, value):
    with pytest.raises(TypeError, match=f"{name} is that of the model"):
        d2ke.write_features(file, words, model, **{name: value})


def test_wrong_arguments(file, model):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        d2ke.write_distances(file.parent / "nowhere/d.h5", STRINGS, distance="levenshtein")
    assert os.listdir(file.parent) == []


def test_two_writers(file, features):
    with (
        locked(file.with_name("features.h5.lock"), file),
        pytest.raises(BlockingIOError, match="is being written by another call"),
    ):
        d2ke.write_features(file, STRINGS, OMEGA, **HOW)
    # Threads of one process: one writes, the others are refused or find it complete.
    outcomes = []

    def write():
        try:
            d2ke.write_features(file, STRINGS, OMEGA, n_threads=1, **HOW)
            outcomes.append("written")
        except BlockingIOError:
            outcomes.append("refused")

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert "written" in outcomes
    assert len(outcomes) == 4
    same(read(file), features)
    assert files(file.parent) == [file.name]


@pytest.mark.parametrize("reserves", [True, False])
def test_a_full_disk(small_disk, monkeypatch, reserves):
    """Nothing that was there is lost; where space cannot be reserved, rows that are done stay."""
    save_features(small_disk / "old.h5", np.eye(2))
    if not reserves:  # as file systems do that reserve nothing
        monkeypatch.setattr(os, "posix_fallocate", lambda *arguments: None)
        monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=2**60))
    omega = d2ke.samplers.random_strings(600, "ACGT", length=(2, 8), seed=0)
    path = small_disk / "z.h5"
    monkeypatch.setattr(feature_writer, "_RUN_SECONDS", 0.0)
    with pytest.raises(OSError, match=r"z\.h5 takes \d+ bytes|No space left") as got:
        d2ke.write_features(path, STRINGS, omega, **HOW)
    assert got.value.errno == errno.ENOSPC
    assert not path.exists()
    assert (small_disk / "z.h5.part").exists() == (not reserves)
    same(load_features(small_disk / "old.h5").Z, np.eye(2))


def test_the_record_is_json(file):
    d2ke.write_distances(file, VECTORS, distance="dtw", window=3)
    with h5py.File(file) as stored:
        record = json.loads(stored["record"][()])
    assert record["distance"], record["window"] == ("dtw", 3)
    assert record["d2ke"] == d2ke.__version__
    with open_features(file) as stored:
        assert stored.record == record
        assert stored.parameters == {"distance": "dtw", "window": 3}
