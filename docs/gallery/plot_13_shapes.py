# SPDX-License-Identifier: BSD-3-Clause
"""
Alignment of shapes
===================

Two outlines of the same thing, one of them turned, moved, and with other vertices.
``kernel_align`` searches for the motion that makes their kernel distance least. No vertex needs a
partner: the outlines are compared as wholes.
"""

import matplotlib.pyplot as plt
import numpy as np

import d2ke

# %%
# A leaf with 200 vertices; the other has 90, was turned by 110 degrees and moved, and is not
# quite the same leaf.


def leaf(n, depth):
    angle = np.linspace(0, 2 * np.pi, n, endpoint=False)
    radius = 2 + np.cos(angle) + depth * np.cos(5 * angle) + 0.3 * np.sin(2 * angle)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


angle = np.deg2rad(110)
turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
P = leaf(200, depth=0.45)
Q = leaf(90, depth=0.35) @ turn.T + [7, -3]

# %%
# ``curve`` makes an outline a measure: its pieces carry their directions. sigma is the scale at
# which differences count.

motion = d2ke.kernel_align(d2ke.curve(P, closed=True), d2ke.curve(Q, closed=True), sigma=0.5)
found = np.rad2deg(np.arctan2(motion.rotation[1, 0], motion.rotation[0, 0]))
print(f"turned by {found:.1f} degrees, moved by {motion.translation.round(2)}")
print(f"kernel distance {motion.distance_before:.2f} before, {motion.distance:.2f} after")

fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, outline, title in zip(axes, (Q, motion(Q)), ("before", "after"), strict=True):
    ax.fill(*P.T, facecolor="none", edgecolor="C0", linewidth=2, label="P")
    ax.fill(*outline.T, facecolor="none", edgecolor="C1", linewidth=2, label="Q")
    ax.set(title=title, xlabel="x", ylabel="y", aspect="equal")
axes[0].legend()
plt.show()

# %%
# Sets of points work too, also where a part is missing. A small sigma lets what has no partner
# disturb little.

rng = np.random.default_rng(0)
whole = leaf(300, depth=0.45) + rng.normal(0, 0.03, size=(300, 2))
part = (leaf(300, depth=0.45) @ turn.T + [5, 5])[40:200]
part += rng.normal(0, 0.03, size=part.shape)
motion = d2ke.kernel_align(whole, part, sigma=0.3)

fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, points, title in zip(axes, (part, motion(part)), ("before", "after"), strict=True):
    ax.scatter(*whole.T, s=10, label="all of the leaf")
    ax.scatter(*points.T, s=10, label="a part, turned and moved")
    ax.set(title=title, xlabel="x", ylabel="y", aspect="equal")
axes[0].legend(fontsize=8)
plt.show()
