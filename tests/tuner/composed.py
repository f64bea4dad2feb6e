"""Settings of a command line where no backend matters: Hydra takes half a second for all of them, a tenth for two."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tuner.errors import UsageError
from tuner.settings import Settings, compose

TWO = "backend=[torch_native,flex_attention]"


def with_two(overrides: Sequence[str], config_dir: str | None = None) -> Settings:
    """As `compose`; all backends where ``overrides`` speak of backends, or of an engine, which brings its own."""
    named = any("backend" in override or override.startswith("engine=") for override in overrides)
    return compose(overrides if named else [TWO, *overrides], config_dir)


def refusal(*overrides: str, config_dir: str | None = None) -> str:
    """What a user reads of a command line that makes no sense."""
    with pytest.raises(UsageError) as refused:
        with_two(overrides, config_dir)
    return str(refused.value)
