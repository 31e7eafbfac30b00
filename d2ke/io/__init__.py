# SPDX-License-Identifier: BSD-3-Clause
"""Files of other programs, and files of d2ke's own that other programs read."""
