"""The password of a database in what is shown or stored: ***."""

from __future__ import annotations

import re

BEFORE_HOST = re.compile(r"(://[^/@:\s]*):[^/@\s]+@")
IN_QUERY = re.compile(r"([?&](?:ssl)?password=)[^&\s'\"]+")  # libpq takes both as parameters, too
HIDDEN = "***"


def without_password(text: str) -> str:
    """``text`` with those of every URL in it hidden."""
    return IN_QUERY.sub(rf"\1{HIDDEN}", BEFORE_HOST.sub(rf"\1:{HIDDEN}@", text))
