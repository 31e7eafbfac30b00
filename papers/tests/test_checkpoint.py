# SPDX-License-Identifier: BSD-3-Clause
"""Folders of finished parts: kills, other records, two runs at once and full disks."""

import io
import os
import shutil
import subprocess
import sys

import kills
import numpy as np
import pytest

from d2ke._base.resuming import UNKNOWN
from papers.checkpoint import Checkpoint

RECORD = {"data": "digits", "seed": 3, "sizes": (1, 2), "rate": 0.1}


def test_parts_come_back(tmp_path):
    D = np.random.default_rng(0).random((30, 4))
    with Checkpoint(tmp_path / "new" / "run", RECORD) as kept:
        assert kept.get(("unit", 3)) is None
        assert kept.arrays(("rows", 0)) is None
        kept["unit", 3] = 0.1 + 0.2
        kept["a cell/of", "knn", 2.5] = {"curve": {"8": 1e-300}, "none": None}
        kept.put_arrays(("rows", 64), D=D, counts=np.arange(3, dtype=np.int32))
        kept.put_arrays(("rows", 0), D=D[:0])
    with Checkpoint(tmp_path / "new" / "run", RECORD) as kept:
        assert dict(kept) == {
            ("unit", 3): 0.1 + 0.2,
            ("a cell/of", "knn", 2.5): {"curve": {"8": 1e-300}, "none": None},
        }
        assert kept.numbers("rows") == [0, 64]
        found = kept.arrays(("rows", 64))
        assert found["D"].tobytes() == D.tobytes()
        assert found["counts"].dtype == np.int32
        assert kept.arrays(("rows", 0))["D"].shape == (0, 4)
        kept["unit", 3] = 5
        assert kept["unit", 3] == 5
        del kept["unit", 3]
        assert ("unit", 3) not in kept


def test_another_record_is_refused_by_name(tmp_path):
    with Checkpoint(tmp_path, RECORD) as kept:
        kept["part",] = 1
    other = {**RECORD, "seed": 4, "mode": "infix"}
    del other["rate"]
    with pytest.raises(ValueError, match="was made from something else") as error:
        Checkpoint(tmp_path, other)
    for difference in (
        "seed was 3 and is 4",
        "mode was not given and is 'infix'",
        "rate was 0.1 and is not given",
    ):
        assert difference in str(error.value)
    assert "data" not in str(error.value)
    with Checkpoint(tmp_path, RECORD) as kept:  # which is not locked any more
        assert kept["part",] == 1


def flipped(content, place):
    return content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :]


def npz(**arrays):
    content = io.BytesIO()
    np.savez(content, **arrays)
    return content.getvalue()


DAMAGE = {
    "a flipped bit": lambda path, whole: path.write_bytes(flipped(whole, len(whole) // 2)),
    "its checksum": lambda path, whole: path.write_bytes(flipped(whole, len(whole) - 1)),
    "cut": lambda path, whole: path.write_bytes(whole[:-30]),
    "cut to a byte": lambda path, whole: path.write_bytes(whole[:1]),
    "empty": lambda path, whole: path.write_bytes(b""),
    "appended": lambda path, whole: path.write_bytes(whole + b"\0"),
    "another part": lambda path, whole: shutil.copy(path.with_stem("b_0"), path),
    "other arrays": lambda path, whole: path.write_bytes(npz(D=np.ones(2))),
    "other text": lambda path, whole: path.write_text('{"key": ["a", 0], "value": 2}', "utf-8"),
}  # fmt: skip


def parts(kept):
    return [kept.get((name, 0)) for name in "ab"], [kept.arrays((name, 0)) for name in "ab"]


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_a_damaged_part_is_missing(suffix, damage, tmp_path):
    with Checkpoint(tmp_path, RECORD) as kept:
        for name in "ab":
            kept[name, 0] = [name] * 20
            kept.put_arrays((name, 0), D=np.full(30, ord(name)))
    path = tmp_path / f"a_0{suffix}"
    DAMAGE[damage](path, path.read_bytes())
    with Checkpoint(tmp_path, RECORD) as kept:
        with pytest.warns(
            UserWarning, match=rf"a_0\{suffix} is damaged; this part is computed again"
        ):
            values, arrays = parts(kept)
        assert values == [None if suffix == ".json" else ["a"] * 20, ["b"] * 20]
        assert (arrays[0] is None) == (suffix == ".npz")
        assert (arrays[1]["D"] == ord("b")).all()
        if suffix == ".json":
            with pytest.warns(UserWarning, match="is damaged"):
                assert list(kept) == [("b", 0)]
        kept["a", 0] = 1
        kept.put_arrays(("a", 0), D=np.ones(3))
        assert len(kept) == 2  # without a warning, which would be an error
        assert kept.arrays(("a", 0))["D"].tolist() == [1, 1, 1]


def test_a_part_of_another_run_is_missing(tmp_path):
    for name, record in (("one", RECORD), ("other", {**RECORD, "seed": 4})):
        with Checkpoint(tmp_path / name, record) as kept:
            kept["part",] = name
    shutil.copy(tmp_path / "other" / "part.json", tmp_path / "one" / "part.json")
    with Checkpoint(tmp_path / "one", RECORD) as kept, pytest.warns(UserWarning, match="damaged"):
        assert ("part",) not in kept


@pytest.mark.parametrize("damage", ["a flipped bit", "its checksum", "cut", "empty", "appended"])
def test_a_damaged_record(damage, tmp_path):
    """It is written again if a part shows that it was the same; else the folder is refused."""
    with Checkpoint(tmp_path, RECORD) as kept:
        kept["part",] = 1
    path = tmp_path / "record.json"
    whole = path.read_bytes()
    DAMAGE[damage](path, whole)
    damaged = path.read_bytes()
    with pytest.raises(FileExistsError, match=r"record\.json is not the record .* or is damaged"):
        Checkpoint(tmp_path, {**RECORD, "seed": 4})
    assert path.read_bytes() == damaged
    with pytest.warns(UserWarning, match=r"record\.json is damaged; it is written again"):
        kept = Checkpoint(tmp_path, RECORD)
    assert kept["part",] == 1
    kept.close()
    assert path.read_bytes() == whole


def test_an_input_without_a_version_is_refused(tmp_path):
    folder = tmp_path / "run"
    with pytest.raises(ValueError, match=r"the distance is not known: f has no version\..*f\.ver"):
        Checkpoint(folder, {"distance": f"{UNKNOWN}f has no version"})
    assert not folder.exists()


def test_two_at_once(tmp_path):
    with Checkpoint(tmp_path, RECORD) as kept:
        with pytest.raises(BlockingIOError, match="being written by another call"):
            Checkpoint(tmp_path, RECORD)
        script = (
            "import sys; from pathlib import Path; from papers.checkpoint import Checkpoint\n"
            "try: Checkpoint(Path(sys.argv[1]), {})\n"
            "except BlockingIOError: sys.exit(7)\n"
        )
        assert subprocess.call([sys.executable, "-c", script, str(tmp_path)]) == 7
        kept["part",] = 1
    Checkpoint(tmp_path, RECORD).close()


def test_other_folders_are_refused(tmp_path):
    (tmp_path / "file").write_text("mine", "utf-8")
    with pytest.raises(FileExistsError, match="has files, but is no checkpoint"):
        Checkpoint(tmp_path, RECORD)
    with pytest.raises(NotADirectoryError, match="file is a file"):
        Checkpoint(tmp_path / "file", RECORD)
    folder = tmp_path / "folder"
    folder.mkdir()
    for content in ("mine", "{}", "[]", "3"):
        (folder / "record.json").write_text(content, "utf-8")
        with pytest.raises(FileExistsError, match=r"record\.json is not the record"):
            Checkpoint(folder, RECORD)
        assert (folder / "record.json").read_text("utf-8") == content


def test_a_link_is_not_followed_to_a_lock(tmp_path, symlink):
    symlink(tmp_path / "lock", tmp_path / "elsewhere")
    with pytest.raises(OSError, match=r"symbolic links|symlink"):
        Checkpoint(tmp_path, RECORD)
    assert not (tmp_path / "elsewhere").exists()


def test_a_full_disk_loses_nothing(small_disk):
    folder = small_disk / "run"
    with Checkpoint(folder, RECORD) as kept:
        kept["score",] = "x" * 100_000
        kept.put_arrays(("rows", 0), D=np.arange(10_000.0))
        with pytest.raises(OSError, match=r"rows_1\.npz was not written: No space left"):
            kept.put_arrays(("rows", 1), D=np.random.default_rng(0).random(10**6))
        with pytest.raises(OSError, match="No space left"):
            kept["score",] = "y" * 10**7
    assert sorted(os.listdir(folder)) == ["lock", "record.json", "rows_0.npz", "score.json"]
    with Checkpoint(folder, RECORD) as kept:
        assert kept["score",] == "x" * 100_000
        assert kept.arrays(("rows", 0))["D"].tolist() == list(range(10_000))
        kept["other",] = 1


def write_parts(folder):
    """Write parts that are not there yet, and then a line for each."""
    written = folder.with_name("written")
    with Checkpoint(folder, {"seed": 3}) as kept, open(written, "a", encoding="utf-8") as lines:
        for i in range(100):
            if ("value", i) not in kept:
                kept["value", i] = [i] * 500
                print("value", i, file=lines, flush=True)
            if kept.arrays(("rows", i)) is None:
                kept.put_arrays(("rows", i), D=np.full(5000, i))
                print("rows", i, file=lines, flush=True)


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("n_kills", [5, pytest.param(20, marks=pytest.mark.slow)])
def test_killed_at_random_places(n_kills, tmp_path):
    """What a run said was finished is there, whole, and is not written again."""
    folder = tmp_path / "run"
    killed = kills.kill_at_random(folder, n_kills, 200, write_parts, folder)
    assert killed >= n_kills / 2
    write_parts(folder)
    lines = (tmp_path / "written").read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(set(lines))
    assert 200 - killed <= len(lines) <= 200  # a part may be there before its line is
    with Checkpoint(folder, {"seed": 3}) as kept:
        for i in range(100):
            assert kept["value", i] == [i] * 500
            assert (kept.arrays(("rows", i))["D"] == np.full(5000, i)).all()
    assert not list(folder.glob("*.part"))
