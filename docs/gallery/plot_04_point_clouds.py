# SPDX-License-Identifier: BSD-3-Clause
"""
Point clouds in three dimensions
================================

A scanner returns some hundred points of an object's surface, in no order and never the same
number. Four kinds of objects are generated: balls, boxes, rings and cones, each turned about the
vertical, scaled, and with noise. A model learns to tell them apart from a few clouds of each
kind.
"""

import matplotlib.pyplot as plt
import numpy as np

import d2ke

# %%
# How the clouds are made.

rng = np.random.default_rng(0)


def ball(n):
    points = rng.normal(size=(n, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def box(n):
    points = rng.uniform(-1, 1, size=(n, 3))
    points[np.arange(n), rng.integers(0, 3, n)] = rng.choice([-1, 1], n)
    return 0.8 * points


def ring(n):
    u, v = rng.uniform(0, 2 * np.pi, size=(2, n))
    r = 0.9 + 0.35 * np.cos(v)
    return np.column_stack([r * np.cos(u), r * np.sin(u), 0.35 * np.sin(v)])


def cone(n):
    u, height = rng.uniform(0, 2 * np.pi, n), np.sqrt(rng.uniform(0, 1, n))
    return np.column_stack([height * np.cos(u), height * np.sin(u), 1 - 2 * height])


def scan(shape):
    points = shape(rng.integers(60, 140))
    angle = rng.uniform(0, 2 * np.pi)
    turn = [[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]]
    return points @ turn * rng.uniform(0.8, 1.2, 3) + rng.normal(0, 0.08, size=points.shape)


shapes = [ball, box, ring, cone]
names = np.array(["ball", "box", "ring", "cone"])
y = np.arange(320) % 4
clouds = d2ke.pack([scan(shapes[label]) for label in y], kind="sets")
print(clouds)

fig = plt.figure(figsize=(10, 3))
fig.subplots_adjust(left=0.02, right=0.94, bottom=0.08, wspace=0.25)
for k in range(4):
    ax = fig.add_subplot(1, 4, k + 1, projection="3d")
    ax.scatter(*clouds[k].T, s=6, c=clouds[k][:, 2], cmap="viridis")
    ax.set(title=f"{names[k]}, {len(clouds[k])} points", xlabel="x", ylabel="y", zlabel="z")
    ax.set(xticks=[-1, 0, 1], yticks=[-1, 0, 1], zticks=[-1, 0, 1])
    ax.set_box_aspect((1, 1, 1), zoom=0.9)
plt.show()

# %%
# Forty clouds are for training, ten of each kind, and 280 for the test. The earth mover's
# distance is the work of moving one cloud onto the other; the modified Hausdorff distance looks
# at nearest points; the kernel distance compares the clouds as two smooth densities, each of
# total weight 1.

train, test = np.arange(40), np.arange(40, 320)
accuracy = {}
for distance, options in {
    "emd": {},
    "mhd": {},
    "kernel": {"sigma": 0.4, "normalize": True},
}.items():
    model = d2ke.d2ke_train(y[train], clouds[train], distance=distance, R=128, **options)
    accuracy[distance] = d2ke.d2ke_predict(y[test], clouds[test], model)[1]
    print(f"{distance:6} {accuracy[distance]:.1f} % of the test clouds")

fig, ax = plt.subplots(figsize=(5, 2.2), layout="constrained")
bars = ax.barh(list(accuracy), list(accuracy.values()))
ax.bar_label(bars, fmt="%.1f %%", padding=3)
ax.set(xlabel="accuracy on the test clouds, %", ylabel="distance", xlim=(0, 115))
plt.show()
