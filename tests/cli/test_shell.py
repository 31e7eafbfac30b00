# SPDX-License-Identifier: BSD-3-Clause
"""Commands that are shown can be typed again."""

import subprocess
import sys

import pytest

from d2ke.cli import shell

WORDS = [
    "train",
    "--R",
    "",
    "a b.csv",
    "it's",
    '"last, first",age',
    "C:\\new files\\",
    'x\\\\"y',
    "ä&b",
]


def test_words_come_back():
    program = "import sys; print(ascii(sys.argv[1:]))"
    line = f"{shell.shell_words(sys.executable, '-c', program)} {shell.shell_words(*WORDS)}"
    posix = not shell._WINDOWS  # cmd.exe itself reads some of these words in another way
    found = subprocess.run(line, shell=posix, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == ascii(WORDS)


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ("train.csv", "train.csv"),
        ("", '""'),
        ("it's", '"it\'s"'),
        ("C:\\data\\a.csv", '"C:\\data\\a.csv"'),
        ("C:\\new files\\", '"C:\\new files\\\\"'),
        ('"last, first",age', '"\\"last, first\\",age"'),
    ],
)
def test_words_of_windows(word, shown, monkeypatch):
    monkeypatch.setattr(shell, "_WINDOWS", True)
    assert shell.shell_words("d2ke", word) == f"d2ke {shown}"
