"""The password of a database in what is shown or stored: ***."""

from __future__ import annotations

import re

# As SQLAlchemy reads a URL: a user may hold an @, a password anything else. Blanks are a password's only where quotes or the ends of the
# text say how far the URL goes; elsewhere they end a word of a command.
BEFORE_HOST = re.compile(r"(://[^/:\s'\"]*):[^@\s'\"]+@")
QUOTED = re.compile(r"((?:^|[\s=])['\"][^'\"]*://[^/:'\"]*):[^@'\"]+@")
ALONE = re.compile(r"^([\w+.-]+://[^/:'\"]*):[^@'\"]+@")
IN_QUERY = re.compile(r"([?&](?:ssl)?password=)[^&\s'\"]+")  # libpq takes both as parameters, too
HIDDEN = "***"


def without_password(text: str) -> str:
    """``text`` with those of every URL in it hidden."""
    for found in (BEFORE_HOST, QUOTED, ALONE):
        text = found.sub(rf"\1:{HIDDEN}@", text)
    return IN_QUERY.sub(rf"\1{HIDDEN}", text)
