# SPDX-License-Identifier: BSD-3-Clause
"""How two objects correspond: paths and edits."""
