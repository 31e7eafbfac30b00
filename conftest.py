# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures shared by all tests."""

import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

# Workers of pytest-xdist and other jobs need the processors: threads of OpenMP and OpenBLAS wait
# asleep, as both libraries must be told before they are loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")  # 2**4 cycles, the least

import numpy as np
import pytest
import reference
import scipy.io
from hypothesis import HealthCheck, settings

import matlab_compat
from d2ke._ext import isa as instruction_sets
from d2ke.objects.kinds import KINDS

ONLY = os.environ.get("D2KE_ISA")  # one instruction set; else all that the processor has

# `isa` is set once for all examples of a test, which is what is meant; kernels
# share the machine with other work, so that a deadline would only fail at random.
# The same commit must give the same answer: only "random" draws other examples each time.
# "few" is for emulated processors.
FEWER = {"few": 2, "quick": reference.QUICK_EXAMPLES}
for profile in (*FEWER, "full", "random"):
    settings.register_profile(
        profile,
        max_examples=FEWER.get(profile, reference.EXAMPLES),
        derandomize=profile != "random",
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )


def pytest_configure(config):
    """Choose the random examples, if no profile of hypothesis is named."""
    if not config.getoption("--hypothesis-profile"):
        settings.load_profile("quick" if is_quick(config) else "full")


def is_quick(config) -> bool:
    """Tell whether a part of the work is enough, as where slow tests are left out."""
    profile = config.getoption("--hypothesis-profile")
    return profile in FEWER or (not profile and config.option.markexpr == "not slow")


@pytest.fixture(autouse=True)
def kinds() -> Iterator[None]:
    """Forget after a test the kinds of objects that it added."""
    yield
    for name in set(KINDS) - {"series", "sets", "strings"}:
        del KINDS[name]


@pytest.fixture(scope="session")
def browser() -> str:
    """Return the path of a browser; skip without one."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.skip(f"needs a browser: none of {', '.join(names)} is installed")
    return path


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Return the folder with the papers' original data files; skip the test without it."""
    folder = os.environ.get("D2KE_DATA")
    if not folder:
        pytest.skip("needs real data: set D2KE_DATA to the folder of the original data files")
    if not Path(folder).is_dir():
        pytest.fail(f"D2KE_DATA={folder} is not a folder")
    return Path(folder)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Make slow tests of all but every k-th case of a test that is marked ``sample(k)``."""
    counts = Counter()
    for item in items:
        marker = item.get_closest_marker("sample")
        if marker is not None:
            test = item.nodeid.partition("[")[0]
            if counts[test] % marker.args[0]:
                item.add_marker(pytest.mark.slow)
            counts[test] += 1


def pytest_generate_tests(metafunc):
    """Run tests of kernels with the instruction set of D2KE_ISA, else with several.

    In a quick run it is the one that is used, else they are all of this processor.
    """
    if "isa" in metafunc.fixturenames:
        names = [ONLY] if ONLY else instruction_sets.supported()
        if is_quick(metafunc.config):
            names = names[-1:]
        metafunc.parametrize("isa", names, indirect=True)


@pytest.fixture
def isa(request) -> str:
    """Run the test with the kernels of one instruction set."""
    before = instruction_sets.selected()
    instruction_sets.select(request.param)
    yield request.param
    instruction_sets.select(before)


@pytest.fixture(scope="session")
def octave(tmp_path_factory):
    """Return ``run(script, **inputs)``, which runs a script in GNU Octave; skip without it.

    The script sees the inputs as variables, and our ``.m`` functions; ``run`` returns
    every variable that it leaves behind, as a dictionary of MATLAB's own shapes (a
    number is 1 x 1). A list or tuple becomes a column cell, a string a char row, and
    what else `scipy.io.savemat` takes what that makes of it; an array of one dimension
    is refused, because it has no shape in MATLAB, and text beyond ASCII, because Octave
    cuts what `savemat` writes of it. A script that fails is a RuntimeError with Octave's
    message.
    """
    program = shutil.which("octave-cli")
    if program is None:
        reason = "GNU Octave (octave-cli) is not installed: apt-get install octave"
        if os.environ.get("D2KE_REQUIRE_OCTAVE") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    ours = Path(matlab_compat.__file__).parent / "octave"

    def run(script: str, **inputs) -> dict:
        folder = tmp_path_factory.mktemp("octave")
        variables = {name: _for_matlab(name, value) for name, value in inputs.items()}
        scipy.io.savemat(folder / "inputs.mat", variables, long_field_names=True)
        (folder / "script.m").write_text(
            f"addpath('{ours}');\nload('inputs.mat');\n{script}\nsave('-v7', 'outputs.mat');\n",
            encoding="utf-8",
        )
        done = subprocess.run(
            [program, "--no-gui", "--norc", "--no-history", "script.m"],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
        )
        if done.returncode != 0:
            raise RuntimeError(f"Octave: {done.stderr.strip()}\n{done.stdout.strip()}")
        outputs = scipy.io.loadmat(folder / "outputs.mat")
        return {name: value for name, value in outputs.items() if not name.startswith("__")}

    return run


def _for_matlab(name, value):
    if isinstance(value, list | tuple):
        cell = np.empty((len(value), 1), dtype=object)
        for i, item in enumerate(value):
            cell[i, 0] = _for_matlab(f"{name}{{{i + 1}}}", item)
        return cell
    if isinstance(value, np.ndarray) and value.ndim == 1:
        raise ValueError(f"{name}: reshape an array of one dimension to a row or a column")
    if isinstance(value, str) and not value.isascii():
        raise ValueError(f"{name}: give text beyond ASCII as numbers, its code points")
    return value


@pytest.fixture
def symlink():
    """Return ``symlink(link, target)``, which makes a link; it skips the test without the right to.

    Windows gives it to administrators and developers, and wine makes no links.
    """

    def make(link: Path, target: Path):
        with suppress(OSError):
            link.symlink_to(target)
        if not link.is_symlink():
            pytest.skip("needs the right to make symbolic links")

    return make


@pytest.fixture
def small_disk(tmp_path):
    """Mount a file system of 2 MB; skip the test without the right to."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = shutil.which("mount")
    command = [mount, "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if mount is None or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("needs the right to mount a small file system")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)
