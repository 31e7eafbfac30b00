# SPDX-License-Identifier: BSD-3-Clause
"""Which instruction sets are found on this processor."""

import platform
import sys
from pathlib import Path

import pytest

from d2ke._ext import isa

AVX2 = {"avx2", "fma", "bmi1", "bmi2", "popcnt"}
AVX512 = AVX2 | {"avx512f", "avx512dq", "avx512bw", "avx512vl"}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists what it found itself")
def test_instruction_sets():
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    flags = next((set(line.split()) for line in lines if line.startswith("flags")), set())
    wanted = ["baseline"]
    if platform.machine() == "x86_64":
        wanted += ["avx2"] * (flags >= AVX2) + ["avx512"] * (flags >= AVX512)
    assert isa.supported() == wanted
