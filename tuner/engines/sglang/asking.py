"""What SGLang itself is asked about a scenario (`backends.sglang.asked`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backends.wire import to_plain
from store.scenario import Scenario
from tuner.engines.sglang.command_line import command_line
from tuner.engines.sglang.model_config import config_of, draft_of, readable
from tuner.engines.sglang.request import request_for


def question(
    scenario: Scenario, rules: str, packages: Mapping[str, str] | None, checkpoint: Mapping[str, Any] | None, simulated: bool
) -> dict[str, Any]:
    """``rules`` and ``packages`` as in `request_for`; ``checkpoint`` is the model's own config.json, None for a preset. ``simulated``:
    SGLang is made to believe in the scenario's GPU."""
    request = request_for(scenario, rules, packages)
    own = config_of(scenario.model) if checkpoint is None else readable(checkpoint, simulated)
    return {
        "files": {"model/config.json": own, **({"draft/config.json": draft_of(scenario.model)} if request.draft.model else {})},
        "arguments": [word for option in command_line(scenario, request) for word in option],
        "machine": to_plain(request.machine) if simulated else None,
        "environment": {},
    }
