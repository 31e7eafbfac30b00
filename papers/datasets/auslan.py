# SPDX-License-Identifier: BSD-3-Clause
"""Auslan: signs of Australian Sign Language, recorded with gloves (series of 22 channels)."""

from __future__ import annotations

import re
import tarfile
from pathlib import Path

import numpy as np

from d2ke import Objects, pack
from papers.datasets.files import complete, numbers
from papers.datasets.source import SERIES, Source, published

N_CHANNELS = 22
_MEMBER = re.compile(r"(?:\./)?tctodd[1-9]/([^/.][^/]*)-[0-9]+\.tsd")


def load_auslan(path: Path) -> tuple[Objects, np.ndarray]:
    """Read ``tctodd.tar.gz``: one text file per recorded sign, one line per time step.

    The archive is read as a stream, and nothing is written to the disk.

    Parameters
    ----------
    path : Path
        The archive.

    Returns
    -------
    objects : Objects
        The recordings, float64, each of shape (time, 22), in the order of their sorted names
        (folder, sign, repetition); raw values as recorded. Channels 0 to 10 are the left hand,
        11 to 21 the right one: x, y, z (metres), roll, pitch, yaw, and the bend of five fingers.
    labels : ndarray of str
        The sign: the file's name before its last hyphen.

    Raises
    ------
    ValueError
        If the archive is damaged, or a recording is not a table of 22 finite numbers per line; the
        message names the file and the line.
    """
    recordings: dict[str, bytes] = {}
    with complete(path), tarfile.open(path, "r:gz") as archive:
        for member in archive:
            if member.isreg() and _MEMBER.fullmatch(member.name):
                recordings[member.name] = archive.extractfile(member).read()
    names = sorted(recordings)
    series = [numbers(f"{path}: {name}", recordings[name], N_CHANNELS) for name in names]
    labels = [_MEMBER.sub(r"\1", name) for name in names]
    return pack(series, channels_first=False), np.array(labels)


SOURCE = Source(
    name="auslan",
    loader=load_auslan,
    **SERIES,
    title="Australian Sign Language signs (High Quality)",
    page=("https://archive.ics.uci.edu/dataset/115/australian+sign+language+signs+high+quality"),
    files=("auslan/tctodd.tar.gz",),
    counts=published((27,) * 95, lengths=(45, 136), n_channels=22, n_train=1795),
)
