# SPDX-License-Identifier: BSD-3-Clause
"""Data sets that need no download, random division and scaling.

=============== ========= ===== ======= =================
name            domain    n     classes distance
=============== ========= ===== ======= =================
splice          strings   3190  3       ``"levenshtein"``
japanese-vowels series    640   9       ``"dtw"``
digits-str8     strings   1797  10      ``"levenshtein"``
digits-str4     strings   1797  10      ``"levenshtein"``
digits-points   sets      1797  10      ``"mhd"``
=============== ========= ===== ======= =================

They are from UCI (CC BY 4.0; `data/README.md` names the authors), and installed with d2ke. The
digits are outlines as chain codes of 8 or 4 directions, and sets of the pixels with ink (row,
column); ``"digits"`` is short for ``"digits-str8"``. The papers' other data sets, which must be
downloaded, are read by `papers.datasets` in the repository, and `d2ke.io.read_objects` reads your
files.
"""

from __future__ import annotations

from d2ke._base.checks import choice
from d2ke._base.keywords import hinted
from d2ke.datasets import digits, splice, vowels
from d2ke.datasets._dataset import Dataset, Source
from d2ke.datasets.scaling import standardize
from d2ke.io.ts import read_ts
from d2ke.objects.container import as_kind

__all__ = [
    "REGISTRY",
    "Dataset",
    "Source",
    "load",
    "read_ts",
    "standardize",
]

REGISTRY: dict[str, Source] = {
    source.name: source for source in (splice.SOURCE, vowels.SOURCE, *digits.SOURCES)
}


@hinted
def load(name: str) -> Dataset:
    """Load a data set that needs no download.

    Parameters
    ----------
    name : str
        The data set: a key of `REGISTRY`, see the table in `d2ke.datasets`, or
        ``"digits"`` for ``"digits-str8"``.

    Returns
    -------
    Dataset
        Objects, labels, and facts about them. Series have their raw values;
        `standardize` scales them.

    Raises
    ------
    ValueError
        If the name is unknown.

    Examples
    --------
    >>> from d2ke.datasets import load
    >>> digits = load("digits")
    >>> digits
    Dataset('digits-str8', 1797 strings of length 45 to 135, 10 classes, distance 'levenshtein')
    >>> digits.labels[:3]
    array([0, 1, 2])
    >>> load("japanese-vowels")
    Dataset('japanese-vowels', 640 series of length 7 to 29, 9 classes, distance 'dtw')
    """
    aliases = {"digits": "digits-str8"}
    name = choice("name", name, [*REGISTRY, *aliases])
    source = REGISTRY[aliases.get(name, name)]
    objects, labels = source.loader()
    labels.flags.writeable = False
    return Dataset(source.name, as_kind(objects, source.domain) or objects, labels, source)
