# SPDX-License-Identifier: BSD-3-Clause
"""Packed structured objects, and random ones."""
