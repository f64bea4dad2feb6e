"""The page size SGLang ends up with: one for the whole server, changed silently to what a chosen backend needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from store.scenario import Scenario
from tuner.engines.sglang.platforms import default_page_size
from tuner.engines.sglang.request import request_for
from tuner.engines.sglang.resolution import answered, told


def page_sizes(scenario: Scenario, rules: str, packages: Mapping[str, str] | None = None) -> Callable[[str], int]:
    """Of the scenario's server, by the backend that it is told to run in both phases; ``rules`` and ``packages`` as in `request_for`."""
    request, default = request_for(scenario, rules, packages), default_page_size(scenario.gpu)

    @cache
    def page_size_with(backend: str) -> int:
        return answered(told(request, backend)).settings.page_size or default

    return page_size_with
