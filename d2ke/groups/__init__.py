# SPDX-License-Identifier: BSD-3-Clause
"""Groups of objects that have a distance: trees, clusters and medoids, without all pairs."""

import lazy_loader as _lazy_loader

__getattr__, __dir__, __all__ = _lazy_loader.attach_stub(__name__, __file__)
