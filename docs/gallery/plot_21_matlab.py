# SPDX-License-Identifier: BSD-3-Clause
"""
From a MATLAB file to predictions
=================================

A MAT-file with a cell of series, a cell of labels, and LIBLINEAR's ``train`` and ``predict``: the
steps that a MATLAB script would take, one by one, in Python. A comment has MATLAB's line where
there is one.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np

import d2ke

# %%
# The file is installed with d2ke: 640 recordings of vowels, as a cell of 12 x L matrices.

file = Path(d2ke.datasets.__file__).parent / "box" / "japanese_vowels.mat"
for variable in d2ke.io.whos_mat(file):  # whos('-file', 'japanese_vowels.mat')
    print(variable)

contents = d2ke.io.load_mat(file)  # load('japanese_vowels.mat')
X = d2ke.pack(contents["X"], channels_first=True)  # channels are rows in MATLAB's cells
y = np.array([int(label) for label in contents["y"].ravel()])
train = contents["train"].ravel().astype(bool)
print(X)

# %%
# Random series, and features of the distances to them. In the scripts of Random Warping Series
# this is a loop of ``randn(d, D) ./ sigma``.

omega = d2ke.samplers.random_series(512, 12, length=(1, 20), sigma=1.0, seed=0)
Z = d2ke.d2ke_embed(X, omega, distance="dtw", gamma=0.05)
print(Z.shape)

# %%
# LIBLINEAR, with its own options: ``-s 2`` is a support vector machine with the squared hinge
# loss, ``-c`` the weight of errors, ``-B 1`` adds a constant feature.

model = d2ke.train(y[train], Z[train], "-s 2 -B 1 -c 1e5")  # model = train(y, sparse(Z), '...')
labels, (accuracy, _, _), _ = d2ke.predict(y[~train], Z[~train], model)
print(f"accuracy {accuracy:.1f} %")

# %%
# A loop over C, as one writes it in MATLAB. On the test part it is a picture only; to choose C
# use the training part, by ``-v 5`` or ``d2ke.search``.

exponents = np.arange(-2, 8)
curve = []
for exponent in exponents:
    model = d2ke.train(y[train], Z[train], f"-s 2 -B 1 -c 1e{exponent}")
    curve.append(d2ke.predict(y[~train], Z[~train], model)[1][0])

fig, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.semilogx(10.0**exponents, curve, "o-")
ax.set(xlabel="C", ylabel="accuracy on the test recordings, %")
plt.show()

# %%
# Results go back to MATLAB in a file.

with TemporaryDirectory() as folder:
    file = Path(folder) / "features.mat"
    d2ke.io.save_mat(file, {"Z": Z, "labels": labels})  # save('features.mat', 'Z', 'labels')
    print(d2ke.io.whos_mat(file))
