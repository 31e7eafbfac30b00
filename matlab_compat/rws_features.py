# SPDX-License-Identifier: BSD-3-Clause
"""Random Warping Series by the names of the authors' MATLAB code (Wu et al. 2018): features.

The scripts are functions, their settings arguments. Random numbers come from the stream of
`matlab_compat.rng`, which every function starts anew where the original calls ``rng('default')``.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from d2ke import Objects
from d2ke._base.checks import length_range
from d2ke._base.errors import ArgumentError
from d2ke._base.keywords import hinted
from d2ke.io import load_mat
from d2ke.io.ucr import read_ucr
from d2ke.samplers import random_series
from matlab_compat import random
from matlab_compat._cells import Struct, feature_tables, positive, series_cell, vector, whole
from matlab_compat._outputs import Outputs
from matlab_compat.warping import dtw_similarity_cell, dtw_similarity_cell_mulvar


@hinted
def rws_GenFea(
    file_dir: str | os.PathLike[str],
    filename: str,
    sigma: float,
    R: int,
    DMin: int,
    DMax: int,
    *,
    n_threads: int | None = None,
) -> tuple[np.ndarray, np.ndarray, Struct]:
    r"""Compute features of univariate series, from the text files of the UCR archive.

    Parameters
    ----------
    file_dir, filename : str or path, str
        Reads file_dir/filename/filename_TRAIN and ..._TEST.
    sigma : float
        The random values are randn / sigma.
    R, DMin, DMax : int
        Number of random series, and their shortest and longest length.
    n_threads : int, optional
        Threads; None for all.

    Returns
    -------
    Train, Test : ndarray, shape (n, R + 1)
        The label, then the features: distances / sqrt(R), without an exponential.
    Runtime : Struct
        ``real_total_dtw_time``, ``user_dtw_time``, ``user_train_dtw_time``,
        ``user_test_dtw_time``: seconds of elapsed time.

    Raises
    ------
    OSError
        A file cannot be read.
    TypeError, ValueError
        Files of another form, parameters out of range.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp(), "Two")
    >>> folder.mkdir()
    >>> for part in ("TRAIN", "TEST"):
    ...     _ = (folder / f"Two_{part}").write_text("1 0 1 0\n2 1 0 1\n", "utf-8")
    >>> Train, Test, _ = rws_GenFea(folder.parent, "Two", 1.0, 4, 1, 3)
    >>> Train.shape, Train[:, 0]
    ((2, 5), array([1., 2.]))
    """
    source = Univariate(file_dir, filename, n_threads)
    both = source.read_both()
    Train, Test, Runtime = features_of(*both, source, RandomSeries(sigma, DMin, DMax), R)
    return Outputs("rws_GenFea", Train=Train, Test=Test, Runtime=Runtime)


@hinted
def rws_GenFea_mulvar(
    file_dir: str | os.PathLike[str],
    filename: str,
    sigma: float,
    R: int,
    DMin: int,
    DMax: int,
    *,
    n_threads: int | None = None,
) -> tuple[np.ndarray, np.ndarray, Struct]:
    """Compute features of series of several channels, from a .mat file.

    Parameters
    ----------
    file_dir, filename : str or path, str
        Reads train_X, train_Y, test_X, test_Y from file_dir/filename/filename.mat.
    sigma : float
        The random values are randn / sigma.
    R, DMin, DMax : int
        Number of random series, and their shortest and longest length.
    n_threads : int, optional
        Threads; None for all.

    Returns
    -------
    Train, Test : ndarray, shape (n, R + 1)
        The label, then the features: distances / sqrt(R), without an exponential.
    Runtime : Struct
        As `rws_GenFea`.

    Raises
    ------
    OSError
        The file cannot be read.
    TypeError, ValueError
        A file of another form, parameters out of range.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from d2ke.io import save_mat
    >>> folder = pathlib.Path(tempfile.mkdtemp(), "two")
    >>> folder.mkdir()
    >>> X, Y = [np.zeros((3, 5)), np.ones((3, 8))], np.array([[1.0], [2.0]])
    >>> save_mat(folder / "two.mat", {"train_X": X, "train_Y": Y, "test_X": X, "test_Y": Y})
    >>> Train, Test, _ = rws_GenFea_mulvar(folder.parent, "two", 1.0, 4, 1, 3)
    >>> Train.shape, bool((Train == Test).all())
    ((2, 5), True)
    """
    source = Multivariate(file_dir, filename, n_threads)
    both = source.read_both()
    Train, Test, Runtime = features_of(*both, source, RandomSeries(sigma, DMin, DMax), R)
    return Outputs("rws_GenFea_mulvar", Train=Train, Test=Test, Runtime=Runtime)


@dataclass(frozen=True)
class Univariate:
    """Univariate series in the text files of the UCR archive, and how they are compared."""

    file_dir: str | os.PathLike[str]
    filename: str
    n_threads: int | None

    similarity = staticmethod(dtw_similarity_cell)

    def read(self, division: str) -> tuple[Objects, np.ndarray]:
        """Return the series and labels of the division "train" or "test"."""
        name = f"{self.filename}_{division.upper()}"
        data = read_ucr(Path(self.file_dir, self.filename, name))
        return data.objects, np.asarray(data.labels)

    def read_both(self) -> tuple[tuple[Objects, np.ndarray], tuple[Objects, np.ndarray]]:
        """Return the series and labels of both parts."""
        return self.read("train"), self.read("test")

    def features(self, X: Objects, base: Objects) -> tuple[np.ndarray, float]:
        """Compute distances to the random series / sqrt(R), and their time in seconds."""
        K, seconds = self.similarity(X, base, n_threads=self.n_threads)
        return K / np.sqrt(len(base)), seconds


class Multivariate(Univariate):
    """Series of several channels in a .mat file, and how they are compared."""

    similarity = staticmethod(dtw_similarity_cell_mulvar)

    def read(self, division: str) -> tuple[Objects, np.ndarray]:
        """Return the series and labels of the division "train" or "test"."""
        names = [f"{division}_X", f"{division}_Y"]
        data = load_mat(Path(self.file_dir, self.filename, f"{self.filename}.mat"), names)
        X, y = series_cell(names[0], data[names[0]]), vector(names[1], data[names[1]])
        if y.dtype.kind not in "biuf" or len(y) != len(X):
            raise ArgumentError(
                names[1],
                f"must hold one number for each of the {len(X)} series of {names[0]}, "
                f"got {len(y)} of {y.dtype}",
            )
        return X, y


@dataclass(frozen=True)
class RandomSeries:
    """The random series of a setting: values randn / sigma, lengths from DMin to DMax."""

    sigma: Any
    DMin: Any
    DMax: Any

    def draw(self, R: Any, d: int) -> Objects:
        """Draw R series of d channels from the stream's beginning."""
        limits = whole("DMin", self.DMin), whole("DMax", self.DMax)
        lengths = length_range("(DMin, DMax)", limits)
        sigma, R = positive("sigma", self.sigma), whole("R", R, 1)
        random.rng("default")
        stream = random.global_stream()
        return random_series(R, d, length=lengths, sigma=1 / sigma, seed=stream)


def features_of(
    train: tuple[Objects, np.ndarray],
    test: tuple[Objects, np.ndarray],
    source: Univariate,
    series: RandomSeries,
    R: int,
) -> tuple[np.ndarray, np.ndarray, Struct]:
    """Return the tables of `rws_GenFea`: labels and features of both parts, and the times."""
    started = time.perf_counter()
    base = series.draw(R, train[0].dim)
    tables = ((y, *source.features(X, base)) for X, y in (train, test))
    return feature_tables("dtw", started, tables)
