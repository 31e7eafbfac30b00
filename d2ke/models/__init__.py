# SPDX-License-Identifier: BSD-3-Clause
"""One trained model: objects and labels in, predictions out."""
