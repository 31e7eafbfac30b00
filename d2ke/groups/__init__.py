# SPDX-License-Identifier: BSD-3-Clause
"""Groups of objects that have a distance: trees, clusters and medoids, without all pairs."""
