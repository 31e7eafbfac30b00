# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of objects, models and results, drawn with matplotlib."""

import lazy_loader as _lazy_loader

__getattr__, __dir__, __all__ = _lazy_loader.attach_stub(__name__, __file__)
