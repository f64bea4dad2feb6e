"""A file for SGLang's `--config FILE`: a flat mapping, keys with dashes, each with its reason above it.

SGLang turns every value into text and refuses underscores in keys; a file of comments alone is an empty configuration.
Source: sglang/srt/server_args_config_parser.py, ConfigArgumentMerger, 0.5.16 (and sglang/srt/utils/ in 0.5.22).
"""

from __future__ import annotations

import json
import re

from reports.launchers.header import header, unset
from reports.launchers.launcher import Flag, Launcher, flags_of
from store.pin import Pin

# Words that YAML 1.1 or 1.2 reads as something else than text.
PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*|0|[1-9][0-9]*")
RESERVED = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}


def render(pin: Pin, launcher: Launcher) -> str:
    flags = flags_of(pin, launcher)
    body = [line for flag in flags for line in _lines(flag)] or [f"# {unset(pin)}"]
    return "\n".join([*(f"# {line}" for line in header(pin)), *body]) + "\n"


def _lines(flag: Flag) -> list[str]:
    reason = [f"# {flag.because}"] if flag.because else []
    return [*reason, f"{flag.name}: {scalar(flag.value)}"]


def scalar(value: str) -> str:
    """``value`` plain where YAML reads back the same word or number, in double quotes otherwise."""
    return value if PLAIN.fullmatch(value) and value.lower() not in RESERVED else json.dumps(value)
