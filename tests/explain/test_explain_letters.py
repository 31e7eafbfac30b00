# SPDX-License-Identifier: BSD-3-Clause
"""Shares of words and of codes of graphs in decisions of models of bags."""

import numpy as np
import pytest

import d2ke

RING, PATH = ([(0, 1), (1, 2), (2, 0)], 3), ([(0, 1), (1, 2), (2, 3)], 4)
GRAPHS = [RING, PATH, ([(0, 1), (1, 2), (2, 3), (3, 0)], 4), ([(0, 1), (1, 2)], 3)] * 5
Y = ["ring", "path"] * 10
CODES = d2ke.graph_codes(GRAPHS)
MODEL = d2ke.d2ke_train(Y, CODES, distance="bag", seed=0)


def test_shares_of_words():
    rng = np.random.default_rng(0)
    y = np.array(["cat", "dog"] * 30)
    words = [[name, *rng.choice(list("abcdefgh"), 5)] for name in y]
    model = d2ke.d2ke_train(y, words, distance="bag", seed=0)
    why = d2ke.d2ke_explain(["dog", "b", "a", "a"], model)
    assert why.label == "dog"
    assert why.letters[0]["letter"] == "dog"
    places = {entry["letter"]: entry["places"].tolist() for entry in why.letters}
    assert places == {"dog": [0], "b": [1], "a": [2, 3]}
    assert "'dog', 1 times" in str(why)


@pytest.mark.parametrize("i", [0, 1])
@pytest.mark.parametrize("is_training", [False, True])
def test_shares_sum_to_the_decision_beyond_no_common_letter(i, is_training):
    why = d2ke.d2ke_explain(CODES[i], MODEL, training_object=i if is_training else None)
    with pytest.warns(UserWarning, match="letters"):
        far = d2ke.d2ke_explain(d2ke.pack([[5, 6]], kind="strings"), MODEL)
    assert [entry["share"] for entry in far.letters] == [0, 0]
    sign = 1 if why.label == far.label else -1
    total = sum(entry["share"] for entry in why.letters)
    np.testing.assert_allclose(why.decision - sign * far.decision, total, atol=1e-5)


def test_codes_have_nodes_and_rounds():
    why = d2ke.d2ke_explain(CODES[1], MODEL)
    assert why.label == "path"
    codes = why.codes()
    assert [code["share"] for code in codes] == sorted((c["share"] for c in codes), reverse=True)
    nodes = [[] for _ in range(4)]
    for code in codes:
        nodes[code["round"]] += code["nodes"].tolist()
        letters = CODES[1].reshape(4, 4)[code["round"], code["nodes"]]
        assert len(set(letters.tolist())) == 1
    assert [sorted(of_round) for of_round in nodes] == [[0, 1, 2, 3]] * 4
    ends = next(c for c in codes if c["round"] == 0 and 0 in c["nodes"])
    assert ends["nodes"].tolist() == [0, 3]
    assert ends["share"] > 0


def test_refused():
    why = d2ke.d2ke_explain(CODES[1], MODEL)
    with pytest.raises(ValueError, match="rounds is 4, but x has no codes of so many rounds"):
        why.codes(4)
    with pytest.raises(ValueError, match="rounds must be at least 0"):
        why.codes(-1)


def test_picture():
    pytest.importorskip("networkx")
    figures = pytest.importorskip("matplotlib.figure")
    why = d2ke.d2ke_explain(CODES[1], MODEL)
    ax = figures.Figure().subplots()
    assert d2ke.plots.plot_graph(why, PATH, ax=ax) is ax
    assert ax.get_title().startswith("path: +")
    ax.figure.canvas.draw()
    with pytest.raises(ValueError, match="graph has 3 nodes, but 16 codes were explained"):
        d2ke.plots.plot_graph(why, RING)
