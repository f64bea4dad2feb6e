"""The page size SGLang ends up with: one for the whole server, changed silently to what a chosen backend needs."""

from __future__ import annotations

from collections.abc import Mapping

from store.scenario import Scenario
from tuner.engines.sglang.platforms import default_page_size
from tuner.engines.sglang.request import request_for
from tuner.engines.sglang.resolution import answered, told


def page_size_with(scenario: Scenario, backend: str, rules: str, packages: Mapping[str, str] | None = None) -> int:
    """Of the scenario's server, told to run ``backend`` in both phases; ``rules`` and ``packages`` as in `request_for`."""
    resolution = answered(told(request_for(scenario, rules, packages), backend)).resolution
    return resolution.page_size or default_page_size(scenario.gpu)
