# SPDX-License-Identifier: BSD-3-Clause
"""Pentip: letters written with a pen on a tablet (series of 3 channels)."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from d2ke import Objects, pack
from d2ke.io import load_mat
from papers.datasets.source import SERIES, Source, published


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
        If it is not a complete MATLAB file of these variables, or a value is not finite; the
        message names the file.
    """
    content = load_mat(path)
    if {"mixout", "consts"} <= content.keys():
        cell, classes = content["mixout"], content["consts"]["charlabels"]
        letters = content["consts"]["key"].ravel()
    elif {"X", "Y", "key"} <= content.keys():
        cell, classes, letters = content["X"], content["Y"], content["key"].ravel()
    else:
        raise ValueError(
            f"{path} has neither the variables mixout and consts nor X, Y and key, only: "
            f"{', '.join(sorted(content))}"
        )
    series = [item.T.astype(np.float64) for item in cell.ravel()]
    if trim:
        moving = [np.flatnonzero(one.any(axis=1)) for one in series]
        series = [one[at[0] : at[-1] + 1] for one, at in zip(series, moving, strict=True)]
    labels = [letters[int(number) - 1] for number in classes.ravel()]
    return pack(series, name=str(path), channels_first=False), np.array(labels)


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
