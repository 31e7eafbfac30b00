# SPDX-License-Identifier: BSD-3-Clause
"""Cases of `tools/snapshot.py`: the table of cases, d2ke's public names, and shared inputs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

import d2ke as _d2ke
import matlab_compat as _matlab_compat

MODULES: dict[str, ModuleType] = {
    "d2ke": _d2ke,
    "d2ke.io": _d2ke.io,
    "d2ke.datasets": _d2ke.datasets,
    "matlab_compat": _matlab_compat,
}
PUBLIC_TYPES = {
    getattr(module, one): f"{name}.{one}"
    for name, module in MODULES.items()
    for one in module.__all__
    if inspect.isclass(getattr(module, one))
}


class Watched:
    """A module's public names; notes which are used, and has no others."""

    used: ClassVar[set[str]] = set()

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, one: str) -> Any:
        module = MODULES[self._name]
        if one not in module.__all__:
            raise AttributeError(f"{self._name}.{one} is not public")
        Watched.used.add(f"{self._name}.{one}")
        value = getattr(module, one)
        known = f"{self._name}.{one}" in MODULES
        return Watched(f"{self._name}.{one}") if known else value


d2ke, matlab_compat = Watched("d2ke"), Watched("matlab_compat")


@dataclass(frozen=True)
class Case:
    """A function on fixed inputs.

    Attributes
    ----------
    compute : callable
        ``compute(folder)`` returns what is recorded, any nesting of arrays and objects.
    rtol : float or None
        None: everything is equal bit for bit. Else the tolerance of floats, relative to the
        largest of their array.
    needs_data : bool
        Whether it reads the files of D2KE_DATA.
    """

    compute: Callable[[Path], Any]
    rtol: float | None
    needs_data: bool


CASES: dict[str, Case] = {}


def exact(name: str, *arguments: Any, needs_data: bool = False) -> Callable:
    """Add a case without BLAS; the function gets `arguments`, and ``folder`` if it takes one."""
    return _adder(name, arguments, None, needs_data)


def rounded(name: str, rtol: float, *arguments: Any, needs_data: bool = False) -> Callable:
    """Add a case with BLAS, whose floats may differ by `rtol`."""
    return _adder(name, arguments, rtol, needs_data)


def _adder(name: str, arguments: tuple, rtol: float | None, needs_data: bool) -> Callable:
    def add(function: Callable) -> Callable:
        takes_folder = "folder" in inspect.signature(function).parameters

        def compute(folder: Path) -> Any:
            return function(*arguments, **({"folder": folder} if takes_folder else {}))

        if name in CASES:
            raise ValueError(f"two cases are named {name}")
        CASES[name] = Case(compute, rtol, needs_data)
        return function

    return add


def clouds(
    seed: int, n: int, dim: int, dtype: Any = np.float64, lengths: tuple[int, int] = (1, 30)
) -> list[np.ndarray]:
    """Draw sets of vectors, which are series too."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(lengths[0], lengths[1] + 1, size=n).tolist()
    return [rng.standard_normal((size, dim)).astype(dtype) for size in sizes]


def weights_of(seed: int, items: list[np.ndarray]) -> list[np.ndarray]:
    """Draw a positive weight for each vector; some vectors get 0."""
    rng = np.random.default_rng(seed)
    drawn = [rng.integers(0, 8, size=len(one)) / 4.0 for one in items]
    return [one + (one.sum() == 0) for one in drawn]


def words(seed: int, n: int, letters: str = "ACGT", lengths: tuple[int, int] = (0, 40)) -> list:
    """Draw strings."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(lengths[0], lengths[1] + 1, size=n).tolist()
    return ["".join(letters[i] for i in rng.integers(len(letters), size=size)) for size in sizes]


@cache
def blobs(n: int = 60, dim: int = 5, n_classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Draw points of well-separated classes, and the classes' numbers."""
    rng = np.random.default_rng(17)
    y = np.arange(n) % n_classes
    centres = 4.0 * np.eye(n_classes, dim)
    return centres[y] + 0.7 * rng.standard_normal((n, dim)), y


@cache
def some_digits(n: int, name: str = "digits") -> tuple[Any, np.ndarray]:
    """Return the first digits, 0 to 9 in turn or nearly so."""
    dataset = d2ke.datasets.load(name)
    return dataset.objects[:n], dataset.labels[:n]
