"""Every corner."""

from __future__ import annotations

from tests.engine.asked.corners.corner import Corner
from tests.engine.asked.corners.features import FEATURES
from tests.engine.asked.corners.kv_cache import KV_CACHE
from tests.engine.asked.corners.models import MODELS, SPARSE_CORNERS
from tests.engine.asked.corners.names_and_tree import NAMES, TREE
from tests.engine.asked.corners.narrow import NARROW
from tests.engine.asked.corners.speculation import SPECULATION
from tests.engine.asked.corners.states import COMPATIBILITY, STATES

CORNERS: tuple[Corner, ...] = (
    *NARROW,
    *NAMES,
    *MODELS,
    *SPARSE_CORNERS,
    *STATES,
    *TREE,
    *COMPATIBILITY,
    *KV_CACHE,
    *SPECULATION,
    *FEATURES,
)
