"""The comment by which a key in a file of the user's is known to be attnpin's: which run set it, to what, and why.

The value stands in it, so that one which somebody changed afterwards is theirs and no longer ours.
"""

from __future__ import annotations

import json
import re

# Words that YAML 1.1 or 1.2 reads as something else than text.
PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*|0|[1-9][0-9]*")
RESERVED = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
NO_NAME = re.compile(r"[^\w.+-]", re.ASCII)
MARKED = re.compile(r"attnpin \S+ set (?P<set>.*)")


def mark(run: str, value: str, because: str | None) -> str:
    """Without the comment sign; ``because`` as `reports.launchers.launcher.safe` leaves it."""
    return f"attnpin {NO_NAME.sub('-', run) or '-'} set {shown(value)}" + (f": {because}" if because else "")


def is_mark(comment: str, value: str) -> bool:
    """Whether ``comment`` says that attnpin set just this ``value``."""
    found = MARKED.fullmatch(comment.strip())
    return found is not None and (found["set"] + ": ").startswith(shown(value) + ": ")


def shown(value: str) -> str:
    return value if PLAIN.fullmatch(value) else json.dumps(value)


def scalar(value: str) -> str:
    """``value`` plain where YAML reads back the same word or number, in double quotes otherwise."""
    return value if PLAIN.fullmatch(value) and value.lower() not in RESERVED else f'"{"".join(map(_quoted, value))}"'


def _quoted(char: str) -> str:
    """JSON's escapes are not YAML's: beyond U+FFFF it takes one, not two."""
    if " " <= char <= "~":
        return f"\\{char}" if char in '"\\' else char
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"
