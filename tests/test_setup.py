# SPDX-License-Identifier: BSD-3-Clause
"""setup.py: names of modules by the system compiled for, and OpenMP that is missing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("Cython")
pytest.importorskip("setuptools", "77")

NAME = """
from setuptools import Distribution
import setup

command = setup.BuildExt(Distribution({"ext_modules": [setup.extension("isa")]}))
command.finalize_options()
print(command.get_ext_filename("d2ke._ext.isa"))
"""
OPENMP = """
from distutils.ccompiler import new_compiler
import setup

compiler = new_compiler()
compiler.set_executables(compiler_so="false", linker_exe="false")
print(setup.openmp_flags(compiler))
"""


def run(script, **variables):
    return subprocess.run(
        [sys.executable, "-c", "import setuptools\n" + script],
        cwd=Path(__file__).parents[1],
        env={**os.environ, **variables},
        capture_output=True,
        encoding="utf-8",
    )


@pytest.mark.skipif(os.name != "posix", reason="cross-compiles from POSIX")
@pytest.mark.parametrize(
    ("target", "name"),
    [("win-amd64", "isa.pyd"), ("macosx-15.0-x86_64", "isa.abi3.so"), ("linux-i", "isa.abi3.so")],
)
def test_modules_of_the_limited_api_are_named_for_the_target(target, name):
    done = run(NAME, D2KE_ABI3="1", _PYTHON_HOST_PLATFORM=target)
    assert Path(done.stdout.strip()) == Path("d2ke/_ext", name), done.stderr


def test_a_compiler_without_openmp_is_refused_unless_one_thread_is_asked_for():
    refused = run(OPENMP, D2KE_NO_OPENMP="0")
    assert refused.returncode == 1
    assert "PlatformError: no OpenMP (" in refused.stderr
    assert "D2KE_NO_OPENMP=1" in refused.stderr
    assert run(OPENMP, D2KE_NO_OPENMP="1").stdout == "([], [])\n"
