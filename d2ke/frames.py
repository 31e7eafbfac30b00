# SPDX-License-Identifier: BSD-3-Clause
"""Data frames of results, with the names of the objects: `frame`."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from itertools import compress
from typing import Any

import numpy as np
from scipy import sparse

from d2ke._base.checks import choice
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke.objects.tables import read_ids

Columns = dict[str, np.ndarray]
# How each library makes a frame of a dict of arrays, and what pip installs.
_LIBRARIES = {
    "pandas": ("DataFrame", '"d2ke[frames]"'),
    "polars": ("DataFrame", "polars"),
    "pyarrow": ("table", '"d2ke[arrow]"'),
}


def frame(
    result: Any,
    ids: Any = None,
    other_ids: Any = None,
    *,
    model: Any = None,
    as_: str = "pandas",
) -> Any:
    """Make a data frame of a result, with the names of the objects that it is about.

    Parameters
    ----------
    result : tuple, ndarray, sparse array or an object of results
        What a function of d2ke returned: predictions, features, neighbours, clusters, scores,
        groups and links of records, importances, an explanation or a search.
    ids : sequence of int or str, Objects or Records, optional
        The names of the objects: a column, an index of pandas, or anything with an attribute
        ``ids``. They become the column ``id``.
    other_ids : as `ids`, optional
        The names of the targets of a column of positions: of the Y of `nearest` and `within` (X
        again without Y), the right table of `link`, the training objects of an explanation.
        They become the column ``neighbor_id``, ``match_id`` or ``training_object_id``.
    model : D2KEModel or another model, optional
        The model of predictions, whose classes name columns.
    as_ : {"pandas", "polars", "pyarrow"}
        The library whose frame or table is made.

    Returns
    -------
    data frame of pandas or polars, or table of pyarrow
        The column ``item`` has the positions of the objects, from 0. docs/ids.md has a table of
        all columns.

    Raises
    ------
    ImportError
        Without the library.
    TypeError, ValueError
        Something other than a result; names of another number; a missing name.

    Examples
    --------
    >>> import d2ke
    >>> words = d2ke.pack(["kitten", "mitten", "zoology"], ids=["k", "m", "z"])
    >>> d2ke.frame(d2ke.nearest(words, k=1, distance="levenshtein"), words, words)
       item id  neighbor neighbor_id  distance
    0     0  k         1           m       1.0
    1     1  m         0           k       1.0
    2     2  z         0           k       7.0
    >>> scores = d2ke.outlier_scores(words, k=1, distance="levenshtein")
    >>> d2ke.frame(scores, words, as_="pyarrow").to_pylist()[2]
    {'item': 2, 'id': 'z', 'score': 7.0}
    """
    choice("as_", as_, tuple(_LIBRARIES))
    if model is not None and not hasattr(model, "classes"):
        raise ArgumentTypeError("model", f"must be a trained model, got {model!r}")
    columns = columns_of(result, ids, other_ids, model)
    maker, package = _LIBRARIES[as_]
    try:
        library = importlib.import_module(as_)
    except ImportError:
        raise ImportError(f"as_={as_!r} needs {as_}: pip install {package}") from None
    return getattr(library, maker)(columns)


def columns_of(result: Any, ids: Any = None, other_ids: Any = None, model: Any = None) -> Columns:
    """Return the columns of `frame` as arrays."""
    n, columns = _read(result, model)
    ids = getattr(result, "ids", None) if ids is None else ids
    named: Columns = {}
    # Columns of positions among the objects, which `ids` name, or among others: `other_ids`.
    own_columns = ("item", "example", "medoid", "end")
    other_columns = ("neighbor", "match", "training_object")
    for column, values in columns.items():
        named[column] = values
        if column in own_columns or column in other_columns:
            name, names = ("ids", ids) if column in own_columns else ("other_ids", other_ids)
            if names is not None:
                n_names = n if column in own_columns else None
                named["id" if column == "item" else f"{column}_id"] = _names(
                    read_ids(names, None, name), values, n_names, name
                )
    return named


def _names(names: np.ndarray, indices: np.ndarray, n: int | None, argument: str) -> np.ndarray:
    """Return the names at indices; for -1, an empty text or -1. n names, if known, are needed."""
    needed = int(indices.max(initial=-1)) + 1
    if len(names) < needed or n not in (None, len(names)):
        count = f"at least {needed}" if n is None else n
        raise ArgumentError(argument, f"has {len(names)} names, but the result has {count} objects")
    none = "" if names.dtype.kind == "U" else -1
    return np.append(names, np.array([none], names.dtype))[indices]


def _read(result: Any, model: Any) -> tuple[int | None, Columns]:
    """Return how many objects a result is about, if that is known, and its columns."""
    first = result[0] if isinstance(result, (tuple, list)) and result else result
    name = type(first).__name__
    if name in _RESULTS:
        return _RESULTS[name](result)
    if sparse.issparse(first) and first.ndim == 2:
        graph = sparse.csr_array(first)
        items = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
        near = {"neighbor": graph.indices.astype(np.int64), "distance": graph.data}
        return graph.shape[0], {"item": items, **near}
    if isinstance(result, np.ndarray) and result.ndim in (1, 2):
        return _per_object(**_array(result, _classes(model), model is not None))
    if isinstance(result, tuple) and len(result) > 1 and isinstance(first, np.ndarray):
        if isinstance(result[1], (float, tuple)):
            return _per_object(**_predictions(first, result[2], _classes(model)))
        if first.ndim == 1:  # of nearest_windows
            return None, dict(zip(("item", "place", "distance"), result, strict=True))
        items, ranks = np.nonzero(first >= 0)
        near = {"neighbor": first[items, ranks], "distance": result[1][items, ranks]}
        return len(first), {"item": items, **near}
    if type(first).__module__.partition(".")[0] == "dask":
        raise ArgumentTypeError("result", "is lazy; dask.compute(result) computes it")
    raise ArgumentTypeError(
        "result", f"is of type {type(result).__name__}; what a function of d2ke returned is needed"
    )


def _per_object(**columns: np.ndarray) -> tuple[int, Columns]:
    n = len(next(iter(columns.values())))
    return n, {"item": np.arange(n), **columns}


def _classes(model: Any) -> list[Any] | None:
    if model is None or model.classes is None:
        return None
    classes: list[Any] = np.asarray(model.classes).tolist()
    return classes


def _each(word: str, values: np.ndarray, names: Sequence[Any] | None = None) -> Columns:
    """Return the columns of a matrix under the names of what they stand for."""
    if names is None or len(names) != values.shape[1]:
        names = range(values.shape[1])
    return {f"{word} {name}": values[:, j] for j, name in enumerate(names)}


def _predictions(labels: np.ndarray, decisions: np.ndarray, classes: list[Any] | None) -> Columns:
    predicted = {"predicted": labels} if labels.ndim == 1 else _each("predicted", labels, classes)
    if decisions.size == len(labels):
        return {**predicted, "decision": decisions.ravel()}
    shares = bool((decisions >= 0).all() and (decisions <= 1).all())
    if labels.ndim == 1:
        shares = shares and np.allclose(decisions.sum(axis=1), 1)
    else:  # several labels: those from one half on are predicted, where decisions are from 0 on
        shares = shares and not bool((np.asarray(labels, bool) & (decisions < 0.5)).any())
    return {**predicted, **_each("probability" if shares else "decision", decisions, classes)}


def _array(values: np.ndarray, classes: list[Any] | None, of_model: bool) -> Columns:
    if values.ndim == 1:
        return {"score" if values.dtype.kind == "f" else "label": values}
    if values.dtype == bool:  # of predict_set
        named = _each("in", values, classes)
        texts = [name.removeprefix("in ") for name in named]
        sets = np.array(["|".join(compress(texts, row)) for row in values.tolist()], str)
        return {"set": sets, **named}
    if of_model and classes is None and values.shape[1] == 2:
        return {"low": values[:, 0], "high": values[:, 1]}
    return _each("feature", values)


def _links(pairs: np.ndarray, name: str, distances: np.ndarray) -> tuple[None, Columns]:
    return None, {"item": pairs[:, 0], name: pairs[:, 1], "distance": distances}


def _profile(result: Any) -> Columns:
    """Return a row for each window of each series."""
    fields = [x if isinstance(x, list) else [x] for x in vars(result).values()]
    distances, series, starts = map(np.concatenate, fields)
    sizes = list(map(len, fields[0]))
    return {
        "item": np.repeat(np.arange(len(sizes)), sizes),
        "place": np.concatenate([np.arange(size) for size in sizes]),
        "neighbor": series, "neighbor_place": starts, "distance": distances,
    }  # fmt: skip


def _explanation(result: Any) -> tuple[None, Columns]:
    """Return what adds up to a decision, then the random objects and the letters in it."""
    from d2ke.explain.discriminative import omega_text

    rows = [("offset", "", result.offset, np.nan, -1)]
    rows += [("block", name, share, np.nan, -1) for name, share in result.blocks.items()]
    for entry in result.omegas:
        source = entry["training_object"]
        text = omega_text(entry["object"], entry["block"], entry["index"], None)
        source = -1 if source is None else source
        rows.append(("random object", text, entry["share"], entry["distance"], source))
    rows += [("letter", str(x["letter"]), x["share"], np.nan, -1) for x in result.letters]
    names = ("part", "name", "share", "distance", "training_object")
    return None, _table(names, rows)


def _settings(result: Any) -> tuple[None, Columns]:
    """Return the settings of a search, as text unless they are numbers, and their accuracies."""
    names = dict.fromkeys(name for setting, _ in result.tried for name in setting)
    columns = {}
    for name in names:
        values = [setting.get(name) for setting, _ in result.tried]
        numbers = all(isinstance(value, (int, float)) for value in values)
        texts = ["" if value is None else str(value) for value in values]
        columns[name] = np.array(values if numbers else texts)
    return None, {**columns, "accuracy": np.array([accuracy for _, accuracy in result.tried])}


def _costs(edits: Sequence[Any]) -> Columns:
    """Return edits as columns; letters may be of several types."""
    columns = {name: np.empty(len(edits), object) for name in ("edit", "wrong", "right", "cost")}
    for column, values in zip(columns.values(), zip(*edits, strict=True), strict=True):
        column[:] = values
    return columns | {"cost": columns["cost"].astype(np.float64)}


def _table(names: Sequence[str], rows: Sequence[Any]) -> Columns:
    return dict(zip(names, map(np.array, zip(*rows, strict=True)), strict=True))


# The columns of each class of results, beside `item`; no class is imported for that.
_RESULTS: Mapping[str, Callable[[Any], tuple[int | None, Columns]]] = {
    "FeatureStore": lambda x: _per_object(
        **({} if x.labels is None else {"label": x.labels}), **_each("feature", x.Z)
    ),
    "Clustering": lambda x: _per_object(cluster=x.labels, alpha=x.alpha),
    "MedoidClusters": lambda x: _per_object(
        cluster=x.labels, medoid=x.medoids[x.labels], distance=x.distances
    ),
    "DBSCANClusters": lambda x: _per_object(cluster=x.labels, core=x.core),
    "HDBSCANClusters": lambda x: _per_object(cluster=x.labels, probability=x.probabilities),
    "Propagation": lambda x: _per_object(
        label=x.labels, alpha=x.alpha, **_each("score", x.scores, x.classes.tolist())
    ),
    "Barycenter": lambda x: _per_object(distance=x.distances),
    "Duplicates": lambda x: _per_object(group=x.labels, example=x.examples[x.labels]),
    "Assigned": lambda x: _per_object(group=x.labels, probability=x.probabilities, rival=x.rivals),
    "Links": lambda x: _links(x.pairs, "match", x.distances),
    "WindowOutliers": lambda x: (None, {"item": x.series, "place": x.starts, "score": x.scores}),
    "WindowProfile": lambda x: (None, _profile(x)),
    "SpanningTree": lambda x: _links(x.edges, "end", x.weights),
    "Search": _settings,
    "Importance": lambda x: (None, _table(x[0]._fields, x)),
    "Explanation": _explanation,
    "LearnedCosts": lambda x: (None, _costs(x.edits())),
}
