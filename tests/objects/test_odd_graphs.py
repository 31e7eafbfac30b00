# SPDX-License-Identifier: BSD-3-Clause
"""Graphs that are wrong or odd: refused by name before work, and labels that look alike."""

import zipfile

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


TWO = {"A": "1, 2\n2, 1\n", "graph_indicator": "1\n1\n2\n", "graph_labels": "1\n-1\n"}


def folder(path, **changed):
    for name, text in {**TWO, **changed}.items():
        (path / f"T_{name}.txt").write_text(text, "utf-8")
    return path


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"A": "1, 2, 5\n2, 1, 5\n"}, "A.txt has 3 columns, not 2"),
        ({"A": "1\n2\n"}, "A.txt has 1 columns, not 2"),
        ({"graph_indicator": "1, 1\n1, 1\n2, 2\n"}, "graph_indicator.txt has 2 columns, not 1"),
        ({"graph_indicator": ""}, "is empty"),
        ({"graph_labels": ""}, "is empty"),
        ({"graph_labels": "1\n" * 9}, "labels of 9 graphs, but 3 nodes"),
    ],
)
def test_files_of_other_columns(tmp_path, changed, message):
    with pytest.raises(ValueError, match=message):
        d2ke.io.read_graphs(folder(tmp_path, **changed))


def test_a_graph_number_of_2e9_is_refused_before_work(tmp_path):
    folder(tmp_path, graph_indicator="1\n1\n2000000000\n")
    (tmp_path / "T_graph_labels.txt").unlink()
    with pytest.raises(ValueError, match=r"line 3.*not a graph of 1 to 3"):
        d2ke.io.read_graphs(tmp_path)


def test_all_columns_of_labels_and_targets_are_read(tmp_path):
    folder(tmp_path, graph_labels="1, 0\n0, 1\n")
    assert d2ke.io.read_graphs(tmp_path)[1].tolist() == [[1, 0], [0, 1]]
    (tmp_path / "T_graph_labels.txt").unlink()
    (tmp_path / "T_graph_attributes.txt").write_text("1.5, 2\n3, 4\n", "utf-8")
    assert d2ke.io.read_graphs(tmp_path)[1].tolist() == [[1.5, 2], [3, 4]]


def test_every_changed_byte_of_a_zip_is_refused_or_harmless(tmp_path):
    path = tmp_path / "T.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in TWO.items():
            archive.writestr(f"T/T_{name}.txt", text)
    content, whole = path.read_bytes(), repr(d2ke.io.read_graphs(path))
    refused = 0
    for i in range(len(content)):
        path.write_bytes(content[:i] + bytes([content[i] ^ 1 << i % 8]) + content[i + 1 :])
        try:
            assert repr(d2ke.io.read_graphs(path)) == whole
        except ValueError:
            refused += 1
    assert refused > 100
