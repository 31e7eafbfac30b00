# SPDX-License-Identifier: BSD-3-Clause
"""The papers' data sets, read from their original distribution files.

=============== ========= ===== ======= =================== =====================================
name            domain    n     classes distance            file in the data folder
=============== ========= ===== ======= =================== =====================================
auslan          series    2565  95      ``"dtw"``           ``auslan/tctodd.tar.gz``
splice          strings   3190  3       ``"levenshtein"``   none (in the package)
pentip          series    2858  20      ``"dtw"``           ``pentip/mixoutALL_shifted.mat``
pentip-trimmed  series    2858  20      ``"dtw"``           ``pentip/mixoutALL_shifted.mat``
actrecog        series    2624  7       ``"dtw"``           ``actrecog/Activity Recogni...zip``
mnist-str8      strings   70000 10      ``"levenshtein"``   ``mnist/train-images-idx3...gz``, ...
mnist-str4      strings   70000 10      ``"levenshtein"``   ``mnist/train-images-idx3...gz``, ...
flower          sets      210   10      ``"mhd"``           ``images/flower.zip``
decor           sets      484   7       ``"mhd"``           ``images/decor.zip``
style           sets      893   10      ``"mhd"``           ``images/style.zip``
letters2        sets      4681  33      ``"mhd"``           ``images/letters2.zip``
digits-str8     strings   1797  10      ``"levenshtein"``   none (scikit-learn)
digits-str4     strings   1797  10      ``"levenshtein"``   none (scikit-learn)
digits-points   sets      1797  10      ``"mhd"``           none (scikit-learn)
gun-point       series    200   2       ``"dtw"``           ``gunpoint/Gun_Point_TRAIN``, ...
japanese-vowels series    640   9       ``"dtw"``           none (in the package)
basic-motions   series    80    4       ``"dtw"``           ``uea/BasicMotions/...ts``
=============== ========= ===== ======= =================== =====================================

The data folder is an argument of `load`, or the environment variable ``D2KE_DATA``. Splice and the
Japanese vowels are installed with the package (UCI, CC BY 4.0; `data/README.md` names the authors).
The digits are not in the papers; they need no download either, and ``"digits"`` is short for
``"digits-str8"``. The
three of the UCR and UEA archives, which have divisions of their own, are not in the papers either;
`read_ts` reads any other file of the UEA archive.

``"pentip"`` has the zeros that its publishers added in front and behind, and with them series
whose length alone gives most letters away; ``"pentip-trimmed"`` is without them. The recordings
of ``"actrecog"`` are cut into series by a rule of ours, since the paper's is not published. Its
strings of MNIST's digits are not published either; those of ``"mnist-str8"`` and ``"mnist-str4"``
are made by `boundary_code`, and have exactly the lengths that the paper states.

The SIFT descriptors of the images, which need OpenCV (``pip install "d2ke[images]"``), and the
contours of MNIST take up to half a minute to compute. They are kept in the folder ``D2KE_CACHE``
(an environment variable), or else ``d2ke`` in ``XDG_CACHE_HOME`` or ``~/.cache``; it may be
deleted at any time.
"""

from __future__ import annotations

from typing import Any

from d2ke._base.checks import choice
from d2ke._base.errors import ArgumentTypeError
from d2ke.datasets import actrecog, auslan, digits, images, mnist, pentip, splice, ucr
from d2ke.datasets._contour import boundary_code, chain_code
from d2ke.datasets._dataset import Dataset, Source, check_counts
from d2ke.datasets._files import find_files
from d2ke.datasets.split import standardize, train_test_split
from d2ke.io.ts import read_ts

__all__ = [
    "REGISTRY",
    "Dataset",
    "Source",
    "boundary_code",
    "chain_code",
    "load",
    "read_ts",
    "standardize",
    "train_test_split",
]

REGISTRY: dict[str, Source] = {
    source.name: source
    for source in (
        auslan.SOURCE,
        splice.SOURCE,
        *pentip.SOURCES,
        actrecog.SOURCE,
        *mnist.SOURCES,
        *images.SOURCES,
        *digits.SOURCES,
        *ucr.SOURCES,
    )
}

_ALIASES = {"digits": "digits-str8"}


def load(name: str, data_dir: Any = None, **options: str) -> Dataset:
    """Load one of the papers' data sets from its original files and check its counts.

    Parameters
    ----------
    name : str
        The data set: a key of `REGISTRY`, which are those of the table in `d2ke.datasets`, or
        ``"digits"`` for ``"digits-str8"``.
    data_dir : path-like, optional
        The folder of the files, which are in the subfolders of that table, or in the folder
        itself. Default: the environment variable ``D2KE_DATA``. The digits, splice and the
        Japanese vowels need none.
    **options : str
        For ``"splice"``: ``ambiguous="keep"`` (default) makes each of the letters D, N, R, S in 15
        of the sequences a symbol of its own; ``ambiguous="drop"`` leaves these sequences out.

    Returns
    -------
    Dataset
        Objects, labels, and what is known about them. Series have their raw values;
        `standardize` scales them.

    Raises
    ------
    FileNotFoundError
        If a file is missing; the message says what to download, from where, and where to put it.
    ImportError
        Without scikit-learn, for the digits, or without OpenCV, for sets of images.
    TypeError
        If the data set has no such option.
    ValueError
        If the name or the choice of an option is unknown, a file is malformed (the message names
        the line), or the counts are not the published ones (it names those that differ).

    References
    ----------
    .. [1] L. Wu, I. E. H. Yen, F. Xu, P. Ravikumar and M. Witbrock, "D2KE: From Distance to
       Kernel and Embedding", 2018, Table 1.

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

    With the file ``/home/me/data/auslan/tctodd.tar.gz``:

    >>> auslan = load("auslan", "/home/me/data")  # doctest: +SKIP
    >>> auslan.summary["n_train"]  # doctest: +SKIP
    1795
    """
    name = choice("name", name, [*REGISTRY, *_ALIASES])
    source = REGISTRY[_ALIASES.get(name, name)]
    counts = dict(source.counts)
    for option, value in options.items():
        if option not in source.options:
            known = ", ".join(source.options) or "none"
            raise ArgumentTypeError(name, f"has no option {option!r}; its options: {known}")
        counts |= source.options[option][choice(option, value, source.options[option])]
    objects, labels = source.loader(*find_files(source, data_dir), **options)
    labels.flags.writeable = False
    dataset = Dataset(source.name, objects, labels, source)
    check_counts(dataset, counts)
    return dataset
