# SPDX-License-Identifier: BSD-3-Clause
# The public names; modules load when they are first used.

from .feature_selection import FeatureSelection as FeatureSelection
from .feature_selection import select_features as select_features
from .pseudo_euclidean import PseudoEuclideanEmbedding as PseudoEuclideanEmbedding
from .scaling import Scaling as Scaling
from .spectrum import SpectrumRepair as SpectrumRepair
