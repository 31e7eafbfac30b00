# SPDX-License-Identifier: BSD-3-Clause
"""
Coresets: few points for many
=============================

A *coreset* is a small part of a point set that stands for all of it. Here its distance to the
whole is the kernel distance: how different the two are when both are smoothed by a Gaussian,
whose width is in proportion to sigma. ``kernel_coreset`` chooses the points so that this is
small.
"""

import matplotlib.pyplot as plt
import numpy as np

import d2ke

# %%
# Ten thousand points on a spiral, with noise, become sixty.

rng = np.random.default_rng(0)
angle = np.sqrt(rng.uniform(0.5, 20, 10000)) * 3
P = np.column_stack([angle * np.cos(angle), angle * np.sin(angle)])
P += rng.normal(0, 0.5, size=P.shape)

sigma = 1.5
coreset = d2ke.kernel_coreset(P, 60, sigma=sigma)
random = d2ke.kernel_coreset(P, 60, sigma=sigma, method="random", seed=0)
print(
    f"kernel distance to all points: coreset {coreset.distance:.0f}, random {random.distance:.0f}"
)
print(f"each of the {len(coreset)} points has the weight {coreset.weights[0]:.0f}")

fig, axes = plt.subplots(1, 2, figsize=(9, 4.4), sharex=True, sharey=True, layout="constrained")
for ax, part, name in zip(axes, (coreset, random), ("coreset", "random points"), strict=True):
    ax.scatter(*P[::3].T, s=1, color="0.8")
    ax.scatter(*P[part.indices].T, s=25, color="C3")
    ax.set(title=f"{name}: distance {part.distance:.0f}", xlabel="x", aspect="equal")
axes[0].set_ylabel("y")
plt.show()

# %%
# How the distance falls with the number of points: random points need many more.

sizes = np.array([10, 20, 40, 80, 160, 320])
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for method in ("random", "zorder", "halving", "thinning"):
    distances = [
        d2ke.kernel_coreset(P, int(m), sigma=sigma, method=method, seed=0).distance / len(P)
        for m in sizes
    ]
    ax.loglog(sizes, distances, "o-", label=method)
    print(f"{method:9}" + "".join(f"{d:9.5f}" for d in distances))
ax.set(xlabel="points in the coreset", ylabel="kernel distance for each point")
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.legend(title="method")
plt.show()
