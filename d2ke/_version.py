# SPDX-License-Identifier: BSD-3-Clause
"""The version, in one place."""

__version__ = "0.1.0"
