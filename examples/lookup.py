# SPDX-License-Identifier: BSD-3-Clause
"""Keep names in a folder, add one, and look a name up: an index in ten lines."""

import tempfile

import d2ke

folder = tempfile.mkdtemp() + "/names.d2ke"
names = ["Jon Smith", "Maria Schmidt", "Ann Lee"]
d2ke.Index(names, distance="levenshtein", ids=["c1", "c2", "c3"]).save(folder)
with d2ke.Index.open(folder, writable=True) as index:
    index.add(["Joan Smyth"], ids=["c4"])  # in the folder when the call returns
index = d2ke.Index.open(folder)
indices, distances = index.nearest(["Jon Smyth"], k=2)
print(d2ke.frame((indices, distances), ["query"], index.ids, as_="pyarrow").to_pylist())
