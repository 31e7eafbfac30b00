# SPDX-License-Identifier: BSD-3-Clause
"""Word Mover's Embedding by the names of the authors' MATLAB code (Wu et al. 2018)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from d2ke import distance_matrix, pack
from d2ke._base.checks import integer, length_range
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.keywords import hinted
from matlab_compat import random
from matlab_compat._cells import Struct, cell_items, feature_tables, scalar, vector, whole
from matlab_compat._outputs import Outputs


@hinted
def wmd_dist(
    newX: Any,
    weight_newX: Any,
    baseX: Any,
    weight_baseX: Any,
    gamma: float,
    *,
    n_threads: int | None = None,
) -> tuple[np.ndarray, float]:
    """Compute word mover's distances of documents to random ones, or their exponentials.

    Parameters
    ----------
    newX : cell of m matrices d x L
        A document's word vectors, one in each column.
    weight_newX : cell of m vectors
        The words' weights; normalised to a sum of 1. An empty one stands for an empty document.
    baseX, weight_baseX : cell of n matrices d x D, cell of n vectors
        The random documents.
    gamma : float
        -1: the distances themselves; otherwise exp(-gamma * distance).
    n_threads : int, optional
        Threads; None for all.

    Returns
    -------
    KMat : ndarray, shape (m, n)
        inf where a document is empty, as in the original.
    t : float
        Seconds that it took.

    Raises
    ------
    TypeError, ValueError
        Cells of unequal sizes, weights that do not fit to the words, gamma neither -1 nor >= 0.

    Examples
    --------
    >>> K, _ = wmd_dist([[[0.0, 2.0]], [[]]], [[1, 1], []], [[[1.0]]], [[1.0]], -1)
    >>> K
    array([[ 1.],
           [inf]])
    """
    started = time.perf_counter()
    gamma = scalar(gamma)
    if not isinstance(gamma, (int, float)) or not (gamma == -1 or 0 <= gamma < np.inf):
        raise ArgumentError(
            "gamma", f"must be -1 (distances) or a finite number >= 0, got {gamma!r}"
        )
    rows, new = _documents("newX", newX, "weight_newX", weight_newX)
    columns, base = _documents("baseX", baseX, "weight_baseX", weight_baseX)
    K = np.full((len(rows), len(columns)), np.inf)
    if new is not None and base is not None:
        D = distance_matrix(new, base, "emd", n_threads=n_threads)
        K[np.ix_(rows, columns)] = D if gamma == -1 else np.exp(-gamma * D)
    return Outputs("wmd_dist", KMat=K, t=time.perf_counter() - started)


@hinted
def wme_GenFea_preproc(
    Data: Mapping[str, Any],
) -> tuple[float, float, int, list[Any], list[Any], list[Any]]:
    """Collect the inputs of `wme_GenFea` from all documents.

    Parameters
    ----------
    Data : dict
        ``X`` (cell of word vectors, d x L), ``BOW_X`` (cell of word counts) and ``words`` (cell
        of cells of words), as in the authors' .mat files.

    Returns
    -------
    val_min, val_max : float
        Smallest and largest coordinate of all word vectors.
    d : int
        Their dimension.
    nbow_X_allDoc, idf_X_allDoc, tf_idf_X_allDoc : list of ndarray
        For each document the normalised counts of its words, log(1 + documents / documents with
        the word), and their products.

    Raises
    ------
    TypeError, ValueError
        Data without one of these, cells of unequal sizes.

    Examples
    --------
    >>> X = [[[0.0, 1.0]], [[0.0]]]
    >>> data = {"X": X, "BOW_X": [[3, 1], [2]], "words": [["a", "b"], ["a"]]}
    >>> low, high, d, nbow, idf, _ = wme_GenFea_preproc(data)
    >>> low, high, d, nbow[0].tolist(), idf[0].round(3).tolist()
    (0.0, 1.0, 1, [0.75, 0.25], [0.693, 1.099])
    """
    X = [np.atleast_2d(x) for x in cell_items("Data.X", _field(Data, "X"))]
    counts = [vector("Data.BOW_X", bow) for bow in cell_items("Data.BOW_X", _field(Data, "BOW_X"))]
    words = [
        cell_items("Data.words", cell) for cell in cell_items("Data.words", _field(Data, "words"))
    ]
    if not len(X) == len(counts) == len(words):
        raise ValueError(
            "Data.X, Data.BOW_X and Data.words must have one entry for each document, got "
            f"{len(X)}, {len(counts)} and {len(words)}"
        )
    full = [i for i, bow in enumerate(counts) if bow.size]
    if not full:
        raise ArgumentError("Data", "holds no document with words")
    used = {i: [_word(word) for word in words[i][: X[i].shape[1]]] for i in full}
    frequency = Counter(word for text in used.values() for word in text)
    nbow, idf = [np.empty(0)] * len(X), [np.empty(0)] * len(X)
    for i in full:
        bow = counts[i][: X[i].shape[1]].astype(np.float64)
        nbow[i] = bow / bow.sum()
        idf[i] = np.log(1 + len(X) / np.array([frequency[word] for word in used[i]]))
    return Outputs(
        "wme_GenFea_preproc",
        val_min=float(min(X[i].min() for i in full)),
        val_max=float(max(X[i].max() for i in full)),
        d=X[full[0]].shape[0],
        nbow_X=nbow,
        idf_X=idf,
        tf_idf_X=[a * b for a, b in zip(nbow, idf, strict=True)],
    )


@hinted
def wme_GenFea(
    Data: Mapping[str, Any],
    gamma: float,
    R: int,
    DMin: int,
    DMax: int,
    dataSplit: int,
    val_min: float,
    val_max: float,
    d: int,
    nbow_X_allDoc: Any,
    idf_X_allDoc: Any,
    tf_idf_X_allDoc: Any,
    randdoc_scheme: int = 1,
    wordweight_scheme: int = 1,
    *,
    n_threads: int | None = None,
) -> tuple[np.ndarray, np.ndarray, Struct]:
    """Compute features of documents: word mover's distances to random ones.

    Parameters
    ----------
    Data : dict
        ``X``, ``Y`` (labels), ``TR`` and ``TE`` (numbers from 1 of the training and the test
        documents, one division in each row), as in the authors' .mat files.
    gamma : float
        -1: distances; otherwise exp(-gamma * distance).
    R, DMin, DMax : int
        Number of random documents, and their fewest and most words.
    dataSplit : int
        Which division, from 1.
    val_min, val_max, d, nbow_X_allDoc, idf_X_allDoc, tf_idf_X_allDoc : float, float, int, cells
        What `wme_GenFea_preproc` returned.
    randdoc_scheme : {1}
        Random words are uniform in the box between val_min and val_max, then of length 1.
    wordweight_scheme : {1, 2}
        Weights of the words: normalised counts, or counts times the idf.
    n_threads : int, optional
        Threads; None for all.

    Returns
    -------
    Train, Test : ndarray, shape (n, R + 1)
        The label, then the features / sqrt(R).
    Runtime : Struct
        ``real_total_emd_time``, ``user_emd_time``, ``user_train_emd_time``,
        ``user_test_emd_time``: seconds of elapsed time.

    Raises
    ------
    TypeError, ValueError
        Data without one of these, parameters out of range.

    Examples
    --------
    >>> X = [[[0.6, 1.0], [0.8, 0.0]], [[0.0], [1.0]]]
    >>> data = {"X": X, "Y": [1, 2], "BOW_X": [[3, 1], [2]], "words": [["a", "b"], ["c"]]}
    >>> data |= {"TR": [[1]], "TE": [[2]]}
    >>> Train, Test, _ = wme_GenFea(data, -1, 4, 1, 3, 1, *wme_GenFea_preproc(data))
    >>> Train.shape, Train[:, 0].tolist(), Test[:, 0].tolist()
    ((1, 5), [1.0], [2.0])
    """
    if randdoc_scheme != 1:
        raise ArgumentError("randdoc_scheme", f"must be 1, got {randdoc_scheme}")
    if wordweight_scheme not in (1, 2):
        raise ArgumentError("wordweight_scheme", f"must be 1 or 2, got {wordweight_scheme}")
    if wordweight_scheme == 1:
        weights = cell_items("nbow_X_allDoc", nbow_X_allDoc)
    else:
        weights = cell_items("tf_idf_X_allDoc", tf_idf_X_allDoc)
    X, Y = cell_items("Data.X", _field(Data, "X")), vector("Data.Y", _field(Data, "Y"))
    if len(Y) != len(X):
        raise ArgumentError("Data.Y", f"has {len(Y)} labels, but Data.X {len(X)} documents")
    R, d, dataSplit = whole("R", R, 1), whole("d", d, 1), whole("dataSplit", dataSplit)
    DMin, DMax = whole("DMin", DMin, 1), whole("DMax", DMax, 1)
    started = time.perf_counter()
    base = _random_documents(R, d, DMin, DMax, val_min, val_max)
    base_weights = [np.ones(document.shape[1]) for document in base]

    def part(name: str) -> tuple[np.ndarray, np.ndarray, float]:
        indices = _split(f"Data.{name}", _field(Data, name), dataSplit, len(X))
        K, elapsed = wmd_dist(
            [X[i] for i in indices], [weights[i] for i in indices], base, base_weights, gamma,
            n_threads=n_threads,
        )  # fmt: skip
        return Y[indices], K / np.sqrt(R), elapsed

    Train, Test, Runtime = feature_tables("emd", started, map(part, ("TR", "TE")))
    return Outputs("wme_GenFea", Train=Train, Test=Test, Runtime=Runtime)


def _random_documents(
    R: int, d: int, DMin: int, DMax: int, val_min: float, val_max: float
) -> list[np.ndarray]:
    low, high = length_range("(DMin, DMax)", (DMin, DMax))
    random.rng("default")
    documents = []
    for _ in range(R):
        words = random.rand(d, random.randi([low, high]))
        words = val_min + (val_max - val_min) * words
        documents.append(words / np.linalg.norm(words, axis=0))
    return documents


def _split(name: str, numbers: Any, split: int, n: int) -> np.ndarray:
    """Return the documents of a split, from 0; a single row serves all splits."""
    rows = np.atleast_2d(np.asarray(numbers))
    row = rows[0 if len(rows) == 1 else integer("dataSplit", split, 1, len(rows)) - 1]
    if row.size == 0 or row.min() < 1 or row.max() > n or np.any(row % 1):
        raise ArgumentError(name, f"must hold numbers of documents, from 1 to {n}")
    return row.astype(np.int64) - 1


def _documents(name: str, cell: Any, weight_name: str, weight_cell: Any) -> tuple[np.ndarray, Any]:
    """Return a mask of the documents with words, and those packed (None if there are none)."""
    documents = cell_items(name, cell)
    weights = [
        vector(f"{weight_name}[{i}]", w) for i, w in enumerate(cell_items(weight_name, weight_cell))
    ]
    if len(documents) != len(weights):
        raise ArgumentError(
            name, f"has {len(documents)} documents, but {weight_name} {len(weights)}"
        )
    full = np.array([w.size > 0 for w in weights], dtype=bool)
    if not full.any():
        return full, None
    indices = [i for i, has_words in enumerate(full) if has_words]
    packed = pack(
        [documents[i] for i in indices],
        weights=[weights[i] for i in indices],
        channels_first=True,
        name=name,
    )
    return full, packed


def _field(Data: Mapping[str, Any], name: str) -> Any:
    if not isinstance(Data, Mapping):
        raise ArgumentTypeError("Data", f"must be a dict or a Struct, got {type(Data).__name__}")
    if name not in Data:
        raise ArgumentError("Data", f"has no field {name!r}; it has {', '.join(Data) or 'none'}")
    return Data[name]


def _word(word: Any) -> str:
    """Return a word as text; MATLAB's chars in cells may come as arrays of one string."""
    return str(word.item()) if isinstance(word, np.ndarray) and word.size == 1 else str(word)
