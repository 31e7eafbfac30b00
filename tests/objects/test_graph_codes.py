# SPDX-License-Identifier: BSD-3-Clause
"""Graphs: their forms, their errors, and the codes of their nodes."""

from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array

import d2ke

EDGES, LABELS = [(0, 1), (1, 2), (2, 3)], [6, 6, 8, 7]
MASK = 2**64 - 1


def mix(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def naive(edges, labels, edge_labels=None, rounds=3):
    """The codes of one graph by their definition, node by node."""
    around = [{} for _ in labels]
    for k, (u, v) in enumerate(edges):
        if u != v:
            e = 0 if edge_labels is None else mix(edge_labels[k]) * 0xBF58476D1CE4E5B9 & MASK
            around[u][v] = around[v][u] = e
    codes = [[mix(label) for label in labels]]
    for h in range(1, rounds + 1):
        last, new = codes[-1], []
        for v, neighbors in enumerate(around):
            s = sum(mix((last[u] + e) & MASK) for u, e in neighbors.items())
            new.append(mix((last[v] * 0x94D049BB133111EB + s + h) & MASK))
        codes.append(new)
    return [code >> 1 for of_round in codes for code in of_round]


@st.composite
def graphs(draw, most=7):
    n = draw(st.integers(1, most))
    node = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(node, node).filter(lambda e: e[0] != e[1]), max_size=12))
    labels = draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n))
    return edges, labels


@given(st.lists(graphs(), min_size=1, max_size=4), st.integers(0, 4))
def test_codes_by_their_definition(collection, rounds):
    codes = d2ke.graph_codes(collection, rounds)
    for got, (edges, labels) in zip(codes, collection, strict=True):
        assert got.tolist() == naive(edges, [label & MASK for label in labels], None, rounds)


def test_text_is_hashed_and_edge_labels_count():
    hashes = [int.from_bytes(blake2b(t.encode(), digest_size=8).digest(), "little") for t in "CNÅ"]
    codes = d2ke.graph_codes([([(0, 1), (1, 2)], list("CNÅ"), [1, 2])])
    assert codes[0].tolist() == naive([(0, 1), (1, 2)], hashes, [1, 2])


def test_degrees_are_the_labels_of_graphs_without():
    codes = d2ke.graph_codes([(EDGES, 5)])
    assert codes[0].tolist() == naive(EDGES, [1, 2, 2, 1, 0])


@given(graphs(), st.randoms(use_true_random=False))
def test_renumbered_nodes_change_no_bit(graph, random):
    edges, labels = graph
    places = list(range(len(labels)))
    random.shuffle(places)
    renumbered = [(places[v], places[u]) for u, v in edges]
    random.shuffle(renumbered)
    moved = [labels[places.index(k)] for k in range(len(labels))]
    codes = d2ke.graph_codes([graph, (renumbered, moved)])
    assert sorted(codes[0]) == sorted(codes[1])
    apart = d2ke.graph_structure([graph, (renumbered, moved)])
    order = [np.lexsort(nodes.T.round(9)) for nodes in apart]
    np.testing.assert_allclose(apart[0][order[0]], apart[1][order[1]], atol=1e-12)


def test_forms_of_one_graph():
    nx = pytest.importorskip("networkx")
    matrix = np.zeros((4, 4))
    for u, v in EDGES:
        matrix[u, v] = matrix[v, u] = 0.5
    g = nx.Graph(EDGES)
    nx.set_node_attributes(g, dict(enumerate(LABELS)), "atom")
    nx.set_edge_attributes(g, dict(zip(EDGES, [1, 2, 1], strict=True)), "bond")
    wanted = d2ke.graph_codes([(EDGES, LABELS)])
    for form in (
        (np.array(EDGES, np.uint8), np.array(LABELS)),
        (EDGES + [(v, u) for u, v in EDGES] + EDGES, tuple(LABELS)),
        (EDGES, np.array(LABELS, object)),
        (csr_array(matrix), LABELS),
        (coo_array(matrix), LABELS),
    ):
        assert d2ke.graph_codes([form]) == wanted
    assert d2ke.graph_codes([g], node_label="atom") == wanted
    labelled = d2ke.graph_codes([(EDGES, LABELS, [1, 2, 1])])
    assert d2ke.graph_codes([g], node_label="atom", edge_label="bond") == labelled
    plain = d2ke.graph_codes([g])
    assert plain == d2ke.graph_codes([(EDGES, 4)]) == d2ke.graph_codes([(csr_array(matrix), 4)])
    assert d2ke.graph_codes(iter([g, g])) == d2ke.graph_codes([(EDGES, 4)] * 2)


def test_graphs_without_edges():
    codes = d2ke.graph_codes([([], [5, 5]), (np.zeros((0, 2), int), [5])])
    assert codes.lengths.tolist() == [8, 4]
    assert d2ke.graph_structure([([], 2)])[0].tolist() == [[0] * 6] * 2


def test_self_loops_are_left_out_with_a_warning():
    with pytest.warns(UserWarning, match="graphs have 2 self loops, which are left out"):
        codes = d2ke.graph_codes([([(0, 0), *EDGES], LABELS), ([(1, 1), *EDGES], LABELS)])
    assert codes == d2ke.graph_codes([(EDGES, LABELS)] * 2)


def networkx_graph(kind, edges=EDGES, **labels):
    nx = pytest.importorskip("networkx")
    g = getattr(nx, kind)(edges)
    for node, label in labels.items():
        g.nodes[int(node[1:])]["atom"] = label
    return g


GOOD = (EDGES, LABELS)
ONE_WAY = csr_array(([1, 1], ([1, 0], [2, 1])), shape=(3, 3))
REFUSED = {
    "edge to nowhere": ([(EDGES, 4), ([(0, 7)], 5)], {}, r"1\] has the edge \(0, 7\), but 5 nod"),
    "negative node": ([([(0, -1)], 5)], {}, r"has the edge \(0, -1\), but 5 nodes"),
    "unsymmetric": ([(ONE_WAY, 3)], {}, r"graphs\[0\] is directed.*\(0, 1\).*A \+ A.T.*to_undir"),
    "no nodes": ([GOOD, ([], [])], {}, r"\[1\] has 0 nodes"),
    "no nodes by number": ([([], 0)], {}, r"graphs\[0\] has 0 nodes"),
    "some graphs without": ([GOOD, (EDGES, 4)], {}, r"\[1\] has no labels of nodes"),
    "some without bonds": ([GOOD, (EDGES, LABELS, [1] * 3)], {}, r"\[0\] has no labels of e"),
    "float labels": ([(EDGES, [1, 2.5, 3, 4])], {}, r"graphs\[0\] must have labels of nodes.*2.5"),
    "float array": ([(EDGES, np.ones(4))], {}, r"graphs\[0\] must have labels of nodes.*1\.0"),
    "None": ([(EDGES, [1, None, 3, 4])], {}, r"all integers or all str, got None"),
    "mixed labels": ([(EDGES, [1, "C", 3, 4])], {}, r"all integers or all str"),
    "mixed graphs": ([GOOD, (EDGES, list("CCCC"))], {}, "graphs have both integers and str"),
    "float number": ([(EDGES, 4.0)], {}, "integer number of nodes, got 4.0"),
    "one graph": ((np.array(EDGES), LABELS), {}, r"list of graphs, got one; write \[graph\]"),
    "one graph, lists": ((EDGES, LABELS), {}, r"list of graphs, got one; write \[graph\]"),
    "one matrix": ((ONE_WAY, 3), {}, r"list of graphs, got one"),
    "no graphs": ([], {}, "graphs is empty"),
    "not a graph": ([GOOD, 3], {}, r"\[1\] must be a networkx graph.*got int"),
    "matrix alone": ([ONE_WAY], {}, r"\(sparse adjacency, labels or n_nodes\)"),
    "wrong shape": ([(np.array(EDGES).T, LABELS)], {}, r"\(2, 3\); use edge_index.T"),
    "float edges": ([([(0.0, 1.0)], LABELS)], {}, r"integer array of shape \(m, 2\), got float64"),
    "matrix of others": ([(ONE_WAY, 5)], {}, r"has a matrix of shape \(3, 3\) for 5 nodes"),
    "matrix and bonds": ([(ONE_WAY, 3, [1])], {}, "labels of edges beside a matrix"),
    "too few bonds": ([(EDGES, LABELS, [1])], {}, r"has 3 edges, but 1 labels"),
    "two labels": ([([(0, 1), (1, 0)], 2, [1, 2])], {}, r"has two labels for the edge \(0, 1\)"),
    "names of attributes": ([GOOD], {"node_label": "atom"}, "node_label is for graphs of networkx"),
    "rounds": ([GOOD], {"rounds": -1}, "rounds must be at least 0"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    collection, options, message = REFUSED[case]
    with pytest.raises((TypeError, ValueError), match=message):
        d2ke.graph_codes(collection, **options)


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (lambda: [networkx_graph("DiGraph")], {}, r"graphs\[0\] is directed; .*to_undirected\(\)"),
        (lambda: [networkx_graph("MultiGraph")], {}, r"graphs\[0\] is a Multi.*nx.Graph\(g\)"),
        (lambda: networkx_graph("Graph"), {}, r"list of graphs, got one; write \[graph\]"),
        (
            lambda: [networkx_graph("Graph", n0="C", n1="C", n3="C")],
            {"node_label": "atom"},
            r"graphs\[0\] has no 'atom' at the node 2",
        ),
        (
            lambda: [networkx_graph("Graph")],
            {"edge_label": "bond"},
            r"graphs\[0\] has no 'bond' at the edge \(0, 1\)",
        ),
        (lambda: [networkx_graph("Graph", [])], {}, r"graphs\[0\] has 0 nodes"),
    ],
)
def test_refused_of_networkx(make, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        d2ke.graph_codes(make(), **options)


def test_structure_by_its_definition():
    rng = np.random.default_rng(0)
    A = np.triu(rng.random((9, 9)) < 0.3, 1)
    A = A + A.T
    degrees = A.sum(axis=1)
    P = A / np.maximum(degrees, 1)[:, None]
    powers = [np.linalg.matrix_power(P, k).diagonal() for k in range(2, 7)]
    got = d2ke.graph_structure([(csr_array(A), 9), (EDGES, 4)])
    np.testing.assert_allclose(got[0], np.column_stack([np.log1p(degrees), *powers]), atol=1e-14)
    assert got.kind == "sets"


# Odd graphs

PAIR = [(0, 1)]
BEFORE_WORK = {
    "3e9 nodes": ([(PAIR, 3 * 10**9)], "3000000000 nodes"),
    "2e9 nodes": ([(PAIR, 2 * 10**9)], "would take about 200 GB"),
    "together": ([(PAIR, 10**9)] * 3, "graphs of 3000000000 nodes would take"),
    "1e12 nodes": ([(PAIR, 10**12)], "1000000000000 nodes"),
    "1e30 nodes": ([(PAIR, 10**30)], "nodes; at most"),
    "arrays": ([(PAIR, [np.zeros(2), np.zeros(3)])], "all integers or all str, got array"),
    "a surrogate": ([(PAIR, ["\ud800", "a"])], "half of a surrogate pair"),
    "ragged edges": ([([(0, 1), (1,)], 2)], "edges that are not all pairs"),
    "a large end": ([(np.array([[0, 2**64 - 1]], np.uint64), 2)], "edge to the node 184467"),
    "a large label": ([(PAIR, [2**70, 1])], "of more than 64 bits"),
}


@pytest.mark.parametrize("case", BEFORE_WORK)
@pytest.mark.parametrize("function", [d2ke.graph_codes, d2ke.graph_structure])
def test_wrong_graphs_are_refused_before_work(case, function):
    graphs, message = BEFORE_WORK[case]
    with pytest.raises((ValueError, TypeError, MemoryError), match=message):
        function(graphs)


@pytest.mark.parametrize(
    ("labels", "others"),
    [
        (["x", "y"], ["x\0", "y"]),
        ([-1, 3], [2**64 - 1, 3]),
        (np.array([-1, 3]), np.array([2**64 - 1, 3], np.uint64)),
        ([2**63, 3], [-(2**63), 3]),
        (["1", "3"], ["1 ", "3"]),
    ],
)
def test_labels_that_differ(labels, others):
    codes = d2ke.graph_codes([(PAIR, labels), (PAIR, others), (PAIR, list(labels))])
    D = d2ke.distance_matrix(codes, distance="bag")
    assert D[0, 1] > 0 == D[0, 2]


@pytest.mark.parametrize("option", ["node_label", "edge_label"])
@pytest.mark.parametrize("value", [False, True])
def test_flags_are_no_attributes(option, value):
    with pytest.raises(d2ke.ArgumentTypeError, match=f"{option} must name an attribute"):
        d2ke.graph_codes([(PAIR, 2)], **{option: value})
