# SPDX-License-Identifier: BSD-3-Clause
"""What a trained model says of its predictions."""
