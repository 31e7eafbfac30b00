# SPDX-License-Identifier: BSD-3-Clause
"""The distances, and all pairs of objects."""
