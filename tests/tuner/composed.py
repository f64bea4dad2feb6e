"""Settings of a command line, each composed once: Hydra takes a tenth of a second."""

from __future__ import annotations

from functools import cache

import pytest

from tuner.errors import UsageError
from tuner.settings import Settings, compose


@cache
def composed(*overrides: str) -> Settings:
    """As `compose`, without a folder of one's own; files that ``overrides`` name must stay as they are."""
    return compose(overrides)


def refusal(*overrides: str, config_dir: str | None = None) -> str:
    """What a user reads of a command line that makes no sense."""
    with pytest.raises(UsageError) as refused:
        compose(overrides, config_dir)
    return str(refused.value)
