# SPDX-License-Identifier: BSD-3-Clause
"""The papers' data sets, read from their original distribution files.

=============== ========= ===== ======= =================== =====================================
name            domain    n     classes distance            file in the data folder
=============== ========= ===== ======= =================== =====================================
auslan          series    2565  95      ``"dtw"``           ``auslan/tctodd.tar.gz``
pentip          series    2858  20      ``"dtw"``           ``pentip/mixoutALL_shifted.mat``
pentip-trimmed  series    2858  20      ``"dtw"``           ``pentip/mixoutALL_shifted.mat``
actrecog        series    2624  7       ``"dtw"``           ``actrecog/Activity Recogni...zip``
mnist-str8      strings   70000 10      ``"levenshtein"``   ``mnist/train-images-idx3...gz``, ...
mnist-str4      strings   70000 10      ``"levenshtein"``   ``mnist/train-images-idx3...gz``, ...
flower          sets      210   10      ``"mhd"``           ``images/flower.zip``
decor           sets      484   7       ``"mhd"``           ``images/decor.zip``
style           sets      893   10      ``"mhd"``           ``images/style.zip``
letters2        sets      4681  33      ``"mhd"``           ``images/letters2.zip``
gun-point       series    200   2       ``"dtw"``           ``gunpoint/Gun_Point_TRAIN``, ...
basic-motions   series    80    4       ``"dtw"``           ``uea/BasicMotions/...ts``
=============== ========= ===== ======= =================== =====================================

Those of `d2ke.datasets`, which need no file, are here too. The data folder is an argument of
`load`, or the environment variable ``D2KE_DATA``. ``"gun-point"`` and ``"basic-motions"``, of the
UCR and UEA archives, have divisions of their own and are not in the papers.

``"pentip"`` has the zeros that its publishers added in front and behind, and with them series
whose length alone gives most letters away; ``"pentip-trimmed"`` is without them. The recordings
of ``"actrecog"`` are cut into series by a rule of ours, since the paper's is not published. Its
strings of MNIST's digits are not published either; those of ``"mnist-str8"`` and ``"mnist-str4"``
are made by `boundary_code`, and have exactly the lengths that the paper states.

The SIFT descriptors of the images need OpenCV (``pip install "d2ke[images]"``).
"""

from __future__ import annotations

from typing import Any

import d2ke.datasets
from d2ke import pack
from d2ke.datasets import Dataset
from papers.datasets import actrecog, auslan, images, mnist, pentip, ucr
from papers.datasets.files import find_files
from papers.datasets.source import Source, check_counts

__all__ = ["REGISTRY", "Dataset", "Source", "load"]

REGISTRY: dict[str, Source] = {
    source.name: source
    for source in (
        auslan.SOURCE,
        *pentip.SOURCES,
        actrecog.SOURCE,
        *mnist.SOURCES,
        *images.SOURCES,
        *ucr.SOURCES,
    )
} | {
    name: Source(**vars(source), package="sklearn" if name.startswith("digits") else None)
    for name, source in d2ke.datasets.REGISTRY.items()
}


def load(name: str, data_dir: Any = None) -> Dataset:
    """Load a data set from its original files and check its counts.

    Parameters
    ----------
    name : str
        The data set: a key of `REGISTRY`, which are those of the table in `papers.datasets`, or
        a name of `d2ke.datasets`.
    data_dir : path-like, optional
        The folder of the files, which are in the subfolders of that table, or in the folder
        itself. Default: the environment variable ``D2KE_DATA``.

    Returns
    -------
    Dataset
        Objects, labels, and what is known about them. Series have their raw values;
        `d2ke.datasets.standardize` scales them.

    Raises
    ------
    FileNotFoundError
        If a file is missing; the message says what to download, from where, and where to put it.
    ImportError
        Without OpenCV, for sets of images.
    ValueError
        If the name is unknown, a file is malformed (the message names the line), or the counts
        are not the published ones (it names those that differ).

    References
    ----------
    .. [1] L. Wu, I. E. H. Yen, F. Xu, P. Ravikumar and M. Witbrock, "D2KE: From Distance to
       Kernel and Embedding", 2018, Table 1.

    Examples
    --------
    With the file ``/home/me/data/auslan/tctodd.tar.gz``:

    >>> from papers.datasets import load
    >>> auslan = load("auslan", "/home/me/data")  # doctest: +SKIP
    >>> len(auslan.split(seed=0)[0])  # doctest: +SKIP
    1795
    """
    if name not in (known := [*REGISTRY, "digits"]):
        raise ValueError(f"name must be one of {', '.join(known)}; got {name!r}")
    if name == "digits" or name in d2ke.datasets.REGISTRY:
        return d2ke.datasets.load(name)
    source = REGISTRY[name]
    objects, labels = source.loader(*find_files(source, data_dir))
    labels.flags.writeable = False
    dataset = Dataset(name, pack(objects, kind=source.domain), labels, source)
    check_counts(dataset, source)
    return dataset
