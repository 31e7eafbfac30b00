# SPDX-License-Identifier: BSD-3-Clause
"""
Labels from a few
=================

Labels are expensive, distances are not. ``lpdsk`` (label propagation by discriminative
similarity) passes the labels of a few objects on to all others, along chains of similar objects.
It is compared with the simplest method, the label of the nearest labelled object.
"""

import matplotlib.pyplot as plt
import numpy as np

import d2ke

# %%
# The outlines of handwritten digits, as strings, and their Levenshtein distances.

data = d2ke.datasets.load("digits-str8")
X, y = data.objects[:800], data.labels[:800]
D = d2ke.distance_matrix(X, distance="levenshtein")

# %%
# One to ten labels of each digit are known; -1 marks an unknown label. Each number is
# tried with three random choices.

numbers = [1, 2, 3, 5, 10]
propagated = np.zeros((3, len(numbers)))
nearest = np.zeros((3, len(numbers)))
for seed in range(3):
    order = np.random.default_rng(seed).permutation(len(y))
    for k, n in enumerate(numbers):
        known = np.concatenate([order[y[order] == digit][:n] for digit in range(10)])
        few = np.full(len(y), -1)
        few[known] = y[known]
        hidden = few < 0
        labels = d2ke.lpdsk(distances=D, y=few).labels
        propagated[seed, k] = 100 * np.mean(labels[hidden] == y[hidden])
        closest = known[D[:, known].argmin(axis=1)]
        nearest[seed, k] = 100 * np.mean(y[closest][hidden] == y[hidden])
for k, n in enumerate(numbers):
    print(f"{n:2} labels of each digit: propagated {propagated[:, k].mean():.1f} %, "
          f"nearest {nearest[:, k].mean():.1f} %")  # fmt: skip

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for name, runs in (("label propagation", propagated), ("nearest labelled string", nearest)):
    ax.errorbar(numbers, runs.mean(axis=0), runs.std(axis=0), fmt="o-", capsize=3, label=name)
ax.set(xlabel="known labels of each digit", ylabel="accuracy on the other digits, %")
ax.set_xticks(numbers)
ax.legend(loc="lower right")
plt.show()

# %%
# Two half moons show why. Each has one known label. The nearest labelled point is often in
# the other moon, while chains of near points stay within a moon.

# sphinx_gallery_thumbnail_number = 2
rng = np.random.default_rng(0)
angle = rng.uniform(0, np.pi, 300)
moon = np.arange(300) % 2
points = np.column_stack([np.cos(angle) + moon, np.sin(angle) * (1 - 2 * moon) + 0.35 * moon])
points += rng.normal(0, 0.07, size=points.shape)
known = np.array([int(np.flatnonzero(moon == m)[0]) for m in (0, 1)])
few = np.where(np.isin(np.arange(300), known), moon, -1)
by_nearest = moon[known][np.linalg.norm(points[:, None] - points[known], axis=2).argmin(axis=1)]
by_propagation = d2ke.lpdsk(points=points, y=few).labels

fig, axes = plt.subplots(1, 2, figsize=(9, 3.2), sharey=True, layout="constrained")
for ax, labels, name in zip(
    axes, (by_nearest, by_propagation), ("nearest labelled point", "label propagation"), strict=True
):
    ax.scatter(*points.T, s=12, c=labels, cmap="coolwarm")
    ax.scatter(*points[known].T, s=160, marker="*", color="black", label="known label")
    ax.set(title=f"{name}: {100 * np.mean(labels == moon):.0f} %", xlabel="x", aspect="equal")
axes[0].set_ylabel("y")
axes[0].legend(fontsize=8)
plt.show()
