# SPDX-License-Identifier: BSD-3-Clause
"""Graphs of folders and zips in the format of TU Dortmund, and commands on them."""

import zipfile

import numpy as np
import pytest

import d2ke
from d2ke.cli.main import main
from d2ke.cli.shell import shell_words

FILES = {
    "A": "1, 2\n2, 1\n5, 4\n4, 5\n5, 3\n",
    "graph_indicator": "1\n1\n2\n2\n2\n",
    "graph_labels": "1\n-1\n",
    "node_labels": "6\n7\n6\n6\n8\n",
    "edge_labels": "1\n1\n2\n2\n1\n",
    "node_attributes": "0.5, 1\n0, 1\n1e-3, 2\n2, 2\n3, 3\n",
}


def folder(path, **changes):
    path.mkdir()
    for name, text in (FILES | changes).items():
        if text is not None:
            (path / f"TWO_{name}.txt").write_text(text, "ascii")
    return path


def zipped(path, root):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in root.iterdir():
            archive.write(file, f"TWO/{file.name}")
            archive.writestr(f"__MACOSX/TWO/._{file.name}", b"\0")
    return path


def test_folder_and_zip(tmp_path):
    root = folder(tmp_path / "two")
    for path in (root, str(zipped(tmp_path / "two.zip", root))):
        graphs, labels, attributes = d2ke.io.read_graphs(path)
        assert [(e.tolist(), x.tolist()) for e, x in graphs] == [
            ([[0, 1], [1, 0]], [6, 7]), ([[2, 1], [1, 2], [2, 0]], [6, 6, 8]),
        ]  # fmt: skip
        assert labels.tolist() == [1, -1]
        assert attributes.kind == "sets"
        assert attributes[1].tolist() == [[0.001, 2], [2, 2], [3, 3]]
        with_bonds = d2ke.io.read_graphs(path, edge_labels=True)[0]
        assert [graph[2].tolist() for graph in with_bonds] == [[1, 1], [2, 2, 1]]
        assert d2ke.io.read_objects(path, objects="codes")[0] == d2ke.graph_codes(graphs)
        both = d2ke.io.read_objects(path)
        assert both.objects["codes"].values == d2ke.graph_codes(graphs)
        assert both.objects["attributes"].values == attributes
        assert both.note == "graphs, as codes and attributes of their nodes"
        with pytest.raises(ValueError, match=r"has no column 'x'; it has 'codes', 'attributes'"):
            d2ke.io.read_objects(path, objects="x")


def test_only_what_is_there(tmp_path):
    few = dict.fromkeys(("node_labels", "edge_labels", "node_attributes", "graph_labels"))
    graphs, labels, attributes = d2ke.io.read_graphs(folder(tmp_path / "a", **few))
    assert [n for _, n in graphs] == [2, 3]
    assert labels is attributes is None
    few |= {"graph_attributes": "0.5\n2\n", "node_labels": "1, 0\n0, 1\n1, 1\n1, 0\n1, 0\n"}
    graphs, labels, _ = d2ke.io.read_graphs(folder(tmp_path / "b", **few), edge_labels=True)
    assert graphs[0][1].tolist() == ["1,0", "0,1"]
    assert labels.tolist() == [0.5, 2.0]
    nothing = d2ke.io.read_graphs(folder(tmp_path / "c", A="", edge_labels=None))[0]
    assert [edges.shape for edges, _ in nothing] == [(0, 2), (0, 2)]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"A": "1, 2\n2, 9\n"}, r"TWO_A.txt, line 2: \[2, 9\] is not an edge of nodes 1 to 5"),
        ({"A": "1, 2\n2, 3\n"}, r"TWO_A.txt, line 2: \[2, 3\] joins nodes of different graphs"),
        ({"A": "1, 2\n2, x\n"}, "TWO_A.txt: could not convert"),
        ({"A": None}, "must have one file NAME_A.txt, got 0"),
        ({"graph_indicator": None}, "TWO_graph_indicator.txt is missing"),
        ({"graph_indicator": "1\n2\n1\n2\n2\n"}, r"line 3: \[1\] comes after a later graph"),
        ({"graph_indicator": "1\n1\n2\n2\n3\n"}, r"line 5: \[3\] is not a graph of 1 to 2"),
        ({"node_labels": "1\n"}, "TWO_node_labels.txt has 1 lines; 5 are needed"),
        ({"node_attributes": "nan\n1\n1\n1\n1\n"}, r"nan"),
        ({"A": "1, 2, 5\n2, 1, 5\n"}, "A.txt has 3 columns, not 2"),
        ({"A": "1\n2\n"}, "A.txt has 1 columns, not 2"),
        ({"graph_indicator": "1, 1\n1, 1\n2, 2\n"}, "graph_indicator.txt has 2 columns, not 1"),
        ({"graph_indicator": ""}, "is empty"),
        ({"graph_indicator": "1\n1\n1\n1\n2000000000\n", "graph_labels": None},
         r"line 5.*not a graph of 1 to 5"),
        ({"graph_labels": ""}, "is empty"),
        ({"graph_labels": "1\n" * 9}, "labels of 9 graphs, but 5 nodes"),
    ],
)  # fmt: skip
def test_refused(tmp_path, changes, message):
    with pytest.raises(ValueError, match=message):
        d2ke.io.read_graphs(folder(tmp_path / "two", **changes))


def test_all_columns_of_labels_and_targets_are_read(tmp_path):
    several = folder(tmp_path / "a", graph_labels="1, 0\n0, 1\n")
    assert d2ke.io.read_graphs(several)[1].tolist() == [[1, 0], [0, 1]]
    targets = folder(tmp_path / "b", graph_labels=None, graph_attributes="1.5, 2\n3, 4\n")
    assert d2ke.io.read_graphs(targets)[1].tolist() == [[1.5, 2], [3, 4]]


def test_every_changed_byte_of_a_zip_is_refused_or_harmless(tmp_path):
    few = dict.fromkeys(("node_labels", "edge_labels", "node_attributes"))
    path = zipped(tmp_path / "two.zip", folder(tmp_path / "two", **few))
    content, whole = path.read_bytes(), repr(d2ke.io.read_graphs(path))
    refused = 0
    for i in range(len(content)):
        path.write_bytes(content[:i] + bytes([content[i] ^ 1 << i % 8]) + content[i + 1 :])
        try:
            assert repr(d2ke.io.read_graphs(path)) == whole
        except ValueError:
            refused += 1
    assert refused > 100


def test_refused_paths(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file or folder"):
        d2ke.io.read_graphs(tmp_path / "none.zip")
    (tmp_path / "broken.zip").write_bytes(b"PK")
    with pytest.raises(ValueError, match=r"broken.zip is damaged: BadZipFile"):
        d2ke.io.read_graphs(tmp_path / "broken.zip")
    with pytest.raises(TypeError, match="path must be a path"):
        d2ke.io.read_graphs(3)
    with pytest.raises(TypeError, match="edge_labels must be True or False"):
        d2ke.io.read_graphs(folder(tmp_path / "two"), edge_labels=1)


def rings_and_stars(path, attributes=False):
    """Write 40 graphs, which attributes tell apart, too; return their folder."""
    rng = np.random.default_rng(0)
    lines = {"A": [], "graph_indicator": [], "graph_labels": []}
    lines |= {"node_attributes": []} if attributes else {}
    first = 1
    for i in range(40):
        n = int(rng.integers(5, 9))
        ends = [((k + 1) % n if i % 2 else 0, k) for k in range(i % 2 == 0, n)]
        lines["A"] += [f"{first + u}, {first + v}" for u, v in ends]
        lines["graph_indicator"] += [str(i + 1)] * n
        lines["graph_labels"].append(str(i % 2))
        if attributes:
            lines["node_attributes"] += [f"{x}, {i % 2}" for x in rng.normal(size=n)]
        first += n
    texts = {name: "\n".join(of_file) + "\n" for name, of_file in lines.items()}
    return folder(path, **dict.fromkeys(FILES) | texts)


def test_commands(tmp_path, capsys):
    root, path = rings_and_stars(tmp_path / "rings"), tmp_path / "rings.zip"
    zipped(path, root)
    model, out = tmp_path / "model.h5", str(tmp_path / "out.csv")
    assert main(["train", str(path), "--out", str(model)]) == 0
    assert "x bag" in capsys.readouterr().out
    assert main(["predict", str(model), str(root), "--out", out]) == 0
    assert "accuracy 100.00 %" in capsys.readouterr().out
    assert main(["neighbors", str(path), "--k", "2", "--out", out]) == 0
    assert "bag: 80 neighbours" in capsys.readouterr().out
    assert main(["cluster", str(path), "--n-clusters", "2", "--out", out]) == 0
    assert "distances: bag" in capsys.readouterr().out


def test_attributes_of_nodes_are_a_column_of_commands(tmp_path, capsys):
    path, model, out = (str(tmp_path / name) for name in ("rings.zip", "model.h5", "out.csv"))
    zipped(path, rings_and_stars(tmp_path / "rings", attributes=True))
    assert main(["inspect", path]) == 0
    assert "codes (strings), attributes (sets)" in capsys.readouterr().out
    assert main(["train", path, "--R", "16", "--out", model]) == 0
    text = capsys.readouterr().out
    assert "codes: training objects" in text
    assert "x bag" in text
    assert "attributes: sets" in text
    assert main(["predict", model, path, "--out", out]) == 0
    assert "accuracy 100.00 %" in capsys.readouterr().out
    emd = ["--distance", "attributes=emd"]
    assert main(["train", path, *emd, "--R", "16", "--out", model]) == 0
    text = capsys.readouterr().out
    assert "x bag" in text
    assert "attributes: sets" in text
    assert "to omega" not in text  # as for the usual distance
    # Commands for objects of one kind need the name of a column.
    assert main(["neighbors", path, "--k", "2", "--out", out]) == 2
    assert "several columns, 'codes', 'attributes'; name one" in capsys.readouterr().err
    for column, distance in (("codes", "bag"), ("attributes", "mhd")):
        assert main(["neighbors", path, "--objects", column, "--k", "2", "--out", out]) == 0
        assert f"{distance}: 80 neighbours" in capsys.readouterr().out
    assert main(["train", path, "--objects", "codes", "--R", "16", "--out", model]) == 0
    assert "not used: 'attributes'" in capsys.readouterr().out
    assert main(["predict", model, path, "--out", out]) == 0
    assert "objects from 'codes'; not used: 'attributes'" in capsys.readouterr().out
    assert main(["predict", model, path, "--objects", "codes,attributes", "--out", out]) == 2
    assert "but the model is of strings; name one column" in capsys.readouterr().err


def test_graphs_without_labels(tmp_path, capsys):
    root = rings_and_stars(tmp_path / "rings", attributes=True)
    (root / "TWO_graph_labels.txt").unlink()
    assert main(["inspect", str(root)]) == 0
    command = capsys.readouterr().out.splitlines()[-1]
    named = shell_words(str(root))
    assert command == f"next: d2ke neighbors {named} --objects codes --k 5 --out graph.csv"
