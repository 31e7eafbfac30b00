# SPDX-License-Identifier: BSD-3-Clause
"""The versions, instruction set and threads of this installation."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from d2ke._base.keywords import hinted
from d2ke._base.threads import forked, team_size
from d2ke._ext import isa, omp
from d2ke._version import __version__


def configuration() -> dict[str, str]:
    """Return the version, OpenMP, instruction set, threads and the dependencies' versions."""
    standard = omp.version()
    rows = {
        "d2ke": __version__,
        "OpenMP": f"yes ({standard})" if standard else "no: every call runs on one thread",
        "instruction set": f"{isa.selected()} (supported: {', '.join(isa.supported())})",
        "threads": f"{team_size(None)}" + (" (a forked process)" if forked() else ""),
        "Python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
    }
    for name in ("numpy", "scipy", "h5py", "liblinear-official", "libsvm-official"):
        try:
            rows[name] = version(name)
        except PackageNotFoundError:
            rows[name] = 'not installed: pip install "d2ke[svm]"'
    return rows


@hinted
def show_config() -> None:
    """Print d2ke's version, OpenMP, the instruction set in use, threads and dependencies.

    Examples
    --------
    >>> import d2ke
    >>> d2ke.show_config()
    d2ke             ...
    OpenMP           ...
    instruction set  ...
    """
    for name, value in configuration().items():
        print(f"{name:18} {value}")
