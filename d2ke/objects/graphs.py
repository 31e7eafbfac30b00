# SPDX-License-Identifier: BSD-3-Clause
"""Graphs of networkx, lists of edges and matrices: as strings of codes, and as sets of vectors."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2ke._base.checks import integer
from d2ke._base.errors import ArgumentError, ArgumentTypeError, warn
from d2ke._base.keywords import hinted
from d2ke._base.memory import check_fits
from d2ke.objects.container import Objects, code_dtype, from_owned, offsets_of
from d2ke.objects.tables import index_ids


class Graphs(NamedTuple):
    """The graphs of a collection as one; each edge is there once in either direction, in order.

    Attributes
    ----------
    offsets : ndarray of int64, shape (n + 1,)
        Graph i has the nodes from ``offsets[i]`` to before ``offsets[i + 1]``.
    sources, targets : ndarray of int64
        The ends of the edges.
    labels : ndarray of uint64, or None
        Of the nodes: integers as they are, text as a hash.
    edge_labels : ndarray of uint64, or None
        Of the edges.
    """

    offsets: NDArray[np.int64]
    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    labels: NDArray[np.uint64] | None
    edge_labels: NDArray[np.uint64] | None


class _Graph(NamedTuple):
    """One graph as read."""

    edges: Any
    n_nodes: Any
    labels: Any = None
    edge_labels: Any = None
    is_matrix: bool = False


def join_graphs(graphs: Any, node_label: Any = None, edge_label: Any = None) -> Graphs:
    """Check the graphs of a collection, and join them."""
    for name, value in (("node_label", node_label), ("edge_label", edge_label)):
        if isinstance(value, bool):
            raise ArgumentTypeError(name, f"must name an attribute, or be None; got {value!r}")
    if not isinstance(graphs, Iterable):
        raise ArgumentTypeError("graphs", f"must be a list of graphs, got {graphs!r}")
    if _is_graph(graphs):
        raise ArgumentTypeError("graphs", "must be a list of graphs, got one; write [graph]")
    collection = [_read(graph, i, node_label, edge_label) for i, graph in enumerate(graphs)]
    if not collection:
        raise ArgumentError("graphs", "is empty: at least one graph is needed")
    edges = [_edges(graph.edges, i) for i, graph in enumerate(collection)]
    for i, (_, n, *_) in enumerate(collection):
        if isinstance(n, (bool, np.bool_, float)) or not hasattr(n, "__index__"):
            raise ArgumentTypeError("graphs", f"must have an integer number of nodes, got {n!r}", i)
        if n < 1:
            raise ArgumentError("graphs", f"has {n} nodes; at least one is needed", i)
        if n >= 2**31:
            raise ArgumentError("graphs", f"has {n} nodes; at most 2**31 - 1 can be read", i)
    n_nodes = np.array([graph.n_nodes for graph in collection], np.int64)
    n_edges = list(map(len, edges))
    labels = _label_keys([graph.labels for graph in collection], n_nodes.tolist(), "nodes")
    edge_labels = _label_keys([graph.edge_labels for graph in collection], n_edges, "edges")
    total = sum(n_nodes.tolist())  # of any size
    # Offsets, codes and walks of a node take 100 bytes at least.
    check_fits(100 * total, f"graphs of {total} nodes", "give some of the graphs at a time")
    offsets, ends = offsets_of(n_nodes), np.concatenate(edges)
    owners = np.repeat(np.arange(len(collection)), n_edges)
    wrong = np.flatnonzero(((ends < 0) | (ends >= n_nodes[owners, None])).any(axis=1))
    if wrong.size:
        i, (u, v) = owners[wrong[0]], ends[wrong[0]]
        raise ArgumentError("graphs", f"has the edge ({u}, {v}), but {n_nodes[i]} nodes", i)
    ends += offsets[owners, None]
    loops = ends[:, 0] == ends[:, 1]
    if loops.any():
        warn(f"graphs have {loops.sum()} self loops, which are left out")
        ends, owners = ends[~loops], owners[~loops]
        edge_labels = None if edge_labels is None else edge_labels[~loops]
    forward, backward = ends @ [total, 1], ends @ [1, total]
    directed = np.array([graph.is_matrix for graph in collection])[owners]
    one_way = np.setdiff1d(forward[directed], backward[directed])
    if one_way.size:
        u, v = divmod(int(one_way[0]), total)
        i = int(np.searchsorted(offsets, u, side="right")) - 1
        raise ArgumentError(
            "graphs",
            f"is directed: its adjacency has ({u - offsets[i]}, {v - offsets[i]}), but not the "
            "reverse; use A + A.T, or to_undirected() of networkx",
            i,
        )
    keys, first, same = np.unique(
        np.concatenate([forward, backward]), return_index=True, return_inverse=True
    )
    if edge_labels is not None:
        twice = np.tile(edge_labels, 2)
        edge_labels = twice[first]
        different = np.flatnonzero(edge_labels[same] != twice)
        if different.size:
            k = different[0] % len(ends)
            u, v = ends[k] - offsets[owners[k]]
            raise ArgumentError("graphs", f"has two labels for the edge ({u}, {v})", owners[k])
    return Graphs(offsets, *np.divmod(keys, max(total, 1)), labels, edge_labels)


def _is_networkx(graph: Any) -> bool:
    return all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed"))


def _is_sparse(graph: Any) -> bool:
    return hasattr(graph, "tocoo") and hasattr(graph, "nnz")


def _is_graph(graph: Any) -> bool:
    """Return whether this is one graph rather than a list of graphs."""
    if isinstance(graph, tuple) and len(graph) in (2, 3):
        first = graph[0]
        return _is_sparse(first) or (isinstance(first, (list, np.ndarray)) and np.ndim(first) == 2)
    return _is_sparse(graph) or _is_networkx(graph)


def _read(graph: Any, i: int, node_label: Any, edge_label: Any) -> _Graph:
    """Return the unchecked edges and labels of one graph."""
    if _is_networkx(graph):
        return _read_networkx(graph, i, node_label, edge_label)
    for name, value in (("node_label", node_label), ("edge_label", edge_label)):
        if value is not None:
            raise ArgumentTypeError(
                name, f"is for graphs of networkx, unlike graphs[{i}]; got {value!r}"
            )
    if hasattr(graph, "GetAtoms"):  # a molecule of RDKit
        bonds = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in graph.GetBonds()]
        numbers = [atom.GetAtomicNum() for atom in graph.GetAtoms()]
        return _Graph(bonds, len(numbers), numbers)
    if not isinstance(graph, tuple) or len(graph) not in (2, 3):
        raise ArgumentTypeError(
            "graphs",
            "must be a networkx graph, (edges, labels), (edges, n_nodes) or (sparse adjacency, "
            f"labels or n_nodes), got {type(graph).__name__}",
            i,
        )
    edges, labels = graph[:2]
    n_nodes = labels
    if isinstance(labels, (list, tuple, str, bytes)) or np.ndim(labels):
        n_nodes = len(labels)
    else:
        labels = None
    if not _is_sparse(edges):
        return _Graph(edges, n_nodes, labels, *graph[2:])
    matrix = edges.tocoo()
    if len(graph) == 3:
        raise ArgumentError("graphs", "has labels of edges beside a matrix; list its edges", i)
    if matrix.shape != (n_nodes, n_nodes):
        raise ArgumentError(
            "graphs", f"has a matrix of shape {matrix.shape} for {n_nodes} nodes", i
        )
    used = matrix.data != 0
    edges = np.column_stack([matrix.row[used], matrix.col[used]])
    return _Graph(edges, n_nodes, labels, is_matrix=True)


def _read_networkx(graph: Any, i: int, node_label: Any, edge_label: Any) -> _Graph:
    if graph.is_directed():
        raise ArgumentError("graphs", "is directed; use its to_undirected()", i)
    if graph.is_multigraph():
        raise ArgumentError("graphs", "is a MultiGraph; use nx.Graph(g), which merges edges", i)
    index = {node: k for k, node in enumerate(graph.nodes)}
    ends = np.fromiter(map(index.__getitem__, chain.from_iterable(graph.edges())), np.int64)
    labels = edge_labels = None
    if node_label is not None:
        labels = [label for _, label in graph.nodes(data=node_label)]
        if None in labels:
            node = list(index)[labels.index(None)]
            raise ArgumentError("graphs", f"has no {node_label!r} at the node {node!r}", i)
    if edge_label is not None:
        named = list(graph.edges(data=edge_label))
        edge_labels = [label for *_, label in named]
        if None in edge_labels:
            u, v, _ = named[edge_labels.index(None)]
            raise ArgumentError("graphs", f"has no {edge_label!r} at the edge ({u!r}, {v!r})", i)
    return _Graph(ends.reshape(-1, 2), len(index), labels, edge_labels)


def _edges(edges: Any, i: int) -> NDArray[np.int64]:
    try:
        array = np.asarray(edges)
    except ValueError:
        raise ArgumentTypeError("graphs", "has edges that are not all pairs of nodes", i) from None
    if not array.size:
        return np.zeros((0, 2), np.int64)
    if array.dtype.kind not in "iu" or array.ndim != 2 or array.shape[1] != 2:
        hint = "; use edge_index.T" if array.ndim == 2 and len(array) == 2 else ""
        raise ArgumentTypeError(
            "graphs",
            "must have its edges as an integer array of shape (m, 2), got "
            f"{array.dtype} of shape {array.shape}{hint}",
            i,
        )
    if array.max() >= 2**63:
        raise ArgumentError("graphs", f"has an edge to the node {array.max()}", i)
    return array.astype(np.int64)


def _label_keys(lists: list[Any], counts: list[int], what: str) -> NDArray[np.uint64] | None:
    """Return integers, and hashes of text, for the labels of all graphs; None without labels."""
    without = [labels is None for labels in lists]
    if all(without):
        return None
    if any(without):
        i = without.index(True)
        raise ArgumentError("graphs", f"has no labels of {what}, but other graphs have them", i)
    letters = [_letters(labels, i, what) for i, labels in enumerate(lists)]
    for i, (labels, count) in enumerate(zip(letters, counts, strict=True)):
        if len(labels) != count:
            raise ArgumentError("graphs", f"has {count} {what}, but {len(labels)} labels", i)
    distinct = dict.fromkeys(chain.from_iterable(letters))
    if len({isinstance(label, str) for label in distinct}) > 1:
        raise ArgumentTypeError("graphs", f"have both integers and str as labels of {what}")
    keys = {label: _key(label) for label in distinct}
    return np.array([keys[label] for label in chain.from_iterable(letters)], np.uint64)


def _letters(labels: Any, i: int, what: str) -> list[Any]:
    """Return labels that are all integers or all str; refuse all other labels."""
    items = labels.tolist() if hasattr(labels, "tolist") else list(labels)
    text = bool(items) and isinstance(items[0], str)
    kinds: Any = str if text else (int, np.integer, np.bool_)
    for x in items:
        if not isinstance(x, kinds) or not (text or -(2**63) <= x < 2**64):
            raise ArgumentTypeError(
                "graphs",
                f"must have labels of {what} that are all integers or all str, got {x!r}"
                + " of more than 64 bits" * isinstance(x, int),
                i,
            )
    try:
        "".join(items if text else ()).encode()
    except UnicodeEncodeError as error:
        letter = error.object[error.start]
        problem = f"has {letter!r} in a label of {what}, half of a surrogate pair"
        raise ArgumentError("graphs", problem, i) from None
    return items


def _key(label: Any) -> int:
    if not isinstance(label, str) and label < 2**63:
        return int(label) % 2**64
    return int.from_bytes(blake2b(str(label).encode(), digest_size=8).digest(), "little")


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
        The attributes of networkx that hold labels; labels of edges then count.

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
    positions = np.arange(total) + np.repeat(rounds * offsets[:-1], sizes)
    letters = np.empty((rounds + 1) * total, np.int64)
    for h, colours in enumerate(codes):
        letters[positions + h * np.repeat(sizes, sizes)] = colours >> np.uint64(1)
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
