# SPDX-License-Identifier: BSD-3-Clause
"""Explanations of a trained model: sets, intervals, strangers, importances."""

import lazy_loader as _lazy_loader

__getattr__, __dir__, __all__ = _lazy_loader.attach_stub(__name__, __file__)
