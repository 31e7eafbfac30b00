# SPDX-License-Identifier: BSD-3-Clause
# The public names; modules load when they are first used.

from .pictures import plot_neighbors as plot_neighbors
