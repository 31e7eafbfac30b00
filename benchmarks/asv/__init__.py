# SPDX-License-Identifier: BSD-3-Clause
"""Times of d2ke alone, for asv."""
