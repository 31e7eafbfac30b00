# SPDX-License-Identifier: BSD-3-Clause
"""
Warping paths, edits and flows
==============================

A distance is one number. ``align`` shows its parts: which steps of two series belong
together, which letters are edited, which points go where.
"""

import matplotlib.pyplot as plt
import numpy as np

import d2ke

# %%
# Two series of the same shape at different speeds. Dynamic time warping (DTW) pairs each step of
# one with steps of the other, in order, so that the sum of the differences is least.

t = np.linspace(0, 1, 40)
x = np.sin(9 * t) + 0.5 * t
y = np.sin(9 * t**2) + 0.5 * t**2  # slow at first, fast at the end
path = d2ke.align(x, y, "dtw")
print(f"DTW distance {path.value:.3f}, from {len(path.pairs)} pairs")

fig, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
path.plot(ax)
plt.show()

# %%
# The same path in the table of all pairs: dark cells are small differences, and the path goes
# through the valley.

fig, ax = plt.subplots(figsize=(5.5, 4), layout="constrained")
image = ax.imshow(np.abs(np.subtract.outer(x, y)), cmap="viridis", origin="lower", aspect="auto")
ax.plot(path.pairs[:, 1], path.pairs[:, 0], color="white", linewidth=2)
ax.set(xlabel="step of y", ylabel="step of x", title="The warping path")
fig.colorbar(image, ax=ax, label="difference of the values")
plt.show()

# %%
# A *window* limits how many steps a step may be from its partner. The distance grows as the
# window becomes narrower; 0 pairs equal times only.

windows = np.arange(0, 16)
distances = [d2ke.distance_matrix([x], [y], "dtw", window=int(w))[0, 0] for w in windows]
fig, ax = plt.subplots(figsize=(5, 3), layout="constrained")
ax.plot(windows, distances, "o-")
ax.set(xlabel="window, steps", ylabel="DTW distance")
plt.show()

# %%
# Strings: the edits that turn one into the other.

edits = d2ke.align("time warps all of us", "it warps time also", "levenshtein")
print(edits)

# %%
# Weighted sets of points: what the earth mover's distance moves where. Wide lines move much.

rng = np.random.default_rng(0)
left = d2ke.pack([rng.normal([0, 0], 0.6, size=(6, 2))], weights=[[3, 1, 1, 1, 1, 1]])
right = rng.normal([3, 1], 0.6, size=(5, 2))
flow = d2ke.align(left, right, "emd")
print(f"earth mover's distance {flow.value:.3f}; {len(flow.pairs)} moves")
fig, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
flow.plot(ax)
ax.set(xlabel="first coordinate", ylabel="second coordinate")
plt.show()
