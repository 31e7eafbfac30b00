# SPDX-License-Identifier: BSD-3-Clause
"""Random Warping Series by the names of the authors' MATLAB code: the search of the settings."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from d2ke._base.errors import ArgumentError
from d2ke._base.keywords import hinted
from d2ke._base.progress import stages
from d2ke._base.threads import result_of, worker_pool
from d2ke.io import save_mat
from matlab_compat import random
from matlab_compat._cells import Struct, positive, whole
from matlab_compat._newton_solvers import Trainer, quiet, trainer, uniform_labels
from matlab_compat.rws_features import Multivariate, RandomSeries, Univariate

DMAX_LIST = tuple(range(5, 101, 5))
SIGMA_LIST = (
    1e-3, 3e-3, 1e-2, 3e-2, 0.10, 0.14, 0.19, 0.28, 0.39, 0.56, 0.79, 1.12,
    1.58, 2.23, 3.16, 4.46, 6.30, 8.91, 10, 31.62, 1e2, 3e2, 1e3,
)  # fmt: skip
LAMBDA_INVERSE = tuple(10.0**k for k in range(-5, 6))


@hinted
def rws_gridsearch_CV(
    file_dir: str | os.PathLike[str],
    filename: str,
    *,
    DMin: int = 1,
    DMax_list: Sequence[int] = DMAX_LIST,
    sigma_list: Sequence[float] = SIGMA_LIST,
    R: int = 128,
    CV: int = 10,
    lambda_inverse: Sequence[float] = LAMBDA_INVERSE,
    solver: str = "trust-region",
    save_dir: str | os.PathLike[str] | None = None,
    n_threads: int | None = None,
    progress: bool | None = None,
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
        Newton method of LIBLINEAR ``-s 2 -e 0.0001``: of its versions before 2.40, which the
        authors had, or of later versions (from liblinear-official). On features of badly
        fitting scales the two stop at different models, the second late.
    save_dir : str or path, optional
        Folder for ``filename_rws_R128_10fold_CV.mat`` with `info`; None writes nothing.
    n_threads : int, optional
        Threads; None for all.
    progress : bool, optional
        Whether to show progress; by default on a terminal or in a notebook, where work takes more
        than two seconds.

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
    >>> _ = (folder / "Two_TRAIN").write_text("1 0 1 0\n2 1 0 1\n" * 5, "utf-8")
    >>> from matlab_compat import rng
    >>> _ = rng("default")
    >>> info = rws_gridsearch_CV(folder.parent, "Two", DMax_list=[3], sigma_list=[1], R=8, CV=5)
    >>> info.aveAccu_best, info.DMax
    (100.0, 3.0)
    """
    grid = _Grid(DMin, DMax_list, sigma_list, R, CV, lambda_inverse, solver)
    source = Univariate(file_dir, filename, n_threads)
    return _grid_search(source, grid, save_dir, progress)


@hinted
def rws_gridsearch_CV_mulvar(
    file_dir: str | os.PathLike[str],
    filename: str,
    *,
    DMin: int = 1,
    DMax_list: Sequence[int] = DMAX_LIST,
    sigma_list: Sequence[float] = SIGMA_LIST,
    R: int = 32,
    CV: int = 10,
    lambda_inverse: Sequence[float] = LAMBDA_INVERSE,
    solver: str = "trust-region",
    save_dir: str | os.PathLike[str] | None = None,
    n_threads: int | None = None,
    progress: bool | None = None,
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
        As `rws_gridsearch_CV`.
    save_dir : str or path, optional
        Folder for ``filename_rws_R32_10fold_CV.mat`` with `info`; None writes nothing.
    n_threads : int, optional
        Threads; None for all.
    progress : bool, optional
        Whether to show progress; by default on a terminal or in a notebook, where work takes more
        than two seconds.

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
    >>> from matlab_compat import rng
    >>> _ = rng("default")
    >>> grid = {"DMax_list": [3], "sigma_list": [1.0], "lambda_inverse": [10.0]}
    >>> rws_gridsearch_CV_mulvar(folder.parent, "two", R=8, CV=5, **grid).aveAccu_best
    100.0
    """
    grid = _Grid(DMin, DMax_list, sigma_list, R, CV, lambda_inverse, solver)
    source = Multivariate(file_dir, filename, n_threads)
    return _grid_search(source, grid, save_dir, progress)


class _Grid(NamedTuple):
    """The settings that a search tries, by the names of the script's variables."""

    DMin: Any
    DMax_list: Any
    sigma_list: Any
    R: Any
    CV: Any
    lambda_inverse: Any
    solver: str

    def checked(self, n: int) -> _Grid:
        """Return the same settings as Python's numbers, or raise; n is the number of series."""
        R, CV = whole("R", self.R, 1), whole("CV", self.CV)
        DMax = [whole(name, D, 1) for name, D in entries("DMax_list", self.DMax_list)]
        sigma = [positive(*entry) for entry in entries("sigma_list", self.sigma_list)]
        C = [positive(*entry) for entry in entries("lambda_inverse", self.lambda_inverse)]
        if not 2 <= CV <= n:
            raise ArgumentError(
                "CV", f"must be from 2 to the number of training series, {n}; got {CV}"
            )
        return _Grid(self.DMin, DMax, sigma, R, CV, C, self.solver)


def _grid_search(
    source: Univariate, grid: _Grid, save_dir: str | os.PathLike[str] | None, progress: bool | None
) -> Struct:
    objects, labels = source.read("train")
    grid = grid.checked(len(objects))
    train = trainer(grid.solver)
    classes = np.unique(labels)
    info = Struct(aveAccu_best=0.0)
    history = Struct(valAccuHist=[], DMaxHist=[], sigmaHist=[], lambda_invHist=[])
    settings = [(DMax, sigma) for DMax in grid.DMax_list for sigma in grid.sigma_list]
    min_gain = 0.1  # percent by which a setting must beat the best one
    with quiet(), worker_pool(source.n_threads) as pool:
        for DMax, sigma in stages(settings, "settings", progress):
            started = time.perf_counter()
            order = random.randperm(len(objects))[0].astype(np.int64) - 1
            y = uniform_labels(labels[order], classes)
            base = RandomSeries(sigma, grid.DMin, DMax).draw(grid.R, objects.dim)
            F = source.features(objects[order], base)[0]
            for_features = time.perf_counter() - started
            best = info.aveAccu_best + min_gain
            runs = [
                pool.submit(_accuracies, train, y, F, C, grid.CV, best) for C in grid.lambda_inverse
            ]
            for C, run in zip(grid.lambda_inverse, runs, strict=True):
                results = result_of(run)
                if results is None or results[:, 0].mean() <= info.aveAccu_best + min_gain:
                    continue
                percents, for_liblinear = results[:, 0], float(results[-1, 1])
                winner = (percents, [float(DMax)], [float(sigma)], [float(C)])
                for past, value in zip(history.values(), winner, strict=True):
                    past.append(value)
                info.update(
                    valAccu=percents[np.newaxis],
                    aveAccu_best=float(percents.mean()),
                    stdAccu=float(percents.std(ddof=1)),
                    telapsed_fea_gen=for_features,
                    telapsed_liblinear=for_liblinear,
                    runtime=for_features + for_liblinear,
                    sigma=float(sigma),
                    R=float(grid.R),
                    DMin=float(whole("DMin", grid.DMin)),
                    DMax=float(DMax),
                    lambda_inverse=float(C),
                )
            if info.aveAccu_best + min_gain >= 100:
                # No later setting can win. The stream ends where the last one would leave it.
                last = RandomSeries(grid.sigma_list[-1], grid.DMin, grid.DMax_list[-1])
                last.draw(grid.R, objects.dim)
                break
    past = {name: np.array(rows) if rows else np.empty((0, 0)) for name, rows in history.items()}
    info = Struct({"aveAccu_best": info.pop("aveAccu_best")} | past | info)
    save(save_dir, f"{source.filename}_rws_R{grid.R}_{grid.CV}fold_CV.mat", info)
    return info


def _accuracies(
    train: Trainer, y: np.ndarray, F: np.ndarray, C: float, CV: int, best: float
) -> np.ndarray | None:
    """Return each fold's percent and seconds; None once the mean cannot exceed `best`."""
    results = np.full((CV, 2), 100.0)
    # Runs of 1:n; the first mod(n, CV) runs are one longer.
    for k, fold in enumerate(np.array_split(np.arange(len(y)), CV)):
        started = time.perf_counter()
        rest = np.delete(np.arange(len(y)), fold)
        correct = train(y[rest], F[rest], C)(F[fold]) == y[fold]
        results[k] = 100 * np.mean(correct), time.perf_counter() - started
        if results[:, 0].mean() <= best:
            return None
    return results


def entries(name: str, values: Any) -> list[tuple[str, Any]]:
    """Return the values of a list, each with its name."""
    array = np.atleast_1d(np.asarray(values)).reshape(-1)
    if not array.size:
        raise ArgumentError(name, "is empty: at least one value is needed")
    return [(f"{name}[{i}]", value) for i, value in enumerate(array)]


def save(folder: str | os.PathLike[str] | None, name: str, info: Struct) -> None:
    """Write `info` to a file of the folder, unless that is None."""
    if folder is not None:
        save_mat(Path(folder, name), {"info": info})
