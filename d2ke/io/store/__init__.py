# SPDX-License-Identifier: BSD-3-Clause
"""Feature stores: features and what they came from, in HDF5 files.

`layout` says what is where in a file, `blocks` how the rows of Z are kept and checked, and `hdf5`
has what every HDF5 file of ours shares. `reader` reads stores, `writer` writes them by blocks of
rows that outlive a kill, and `api` saves and loads whole ones. `rows` are rows of an array or of a
store for what goes through all of them.
"""
