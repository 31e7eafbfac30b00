# SPDX-License-Identifier: BSD-3-Clause
"""A picture of a graph, coloured by what its codes add to a decision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from d2ke._base.errors import ArgumentError
from d2ke._base.keywords import hinted
from d2ke.objects.graphs import join_graphs
from d2ke.plots.style import axes_or_new, signed_colours, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    >>> axes = d2ke.plots.plot_graph(why, graphs[0])  # doctest: +SKIP
    """
    try:
        import networkx as nx
    except ImportError:
        raise ImportError("plot_graph draws with networkx: pip install networkx") from None

    codes = explanation.codes(rounds)
    plain = graph if hasattr(graph, "nodes") else (graph[0], graph[1])
    offsets, sources, targets, _, _ = join_graphs([plain])
    n_codes = sum(len(code["nodes"]) for code in codes)
    if n_codes != (rounds + 1) * offsets[1]:
        raise ArgumentError("graph", f"has {offsets[1]} nodes, but {n_codes} codes were explained")
    shares = np.zeros(offsets[1])
    for code in codes:
        shares[code["nodes"]] += code["share"] / len(code["nodes"])
    network = nx.Graph()
    network.add_nodes_from(range(len(shares)))
    network.add_edges_from(zip(sources.tolist(), targets.tolist(), strict=True))
    ax = axes_or_new(ax, (6.4, 4.8))
    colours = signed_colours(shares).to_rgba(shares)
    nx.draw_networkx(network, nx.spring_layout(network, seed=0), ax=ax, node_color=colours)
    title(ax, explanation.title)
    return ax
