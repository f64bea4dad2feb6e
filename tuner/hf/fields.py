"""Values of a configuration by name and type. What has another type is refused with the name, the value and what it must be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tuner.errors import UsageError

Config = Mapping[str, Any]
MOST = 10**9  # layers, heads, widths, tokens
MANY = 10_000  # entries of a list, one a layer


def count(config: Config, name: str, least: int = 0, most: int = MOST) -> int | None:
    """A whole number from ``least`` to ``most``; None where it is absent or null."""
    value = config.get(name)
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if type(value) is not int or not least <= value <= most:
        raise _wrong(name, value, f"a whole number from {least} to {most}")
    return value


def needed(config: Config, name: str) -> int:
    """A whole number from 1 on that a model cannot do without."""
    value = count(config, name, least=1)
    if value is None:
        raise UsageError(f"config.json has no {name}; give the config.json of a language model, or set model.layers and the rest yourself")
    return value


def number(config: Config, name: str) -> float | None:
    """Above 0 and at most `MOST`; None where it is absent, null or 0."""
    value = config.get(name)
    if value is None or (value == 0 and type(value) is not bool):
        return None
    if type(value) not in (int, float) or not 0 < value <= MOST:
        raise _wrong(name, value, f"a number above 0 and at most {MOST}")
    return float(value)


def flag(config: Config, name: str) -> bool | None:
    value = config.get(name)
    if value is None or isinstance(value, bool):
        return value
    raise _wrong(name, value, "true or false")


def text(config: Config, name: str) -> str | None:
    value = config.get(name)
    if value is None or isinstance(value, str):
        return value
    raise _wrong(name, value, "a text")


def items(config: Config, name: str) -> list[Any] | None:
    value = config.get(name)
    if value is None:
        return None
    if not isinstance(value, list) or len(value) > MANY:
        raise _wrong(name, value, f"a list of at most {MANY} entries")
    return value


def of_layer(config: Config, name: str, index: int) -> Any:
    """What a list with one entry a layer holds for layer ``index``; looped models pass through their layers again."""
    values, layers = items(config, name) or [], needed(config, "num_hidden_layers")
    if len(values) < layers:
        raise UsageError(f"{name} of config.json has {len(values)} entries for {layers} layers; give one a layer")
    return values[index % layers]


def part(config: Config, name: str) -> Config | None:
    """An object inside the configuration."""
    value = config.get(name)
    if value is None or isinstance(value, dict):
        return value
    raise _wrong(name, value, "an object")


def _wrong(name: str, value: Any, allowed: str) -> UsageError:
    return UsageError(f"{name} of config.json is {value!r:.60}; it must be {allowed}")
