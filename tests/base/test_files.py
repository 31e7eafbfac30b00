# SPDX-License-Identifier: BSD-3-Clause
"""Files that are written whole or not at all."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from d2ke._base.files import atomic_write, lists_to_tuples, write_file


def test_calls_at_once_do_not_share_a_temporary_file(tmp_path):
    path = tmp_path / "file"
    with ExitStack() as stack:
        parts = [stack.enter_context(atomic_write(path)) for _ in range(3)]
        for number, part in enumerate(parts):
            part.write_text(str(number))
    assert path.read_text() == "0"  # the first one leaves its context last
    assert list(tmp_path.iterdir()) == [path]


def test_threads_write_one_file_whole(tmp_path):
    contents = [bytes([number]) * 100_000 for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda content: write_file(tmp_path / "file", content), contents))
    assert (tmp_path / "file").read_bytes() in contents


def test_an_error_leaves_the_old_file(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    def fail():
        with atomic_write(path) as part:
            part.write_text("half")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_lists_become_tuples_at_every_depth():
    assert lists_to_tuples({"a": [1, [2, {"b": []}]]}) == {"a": (1, (2, {"b": ()}))}
