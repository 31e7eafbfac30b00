# SPDX-License-Identifier: BSD-3-Clause
"""Measurements of d2ke against the best packages of each class; see README.md."""
