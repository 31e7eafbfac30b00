# SPDX-License-Identifier: BSD-3-Clause
"""The kernel distance of weighted points, curves and surfaces (Joshi et al., SoCG 2011)."""
