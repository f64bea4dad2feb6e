"""What `attnpin launch` does with a pin that may no longer hold."""

from __future__ import annotations

from enum import Enum


class OnStale(str, Enum):
    """What becomes of a pin that may no longer hold."""

    WARN = "warn"  # its flags are added all the same
    DEFAULT = "default"  # the command runs as it is
    REFUSE = "refuse"  # nothing runs
