# SPDX-License-Identifier: BSD-3-Clause
"""
Trajectories on the globe
=========================

Tracks of positions, in degrees of latitude and longitude, recorded at unequal times. Dynamic time
warping with ``ground="haversine"`` adds up distances along the surface of the Earth, in metres.
We find the routes, and the tracks that follow none of them.
"""

import matplotlib.pyplot as plt
import numpy as np

import d2ke

# %%
# The recipe: three routes through a city, given by a few corners. Each of 60 tracks follows one
# of them with its own number of records and an error of some 60 metres. Three more tracks wander
# about.

routes = [
    [(52.50, 13.30), (52.52, 13.34), (52.52, 13.40), (52.54, 13.44)],
    [(52.50, 13.30), (52.49, 13.36), (52.50, 13.42), (52.54, 13.44)],
    [(52.55, 13.32), (52.52, 13.34), (52.50, 13.37), (52.48, 13.43)],
]
rng = np.random.default_rng(0)


def drive(corners, n):
    corners = np.array(corners)
    at = np.sort(rng.uniform(0, len(corners) - 1, n))
    track = [np.interp(at, np.arange(len(corners)), corners[:, k]) for k in (0, 1)]
    return np.column_stack(track) + rng.normal(0, [0.0006, 0.0009], size=(n, 2))


tracks = [drive(routes[k % 3], rng.integers(20, 50)) for k in range(60)]
for _ in range(3):
    corners = np.column_stack([rng.uniform(52.48, 52.55, 5), rng.uniform(13.3, 13.44, 5)])
    tracks.append(drive(corners, rng.integers(20, 50)))
X = d2ke.pack(tracks, channels_first=False)
D = d2ke.distance_matrix(X, distance="dtw", ground="haversine")
print(f"median distance of two tracks: {np.median(D) / 1000:.1f} km, summed along the path")

# %%
# A track that follows no route is far from its nearest neighbour.

indices, distances = d2ke.nearest(X, k=2, distance="dtw", ground="haversine")
alone = np.sort(np.argsort(distances[:, 1])[-3:])
print("farthest from their second neighbours: tracks", alone)

fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
ax.bar(range(len(X)), distances[:, 1] / 1000, color="0.6", width=1)
ax.bar(alone, distances[alone, 1] / 1000, color="C3", width=1, label="no route")
ax.set(xlabel="track", ylabel="to the second neighbour, km")
ax.legend()
plt.show()

# %%
# The others are clustered: one cluster for each route.

# sphinx_gallery_thumbnail_number = 2
rest = np.setdiff1d(np.arange(len(X)), alone)
clusters = d2ke.cdsk(distances=D[np.ix_(rest, rest)], n_clusters=3).labels
print("sizes of the clusters:", np.bincount(clusters))
agreement = d2ke.discriminative.clustering_accuracy(rest % 3, clusters)
print(f"{100 * agreement:.0f} % of these tracks are in the cluster of their route")

fig, ax = plt.subplots(figsize=(6.5, 4.5), layout="constrained")
for i, cluster in zip(rest, clusters, strict=True):
    ax.plot(X[i][:, 1], X[i][:, 0], color=f"C{cluster}", linewidth=0.8)
for i in alone:
    ax.plot(X[i][:, 1], X[i][:, 0], color="black", linestyle=":", linewidth=1.5)
for k in range(3):
    ax.plot([], [], color=f"C{k}", label=f"cluster {k}")
ax.plot([], [], color="black", linestyle=":", label="no route")
ax.set(xlabel="longitude, degrees", ylabel="latitude, degrees")
ax.set_aspect(1 / np.cos(np.deg2rad(52.5)))
ax.legend(fontsize=8)
plt.show()
