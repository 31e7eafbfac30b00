# SPDX-License-Identifier: BSD-3-Clause
"""Graphs as strings of the codes of their nodes, and as sets of vectors of their structure."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from d2ke._base.checks import integer
from d2ke._base.keywords import hinted
from d2ke.objects.container import Objects, from_owned
from d2ke.objects.graphs import join_graphs
from d2ke.objects.ids import index_ids
from d2ke.objects.packed import code_dtype

_INCREMENT, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_STEPS = 3  # of walks, which go there and back: return probabilities of 2 to 6 steps


@hinted
def graph_codes(
    graphs: Any, rounds: int = 3, node_label: Any = None, edge_label: Any = None
) -> Objects:
    """Turn graphs into strings of integers: the codes of the surroundings of their nodes.

    The code of a node in round h is a hash of the labels and edges within h steps of it (the
    colours of Weisfeiler and Leman [1]_). ``distance="bag"`` compares graphs by the shares of each
    code. Codes depend on the graph alone: they are the same in every process and for ever.

    Parameters
    ----------
    graphs : sequence of n graphs, undirected
        - graphs of networkx;
        - molecules of RDKit, whose nodes have the numbers of atoms as labels;
        - ``(edges, labels)`` or ``(edges, n_nodes)``: an integer array of shape (m, 2), with each
          edge in one or both directions, and one label for each node or their number; a third item
          has labels of edges, which then count;
        - ``(adjacency, labels)`` or ``(adjacency, n_nodes)``, a symmetric matrix of scipy.sparse.

        Labels are integers or str. Without them, the degree of a node is its label. Self loops
        are left out with a warning, and an edge that is given twice counts once.
    rounds : int, default 3
        Rounds of refinement.
    node_label, edge_label : hashable, optional
        The attributes of networkx that hold labels; those of edges then count.

    Returns
    -------
    Objects
        n strings of integers; a column of pandas gives ids. That of a graph of k nodes has k codes
        of round 0, in the order of the nodes, then k of round 1, and so on.

    Raises
    ------
    TypeError, ValueError
        Graphs that are directed or have several edges between two nodes, an edge to a node that is
        not there, no nodes, labels of some nodes or graphs only, labels that are floats.
    MemoryError
        If there are more nodes than fit into memory.

    See Also
    --------
    graph_structure : For graphs without labels, beside the codes.
    d2ke.io.read_graphs : Graphs of a file.

    References
    ----------
    .. [1] Shervashidze et al., "Weisfeiler-Lehman graph kernels", 2011.

    Examples
    --------
    >>> import d2ke
    >>> triangle = [(0, 1), (1, 2), (2, 0)], ["C", "C", "O"]
    >>> path = [(0, 1), (1, 2)], ["C", "C", "O"]
    >>> codes = d2ke.graph_codes([triangle, path])
    >>> codes.lengths.tolist()
    [12, 12]
    >>> d2ke.distance_matrix(codes, distance="bag")[0].tolist()
    [0.0, 1.3333333333333333]
    """
    integer("rounds", rounds, 0)
    ids = index_ids(graphs)
    offsets, sources, targets, labels, edge_labels = join_graphs(graphs, node_label, edge_label)
    total = int(offsets[-1])
    firsts = np.searchsorted(sources, np.arange(total + 1))
    if labels is None:
        labels = np.diff(firsts).astype(np.uint64)
    along = np.uint64(0) if edge_labels is None else splitmix(edge_labels) * np.uint64(_FIRST)
    codes, sums = [splitmix(labels)], np.zeros(len(targets) + 1, np.uint64)
    for h in range(1, rounds + 1):
        np.cumsum(splitmix(codes[-1][targets] + along), out=sums[1:])
        around = sums[firsts[1:]] - sums[firsts[:-1]]  # modulo 2^64, in any order of neighbours
        codes.append(splitmix(codes[-1] * np.uint64(_SECOND) + around + np.uint64(h)))
    sizes = np.diff(offsets)
    places = np.arange(total) + np.repeat(rounds * offsets[:-1], sizes)
    letters = np.empty((rounds + 1) * total, np.int64)
    for h, of_round in enumerate(codes):
        letters[places + h * np.repeat(sizes, sizes)] = of_round >> np.uint64(1)
    alphabet, values = np.unique(letters, return_inverse=True)
    values = values.astype(code_dtype(len(alphabet)))
    return from_owned("strings", values, (rounds + 1) * offsets, alphabet, "int", ids=ids)


def splitmix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the outputs of splitmix64 for these states: a hash of each number."""
    x = x + np.uint64(_INCREMENT)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(_FIRST)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(_SECOND)
    return x ^ (x >> np.uint64(31))


@hinted
def graph_structure(graphs: Any) -> Objects:
    """Turn graphs into sets: a vector of the degree and of return probabilities for each node.

    It goes beside `graph_codes` in records, for graphs whose nodes have no labels.

    Parameters
    ----------
    graphs : sequence of n graphs
        As for `graph_codes`; labels are not used.

    Returns
    -------
    Objects
        n sets. The vector of a node has the logarithm of 1 + its degree, and the probabilities that
        a random walk from the node is back there after 2, 3, 4, 5 and 6 steps.

    Raises
    ------
    TypeError, ValueError
        As `graph_codes`.

    Examples
    --------
    >>> import d2ke
    >>> d2ke.graph_structure([([(0, 1), (1, 2), (2, 0)], 3)])[0][0].round(2).tolist()
    [1.1, 0.5, 0.25, 0.38, 0.31, 0.34]
    """
    from scipy.sparse import csr_array

    offsets, sources, targets, _, _ = join_graphs(graphs)
    total = int(offsets[-1])
    degrees = np.bincount(sources, minlength=total)
    weights = 1 / np.sqrt(degrees[sources] * degrees[targets])
    step = csr_array((weights, (sources, targets)), (total, total))
    walks = [step]
    while len(walks) < _STEPS:
        walks.append(walks[-1] @ step)
    columns = [np.log1p(degrees)]
    for k in range(2, 2 * _STEPS + 1):
        columns.append((walks[k // 2 - 1] * walks[(k + 1) // 2 - 1]).sum(axis=1))
    return from_owned("sets", np.column_stack(columns), offsets)
