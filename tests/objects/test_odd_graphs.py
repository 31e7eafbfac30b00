# SPDX-License-Identifier: BSD-3-Clause
"""Graphs that are wrong or odd: refused by name before work, and labels that look alike."""

import numpy as np
import pytest

import d2ke

EDGES = [(0, 1)]
BAG = {"distance": "bag"}

WRONG = {
    "3e9 nodes": ([(EDGES, 3 * 10**9)], "3000000000 nodes"),
    "2e9 nodes": ([(EDGES, 2 * 10**9)], "would take about 200 GB"),
    "together": ([(EDGES, 10**9)] * 3, "graphs of 3000000000 nodes would take"),
    "1e12 nodes": ([(EDGES, 10**12)], "1000000000000 nodes"),
    "1e30 nodes": ([(EDGES, 10**30)], "nodes; at most"),
    "arrays": ([(EDGES, [np.zeros(2), np.zeros(3)])], "all integers or all str, got array"),
    "a surrogate": ([(EDGES, ["\ud800", "a"])], "half of a surrogate pair"),
    "ragged edges": ([([(0, 1), (1,)], 2)], "edges that are not all pairs"),
    "a large end": ([(np.array([[0, 2**64 - 1]], np.uint64), 2)], "edge to the node 184467"),
    "a large label": ([(EDGES, [2**70, 1])], "of more than 64 bits"),
}


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize("function", [d2ke.graph_codes, d2ke.graph_structure])
def test_wrong_graphs_are_refused_before_work(case, function):
    graphs, message = WRONG[case]
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
    codes = d2ke.graph_codes([(EDGES, labels), (EDGES, others), (EDGES, list(labels))])
    D = d2ke.distance_matrix(codes, **BAG)
    assert D[0, 1] > 0 == D[0, 2]


@pytest.mark.parametrize("option", ["node_label", "edge_label"])
@pytest.mark.parametrize("value", [False, True])
def test_flags_are_no_attributes(option, value):
    with pytest.raises(d2ke.ArgumentTypeError, match=f"{option} must name an attribute"):
        d2ke.graph_codes([(EDGES, 2)], **{option: value})
