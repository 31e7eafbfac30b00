# SPDX-License-Identifier: BSD-3-Clause
"""DBSCAN of any distance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import LowLevelCallable
from scipy.sparse.csgraph import connected_components

from d2ke._base.checks import integer, not_negative
from d2ke._base.keywords import hinted
from d2ke._base.progress import progress_bar
from d2ke.groups.spanning_tree import tree_search
from d2ke.neighbors.copies import distinct_objects
from d2ke.neighbors.strategies import radius_graph


@dataclass(frozen=True, eq=False)
class DBSCANClusters:
    """The result of `dbscan`.

    Attributes
    ----------
    labels : ndarray of int64, shape (n,)
        Clusters 0, 1, ..., numbered by their first core objects; -1 for noise.
    core : ndarray of bool, shape (n,)
        Whether an object has at least `min_samples` objects within `eps`, itself included.
    """

    labels: NDArray[np.int64]
    core: NDArray[np.bool_]

    def __repr__(self) -> str:
        n, noise = self.labels.max(initial=-1) + 1, int((self.labels < 0).sum())
        return f"<{n} clusters of {len(self.labels)} objects, of which {noise} are noise>"


@hinted
def dbscan(
    X: Any,
    eps: float,
    min_samples: int = 5,
    *,
    distance: str | Callable[..., float] | LowLevelCallable | None = None,
    metric: bool = False,
    n_threads: int | None = None,
    progress: bool | None = None,
    **params: Any,
) -> DBSCANClusters:
    """Find dense clusters of objects, and noise, by DBSCAN [1]_.

    Objects with many others within `eps` are core objects; core objects within `eps` of each other
    are in one cluster.

    Parameters
    ----------
    X : Objects or what `pack` takes
        n objects.
    eps : float
        The radius, finite and >= 0; rounded as that of `within`.
    min_samples : int
        How many objects, itself included, a core object has within `eps`.
    distance : str, callable or scipy.LowLevelCallable, optional
        As for `distance_matrix`, symmetric; by default ``"levenshtein"`` for strings, ``"dtw"``
        for series and ``"mhd"`` for sets; ``"precomputed"`` as for `nearest`.
    metric, n_threads, progress
        As for `within`.
    **params
        Parameters of the distance, as for `distance_matrix`.

    Returns
    -------
    DBSCANClusters
        With the labels of scikit-learn's DBSCAN on the matrix: an object other than a core object
        is in the first of the clusters that have a core object within `eps` of it.

    Raises
    ------
    TypeError, ValueError
        As `distance_matrix`; a distance that is not symmetric; a parameter out of range.
    MemoryError
        As soon as more pairs are within `eps` than fit into memory.
    KeyboardInterrupt
        On Ctrl-C, within a second.

    References
    ----------
    .. [1] Ester, Kriegel, Sander, Xu, "A Density-Based Algorithm for Discovering Clusters in Large
       Spatial Databases with Noise", KDD 1996.

    Examples
    --------
    >>> import d2ke
    >>> words = ["ant", "aunt", "and", "beetle", "beatle", "beetles", "wasp"]
    >>> d2ke.dbscan(words, eps=1, min_samples=2, distance="levenshtein").labels.tolist()
    [0, 0, 0, 1, 1, 1, -1]
    """
    search = tree_search("dbscan", X, distance, params, metric, n_threads)
    eps = search.pairs.rounded(not_negative("eps", eps))
    min_samples = integer("min_samples", min_samples, 1)
    search, copies = distinct_objects(search)
    with progress_bar(progress, "neighbours") as report:
        graph = radius_graph(replace(search, radius=eps, report=report))
    graph.data = np.ones(graph.nnz)  # stored zeros are no edges for scipy
    core = graph @ copies.counts + copies.counts >= min_samples
    links = graph[:, core]
    count, joined = connected_components(links[core], directed=False)
    # Components are numbered by their first objects.
    labels = np.full(len(core), count)
    labels[core] = joined
    rows, columns = links.nonzero()
    np.minimum.at(labels, rows, joined[columns])
    labels[labels == count] = -1
    return DBSCANClusters(labels.astype(np.int64)[copies.numbers], core[copies.numbers])
