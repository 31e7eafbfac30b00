# SPDX-License-Identifier: BSD-3-Clause
"""Commands as the user types them."""

from __future__ import annotations

import os
import re
import shlex

_WINDOWS = os.name == "nt"


def shell_words(*words: str) -> str:
    """Return words as the user's shell reads them: those of Windows need double quotes."""
    if not _WINDOWS:
        return shlex.join(words)
    return " ".join(w if re.fullmatch(r"[\w.:~+=/-]+", w) else _quoted(w) for w in words)


def _quoted(word: str) -> str:
    """Return a word in double quotes; backslashes count double where a quote follows them."""
    word = re.sub(r'(\\*)"', r'\1\1\\"', word)
    return '"' + re.sub(r"(\\+)$", r"\1\1", word) + '"'
