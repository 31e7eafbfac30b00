# SPDX-License-Identifier: BSD-3-Clause
"""Commands that are shown can be typed again."""

import os
import subprocess
import sys

from d2ke.cli.shell import shell_words

WORDS = ["train", "--R", "", "a b.csv", "it's", '"last, first",age', "C:\\new files\\", 'x\\\\"y']


def test_words_come_back():
    program = "import sys; print(ascii(sys.argv[1:]))"
    line = shell_words(sys.executable, "-c", program, *WORDS)
    # cmd.exe itself reads some of these words in another way.
    found = subprocess.run(line, shell=os.name != "nt", capture_output=True, text=True, check=True)
    assert found.stdout.strip() == ascii(WORDS)
