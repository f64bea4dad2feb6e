"""Which options of a server make the choices that a pin makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

BACKEND, PAGE_SIZE, KV_DTYPE = "the attention backend", "the page size", "the KV dtype"


@dataclass(frozen=True)
class Choices:
    """``options``: long options without dashes, in dashes, by what they choose. ``objects``: options (of one dash or two) whose value is a
    JSON object and whose keys stand after dots, each with the keys that choose something. ``config``: the option that names a YAML
    file of options; both engines read it as two words only and pass over ``--config=FILE``. ``switches``: options that take no value."""

    options: Mapping[str, str]
    objects: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    config: str = "config"
    switches: tuple[str, ...] = ()

    def words(self, option: str, value: str) -> tuple[str, ...]:
        return (f"--{option}",) if option in self.switches else (f"--{option}", value)

    def chosen_by(self, option: str) -> str | None:
        """``option`` without dashes before it, whole or shortened as argparse takes it."""
        if option in self.options:
            return self.options[option]
        name, dot, key = option.partition(".")
        if dot and name in self.objects:
            return self.objects[name].get(key)
        long = {choice for known, choice in self.options.items() if len(option) >= SHORTEST and known.startswith(option)}
        return long.pop() if len(long) == 1 else None


SHORTEST = 4  # characters: anything shorter is ambiguous in either engine, and refused there
