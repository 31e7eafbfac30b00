# SPDX-License-Identifier: BSD-3-Clause
"""The `d2ke` command."""
