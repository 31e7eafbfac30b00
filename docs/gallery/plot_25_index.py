# SPDX-License-Identifier: BSD-3-Clause
"""
An archive that grows
=====================

Recordings come one after another. Who speaks? An ``Index`` finds the most similar recording of
those that are known, and then takes the new one. Objects that leave are found no more.
"""

import matplotlib.pyplot as plt
import numpy as np

import d2ke

# %%
# Recordings of vowels by nine speakers, as series, in a random order. The first ones are known.

data = d2ke.datasets.load("japanese-vowels")
order = np.random.default_rng(0).permutation(len(data.objects))
recordings, speakers = data.objects[order], np.asarray(data.labels)[order]

step = 20
index = d2ke.Index(recordings[:step], distance="dtw", window=5)
print(index)

# %%
# The recordings of each step are looked up before they are added. Their indices are their places
# in the order of arrival, so that ``speakers`` names what was found.

known, right = [], []
for start in range(step, len(recordings), step):
    new = slice(start, start + step)
    nearest, _ = index.nearest(recordings[new], k=1)
    known.append(len(index))
    right.append(speakers[nearest[:, 0]] == speakers[new])
    index.add(recordings[new])
print(index)

# %%
# The more recordings are known, the more often the most similar one is by the same speaker.

share = [100 * np.mean(right[max(0, i - 4) : i + 1]) for i in range(len(right))]
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.plot(known, share)
ax.set(xlabel="known recordings", ylabel="speaker recognised, %", ylim=(0, 100))
ax.set_title("The last 100 recordings, or fewer at the start")
plt.show()

# %%
# One speaker asks to be forgotten. Indices of the others stay what they were.

index.remove(np.flatnonzero(speakers == speakers[0]))
nearest, distances = index.nearest(recordings[:1], k=3)
print(f"{len(index)} recordings; nearest to the first: {speakers[nearest[0]].tolist()}")
print(f"it was speaker {speakers[0]}")
