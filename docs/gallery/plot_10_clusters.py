# SPDX-License-Identifier: BSD-3-Clause
"""
A map of clusters
=================

Clusters without labels: ``cdsk`` (clustering by discriminative similarity) takes the distances of
all pairs and finds groups that a classifier could tell apart. The objects are digits, written as
strings of the directions of their outlines.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.manifold import TSNE

import d2ke
from d2ke.discriminative import clustering_accuracy, normalized_mutual_information

data = d2ke.datasets.load("digits-str8")
X, y = data.objects[:500], data.labels[:500]
D = d2ke.distance_matrix(X, distance="levenshtein")
result = d2ke.cdsk(distances=D, n_clusters=10)

# %%
# The labels are used here only, to see how good the clusters are. The accuracy is of the
# best naming of the clusters; the mutual information is 1 for perfect clusters and 0 for random
# ones.

print(f"accuracy {100 * clustering_accuracy(y, result.labels):.1f} %")
print(f"normalized mutual information {normalized_mutual_information(y, result.labels):.2f}")

# %%
# A map in the plane: t-SNE, of scikit-learn, places strings with a small distance near each
# other. Left, the colours are the clusters; right, the digits, which the clustering did not know.

tsne = TSNE(metric="precomputed", init="random", max_iter=500, random_state=0, n_jobs=1)
xy = tsne.fit_transform(D)
fig, axes = plt.subplots(1, 2, figsize=(10, 4.4), sharex=True, sharey=True, layout="constrained")
for ax, labels, title in zip(axes, (result.labels, y), ("clusters", "digits"), strict=True):
    for k in range(10):
        ax.scatter(*xy[labels == k].T, s=10, color=f"C{k}", label=k)
        ax.text(*np.median(xy[labels == k], axis=0), str(k), fontsize=13, weight="bold",
                ha="center", bbox={"facecolor": "white", "edgecolor": f"C{k}"})  # fmt: skip
    ax.set(title=title, xlabel="first coordinate of the map")
axes[0].set_ylabel("second coordinate of the map")
plt.show()

# %%
# Which digits are in which cluster?

counts = np.array([[np.sum((result.labels == k) & (y == d)) for d in range(10)] for k in range(10)])
fig, ax = plt.subplots(figsize=(5, 4.2), layout="constrained")
image = ax.imshow(counts, cmap="Blues")
for (k, d), count in np.ndenumerate(counts):
    if count:
        ax.text(d, k, count, ha="center", va="center", fontsize=8,
                color="white" if count > counts.max() / 2 else "black")  # fmt: skip
ax.set_xticks(range(10))
ax.set_yticks(range(10))
ax.set(xlabel="digit", ylabel="cluster", title="Number of strings")
plt.show()

# %%
# New objects get a cluster by their distances to the clustered ones.

new = data.objects[500:1000]
assigned = d2ke.discriminative_predict(
    result, distances=d2ke.distance_matrix(new, X, "levenshtein")
)
print(f"{100 * clustering_accuracy(data.labels[500:1000], assigned):.1f} % of the new digits")
