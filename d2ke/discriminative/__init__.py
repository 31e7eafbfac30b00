# SPDX-License-Identifier: BSD-3-Clause
"""Discriminative similarity: clustering, label propagation and classifiers by weighted kernels.

References
----------
Yang, Liang, Jojic, Yan, Feng, Huang, "Discriminative Similarity for Clustering and
Semi-Supervised Learning", 2017.
"""

import lazy_loader as _lazy_loader

__getattr__, __dir__, __all__ = _lazy_loader.attach_stub(__name__, __file__)
