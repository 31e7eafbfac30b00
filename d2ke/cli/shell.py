# SPDX-License-Identifier: BSD-3-Clause
"""Commands as the user types them."""

from __future__ import annotations

import os
import shlex
import subprocess


def shell_words(*words: str) -> str:
    """Quote words for the user's shell: Windows has double quotes only."""
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)
