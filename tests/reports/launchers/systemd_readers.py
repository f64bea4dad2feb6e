"""How systemd reads a drop-in and an env file: what a service's environment holds, and the words of a variable in ExecStart.

Source: man systemd.syntax (comments, continued lines), systemd.service (command lines), systemd.exec (Environment=, EnvironmentFile=),
systemd 252. What these forms hold is read; an escape or a specifier, which they never hold, is a failed test.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

READ_INSIDE_QUOTES = re.compile(r"[%\\\"']")


def drop_in(text: str) -> dict[str, str]:
    """The variables that the `[Service]` section sets."""
    found, section = dict[str, str](), ""
    for line in _joined(text):
        if line.startswith("["):
            section = line
        else:
            key, _, value = line.partition("=")
            assert section == "[Service]" and key.strip() == "Environment", f"systemd: {line!r} stands in {section!r}"
            name, _, held = _unquoted(value.strip()).partition("=")
            found[name] = held
    return found


def _joined(text: str) -> Iterator[str]:
    """Lines without comments, also not between the parts of one."""
    whole = ""
    for line in text.split("\n"):
        if line.lstrip().startswith(("#", ";")):
            continue
        whole += line
        if whole.endswith("\\"):
            whole = whole[:-1] + " "
        elif whole.strip():
            yield whole.strip()
            whole = ""
        else:
            whole = ""


def _unquoted(value: str) -> str:
    inner = value.removeprefix('"').removesuffix('"')
    assert len(value) == len(inner) + 2 and not READ_INSIDE_QUOTES.search(inner), f"systemd reads {value!r} otherwise"
    return inner


def words_of(value: str) -> list[str]:
    """`$VARIABLE` without braces as a word of ExecStart: split at blanks, quotes taken off."""
    return shlex.split(value)


def env_file(text: str) -> dict[str, str]:
    """EnvironmentFile=: a line that starts with # or ; is a comment, which a backslash at its end carries on over the next line."""
    found, commented = dict[str, str](), False
    for line in text.split("\n"):
        comment = commented or line.lstrip().startswith(("#", ";"))
        commented = comment and line.endswith("\\")
        if not comment and line.strip():
            assert not re.search(r"[\\\"']", line), f"systemd reads {line!r} otherwise"
            key, _, value = line.partition("=")
            found[key.strip()] = value.strip()
    return found
