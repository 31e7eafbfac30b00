# SPDX-License-Identifier: BSD-3-Clause
"""Auslan: signs of Australian Sign Language, recorded with gloves (series of 22 channels)."""

from __future__ import annotations

import re
import tarfile
import zlib
from pathlib import Path

import numpy as np

from d2ke.objects.container import Objects
from d2ke.objects.packing import pack
from papers.datasets.files import is_hidden
from papers.datasets.source import SERIES, Source, published

N_CHANNELS = 22
_MEMBER = re.compile(r"(?:\./)?tctodd[1-9]/([^/]+)-[0-9]+\.tsd")
# The largest recording has 18 kB; the limit keeps a broken archive from filling the memory.
_MAX_BYTES = 1 << 20


def load_auslan(path: Path) -> tuple[Objects, np.ndarray]:
    """Read ``tctodd.tar.gz``: one text file per recorded sign, one line per time step.

    The archive is read as a stream, and nothing is written to the disk. Files other than
    ``.tsd`` recordings are skipped; a recording that is not a regular file in one of the folders
    ``tctodd1`` to ``tctodd9`` is refused.

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
        If the archive is damaged or holds no recordings, or a recording is not a table of 22
        finite numbers per line; the message names the file and the line.
    """
    recordings: dict[str, bytes] = {}
    try:
        with tarfile.open(path, "r:gz") as archive:
            for member in archive:
                if not member.name.endswith(".tsd") or is_hidden(member.name):
                    continue
                _check_member(path, member, recordings)
                with archive.extractfile(member) as stream:
                    recordings[member.name] = stream.read()
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise ValueError(f"{path} is not a complete .tar.gz archive: {error}") from error
    if not recordings:
        raise ValueError(f"{path} holds no recordings (.tsd files)")
    names = sorted(recordings)
    matches = (_MEMBER.fullmatch(name) for name in names)
    labels = np.array([match[1] for match in matches if match is not None])
    return pack(
        [_table(f"{path}: {name}", recordings[name]) for name in names], channels_first=False
    ), labels


def _check_member(path: Path, member: tarfile.TarInfo, read: dict[str, bytes]) -> None:
    if not member.isreg():
        problem = "is not a regular file"
    elif not _MEMBER.fullmatch(member.name):
        problem = "is not named tctodd1/<sign>-<number>.tsd (up to tctodd9)"
    elif member.size > _MAX_BYTES:
        problem = f"has {member.size} bytes, more than any recording"
    elif member.name in read:
        problem = "appears twice"
    else:
        return
    raise ValueError(f"{path}: the member {member.name!r} {problem}")


def _table(where: str, text: bytes) -> np.ndarray:
    """Return a recording's text as an array of shape (time, 22)."""
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split()
        if len(fields) != N_CHANNELS:
            raise ValueError(
                f"{where}, line {number}: {len(fields)} values instead of {N_CHANNELS}"
            )
        try:
            rows.append(list(map(float, fields)))
        except ValueError as error:
            raise ValueError(f"{where}, line {number}: {error}") from None
    if not rows:
        raise ValueError(f"{where} is empty")
    table = np.array(rows)
    finite = np.isfinite(table).all(axis=1)
    if not finite.all():
        raise ValueError(f"{where}, line {finite.argmin() + 1}: a value is not finite")
    return table


SOURCE = Source(
    name="auslan",
    loader=load_auslan,
    **SERIES,
    title="Australian Sign Language signs (High Quality)",
    page=("https://archive.ics.uci.edu/dataset/115/australian+sign+language+signs+high+quality"),
    files=("auslan/tctodd.tar.gz",),
    counts=published((27,) * 95, lengths=(45, 136), n_channels=22, n_train=1795),
)
