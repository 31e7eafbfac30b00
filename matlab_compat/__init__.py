# SPDX-License-Identifier: BSD-3-Clause
"""MATLAB names of d2ke's functions, for scripts ported from MATLAB."""
