# SPDX-License-Identifier: BSD-3-Clause
"""The papers' experiments and their data; not installed with d2ke."""
