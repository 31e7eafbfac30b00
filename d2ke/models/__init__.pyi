# SPDX-License-Identifier: BSD-3-Clause
# The public names; modules load when they are first used.

from . import views as views
from .blocks import FeatureBlock as FeatureBlock
from .recipes import recipe as recipe
