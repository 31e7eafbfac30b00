# SPDX-License-Identifier: BSD-3-Clause
"""Files that are written whole or not at all."""

import os
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from d2ke._base.files import atomic_write, check_writable, lists_to_tuples, open_file, write_file


def test_calls_at_once_do_not_share_a_temporary_file(tmp_path):
    path = tmp_path / "file"
    with ExitStack() as stack:
        parts = [stack.enter_context(atomic_write(path)) for _ in range(3)]
        for number, part in enumerate(parts):
            part.write(b"%d" % number)
    assert path.read_text("utf-8") == "0"  # the first one leaves its context last
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_leaves_the_old_file(tmp_path):
    path = tmp_path / "file"
    path.write_text("old", "utf-8")

    def fail():
        with atomic_write(path) as part:
            part.write(b"half")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert path.read_text("utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_one(tmp_path):
    """Its file is replaced, or made where there is none."""
    for name in ("there", "new"):
        (tmp_path / f"{name} link").symlink_to(tmp_path / name)
    (tmp_path / "there").write_text("old", "utf-8")
    for name in ("there", "new"):
        write_file(tmp_path / f"{name} link", b"content")
        assert (tmp_path / f"{name} link").is_symlink()
        assert (tmp_path / name).read_bytes() == b"content"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes that have names")
def test_only_files_are_written_and_read(tmp_path):
    """A pipe without a writer, or a device without an end, would wait for ever."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/zero")
    for name in ("pipe", "link"):
        for function in (open_file, lambda path: write_file(path, b"")):
            with pytest.raises(OSError, match=f"{name} is not a regular file"):
                function(tmp_path / name)
    for function in (open_file, lambda path: write_file(path, b"")):
        with pytest.raises(IsADirectoryError, match="a file's name is needed"):
            function(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"there is no such file: .*missing"):
        open_file(tmp_path / "missing")
    with pytest.raises(FileNotFoundError, match=r"x: the folder .*missing does not exist"):
        write_file(tmp_path / "missing/x", b"")


def test_lists_become_tuples_at_every_depth():
    assert lists_to_tuples({"a": [1, [2, {"b": []}]]}) == {"a": (1, (2, {"b": ()}))}


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="needs a folder that takes no files"
)
def test_a_folder_that_takes_no_files_is_refused():
    with pytest.raises(OSError, match="no file can be made in /proc"):
        check_writable(Path("/proc/file"))


def test_a_file_that_cannot_be_replaced_is_refused(tmp_path, monkeypatch):
    """As a file on Windows that a program has open."""

    def refused(*places):
        raise PermissionError(13, "Sharing violation", *places)

    path = tmp_path / "file"
    monkeypatch.setattr(os, "rename", refused)
    check_writable(path)
    path.touch()
    with pytest.raises(PermissionError, match=r"file: a program may have it open \(Sharing viol"):
        check_writable(path)
    monkeypatch.undo()
    check_writable(path)
    assert list(tmp_path.iterdir()) == [path]
