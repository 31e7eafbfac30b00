# SPDX-License-Identifier: BSD-3-Clause
"""
Which atoms make the difference?
================================

A graph becomes the bag of the codes of its nodes, and ``distance="bag"`` compares the shares of the
codes. ``d2ke_explain`` divides a decision among the codes, so that each node has a share of it.
"""

import matplotlib.pyplot as plt
import numpy as np

import d2ke

# %%
# Molecules are chains of carbons with side chains. Those of the class "active" have a ring of five
# with a nitrogen at one end.

rng = np.random.default_rng(0)


def molecule(is_active):
    n = int(rng.integers(7, 11))
    bonds = [(k, k + 1) for k in range(n - 1)]
    labels = ["C"] * n
    for place in rng.choice(n - 5, 2, replace=False):
        bonds.append((int(place), len(labels)))
        labels.append(str(rng.choice(["O", "C", "N"])))
    if is_active:
        bonds.append((n - 5, n - 1))
        labels[n - 1] = "N"
    return bonds, labels


y = np.array(["active", "inert"] * 100)
graphs = [molecule(label == "active") for label in y]
codes = d2ke.graph_codes(graphs)
model = d2ke.d2ke_train(y[:100], codes[:100], distance="bag", seed=0)
print(d2ke.d2ke_predict(y[100:], codes[100:], model)[1])

# %%
# The shares of the nodes of an active molecule: a code of round h at a node stands for its
# surroundings up to h steps, and its share is divided among the nodes that have the code.

why = d2ke.d2ke_explain(codes[100], model)
bonds, labels = graphs[100]
shares = np.zeros(len(labels))
for code in why.codes():
    shares[code["nodes"]] += code["share"] / len(code["nodes"])

fig, ax = plt.subplots(figsize=(7, 3.2))
n_chain = max(k for k, (u, v) in enumerate(bonds) if v == u + 1) + 2
x = np.arange(len(labels), dtype=float)
height = np.zeros(len(labels))
for u, v in bonds:
    if v >= n_chain:
        x[v], height[v] = x[u], 1.0
ring = np.arange(n_chain - 5, n_chain)
angle = np.pi + 2 * np.pi * np.arange(5) / 5
x[ring], height[ring] = x[ring[0]] + 1 + np.cos(angle), np.sin(angle)
for u, v in bonds:
    ax.plot(x[[u, v]], height[[u, v]], color="0.6", zorder=1)
limit = np.abs(shares).max()
points = ax.scatter(x, height, 350, shares, cmap="coolwarm", vmin=-limit, vmax=limit, zorder=2)
for place, label in zip(np.column_stack([x, height]), labels, strict=True):
    ax.annotate(label, place, ha="center", va="center")
ax.set_ylim(-1.6, 1.6)
ax.set(xlabel="bonds along the chain", yticks=[])
ax.set_title(f"{why.label}: what each atom adds")
fig.colorbar(points, label=f"share of the decision for {why.label}")
plt.show()
