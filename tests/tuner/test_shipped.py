from __future__ import annotations

import pytest

from tuner.settings import compose_backends
from tuner.shipped import shipped_entries


@pytest.mark.parametrize("engine", ["sglang", "vllm"])
def test_they_are_those_that_a_composed_configuration_has(engine: str) -> None:
    composed = compose_backends([f"engine={engine}"]).entries
    assert sorted(map(repr, shipped_entries(engine))) == sorted(map(repr, composed))
