# SPDX-License-Identifier: BSD-3-Clause
# The public names; modules load when they are first used.

from .clusters import plot_clusters as plot_clusters
from .graph import plot_graph as plot_graph
from .neighbors import plot_neighbors as plot_neighbors
