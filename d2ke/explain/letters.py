# SPDX-License-Identifier: BSD-3-Clause
"""Shares of letters in the decision of a model of bags: words of documents, codes of graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from d2ke._base.errors import ArgumentError
from d2ke._base.keywords import hinted
from d2ke._base.pictures import SIGNED
from d2ke.distances.string_rows import letter_counts
from d2ke.models.distance_blocks import FittedBlock
from d2ke.objects.graphs import join_graphs
from d2ke.objects.joining import common_alphabet

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def letter_shares(block: FittedBlock, x: Any, gains: np.ndarray) -> tuple[dict[str, Any], ...]:
    """Divide what random objects add among the letters of x that they share with it.

    `gains` are what each random object adds to the decision beyond one without a common letter.
    It is divided by the smaller one of the shares in x and in the random object, whose sum over the
    letters is 1 - distance / 2.
    """
    alphabet, (x_codes, codes) = common_alphabet([x, block.omega])
    letters, counts = np.unique(x_codes, return_counts=True)
    members, times, offsets = letter_counts(block.omega, codes, max(1, len(alphabet)))
    owners = np.repeat(np.arange(len(block.omega)), np.diff(offsets))
    places = np.minimum(np.searchsorted(letters, members), max(len(letters) - 1, 0))
    is_common = letters[places] == members if len(letters) else np.zeros(len(members), bool)
    owners, places = owners[is_common], places[is_common]
    in_omega = times[is_common] / block.omega.lengths[owners]
    both = np.minimum(in_omega, counts[places] / max(len(x_codes), 1))
    overlaps = np.bincount(owners, both, len(block.omega))
    shares = np.bincount(places, both * gains[owners] / overlaps[owners], len(letters))
    order = np.argsort(-shares, kind="stable")
    item = x[0]
    return tuple(
        {
            "letter": item[int(np.argmax(x_codes == letters[k]))],
            "share": float(shares[k]),
            "places": np.flatnonzero(x_codes == letters[k]),
        }
        for k in order
    )


@hinted
def plot_graph(explanation: Any, graph: Any, *, rounds: int = 3, ax: Axes | None = None) -> Axes:
    """Draw a graph with its nodes coloured by what their codes add to a decision.

    Parameters
    ----------
    explanation : Explanation
        What `d2ke_explain` returned for the codes of the graph.
    graph : a graph
        As an item of the argument of `graph_codes`.
    rounds : int, default 3
        As for `graph_codes`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        Red nodes are for the label, blue ones against it.

    Raises
    ------
    ImportError
        Without networkx or matplotlib.
    ValueError
        A graph of another number of nodes; an explanation without codes.

    Examples
    --------
    >>> import d2ke
    >>> graphs = [([(0, 1), (1, 2), (2, 0)], 3), ([(0, 1), (1, 2), (2, 3)], 4)] * 6
    >>> codes = d2ke.graph_codes(graphs)
    >>> model = d2ke.d2ke_train(["ring", "path"] * 6, codes, distance="bag")
    >>> why = d2ke.d2ke_explain(codes[0], model)
    >>> axes = d2ke.explain.plot_graph(why, graphs[0])  # doctest: +SKIP
    """
    try:
        import networkx as nx
        from matplotlib import pyplot
    except ImportError:
        raise ImportError(
            'plot_graph draws with networkx: pip install networkx "d2ke[demo]"'
        ) from None

    codes = explanation.codes(rounds)
    plain = graph if hasattr(graph, "nodes") else (graph[0], graph[1])
    offsets, sources, targets, _, _ = join_graphs([plain])
    n_codes = sum(len(code["nodes"]) for code in codes)
    if n_codes != (rounds + 1) * offsets[1]:
        raise ArgumentError("graph", f"has {offsets[1]} nodes, but {n_codes} codes were explained")
    shares = np.zeros(offsets[1])
    for code in codes:
        shares[code["nodes"]] += code["share"] / len(code["nodes"])
    drawn = nx.Graph()
    drawn.add_nodes_from(range(len(shares)))
    drawn.add_edges_from(zip(sources.tolist(), targets.tolist(), strict=True))
    ax = pyplot.figure().subplots() if ax is None else ax
    limit = float(np.abs(shares).max()) or 1.0
    nx.draw_networkx(
        drawn, nx.spring_layout(drawn, seed=0), ax=ax, node_color=shares, cmap=SIGNED,
        vmin=-limit, vmax=limit,
    )  # fmt: skip
    ax.set_title(f"{explanation.label}: {explanation.decision:+.2f}")
    return ax
