# SPDX-License-Identifier: BSD-3-Clause
"""Choice of parameters on training objects by cross-validation: `search`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import LowLevelCallable

from d2ke._base import arrays, labels
from d2ke._base.blas import one_blas_thread
from d2ke._base.checks import byte_count, choice, file_path, integer
from d2ke._base.memory import check_limit, require_memory
from d2ke._base.progress import stages
from d2ke._base.threads import thread_count
from d2ke.distances.blocks import description, prepared_bytes
from d2ke.distances.fingerprint import digest, sequence_digest
from d2ke.distances.matrix import distance_matrix, fill
from d2ke.distances.output import Output
from d2ke.distances.pairs import check_pairs
from d2ke.distances.problem import Caller, Quantity
from d2ke.distances.registry import check_parameters, find_distance
from d2ke.embedding.gram import dsk_gram
from d2ke.embedding.pseudo_euclidean import gdk_led
from d2ke.io import FeatureFile, open_features
from d2ke.io.store.rows import RowSource, StoredRows
from d2ke.learners.libsvm import cache_bytes
from d2ke.model_selection.candidates import (
    median_unit,
    search_features,
    search_gram,
    search_neighbors,
    search_vectors,
)
from d2ke.model_selection.cost import Load, gram_bytes
from d2ke.model_selection.folder import SearchFolder, store_names
from d2ke.model_selection.grids import GRIDS, either, merged_grid, sampler_draws
from d2ke.model_selection.result import Search, show
from d2ke.objects.container import Objects, check_compatible
from d2ke.objects.packing import pack


def search(
    X: Any,
    y: Any,
    method: str = "d2ke",
    *,
    distance: Any,
    sampler: Callable[..., Any] | None = None,
    grid: Mapping[str, Sequence] | None = None,
    within: Any = None,
    folder: str | os.PathLike | None = None,
    max_memory: int | str | None = None,
    n_folds: int = 10,
    seed: int = 0,
    n_threads: int | None = None,
    progress: bool = False,
    **params: Any,
) -> Search:
    """Choose the parameters of a method on training objects by stratified k-fold cross-validation.

    Distances are computed once for each p(omega); every gamma, scaling, R (the first columns), C
    and fold is derived from them.

    Parameters
    ----------
    X : Objects or what `pack` takes
        n training objects; with a Python callable as distance, a sequence of anything.
    y : sequence of length n
        Their labels.
    method : {"d2ke", "rsm", "knn", "dsk_rbf", "dsk_nd", "gdk_led"}
        ``"d2ke"``, ``"rsm"``: linear classifiers on features of distances to random objects, or
        to training objects. ``"knn"``: nearest neighbours. ``"dsk_rbf"``, ``"dsk_nd"``: support
        vector machines with the kernels of `dsk_gram`. ``"gdk_led"``: linear classifiers on the
        pseudo-Euclidean embedding.
    distance : str, callable or scipy.LowLevelCallable
        As for `distance_matrix`.
    sampler : callable
        For ``"d2ke"``: ``sampler(R, seed=seed, **parameters)`` draws R random objects, the first
        of which do not depend on R; ``functools.partial(d2ke.random_strings, alphabet="ACGT")``
        is one, ``functools.partial(d2ke.markov_strings, X=X)`` another. One that is made from X
        knows the objects of the folds that are left out, though not their labels.
    grid : mapping of str to sequence, optional
        Values to try, in all combinations; what is left out has a default. Each value of a range
        is a range: ``{"length": [(2, 20), (2, 50)]}``.

        - ``"d2ke"``: the sampler's parameters, such as ``length`` and ``sigma``, and those of
          ``"rsm"``
        - ``"rsm"``: ``R``; ``scaling`` ("standard": every feature gets mean 0 and the same
          deviation; "center": mean 0; "none"), fitted on the training objects; ``gamma``; ``C``;
          ``loss`` of the model ("squared", "squared_hinge": see `train_classifier`)
        - ``"knn"``: ``k``
        - ``"dsk_rbf"``: ``gamma``, ``C``; ``"dsk_nd"``: ``beta``, ``C``
        - ``"gdk_led"``: ``R``, ``C``, ``loss``

        Settings are compared by the squared loss, for which all C and folds follow from one
        eigendecomposition; the best one is then tried with the squared hinge loss and a few C on
        either side of its own. With both losses, the default, the better one is chosen.

        ``gamma_scale`` instead of ``gamma`` is in units of 1 / (median distance), for
        ``"dsk_rbf"`` of 1 / (median distance)^2. ``C_scale`` instead of ``C``, for ``"dsk_nd"``
        and ``"gdk_led"``, is in units of 1 / (median distance)^beta, and of 1 / (mean squared
        length of the vectors).
    within : ndarray of shape (n, n), path or FeatureFile, optional
        The distances among the training objects where they are known already, for all methods
        but ``"d2ke"`` and ``"rsm"``; X is not looked at then. Those of a feature store are read
        by blocks for ``"knn"``; the other methods want them in memory.
    folder : path, optional
        For ``"d2ke"`` and ``"rsm"``: where to keep the distances, a feature store for each
        p(omega), of which blocks are read, and a journal of what was found. The same call goes
        on with a search that was interrupted; one with other arguments is refused.
    max_memory : int or str, optional
        Bytes that the search may take, such as ``"512MiB"`` or ``"1GB"``, packed objects
        included (`within` only if it is a file). What takes more is refused before it starts.
    n_folds : int
        Number of folds, 2 to n.
    seed : int
        Of the folds and of the random objects.
    n_threads : int, optional
        Threads; None for all that this process may use.
    progress : bool
        Show a progress bar (on a terminal only).
    **params
        Parameters of the distance.

    Returns
    -------
    Search
        Its `parameters` have absolute values of gamma and C. Print it, `save` it, `plot` it; a
        model of them is trained by `Scaling` and `train_classifier` (``"d2ke"``, ``"rsm"``),
        `train_classifier` (``"gdk_led"``), `svmtrain` or `knn_predict`.

    Raises
    ------
    TypeError
        If ``"d2ke"`` has no sampler, or an argument is of a wrong type.
    ValueError
        If a name in `grid` is unknown for the method (and to the sampler) or has no values, there
        is one class only, lengths differ, or a value is out of range; too small a `max_memory`;
        a `folder` of a search with other arguments, which are named.
    MemoryError
        If the call would take more than there is; see docs/memory.md.
    OSError
        If files in `folder` cannot be written, or another search writes to it.
    KeyboardInterrupt
        On Ctrl-C, within a second.

    Notes
    -----
    Squared losses are compared by blocks of the hat matrix, n / n_folds rows each, or by sums of
    products of all features over each fold: whichever takes fewer operations, with the same
    results to rounding. The same call with and without `folder` goes the same way and finds the
    same, unless `max_memory` leaves room for the other way only.

    References
    ----------
    Wu, Yen, Xu, Ravikumar, Witbrock, "D2KE: From Distance to Kernel and Embedding", 2018,
    section 5.

    Examples
    --------
    >>> from functools import partial
    >>> import d2ke
    >>> words = ["aabab", "abaab", "aaba", "babaa", "bcbcc", "ccbcb", "cbbcc", "bccb"]
    >>> result = d2ke.search(words, ["ab"] * 4 + ["bc"] * 4, distance="levenshtein",
    ...                      sampler=partial(d2ke.random_strings, alphabet="abc"),
    ...                      grid={"length": [(1, 3), (4, 6)], "R": [32], "C": [1.0]}, n_folds=4)
    >>> list(result.parameters)
    ['length', 'R', 'scaling', 'gamma', 'C', 'loss']
    """
    choice("method", method, GRIDS)
    codes = labels.encode_classes("y", y)[1]
    limit = None if max_memory is None else byte_count("max_memory", max_memory)
    if folder is not None:
        folder = file_path("folder", folder)
        if method not in ("d2ke", "rsm"):
            raise ValueError(
                f"folder has no meaning for method {method!r}, but within may be a file"
            )
        if folder.exists() and not folder.is_dir():
            raise NotADirectoryError(f"folder is to be a folder, but {folder} is a file")
    if within is not None and method in ("d2ke", "rsm"):
        raise ValueError(f"within has no meaning for method {method!r}")
    plain = callable(distance)
    if not plain and not isinstance(distance, LowLevelCallable):
        check_parameters(find_distance(distance), params)
    if within is None:
        X = X if plain else pack(X, name="X")
        if len(codes) != len(X):
            raise ValueError(f"y has {len(codes)} labels, but X has {len(X)} objects")
    values = merged_grid(method, grid)
    given = frozenset(grid or ())
    folds = {
        "n_folds": integer("n_folds", n_folds, 2, len(codes)),
        "seed": integer("seed", seed, 0),
    }
    fit = {"n_threads": n_threads, **folds}
    started = time.perf_counter()
    with one_blas_thread():
        if method in ("d2ke", "rsm"):
            if method == "rsm" and "R" not in given:
                values["R"] = tuple(min(R, len(X)) for R in values["R"])
            draws = list(sampler_draws(method, X, sampler, values, seed))
            found = _search_omegas(
                X, codes, method, distance, draws, values, fit, folder, limit, progress, params
            )
        else:
            n = len(codes)
            if method == "gdk_led" and "R" not in given:
                values["R"] = tuple(min(R, n) for R in values["R"])
            in_file = isinstance(within, (str, os.PathLike, FeatureFile))
            stored_by_rows = in_file and method == "knn"
            what = f"method {method!r} with {n} objects"
            _require_memory(
                method, within, codes, folds["n_folds"], max(values.get("R", (1,))),
                thread_count(n_threads), 0 if within is not None else prepared_bytes(distance, X),
            )  # fmt: skip
            if not isinstance(within, np.ndarray):
                matrix = 0 if stored_by_rows else 8 * n**2
                needed = matrix + gram_bytes(method, n, thread_count(n_threads))
                check_limit(limit, needed + _held(X if within is None else None), what)
            if in_file:
                within = _stored_distances(within, n, whole=not stored_by_rows)
            elif within is None:
                within = distance_matrix(
                    X, None, distance, n_threads=n_threads, progress=progress, **params
                )
            else:
                check_limit(limit, gram_bytes(method, n, thread_count(n_threads)), what)
                within = arrays.matrix("within", within, infinite=method in ("knn", "dsk_rbf"))
                _check_square(within.shape, n)
                arrays.check_distances("within", within)
            # Not every default suits a small training part.
            if method == "knn":
                if "k" not in given:
                    most = n - -(-n // n_folds)
                    values["k"] = tuple(k for k in values["k"] if k <= most)
                found = search_neighbors(within, codes, values["k"], **folds)
            elif method == "gdk_led":
                found = _search_led(within, codes, values, fit)
            else:
                found = _search_dsk(method, within, codes, values, folds | {"n_threads": n_threads})
    info = {
        "method": method,
        "distance": distance if isinstance(distance, str) else repr(distance),
        "distance_parameters": {name: _printable(value) for name, value in params.items()},
        "grid": values,
        "n": len(codes),
        **({} if folder is None else {"folder": str(folder)}),
        **folds,
        "seconds": time.perf_counter() - started,
    }
    return replace(found, info=info)


def _search_omegas(X, codes, method, distance, draws, values, fit, folder, limit, progress, params):
    """Search over p(omega) with distances in memory or in a folder."""
    plain, R = callable(distance), max(values["R"])
    n_threads = fit["n_threads"]

    def drawn(draw: Callable[[], Any]) -> Any:
        omega = draw()
        if not plain:
            omega = pack(omega, name="sampler")
            check_compatible(X, omega, "X", "sampler")
        if len(omega) != R:
            raise ValueError(f"sampler drew {len(omega)} objects where R is {R}")
        return omega

    budget, load = None, Load.of(codes, values, fit)
    if limit is None:
        _require_features_memory(X, distance, load, R, folder is not None)
    else:
        held = _held(X) + max(_held(drawn(draw)) for _, draw in draws)
        if folder is None:
            held += 8 * len(codes) * R * min(len(draws), 2)  # one, and the best so far
        what = f"the objects and the search for {R} features of {len(codes)} objects"
        what += "" if folder else " (less with a folder for their distances)"
        check_limit(limit, held + load.needed(values["R"], in_file=folder is not None), what)
        budget = limit - held
    how = {
        "gammas": either(values, "gamma"),
        "relative": "gamma_scale" in values,
        "costs": values["C"],
        "sizes": values["R"],
        "scalings": values["scaling"],
        "losses": values["loss"],
        "limit": budget,
        **fit,
    }
    if folder is None:
        return search_features(
            (
                (
                    chosen,
                    distance_matrix(X, drawn(draw), distance, n_threads=n_threads, **params),
                )
                for chosen, draw in stages(draws, "search", progress)
            ),
            codes,
            **how,
        )
    caller = Caller("d2ke_embed", "X", "omega")
    output = partial(Output, max_memory=limit, resume=True, n_threads=n_threads, progress=progress)
    pairs = (check_pairs(X, drawn(draw), distance, params, caller) for _, draw in draws)
    record = _record(codes, method, values, fit, [chosen for chosen, _ in draws], pairs)
    files = store_names([chosen for chosen, _ in draws])
    notes = SearchFolder(folder, record)

    def stores() -> Iterator[tuple[dict[str, Any], Path]]:
        for (chosen, draw), name in zip(stages(draws, "search", progress), files, strict=True):
            pairs = check_pairs(X, drawn(draw), distance, params, caller)
            drawn_by = {f"omega_{key}": _printable(value) for key, value in chosen.items()}
            fill(pairs, output(folder / name), Quantity(name, parameters=drawn_by)).close()
            yield chosen, folder / name

    with closing(notes):
        return search_features(stores(), codes, notes=notes, **how)


def _record(codes, method, values, fit, drawn, pairs) -> dict[str, Any]:
    """Return what must be the same for a search to be gone on with."""
    record: dict[str, Any] = {
        "method": method,
        "y": sequence_digest("y", [codes]),
        **{name: fit[name] for name in ("n_folds", "seed")},
        **{f"grid[{name!r}]": _printable(ones) for name, ones in values.items()},
    }
    for chosen, one in zip(drawn, pairs, strict=True):
        if "X" not in record:
            described, inputs = description(one)
            record |= {"distance": described, **inputs}
        record[f"omega of {show(chosen)}" if chosen else "omega"] = digest("omega", one.y)
    return record


def _held(objects: Any) -> int:
    """Return the bytes of packed objects; what others take is not known."""
    return objects.nbytes if isinstance(objects, Objects) else 0


def _stored_distances(within: Any, n: int, *, whole: bool) -> RowSource | np.ndarray:
    """Return the distances of a feature store: all of them, or rows that are read when needed."""
    if not isinstance(within, FeatureFile):
        with open_features(within) as file:
            return _stored_distances(file, n, whole=whole)
    _check_square(within.shape, n)
    rows = StoredRows("within", within, distances=True)
    return rows.whole() if whole else rows


def _check_square(shape: tuple[int, ...], n: int) -> None:
    if shape != (n, n):
        raise ValueError(
            f"within must hold the distances among {n} objects, as many as y has labels; its "
            f"shape is {shape}"
        )


def _require_memory(method, within, codes, n_folds, R, n_threads, prepared) -> None:
    """Ask for the memory of a search by distances among the objects, see `require_memory`."""
    n = len(codes)
    case = {"knn": '"knn"', "gdk_led": '"gdk_led"'}.get(method, '"dsk_rbf", "dsk_nd"')
    if method == "knn" and isinstance(within, (str, os.PathLike, FeatureFile)):
        case = '"knn", within is a file'
    sizes = {"n": n, "R": R, "H": -(-n // n_folds), "k": int(codes.max()) + 1, "f": n_folds}
    sizes |= {"T": n_threads, "Q": cache_bytes(n), "W": prepared}
    require_memory("search", case, **sizes)


def _require_features_memory(X, distance, load: Load, R: int, in_file: bool) -> None:
    """Ask for the memory of a search for features."""
    way = "sums of products" if load.by_products(R, None) else "blocks of the hat matrix"
    case = f'"d2ke", "rsm": {way}{", folder" if in_file else ""}'
    sizes = {
        "n": load.n,
        "R": R,
        "M": min(load.n, R),
        "H": -(-load.n // load.n_folds),
        "k": load.n_classes,
        "f": load.n_folds,
        "C": load.n_costs * load.n_views,
        "T": load.n_threads,
        "W": prepared_bytes(distance, X),
    }
    require_memory("search", case, **sizes)


def _printable(value: Any) -> Any:
    """Return a parameter as it can be kept in a file."""
    if isinstance(value, (tuple, list)):
        return tuple(map(_printable, value))
    return value if isinstance(value, (str, int, float)) or value is None else repr(value)


def _search_led(within, codes, values, fit):
    Z = gdk_led(within, max(values["R"])).Z
    unit = float(np.mean(np.sum(Z**2, axis=1))) or 1.0
    costs = [C / unit if "C_scale" in values else C for C in either(values, "C")]
    sizes = sorted({min(R, Z.shape[1]) for R in values["R"]})
    return search_vectors(
        (({"R": R}, Z[:, :R]) for R in sizes), codes, costs=costs, losses=values["loss"], **fit
    )


def _search_dsk(method, within, codes, values, fit):
    kind = method.removeprefix("dsk_")
    tried: list[tuple[dict[str, Any], float]] = []
    if kind == "rbf":
        unit = median_unit(within) ** 2 if "gamma_scale" in values else 1.0
        kernels = [({"gamma": gamma / unit}, 1.0) for gamma in either(values, "gamma")]
    else:
        kernels = [
            ({"beta": beta}, median_unit(within) ** beta if "C_scale" in values else 1.0)
            for beta in values["beta"]
        ]
    for kernel, unit in kernels:
        K = dsk_gram(within, kind=kind, **kernel)
        costs = [C / unit for C in either(values, "C")]
        tried += search_gram([(kernel, K)], codes, costs=costs, **fit).tried
    return Search.best_of(tried)
