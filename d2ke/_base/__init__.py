# SPDX-License-Identifier: BSD-3-Clause
"""What every other package needs and no field knows: checks, threads, memory, files."""
