# SPDX-License-Identifier: BSD-3-Clause
"""Pentip: letters written with a pen on a tablet (series of 3 channels)."""

from __future__ import annotations

import warnings
import zlib
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import loadmat
from scipy.io.matlab import MatReadError

from d2ke.objects.container import Objects
from d2ke.objects.packing import pack
from papers.datasets.source import SERIES, Source, published

N_CHANNELS = 3
# Errors of scipy, by the place of the damage.
_DAMAGED = (ArithmeticError, LookupError, MatReadError, OSError, TypeError, ValueError, zlib.error)


def load_pentip(path: Path, *, trim: bool = False) -> tuple[Objects, np.ndarray]:
    """Read the character trajectories from a MATLAB file.

    As published, the series of one letter are shifted against each other and filled up with
    zeros in front and behind to one length, which most letters share with no other: the length
    alone tells 82 % of the letters. Without the zeros it tells 31 %.

    Parameters
    ----------
    path : Path
        ``mixoutALL_shifted.mat``, the original: the cell ``mixout`` of the series (3 x length) and
        the structure ``consts`` with ``charlabels``, the classes from 1 on, and ``key``, the cell
        of their letters. Or a file of the same content in the variables ``X``, ``Y`` and ``key``.
    trim : bool, default False
        True: remove the time steps before the first and after the last one at which some
        channel is not exactly 0. Zeros in between stay.

    Returns
    -------
    objects : Objects
        The series, float64, each of shape (length, 3), in the order of the file: x, y and the
        force of the pen's tip, normalised, differentiated and smoothed by the publishers.
    labels : ndarray of str
        The letters. f, i, j, k, t and x are missing: they are not written in one stroke.

    Raises
    ------
    ValueError
        If it is not a complete MATLAB file of version 5 to 7, a variable is missing or not of this
        form, a value is not finite, or a series to be trimmed has only zeros; the message names
        the file and the element, counted from 0.
    """
    content = _variables(path)
    if "mixout" in content and "consts" in content:
        name, cell = "mixout", content["mixout"]
        classes, key = (_field(path, content["consts"], field) for field in ("charlabels", "key"))
    elif {"X", "Y", "key"} <= content.keys():
        name, cell = "X", content["X"]
        classes, key = content["Y"], content["key"]
    else:
        names = ", ".join(sorted(content)) or "none"
        raise ValueError(
            f"{path} has neither the variables mixout and consts nor X, Y and key, only: {names}"
        )
    _check_cell(path, name, cell)
    series = [_series(f"{path}: {name}[{i}]", item) for i, item in enumerate(cell.ravel())]
    labels = _labels(path, classes, key, len(series))
    if trim:
        series = [_trimmed(f"{path}: {name}[{i}]", item) for i, item in enumerate(series)]
    return pack(series, channels_first=False), labels


def _variables(path: Path) -> dict[str, Any]:
    with open(path, "rb") as file, warnings.catch_warnings():
        # For a variable that it cannot read, scipy warns and returns a message as its value.
        warnings.simplefilter("ignore")
        try:
            content = loadmat(file)
        except NotImplementedError:
            raise ValueError(
                f"{path} is a MATLAB file of version 7.3; the original is of version 5"
            ) from None
        except _DAMAGED as error:
            raise ValueError(
                f"{path} is not a complete MATLAB file: {type(error).__name__}: {error}"
            ) from error
    variables = {name: value for name, value in content.items() if not name.startswith("__")}
    for name, value in variables.items():
        if isinstance(value, str):
            raise ValueError(f"{path} is not a complete MATLAB file: {name}: {value}")
    return variables


def _field(path: Path, structure: Any, field: str) -> Any:
    if structure.size != 1 or field not in (structure.dtype.names or ()):
        raise ValueError(f"{path}: consts is not a structure with the field {field}")
    return structure[field].item()


def _check_cell(path: Path, name: str, cell: Any) -> None:
    if cell.dtype != object or cell.size == 0 or cell.size != max(cell.shape):
        raise ValueError(
            f"{path}: {name} is not a cell of one row: {cell.dtype} of shape {cell.shape}"
        )


def _series(where: str, item: np.ndarray) -> np.ndarray:
    if item.dtype.kind not in "iuf":
        raise ValueError(f"{where} holds no real numbers, but {item.dtype}")
    if item.ndim != 2 or item.shape[0] != N_CHANNELS or item.shape[1] == 0:
        raise ValueError(f"{where} has the shape {item.shape} instead of ({N_CHANNELS}, length)")
    finite = np.isfinite(item)
    if not finite.all():
        channel, step = np.argwhere(~finite)[0]
        raise ValueError(
            f"{where} has {item[channel, step]} at position ({channel}, {step}); every value must "
            "be finite"
        )
    return item.T.astype(np.float64)


def _labels(path: Path, classes: np.ndarray, key: np.ndarray, n: int) -> np.ndarray:
    _check_cell(path, "key", key)
    letters = [item.item() if item.size == 1 else None for item in key.ravel()]
    for i, letter in enumerate(letters):
        if not isinstance(letter, str):
            raise ValueError(f"{path}: key[{i}] is not a letter, but {key.ravel()[i]!r}")
    if classes.size != n or classes.dtype.kind not in "iuf":
        raise ValueError(
            f"{path}: the classes must be {n} integers, one for each series; got {classes.dtype} "
            f"of shape {classes.shape}"
        )
    classes = classes.ravel()
    wrong = ~np.isin(classes, np.arange(1, len(letters) + 1))
    if wrong.any():
        i = int(wrong.argmax())
        raise ValueError(
            f"{path}: the class of series {i} is {classes[i]}; the key has the classes 1 to "
            f"{len(letters)}"
        )
    return np.array(letters)[classes.astype(np.int64) - 1]


def _trimmed(where: str, series: np.ndarray) -> np.ndarray:
    (moving,) = np.nonzero(series.any(axis=1))
    if len(moving) == 0:
        raise ValueError(f"{where} has only zeros; trimming leaves nothing")
    return series[moving[0] : moving[-1] + 1]


_PENTIP: dict[str, Any] = {
    **SERIES,
    "title": "Character Trajectories",
    "page": "https://archive.ics.uci.edu/dataset/175/character+trajectories",
    "files": ("pentip/mixoutALL_shifted.mat",),
    "alternatives": {"pentip/mixoutALL_shifted.mat": ("pentip/pentip_all_v5.mat",)},
}
_COUNTS = published(
    (
        *(171, 141, 142, 157, 186, 138, 127, 174, 125, 130),
        *(141, 131, 124, 119, 133, 131, 155, 125, 137, 171),
    ),
    lengths=(109, 205),
    n_channels=3,
    n_train=2000,
)

SOURCES = (
    Source(name="pentip", loader=load_pentip, counts=_COUNTS, **_PENTIP),
    Source(
        name="pentip-trimmed",
        loader=partial(load_pentip, trim=True),
        counts=_COUNTS | {"lengths": (60, 182)},
        **_PENTIP,
    ),
)
