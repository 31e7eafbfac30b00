# SPDX-License-Identifier: BSD-3-Clause
"""Models on features and Gram matrices: LIBLINEAR, LIBSVM, least squares, neighbours."""

import lazy_loader as _lazy_loader

__getattr__, __dir__, __all__ = _lazy_loader.attach_stub(__name__, __file__)
