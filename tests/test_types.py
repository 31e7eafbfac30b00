# SPDX-License-Identifier: BSD-3-Clause
"""Type checkers find the types of an installed d2ke: of a wheel, and of an editable install."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

pytest.importorskip("mypy")
pytest.importorskip("setuptools", "77")

ROOT = Path(__file__).parent.parent
MYPY = [sys.executable, "-m", "mypy", "--no-incremental", "--warn-unused-ignores"]
# Scipy has no types.
MYPY += ["--disable-error-code=import-untyped", "--python-executable"]


def run(*command, cwd):
    without = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=cwd, env=without, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("options", [["--editable"], []], ids=["editable", "wheel"])
def test_a_users_lines(options, tmp_path):
    source, user = tmp_path / "source", tmp_path / "user"
    for package in ("d2ke", "matlab_compat"):
        ignored = shutil.ignore_patterns("__pycache__", "box", "*.so")
        shutil.copytree(ROOT / package, source / package, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    # Types need no compiled modules.
    (source / "setup.py").write_text("import setuptools\n\nsetuptools.setup()\n", "utf-8")
    user.mkdir()
    shutil.copy(ROOT / "tests" / "typed_uses.py", user)

    venv.create(tmp_path / "env", symlinks=os.name != "nt")
    paths = sysconfig.get_paths("venv", {"base": str(tmp_path / "env")})
    python = shutil.which("python", path=paths["scripts"])
    others = sysconfig.get_path("purelib")  # what d2ke needs, and setuptools
    (Path(paths["purelib"]) / "others.pth").write_text(others + "\n", "utf-8")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps"]
    run(*pip, "--force-reinstall", "--no-build-isolation", *options, str(source), cwd=tmp_path)

    run(*MYPY, python, "typed_uses.py", cwd=user)
    if pyright := shutil.which("pyright"):
        run(pyright, "--pythonpath", python, "typed_uses.py", cwd=user)
