"""Shell completion by Hydra, told about our commands: `eval "$(attnpin -sc install=bash)"`."""

from __future__ import annotations

import os
from collections.abc import Sequence

FLAGS = ("-sc", "--shell-completion")


def asked(arguments: Sequence[str]) -> bool:
    return any(flag in arguments for flag in FLAGS)


def commands_to_offer(line: str, commands: Sequence[str]) -> list[str]:
    """The commands that continue a command line whose first word after the program is still being typed, else none."""
    words = line.split()
    typed = words[1] if len(words) > 1 else ""
    still_typing = len(words) < 2 or (len(words) == 2 and not line.endswith(" "))
    return [command for command in commands if command.startswith(typed)] if still_typing else []


def without_command(line: str, commands: Sequence[str]) -> str:
    """The line as Hydra expects it: program and overrides only. The space after the last word is kept, it means a new word."""
    program, _, rest = line.partition(" ")
    command, space, overrides = rest.lstrip().partition(" ")
    return f"{program}{space}{overrides}" if command in commands else line


def prepare(commands: Sequence[str]) -> bool:
    """Answers a query that a command name completes and returns True; otherwise leaves the line fit for Hydra."""
    line = os.environ.get("COMP_LINE", "")
    if offered := commands_to_offer(line, commands) if line else []:
        print(" ".join(offered))
        return True
    os.environ["COMP_LINE"] = without_command(line, commands)
    return False
