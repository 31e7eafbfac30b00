# SPDX-License-Identifier: BSD-3-Clause
"""Exact neighbours of any distance: the k nearest, and those within a radius."""
