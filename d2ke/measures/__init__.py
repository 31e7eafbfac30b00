# SPDX-License-Identifier: BSD-3-Clause
"""The kernel distance of weighted points, curves and surfaces (Joshi et al., SoCG 2011)."""

import lazy_loader as _lazy_loader

__getattr__, __dir__, __all__ = _lazy_loader.attach_stub(__name__, __file__)
