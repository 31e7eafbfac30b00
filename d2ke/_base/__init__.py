# SPDX-License-Identifier: BSD-3-Clause
"""Checks, labels, threads, memory and files: helpers of all other packages."""
