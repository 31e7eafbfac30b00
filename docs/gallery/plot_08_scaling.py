# SPDX-License-Identifier: BSD-3-Clause
"""
Time and accuracy against the number of objects
===============================================

Methods that need the distances of all pairs take time in proportion to N², N being the number of
objects. Features by R random objects need N R distances. Here are both, measured, and what more
objects are good for.
"""

from time import process_time

import matplotlib.pyplot as plt
import numpy as np

import d2ke

# %%
# Series of 50 to 150 steps, made as sums of random steps; 128 short random series for the
# features. The seconds are of one processor.

rng = np.random.default_rng(0)
series = d2ke.pack([rng.normal(size=rng.integers(50, 150)).cumsum() for _ in range(2048)])
omega = d2ke.samplers.random_series(128, 1, length=(5, 25), sigma=5.0, seed=0)


def seconds(compute, *objects, **options):
    start = process_time()
    compute(*objects, distance="dtw", n_threads=1, **options)
    return process_time() - start


sizes = [128, 256, 512, 1024, 2048]
pairs, features = [], []
for n in sizes:
    X = series[:n]
    features.append(seconds(d2ke.d2ke_embed, X, omega, gamma=0.01))
    if n <= 1024:
        pairs.append(seconds(d2ke.distance_matrix, X))
for n, a, b in zip(sizes, features, pairs, strict=False):
    print(f"N = {n:4}: features {a:.3f} s, all pairs {b:.3f} s")

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.loglog(sizes[: len(pairs)], pairs, "s-", label="distances of all pairs")
ax.loglog(sizes, features, "o-", label=f"features, R = {len(omega)}")
ax.set(xlabel="N, number of series", ylabel="processor time, s")
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.legend()
plt.show()

# %%
# More training objects, better predictions: DNA strings with from 50 to 2000 labels, beside the
# label of the nearest training string.

data = d2ke.datasets.load("splice")
X, y = data.objects, data.labels
train, test = data.split(seed=0)
train = rng.permutation(train)
labels_known = [50, 100, 200, 500, 1000, 2000]
by_model, by_neighbor = [], []
for n in labels_known:
    known = train[:n]
    model = d2ke.d2ke_train(y[known], X[known], R=512)
    by_model.append(d2ke.d2ke_predict(y[test], X[test], model)[1])
    neighbor, _ = d2ke.nearest(X[test], X[known], k=1, distance="levenshtein")
    by_neighbor.append(100 * np.mean(y[known][neighbor[:, 0]] == y[test]))
    print(f"{n:4} labels: model {by_model[-1]:.1f} %, nearest string {by_neighbor[-1]:.1f} %")

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.semilogx(labels_known, by_model, "o-", label="D2KE model")
ax.semilogx(labels_known, by_neighbor, "s-", label="nearest training string")
ax.set(xlabel="number of training strings", ylabel="accuracy on the test strings, %")
ax.set_xticks(labels_known, labels_known)
ax.minorticks_off()
ax.legend()
plt.show()
