# SPDX-License-Identifier: BSD-3-Clause
"""
A first model of strings
========================

DNA strings of three classes: is the middle of the string a boundary between two kinds of DNA, and
which one? We train a model on a part of the strings and predict the classes of the others. No
string is turned into numbers by hand, and no parameter is chosen.
"""

import matplotlib.pyplot as plt
import numpy as np

import d2ke

# %%
# The data are installed with d2ke: 3190 strings of 60 letters. The classes are EI (the end of an
# exon, a part that is kept in the messenger RNA), IE (the beginning of one) and N (neither).

data = d2ke.datasets.load("splice")
train, test = data.split(seed=0)
for name in np.unique(data.labels):
    print(name, data.objects[int(np.flatnonzero(data.labels == name)[0])])

# %%
# ``d2ke_train`` compares each string with some hundred strings and parts of strings, drawn from
# the training strings. These are the *random objects*. The distance is Levenshtein's: the number
# of letters that must be changed, added or removed. A feature is exp(-gamma distance), near 1 for
# a string that resembles the random object, and a linear model learns from the features.

model = d2ke.d2ke_train(data.labels[train], data.objects[train])
print(model)

# %%
# ``d2ke_predict`` labels new strings. The accuracy is on strings that the model has never seen.

labels, accuracy, _ = d2ke.d2ke_predict(data.labels[test], data.objects[test], model)
print(f"{accuracy:.1f} % of {len(test)} test strings are correct")

# %%
# The confusion matrix counts which class was taken for which.

counts = np.array(
    [
        [np.sum((data.labels[test] == a) & (labels == b)) for b in model.classes]
        for a in model.classes
    ]
)
fig, ax = plt.subplots(figsize=(4.5, 4), layout="constrained")
ax.imshow(counts / counts.sum(axis=1, keepdims=True), cmap="Blues", vmin=0, vmax=1)
for (i, j), count in np.ndenumerate(counts):
    ax.text(j, i, count, ha="center", va="center", color="white" if i == j else "black")
ax.set_xticks(range(3), model.classes)
ax.set_yticks(range(3), model.classes)
ax.set(xlabel="predicted class", ylabel="true class", title="Test strings")
plt.show()
