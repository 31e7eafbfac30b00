# SPDX-License-Identifier: BSD-3-Clause
"""
Why does the model say so?
==========================

The decision of a model is a sum over its features, so each random object, and each block of the
model, has a share in it. ``d2ke_explain`` returns these shares. With them we see which parts of a
DNA string say that it is a splice junction: the places beside its middle.
"""

import matplotlib.pyplot as plt
import numpy as np

import d2ke

data = d2ke.datasets.load("splice")
X, y = data.objects, data.labels
train, test = data.split(seed=0)
train = train[:1000]
model = d2ke.d2ke_train(y[train], X[train])

# %%
# One string: the blocks, and the random objects that add most to the decision.

print(X[test[0]], "is of class", y[test[0]])
explanation = d2ke.d2ke_explain(X[test[0]], model, limit=5)
print(explanation)

# %%
# What each letter adds: the decision loses so much if a letter that no string has stands there.

explanation.plot()
plt.show()

# %%
# The mean share of each block, over 30 test strings of each class.

names = list(explanation.blocks)
shares = []
for label in model.classes:
    some = [i for i in test if y[i] == label][:30]
    shares.append([list(d2ke.d2ke_explain(X[i], model).blocks.values()) for i in some])
shares = np.mean(shares, axis=1)

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
width = 0.27
for k, label in enumerate(model.classes):
    ax.barh(np.arange(len(names)) + (k - 1) * width, shares[k], width, label=label)
ax.set_yticks(range(len(names)), names)
ax.invert_yaxis()
ax.axvline(0, color=plt.rcParams["text.color"], linewidth=0.8)
ax.set(xlabel="mean share in the decision for the predicted class")
ax.legend(title="class")
plt.show()

# %%
# A test of the explanation: replace the letters at one position after another by random letters,
# and see how much of the accuracy is lost.

rng = np.random.default_rng(0)
some = test[:300]
accuracy = []
for place in range(0, 60, 2):
    changed = [
        x[:place] + "".join(rng.choice(list("ACGT"), 2)) + x[place + 2 :] for x in map(str, X[some])
    ]
    accuracy.append(d2ke.d2ke_predict(y[some], changed, model)[1])
unchanged = d2ke.d2ke_predict(y[some], X[some], model)[1]
print(f"unchanged strings: {unchanged:.1f} %; the worst place: {min(accuracy):.1f} %")

fig, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ax.stairs(accuracy, np.arange(0, 61, 2), baseline=None, linewidth=2, label="changed strings")
ax.axhline(unchanged, color="black", linestyle="--", label="unchanged strings")
ax.set(xlabel="place of the two letters that are replaced", ylabel="accuracy, %")
ax.legend(loc="lower right")
plt.show()
