# SPDX-License-Identifier: BSD-3-Clause
"""Discriminative similarity: clustering, label propagation and classifiers by weighted kernels.

References
----------
Yang, Liang, Jojic, Yan, Feng, Huang, "Discriminative Similarity for Clustering and
Semi-Supervised Learning", 2017.
"""
