"""A file for SGLang's `--config FILE`: a flat mapping, keys with dashes, each with its reason above it.

SGLang turns every value into text and refuses underscores in keys; a file of comments alone is an empty configuration.
Source: sglang/srt/server_args_config_parser.py, ConfigArgumentMerger, 0.5.16 (and sglang/srt/utils/ in 0.5.22).
"""

from __future__ import annotations

from reports.launchers.header import header, unset
from reports.launchers.launcher import Flag, Launcher, flags_of
from reports.launchers.mark import mark, scalar
from store.pins.pin import Pin


def render(pin: Pin, launcher: Launcher) -> str:
    flags = flags_of(pin, launcher)
    body = [line for flag in flags for line in lines(flag, pin.run)] or [f"# {unset(pin)}"]
    return "\n".join([*(f"# {line}" for line in header(pin, launcher)), *body]) + "\n"


def lines(flag: Flag, run: str) -> list[str]:
    """The key, under a comment that says who set it and why."""
    return [f"# {mark(run, flag.value, flag.because)}", f"{flag.name}: {'true' if flag.switch else scalar(flag.value)}"]
