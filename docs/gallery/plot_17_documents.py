# SPDX-License-Identifier: BSD-3-Clause
"""
Documents as sets of words
==========================

A document is a weighted set of word vectors. The *word mover's distance* is the earth mover's
distance of two such sets: the least work of moving the words of one document to those of the
other. Documents without a common word can be near each other, if their words are.
"""

import matplotlib.pyplot as plt
import numpy as np

import d2ke

# %%
# The documents are made: each draws from the words of one of three subjects, and from words that
# all subjects share.

subjects = {
    "cooking": "bake boil butter cook flour fry kitchen onion oven pan pepper recipe salt soup",
    "football": "ball coach defend fans goal kick league match pass player referee score team win",
    "weather": "cloud cold degrees forecast fog rain snow storm sun thunder warm wet wind winter",
}
common = "after before day last long more new often people some then time today well"
rng = np.random.default_rng(0)
y = np.repeat(list(subjects), 60)
documents = []
for subject in y:
    own = rng.choice(subjects[subject].split(), rng.integers(1, 4), replace=False)
    others = rng.choice(common.split(), rng.integers(4, 9), replace=False)
    documents.append([*own.tolist(), *others.tolist()])
print(y[0], documents[0])

# %%
# Vectors of words. In practice they come from a trained model; here they come from the documents
# themselves: words that are in the same documents get similar vectors (a singular value
# decomposition of the counts of pairs).

vocabulary = sorted({word for words in documents for word in words})
place = {word: k for k, word in enumerate(vocabulary)}
counts = np.zeros((len(documents), len(vocabulary)))
for i, words in enumerate(documents):
    counts[i, [place[word] for word in words]] += 1
together = counts.T @ counts
expected = np.outer(counts.sum(axis=0), counts.sum(axis=0)) / counts.sum()
surprise = np.maximum(np.log((together + 0.1) / (expected + 0.1)), 0)
U, s, _ = np.linalg.svd(surprise)
vectors = U[:, :8] * np.sqrt(s[:8])

# Rare words count more: each word has the weight log(documents / documents with the word).
weight = np.log(len(documents) / counts.sum(axis=0))
packed = d2ke.pack(
    [vectors[[place[word] for word in words]] for words in documents],
    weights=[[weight[place[word]] for word in words] for words in documents],
)
print(packed)

# %%
# What is moved where: two documents of one subject. The lines are as wide as what is moved.

one, other = 0, 1
flow = d2ke.align(packed[one : one + 1], packed[other : other + 1], "emd")
moves = np.zeros((len(documents[one]), len(documents[other])))
np.add.at(moves, tuple(flow.pairs.T), flow.masses)

fig, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
image = ax.imshow(moves, cmap="Blues")
ax.set_xticks(range(len(documents[other])), documents[other], rotation=45, ha="right")
ax.set_yticks(range(len(documents[one])), documents[one])
ax.set(xlabel=f"words of a document ({y[other]})", ylabel=f"words of another ({y[one]})")
ax.set_title(f"What is moved; the distance is {flow.value:.2f}")
fig.colorbar(image, ax=ax, label="share of the weight")
plt.show()

# %%
# Six labelled documents of each subject are enough for a model. The random objects are short
# random documents, of words drawn from the vocabulary.

random_documents = d2ke.pack(
    [vectors[rng.choice(len(vocabulary), rng.integers(1, 5), replace=False)] for _ in range(128)]
)
D = d2ke.distance_matrix(packed, random_documents, "emd")
Z = d2ke.d2ke_features(D, gamma=1 / np.median(D))
train = np.arange(len(y)) % 10 == 0
model = d2ke.train(y[train], Z[train], "-s 2 -B 1 -c 100")
labels, (accuracy, _, _), _ = d2ke.predict(y[~train], Z[~train], model)
print(f"{accuracy:.1f} % of {np.sum(~train)} documents, from {np.sum(train)} labelled ones")

# %%
# A map of the documents, by the two first principal components of the features.

# sphinx_gallery_thumbnail_number = 2
centred = Z - Z.mean(axis=0)
U, s, _ = np.linalg.svd(centred, full_matrices=False)
fig, ax = plt.subplots(figsize=(5.5, 4), layout="constrained")
for subject in subjects:
    ax.scatter(*(U[y == subject, :2] * s[:2]).T, s=15, label=subject)
ax.set(xlabel="first principal component", ylabel="second principal component")
ax.legend()
plt.show()
