# SPDX-License-Identifier: BSD-3-Clause
"""Compile the baseline kernels for arm64 and run them under qemu: ``python tools/cross_test.py``.

Needs Debian's gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user. DTW and Levenshtein
are compared with their definitions in plain loops; all other kernels are compiled and linked.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMPILER = ["aarch64-linux-gnu-gcc", "-std=gnu11", "-O3", "-fno-math-errno", "-fno-trapping-math"]
EMULATOR = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]


def main() -> int:
    """Compile, run and return the program's exit code."""
    kernels = ROOT / "d2ke" / "_ext"
    sources = [*sorted(kernels.glob("isa_*.c")), ROOT / "tools" / "cross_test.c"]
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder, "cross_test"))
        arguments = [f"-I{kernels}", *map(str, sources), "-lm", "-o", program]
        subprocess.run([*COMPILER, *arguments], check=True)
        return subprocess.run([*EMULATOR, program]).returncode


if __name__ == "__main__":
    sys.exit(main())
