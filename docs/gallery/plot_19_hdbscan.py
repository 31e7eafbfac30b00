# SPDX-License-Identifier: BSD-3-Clause
"""
HDBSCAN on strings
==================

HDBSCAN and DBSCAN find dense groups and call the rest noise. They need only the near neighbours
of each object, not the distances of all pairs. ``d2ke.dbscan`` and ``d2ke.hdbscan`` find those
exactly, for strings or whatever else has a distance.
"""

import matplotlib.pyplot as plt
import numpy as np

import d2ke

# %%
# The data: ten words, each typed 40 times with up to three errors, and 100 strings of random
# letters.

words = [
    "neighbourhood", "mathematics", "thunderstorm", "photographer", "encyclopedia",
    "extraordinary", "grandparents", "strawberries", "headquarters", "refrigerator",
]  # fmt: skip
letters = list("abcdefghijklmnopqrstuvwxyz")
rng = np.random.default_rng(0)


def mistype(word):
    typed = list(word)
    for _ in range(rng.integers(1, 4)):
        at = rng.integers(len(typed))
        typed[at : at + rng.integers(0, 2)] = rng.choice(letters, rng.integers(0, 2))
    return "".join(typed)


strings = [mistype(word) for word in words for _ in range(40)]
strings += ["".join(rng.choice(letters, rng.integers(9, 15))) for _ in range(100)]
true = np.concatenate([np.repeat(np.arange(10), 40), np.full(100, -1)])
print(strings[:5], strings[-2:])

# %%
# DBSCAN links objects within ``eps`` of each other.

dbscan = d2ke.dbscan(strings, eps=4, min_samples=5, distance="levenshtein").labels

# %%
# HDBSCAN chooses the density of each cluster itself.

found = d2ke.hdbscan(strings, min_cluster_size=10, distance="levenshtein")
hdbscan = found.labels

for name, labels in (("DBSCAN", dbscan), ("HDBSCAN", hdbscan)):
    print(f"{name}: {labels.max() + 1} clusters, {np.sum(labels < 0)} strings are noise, "
          f"{100 * np.mean((labels < 0) == (true < 0)):.1f} % of the noise is right")  # fmt: skip

# %%
# The typical string of each cluster is its medoid, the one with the least sum of distances to the
# others: the word, without errors, if somebody typed something near enough to it.

for cluster in range(hdbscan.max() + 1):
    members = [strings[i] for i in np.flatnonzero(hdbscan == cluster)]
    [medoid] = d2ke.kmedoids(members, 1, distance="levenshtein").medoids
    print(f"{len(members):3} strings like {members[medoid]}")

# %%
# The distances of all pairs, with the strings in the order of the clusters. This matrix is for
# the picture only; noise is at the end.

order = np.argsort(np.where(hdbscan < 0, len(words), hdbscan), kind="stable")
D = d2ke.distance_matrix(strings, distance="levenshtein")[np.ix_(order, order)]
fig, ax = plt.subplots(figsize=(5.5, 4.5), layout="constrained")
image = ax.imshow(D, cmap="viridis", interpolation="nearest")
ax.set(xlabel="string, sorted by cluster", ylabel="string, sorted by cluster")
fig.colorbar(image, ax=ax, label="Levenshtein distance")
plt.show()
