# SPDX-License-Identifier: BSD-3-Clause
"""Experiments on labelled data sets: methods side by side, searched, timed and reported."""
