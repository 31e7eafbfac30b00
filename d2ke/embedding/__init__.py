# SPDX-License-Identifier: BSD-3-Clause
"""Features and Gram matrices of distances."""
