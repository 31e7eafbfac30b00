# SPDX-License-Identifier: BSD-3-Clause
"""Compiled kernels. They trust their arguments: every check happens before, in Python."""
