# SPDX-License-Identifier: BSD-3-Clause
"""The search for parameters by cross-validation."""
