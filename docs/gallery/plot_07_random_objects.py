# SPDX-License-Identifier: BSD-3-Clause
"""
How many random objects?
========================

Features are distances to R random objects. With more of them the features' inner products come
nearer to the exact kernel, and the accuracy rises until it levels off. Which random objects
matters too: here strings of uniform letters are compared with strings that resemble the training
ones.
"""

import matplotlib.pyplot as plt
import numpy as np

import d2ke

# %%
# The objects are outlines of handwritten digits, written as chain codes: strings of the eight
# directions in which the outline runs.

data = d2ke.datasets.load("digits-str8")
X, y = data.objects, data.labels
train, test = data.split(seed=0)
print(X[0])

# %%
# Distances are computed once, for the largest R. The first columns serve for each smaller R.

sizes = [4, 8, 16, 32, 64, 128, 256, 512, 1024]
laws = {
    "uniform letters": lambda seed: d2ke.samplers.random_strings(
        sizes[-1], data.alphabet, length=(10, 40), seed=seed
    ),
    "Markov chain of the training strings": lambda seed: d2ke.samplers.markov_strings(
        sizes[-1], X[train], length=(10, 40), seed=seed
    ),
}
accuracy = {}
for name, draw in laws.items():
    runs = []
    for seed in range(3):
        D = d2ke.distance_matrix(X, draw(seed), "levenshtein")
        run = []
        for R in sizes:
            Z = d2ke.d2ke_features(np.ascontiguousarray(D[:, :R]), gamma=0.03)
            Z = d2ke.embedding.Scaling.fit(Z[train], "standard").apply(Z)
            model = d2ke.train_classifier(y[train], Z[train], loss="squared", C=100)
            run.append(d2ke.predict(y[test], Z[test], model)[1][0])
        runs.append(run)
    accuracy[name] = np.array(runs)

print("R        " + "".join(f"{R:7}" for R in sizes))
for name, runs in accuracy.items():
    print(f"{name.split()[0]:9}" + "".join(f"{mean:7.1f}" for mean in runs.mean(axis=0)))

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for name, runs in accuracy.items():
    ax.errorbar(sizes, runs.mean(axis=0), runs.std(axis=0), fmt="o-", capsize=3, label=name)
ax.set(xscale="log", xlabel="R, number of random objects", ylabel="accuracy on the test digits, %")
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.legend()
plt.show()

# %%
# The error of the kernel itself falls as 1 / sqrt(R): the root mean square of its differences from
# the kernel of 4096 other random objects. ``bootstrap_kernel_error`` estimates it from the features
# of 1024 alone.

part = X[:300]
few, many = (
    d2ke.samplers.random_strings(R, data.alphabet, length=(10, 40), seed=R) for R in (1024, 4096)
)
Z, reference = (
    d2ke.d2ke_embed(part, omega, distance="levenshtein", gamma=0.03) for omega in (few, many)
)
K = reference @ reference.T
errors = [np.sqrt(np.mean((len(few) / R * Z[:, :R] @ Z[:, :R].T - K) ** 2)) for R in sizes]
estimated = d2ke.theory.bootstrap_kernel_error(Z, delta=0.5).rms  # exceeded every second time

fig, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.loglog(sizes, errors, "o-", label="measured")
ax.loglog(sizes, estimated * np.sqrt(len(few) / np.array(sizes)), "--", label="estimated")
ax.set(xlabel="R, number of random objects", ylabel="error of the kernel")
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.legend()
plt.show()
