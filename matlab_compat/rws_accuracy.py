# SPDX-License-Identifier: BSD-3-Clause
"""Random Warping Series by the names of the authors' MATLAB code: accuracy for growing R."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

import numpy as np

from d2ke._base.keywords import hinted
from matlab_compat._cells import Struct, positive, whole
from matlab_compat._newton_solvers import quiet, trainer, uniform_labels
from matlab_compat.rws_features import Multivariate, RandomSeries, Univariate, features_of
from matlab_compat.rws_search import entries, save


@hinted
def rws_VaryingR_CV(
    file_dir: str | os.PathLike[str],
    filename: str,
    sigma: float,
    DMax: int,
    lambda_inverse: float,
    *,
    DMin: int = 1,
    R_list: Sequence[int] = (4, 8, 16, 32, 64),
    solver: str = "trust-region",
    save_dir: str | os.PathLike[str] | None = None,
    n_threads: int | None = None,
) -> Struct:
    r"""Measure accuracy for growing R, as the script rws_VaryingR_CV_R128.

    Parameters
    ----------
    file_dir, filename : str or path, str
        Reads file_dir/filename/filename_TRAIN and ..._TEST.
    sigma, DMax, lambda_inverse : float, int, float
        What the search found.
    DMin : int, default 1
        Shortest random series.
    R_list : sequence of int
        Numbers of random series; 4, 8, ..., 64.
    solver : {"trust-region", "line-search"}
        As `rws_gridsearch_CV`.
    save_dir : str or path, optional
        Folder for ``filename_rws_VaryingR_CV_R128.mat`` with `info`; None writes nothing.
    n_threads : int, optional
        Threads; None for all.

    Returns
    -------
    Struct
        `info` with the script's fields: ``Accu_best`` (2 x number of R: training and test
        percent), ``real_total_dtw_time``, ``real_user_dtw_time``, ``telapsed_liblinear``, ``R``,
        ``DMin``, ``DMax``, ``sigma``, ``lambda_inverse``.

    Raises
    ------
    OSError
        A file cannot be read or written.
    TypeError, ValueError
        Files of another form, parameters out of range.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp(), "Two")
    >>> folder.mkdir()
    >>> for part in ("TRAIN", "TEST"):
    ...     _ = (folder / f"Two_{part}").write_text("1 0 1 0\n2 1 0 1\n", "utf-8")
    >>> rws_VaryingR_CV(folder.parent, "Two", 1.0, 3, 10.0, R_list=[4, 16]).Accu_best
    array([[100., 100.],
           [100., 100.]])
    """
    source, series = Univariate(file_dir, filename, n_threads), RandomSeries(sigma, DMin, DMax)
    return _varying_R(source, series, R_list, lambda_inverse, solver, save_dir)


@hinted
def rws_VaryingR_CV_mulvar(
    file_dir: str | os.PathLike[str],
    filename: str,
    sigma: float,
    DMax: int,
    lambda_inverse: float,
    *,
    DMin: int = 1,
    R_list: Sequence[int] = (4, 8, 16, 32, 64, 128, 256, 512),
    solver: str = "trust-region",
    save_dir: str | os.PathLike[str] | None = None,
    n_threads: int | None = None,
) -> Struct:
    """Measure accuracy for growing R, as `rws_VaryingR_CV`; series of several channels.

    Parameters
    ----------
    file_dir, filename : str or path, str
        Reads file_dir/filename/filename.mat.
    sigma, DMax, lambda_inverse : float, int, float
        What the search found.
    DMin : int, default 1
        Shortest random series.
    R_list : sequence of int
        Numbers of random series; 4, 8, ..., 512.
    solver : {"trust-region", "line-search"}
        As `rws_gridsearch_CV`.
    save_dir : str or path, optional
        Folder for ``filename_rws_VaryingR_CV_R128.mat`` with `info`; None writes nothing.
    n_threads : int, optional
        Threads; None for all.

    Returns
    -------
    Struct
        `info`, see `rws_VaryingR_CV`.

    Raises
    ------
    OSError
        A file cannot be read or written.
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
    >>> rws_VaryingR_CV_mulvar(folder.parent, "two", 1.0, 3, 10.0, R_list=[4]).Accu_best
    array([[100.],
           [100.]])
    """
    source, series = Multivariate(file_dir, filename, n_threads), RandomSeries(sigma, DMin, DMax)
    return _varying_R(source, series, R_list, lambda_inverse, solver, save_dir)


def _varying_R(
    source: Univariate,
    series: RandomSeries,
    R_list: Sequence[int],
    lambda_inverse: float,
    solver: str,
    save_dir: str | os.PathLike[str] | None,
) -> Struct:
    rows, train = [], trainer(solver)
    R_list = [whole(name, R, 1) for name, R in entries("R_list", R_list)]
    lambda_inverse = positive("lambda_inverse", lambda_inverse)
    both = source.read_both()
    for R in R_list:
        *tables, runtime = features_of(*both, source, series, R)
        started = time.perf_counter()
        classes = np.unique(tables[0][:, 0])
        y, y_test = (uniform_labels(table[:, 0], classes) for table in tables)
        F, F_test = (table[:, 1:] for table in tables)
        with quiet():
            predict = train(y, F, lambda_inverse)
        percents = [100 * np.mean(predict(F) == y), 100 * np.mean(predict(F_test) == y_test)]
        seconds = time.perf_counter() - started
        rows.append([*percents, runtime.real_total_dtw_time, runtime.user_dtw_time, seconds])
    table = np.array(rows).reshape(-1, 5).T
    info = Struct(
        Accu_best=table[:2],
        real_total_dtw_time=table[2:3],
        real_user_dtw_time=table[3:4],
        telapsed_liblinear=table[4:],
        R=np.array([R_list], dtype=np.float64),
        DMin=float(whole("DMin", series.DMin)),
        DMax=float(whole("DMax", series.DMax)),
        sigma=positive("sigma", series.sigma),
        lambda_inverse=lambda_inverse,
    )
    save(save_dir, f"{source.filename}_rws_VaryingR_CV_R128.mat", info)
    return info
