"""How every report says data to a program: a record on one line, so that several are JSON Lines."""

from __future__ import annotations

import json
from typing import Any


def json_line(plain: Any) -> str:
    """``plain`` as `backends.wire.to_plain` makes it."""
    return json.dumps(plain) + "\n"
