"""A file for vLLM's `--config FILE`: a mapping, keys with dashes; what belongs to one option's object stands below it.

vLLM ends on a file of comments alone, so a pin that sets nothing writes `auto`, which is what vLLM takes by itself. The backend stands
beside the object and not in it: an `-ac.KEY` of the command line replaces the whole object of the file.
Source: vllm/utils/argparse_utils.py, load_config_file, and vllm/engine/arg_utils.py, 0.33.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from reports.launchers.header import header, unset
from reports.launchers.launcher import Flag, Launcher, flags_of
from reports.launchers.sglang_yaml import lines
from store.pins.pin import Pin

NOTHING = Flag("attention-backend", "auto", None)


def render(pin: Pin, launcher: Launcher) -> str:
    flags = flags_of(pin, launcher)
    body = [line for flag in flags if "." not in flag.name for line in lines(flag, pin.run)]
    said = [*body, *_objects(flags, pin.run)] if flags else lines(replace(NOTHING, because=unset(pin)), pin.run)
    return "\n".join([*(f"# {line}" for line in header(pin, launcher)), *said]) + "\n"


def _objects(flags: Iterable[Flag], run: str) -> Iterator[str]:
    """Flags with a dot in their names, together under what stands before it."""
    inner = [(*flag.name.partition("."), flag) for flag in flags if "." in flag.name]
    for option in dict.fromkeys(option for option, *_ in inner):
        yield f"{option}:"
        yield from (f"  {line}" for own, _, key, flag in inner if own == option for line in lines(Flag(key, flag.value, flag.because), run))
