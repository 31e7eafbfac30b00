# SPDX-License-Identifier: BSD-3-Clause
"""Samplers of random objects."""
