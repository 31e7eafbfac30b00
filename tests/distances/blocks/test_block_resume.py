# SPDX-License-Identifier: BSD-3-Clause
"""Results streamed to a file resume where they stopped, if nothing has changed."""

import os
from functools import partial
from pathlib import Path

import pytest
import reference
from block_cases import HOW, OMEGA, POSIX, STRINGS, VECTORS, embed, interrupted
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reference import same

import d2ke
from d2ke.distances import blocks as blocks_module
from d2ke.io import open_features, save_features
from d2ke.io.store import layout
from d2ke.io.store.hdf5 import HEADER_BYTES
from d2ke.io.store.writer import PartialStore

pytestmark = POSIX


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


def absolute(version=None):
    def distance(x, y):
        return abs(x - y)

    if version is not None:
        distance.version = version
    return distance


def test_a_changed_version_is_named(file, monkeypatch):
    X = [1.0, 2.0]
    interrupted_matrix(file, monkeypatch, X, absolute("1"))
    with pytest.raises(ValueError, match=r"version of distance was .* version '1'.* version 2"):
        d2ke.distance_matrix(X, None, absolute(2), out=file, resume=True)
    with pytest.raises(ValueError, match="X was '"):
        d2ke.distance_matrix([1.0, 3.0], None, absolute("1"), out=file, resume=True)
    d2ke.distance_matrix(X, None, absolute("1"), out=file, resume=True).close()
    with pytest.raises(TypeError, match=r"X\[1\] is object; to be recognised"):
        d2ke.distance_matrix([1.0, object()], None, absolute(), out=file)


def test_a_function_without_version_is_not_resumed(file):
    message = r'absolute.<locals>.distance has no version.* \(f\.version = "1"\)'
    with pytest.raises(ValueError, match=message):
        d2ke.distance_matrix([1.0, 2.0], None, absolute(), out=file, resume=True)
    assert os.listdir(file.parent) == []
    d2ke.distance_matrix([1.0, 2.0], None, absolute(), out=file).close()
    with pytest.raises(ValueError, match=message):
        d2ke.distance_matrix([1.0, 2.0], None, absolute(), out=file, resume=True)


def test_partials_have_their_functions_version(file):
    def distance(x, y, scale):
        return scale * abs(x - y)

    distance.version = "1"
    one, two = (partial(distance, scale=scale) for scale in (1.0, 2.0))
    d2ke.distance_matrix([1.0, 2.0], None, one, out=file, resume=True).close()
    d2ke.distance_matrix([1.0, 2.0], None, one, out=file, resume=True).close()
    with pytest.raises(ValueError, match="version of distance was"):
        d2ke.distance_matrix([1.0, 2.0], None, two, out=file, resume=True)


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
    with pytest.raises(FileExistsError, match=r"\.part is not a regular file"):
        embed(file, resume=True)
