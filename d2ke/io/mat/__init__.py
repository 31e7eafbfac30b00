# SPDX-License-Identifier: BSD-3-Clause
"""MATLAB's MAT-files."""
