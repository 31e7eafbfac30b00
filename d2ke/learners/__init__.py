# SPDX-License-Identifier: BSD-3-Clause
"""Models on features and Gram matrices: LIBLINEAR, LIBSVM, least squares, neighbours."""
