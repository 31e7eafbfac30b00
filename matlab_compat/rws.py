# SPDX-License-Identifier: BSD-3-Clause
"""Random Warping Series by the names of the authors' MATLAB code (Wu et al. 2018).

The scripts are functions here, their settings arguments. Random numbers come from the stream of
`matlab_compat.rng`, which every function starts anew where the original calls ``rng('default')``.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from d2ke import Objects, random_series
from d2ke._base.checks import choice, length_range
from d2ke._base.progress import stages
from d2ke._base.threads import worker_pool
from d2ke._ext import trust_region
from d2ke.datasets.ucr import read_ucr
from d2ke.io import load_mat, save_mat
from d2ke.learners import liblinear, linear_model
from matlab_compat import random
from matlab_compat._cells import Struct, column, positive, series_cell, vector, whole
from matlab_compat.dtw import dtw_similarity_cell, dtw_similarity_cell_mulvar

__all__ = [
    "rws_GenFea",
    "rws_GenFea_mulvar",
    "rws_VaryingR_CV",
    "rws_VaryingR_CV_mulvar",
    "rws_gridsearch_CV",
    "rws_gridsearch_CV_mulvar",
]

DMAX_LIST = tuple(range(5, 101, 5))
SIGMA_LIST = (
    1e-3, 3e-3, 1e-2, 3e-2, 0.10, 0.14, 0.19, 0.28, 0.39, 0.56, 0.79, 1.12,
    1.58, 2.23, 3.16, 4.46, 6.30, 8.91, 10, 31.62, 1e2, 3e2, 1e3,
)  # fmt: skip
LAMBDA_INVERSE = tuple(10.0**k for k in range(-5, 6))
R_LIST = (4, 8, 16, 32, 64)
R_LIST_MULVAR = (4, 8, 16, 32, 64, 128, 256, 512)
_TOLERANCE = 0.0001
_GAIN = 0.1  # percent by which a setting must beat the best one
_Similarity = Callable[..., tuple[np.ndarray, float]]


def rws_GenFea(
    file_dir: str | os.PathLike,
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
        ``user_test_dtw_time``: seconds, all of them elapsed time.

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
    ...     _ = (folder / f"Two_{part}").write_text("1 0 1 0\n2 1 0 1\n")
    >>> Train, Test, _ = rws_GenFea(folder.parent, "Two", 1.0, 4, 1, 3)
    >>> Train.shape, Train[:, 0]
    ((2, 5), array([1., 2.]))
    """
    train, test = (_ucr(file_dir, filename, part) for part in ("TRAIN", "TEST"))
    similarity = partial(dtw_similarity_cell, n_threads=n_threads)
    return _features_of(train, test, similarity, sigma, R, DMin, DMax)


def rws_GenFea_mulvar(
    file_dir: str | os.PathLike,
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
    train, test = (_mat(file_dir, filename, part) for part in ("train", "test"))
    similarity = partial(dtw_similarity_cell_mulvar, n_threads=n_threads)
    return _features_of(train, test, similarity, sigma, R, DMin, DMax)


def rws_gridsearch_CV(
    file_dir: str | os.PathLike,
    filename: str,
    *,
    DMin: int = 1,
    DMax_list: Sequence[int] = DMAX_LIST,
    sigma_list: Sequence[float] = SIGMA_LIST,
    R: int = 128,
    CV: int = 10,
    lambda_inverse: Sequence[float] = LAMBDA_INVERSE,
    solver: str = "trust-region",
    save_dir: str | os.PathLike | None = None,
    n_threads: int | None = None,
    progress: bool = False,
) -> Struct:
    r"""Search DMax, sigma and C by cross-validation: the script of that name, univariate series.

    The order of the training series is drawn from the stream of `matlab_compat.rng`, which must
    have been called; as in the script, it starts anew before each setting's random series. The
    folds are runs of the shuffled series; a setting wins if its mean accuracy is more than 0.1
    percent above the best one so far. What cannot win any more is not computed to its end, which
    changes nothing in the result.

    Parameters
    ----------
    file_dir, filename : str or path, str
        Reads file_dir/filename/filename_TRAIN.
    DMin : int, default 1
        Shortest random series.
    DMax_list : sequence of int
        Longest random series to try; 5, 10, ..., 100.
    sigma_list : sequence of float
        The random values are randn / sigma; 23 values from 0.001 to 1000.
    R : int, default 128
        Random series.
    CV : int, default 10
        Folds.
    lambda_inverse : sequence of float
        Values of LIBLINEAR's C to try; 1e-5, 1e-4, ..., 1e5.
    solver : {"trust-region", "line-search"}
        Newton method of LIBLINEAR ``-s 2 -e 0.0001``: that of its versions before 2.40, which the
        authors had, or that of the later ones (from liblinear-official). On features of badly
        fitting scales the two stop at different models, the second late.
    save_dir : str or path, optional
        Folder for ``filename_rws_R128_10fold_CV.mat`` with `info`; None writes nothing.
    n_threads : int, optional
        Threads; None for all.
    progress : bool, default False
        Show a progress bar (on a terminal only).

    Returns
    -------
    Struct
        `info` with the script's fields: ``aveAccu_best``, the history of winners
        (``valAccuHist``, ``DMaxHist``, ``sigmaHist``, ``lambda_invHist``), ``valAccu``,
        ``stdAccu``, ``telapsed_fea_gen``, ``telapsed_liblinear``, ``runtime``, ``sigma``, ``R``,
        ``DMin``, ``DMax``, ``lambda_inverse``.

    Raises
    ------
    OSError
        A file cannot be read or written.
    RuntimeError
        `rng` was not called yet.
    TypeError, ValueError
        Files of another form, parameters out of range.
    KeyboardInterrupt
        On Ctrl-C, within a second.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp(), "Two")
    >>> folder.mkdir()
    >>> _ = (folder / "Two_TRAIN").write_text("1 0 1 0\n2 1 0 1\n" * 5)
    >>> _ = random.rng("default")
    >>> info = rws_gridsearch_CV(folder.parent, "Two", DMax_list=[3], sigma_list=[1], R=8, CV=5)
    >>> info.aveAccu_best, info.DMax
    (100.0, 3.0)
    """
    objects, labels = _ucr(file_dir, filename, "TRAIN")
    similarity = partial(dtw_similarity_cell, n_threads=n_threads)
    return _grid_search(
        filename, objects, labels, similarity, DMin, DMax_list, sigma_list, R, CV, lambda_inverse,
        solver, save_dir, n_threads, progress,
    )  # fmt: skip


def rws_gridsearch_CV_mulvar(
    file_dir: str | os.PathLike,
    filename: str,
    *,
    DMin: int = 1,
    DMax_list: Sequence[int] = DMAX_LIST,
    sigma_list: Sequence[float] = SIGMA_LIST,
    R: int = 32,
    CV: int = 10,
    lambda_inverse: Sequence[float] = LAMBDA_INVERSE,
    solver: str = "trust-region",
    save_dir: str | os.PathLike | None = None,
    n_threads: int | None = None,
    progress: bool = False,
) -> Struct:
    """Search DMax, sigma and C by cross-validation, as `rws_gridsearch_CV`; several channels.

    Parameters
    ----------
    file_dir, filename : str or path, str
        Reads train_X and train_Y from file_dir/filename/filename.mat.
    DMin : int, default 1
        Shortest random series.
    DMax_list : sequence of int
        Longest random series to try; 5, 10, ..., 100.
    sigma_list : sequence of float
        The random values are randn / sigma; 23 values from 0.001 to 1000.
    R : int, default 32
        Random series.
    CV : int, default 10
        Folds.
    lambda_inverse : sequence of float
        Values of LIBLINEAR's C to try; 1e-5, 1e-4, ..., 1e5.
    solver : {"trust-region", "line-search"}
        Newton method of LIBLINEAR ``-s 2 -e 0.0001``: that of its versions before 2.40, which the
        authors had, or that of the later ones (from liblinear-official). On features of badly
        fitting scales the two stop at different models, the second late.
    save_dir : str or path, optional
        Folder for ``filename_rws_R32_10fold_CV.mat`` with `info`; None writes nothing.
    n_threads : int, optional
        Threads; None for all.
    progress : bool, default False
        Show a progress bar (on a terminal only).

    Returns
    -------
    Struct
        `info`, see `rws_gridsearch_CV`.

    Raises
    ------
    OSError
        A file cannot be read or written.
    RuntimeError
        `rng` was not called yet.
    TypeError, ValueError
        A file of another form, parameters out of range.
    KeyboardInterrupt
        On Ctrl-C, within a second.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from d2ke.io import save_mat
    >>> folder = pathlib.Path(tempfile.mkdtemp(), "two")
    >>> folder.mkdir()
    >>> X, Y = [np.zeros((3, 5)), np.ones((3, 8))] * 5, np.array([[1.0], [2.0]] * 5)
    >>> save_mat(folder / "two.mat", {"train_X": X, "train_Y": Y})
    >>> _ = random.rng("default")
    >>> grid = {"DMax_list": [3], "sigma_list": [1.0], "lambda_inverse": [10.0]}
    >>> rws_gridsearch_CV_mulvar(folder.parent, "two", R=8, CV=5, **grid).aveAccu_best
    100.0
    """
    objects, labels = _mat(file_dir, filename, "train")
    similarity = partial(dtw_similarity_cell_mulvar, n_threads=n_threads)
    return _grid_search(
        filename, objects, labels, similarity, DMin, DMax_list, sigma_list, R, CV, lambda_inverse,
        solver, save_dir, n_threads, progress,
    )  # fmt: skip


def rws_VaryingR_CV(
    file_dir: str | os.PathLike,
    filename: str,
    sigma: float,
    DMax: int,
    lambda_inverse: float,
    *,
    DMin: int = 1,
    R_list: Sequence[int] = R_LIST,
    solver: str = "trust-region",
    save_dir: str | os.PathLike | None = None,
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
        Newton method of LIBLINEAR ``-s 2 -e 0.0001``: that of its versions before 2.40, which the
        authors had, or that of the later ones (from liblinear-official). On features of badly
        fitting scales the two stop at different models, the second late.
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
    ...     _ = (folder / f"Two_{part}").write_text("1 0 1 0\n2 1 0 1\n")
    >>> rws_VaryingR_CV(folder.parent, "Two", 1.0, 3, 10.0, R_list=[4, 16]).Accu_best
    array([[100., 100.],
           [100., 100.]])
    """
    generate = partial(rws_GenFea, file_dir, filename, n_threads=n_threads)
    return _varying_R(
        generate, filename, sigma, DMin, DMax, lambda_inverse, R_list, solver, save_dir
    )


def rws_VaryingR_CV_mulvar(
    file_dir: str | os.PathLike,
    filename: str,
    sigma: float,
    DMax: int,
    lambda_inverse: float,
    *,
    DMin: int = 1,
    R_list: Sequence[int] = R_LIST_MULVAR,
    solver: str = "trust-region",
    save_dir: str | os.PathLike | None = None,
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
        Newton method of LIBLINEAR ``-s 2 -e 0.0001``: that of its versions before 2.40, which the
        authors had, or that of the later ones (from liblinear-official). On features of badly
        fitting scales the two stop at different models, the second late.
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
    generate = partial(rws_GenFea_mulvar, file_dir, filename, n_threads=n_threads)
    return _varying_R(
        generate, filename, sigma, DMin, DMax, lambda_inverse, R_list, solver, save_dir
    )


_Trainer = Callable[[np.ndarray, np.ndarray, float], Callable[[np.ndarray], np.ndarray]]


def _trainer(solver: str) -> _Trainer:
    """Return train(y, F, C), which returns predict(F)."""
    choice("solver", solver, ("trust-region", "line-search"))
    solve = _trust_region if solver == "trust-region" else _line_search

    def train(y: np.ndarray, F: np.ndarray, C: float) -> Callable[[np.ndarray], np.ndarray]:
        if np.ptp(y) == 0:  # a fold may leave one class only
            return lambda Z: np.full(len(Z), y[0])
        return solve(y, F, C)

    return train


@contextmanager
def _as_quiet_as_q() -> Iterator[None]:
    """Keep back what is said of models that stop early, as LIBLINEAR's option -q does.

    The grid has many of them on purpose. Set by the thread that waits for the others.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="LIBLINEAR -s 2 stopped")
        yield


def _line_search(y: np.ndarray, F: np.ndarray, C: float) -> Callable[[np.ndarray], np.ndarray]:
    model = liblinear.train(y, F, f"-s 2 -e {_TOLERANCE} -q -c {C:.17g}", n_threads=1)
    return lambda Z: linear_model.predict(None, Z, model)[0]


def _trust_region(y: np.ndarray, F: np.ndarray, C: float) -> Callable[[np.ndarray], np.ndarray]:
    classes, codes = np.unique(y, return_inverse=True)
    F = np.ascontiguousarray(F)
    W = []
    for signs in linear_model.one_vs_rest_signs(codes, len(classes)).T.copy():
        positive_rows = np.count_nonzero(signs > 0)
        smaller = min(positive_rows, len(signs) - positive_rows)
        W.append(trust_region.fit(F, signs, C, _TOLERANCE * smaller / len(signs)))

    def predict(Z: np.ndarray) -> np.ndarray:
        values = np.einsum("ij,kj->ik", Z, np.array(W))
        return classes[(values[:, 0] > 0).astype(int) if len(W) == 1 else values.argmax(axis=1)]

    return predict


def _ucr(file_dir: Any, filename: str, part: str) -> tuple[Objects, np.ndarray]:
    return read_ucr(Path(file_dir, filename, f"{filename}_{part}"))


def _mat(file_dir: Any, filename: str, part: str) -> tuple[Objects, np.ndarray]:
    names = [f"{part}_X", f"{part}_Y"]
    data = load_mat(Path(file_dir, filename, f"{filename}.mat"), names)
    X, y = series_cell(names[0], data[names[0]]), vector(names[1], data[names[1]])
    if y.dtype.kind not in "biuf" or len(y) != len(X):
        raise ValueError(
            f"{names[1]} must hold one number for each of the {len(X)} series of {names[0]}, got "
            f"{len(y)} of {y.dtype}"
        )
    return X, y


def _random_series(d: int, sigma: float, R: int, DMin: int, DMax: int) -> Objects:
    lengths = length_range("(DMin, DMax)", (whole("DMin", DMin), whole("DMax", DMax)))
    sigma, R = positive("sigma", sigma), whole("R", R, 1)
    random.rng("default")
    stream = random.global_stream()
    return random_series(R, d, length=lengths, sigma=1 / sigma, seed=stream)


def _features_of(
    train: tuple[Objects, np.ndarray],
    test: tuple[Objects, np.ndarray],
    similarity: _Similarity,
    sigma: float,
    R: int,
    DMin: int,
    DMax: int,
) -> tuple[np.ndarray, np.ndarray, Struct]:
    started = time.perf_counter()
    base = _random_series(train[0].dim, sigma, R, DMin, DMax)
    R = len(base)
    tables, seconds = [], []
    for X, y in (train, test):
        K, elapsed = similarity(X, base)
        tables.append(np.hstack([column(y).astype(np.float64), K / np.sqrt(R)]))
        seconds.append(elapsed)
    runtime = Struct(
        real_total_dtw_time=time.perf_counter() - started,
        user_dtw_time=sum(seconds),
        user_train_dtw_time=seconds[0],
        user_test_dtw_time=seconds[1],
    )
    return tables[0], tables[1], runtime


def _uniform_labels(y: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Replace the labels by 1, 2, ..., k; by -1 and 1 if there are two."""
    if len(labels) > 2:
        numbers = np.arange(1.0, len(labels) + 1)
    else:
        numbers = np.array([-1.0, 1.0])[: len(labels)]
    unknown = ~np.isin(y, labels)
    if unknown.any():
        i = int(np.argmax(unknown))
        raise ValueError(f"y[{i}] is {y[i]}, a class without training series")
    return numbers[np.searchsorted(labels, y)]


def _folds(n: int, CV: int) -> Iterator[slice]:
    """Give the runs of 1:n; the first mod(n, CV) of them are one longer."""
    size, longer = divmod(n, CV)
    start = 0
    for fold in range(CV):
        stop = start + size + (fold < longer)
        yield slice(start, stop)
        start = stop


def _grid_search(
    filename: str,
    objects: Objects,
    labels: np.ndarray,
    similarity: _Similarity,
    DMin: int,
    DMax_list: Sequence[int],
    sigma_list: Sequence[float],
    R: int,
    CV: int,
    lambda_inverse: Sequence[float],
    solver: str,
    save_dir: str | os.PathLike | None,
    n_threads: int | None,
    progress: bool,
) -> Struct:
    n, R, CV = len(objects), whole("R", R, 1), whole("CV", CV)
    DMax_list = [whole(name, DMax, 1) for name, DMax in _values("DMax_list", DMax_list)]
    sigma_list = [positive(name, sigma) for name, sigma in _values("sigma_list", sigma_list)]
    lambda_inverse = [positive(name, C) for name, C in _values("lambda_inverse", lambda_inverse)]
    if not 2 <= CV <= n:
        raise ValueError(f"CV must be from 2 to the number of training series, {n}; got {CV}")
    train = _trainer(solver)
    info = Struct(aveAccu_best=0.0)
    history = Struct(valAccuHist=[], DMaxHist=[], sigmaHist=[], lambda_invHist=[])
    settings = [(DMax, sigma) for DMax in DMax_list for sigma in sigma_list]

    def accuracies(y: np.ndarray, F: np.ndarray, C: float, best: float) -> np.ndarray | None:
        """Return each fold's percent and seconds; None once the mean cannot exceed `best`."""
        results = np.full((CV, 2), 100.0)
        for k, fold in enumerate(_folds(n, CV)):
            started = time.perf_counter()
            rest = np.r_[0 : fold.start, fold.stop : n]
            correct = train(y[rest], F[rest], C)(F[fold]) == y[fold]
            results[k] = 100 * np.mean(correct), time.perf_counter() - started
            if results[:, 0].mean() <= best:
                return None
        return results

    with _as_quiet_as_q(), worker_pool(n_threads) as pool:
        for DMax, sigma in stages(settings, "settings", progress):
            started = time.perf_counter()
            order = random.randperm(n)[0].astype(np.int64) - 1
            y = _uniform_labels(labels[order], np.unique(labels))
            base = _random_series(objects.dim, sigma, R, DMin, DMax)
            F = similarity(objects[order], base)[0] / np.sqrt(R)
            for_features = time.perf_counter() - started
            best = info.aveAccu_best + _GAIN
            runs = [pool.submit(accuracies, y, F, C, best) for C in lambda_inverse]
            for C, run in zip(lambda_inverse, runs, strict=True):
                results = run.result()
                if results is None or results[:, 0].mean() <= info.aveAccu_best + _GAIN:
                    continue
                percents, for_liblinear = results[:, 0], float(results[-1, 1])
                for name, value in (
                    ("valAccuHist", percents),
                    ("DMaxHist", [float(DMax)]),
                    ("sigmaHist", [float(sigma)]),
                    ("lambda_invHist", [float(C)]),
                ):
                    history[name].append(value)
                info.update(
                    valAccu=percents[np.newaxis],
                    aveAccu_best=float(percents.mean()),
                    stdAccu=float(percents.std(ddof=1)),
                    telapsed_fea_gen=for_features,
                    telapsed_liblinear=for_liblinear,
                    runtime=for_features + for_liblinear,
                    sigma=float(sigma),
                    R=float(R),
                    DMin=float(whole("DMin", DMin)),
                    DMax=float(DMax),
                    lambda_inverse=float(C),
                )
            if info.aveAccu_best + _GAIN >= 100:
                # No later setting can win. The stream ends where the last one would leave it.
                _random_series(objects.dim, sigma_list[-1], R, DMin, DMax_list[-1])
                break
    past = {name: np.array(rows) if rows else np.empty((0, 0)) for name, rows in history.items()}
    info = Struct({"aveAccu_best": info.pop("aveAccu_best")} | past | info)
    _save(save_dir, f"{filename}_rws_R{R}_{CV}fold_CV.mat", info)
    return info


def _varying_R(
    generate: Callable[..., tuple[np.ndarray, np.ndarray, Struct]],
    filename: str,
    sigma: float,
    DMin: int,
    DMax: int,
    lambda_inverse: float,
    R_list: Sequence[int],
    solver: str,
    save_dir: str | os.PathLike | None,
) -> Struct:
    rows, train = [], _trainer(solver)
    R_list = [whole(name, R, 1) for name, R in _values("R_list", R_list)]
    lambda_inverse = positive("lambda_inverse", lambda_inverse)
    for R in R_list:
        Train, Test, runtime = generate(sigma, R, DMin, DMax)
        started = time.perf_counter()
        labels = np.unique(Train[:, 0])
        parts = [(_uniform_labels(part[:, 0], labels), part[:, 1:]) for part in (Train, Test)]
        with _as_quiet_as_q():
            predict = train(*parts[0], lambda_inverse)
        percents = [100 * np.mean(predict(F) == y) for y, F in parts]
        seconds = time.perf_counter() - started
        rows.append([*percents, runtime.real_total_dtw_time, runtime.user_dtw_time, seconds])
    table = np.array(rows).reshape(-1, 5).T
    info = Struct(
        Accu_best=table[:2],
        real_total_dtw_time=table[2:3],
        real_user_dtw_time=table[3:4],
        telapsed_liblinear=table[4:],
        R=np.array([R_list], dtype=np.float64),
        DMin=float(whole("DMin", DMin)),
        DMax=float(whole("DMax", DMax)),
        sigma=positive("sigma", sigma),
        lambda_inverse=lambda_inverse,
    )
    _save(save_dir, f"{filename}_rws_VaryingR_CV_R128.mat", info)
    return info


def _values(name: str, given: Any) -> list[tuple[str, Any]]:
    """Return the values of a list, each with its name."""
    values = np.atleast_1d(np.asarray(given)).reshape(-1)
    if not values.size:
        raise ValueError(f"{name} is empty: at least one value is needed")
    return [(f"{name}[{i}]", value) for i, value in enumerate(values)]


def _save(folder: str | os.PathLike | None, name: str, info: Struct) -> None:
    if folder is not None:
        save_mat(Path(folder, name), {"info": info})
