# SPDX-License-Identifier: BSD-3-Clause
"""Kernel error and the number of random objects."""
