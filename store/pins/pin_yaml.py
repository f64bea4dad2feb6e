"""A pin as the text of pin.yaml and back: sorted, one fact a line, so that it diffs well."""

from __future__ import annotations

import io
import shlex
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from backends.simulated.world import CAUTION, is_simulated
from backends.wire import WireError, from_plain, to_plain
from store.errors import NewerSchema, PinError
from store.pins.pin import PIN_SCHEMA, Pin

HEADER = """\
# attnpin's pin: attention flags measured for one engine on one board. Commit it beside the deployment.
# What it rests on is in {stem}.md, the numbers in {stem}.evidence.jsonl.zst.
"""
CHECK = "# Check it again with: attnpin check --pin {name} --fast\n"


def pin_text(pin: Pin, name: str, stem: str) -> str:
    """``name`` is the file's, ``stem`` the same without its suffix."""
    yaml: Any = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.allow_unicode = True
    yaml.width = 4096
    yaml.sort_base_mapping_type_on_output = True
    stream = io.StringIO()
    yaml.dump(_to_mappings(pin), stream)
    last = f"# {CAUTION}\n" if is_simulated(pin.valid_for.gpu) else CHECK.format(name=shlex.quote(name))
    return HEADER.format(stem=stem) + last + stream.getvalue()


def pin_of(text: str, name: str) -> Pin:
    """Raises `PinError` naming the key or line at fault, `NewerSchema` before any other key is looked at."""
    plain = _load(text, name)
    schema = plain.get("schema")
    if type(schema) is not int:
        raise PinError(f"{name} is no pin of attnpin's: it has no schema number; give the path of a pin.yaml that attnpin tune wrote")
    if schema > PIN_SCHEMA:
        raise NewerSchema(f"pin {name} has schema {schema} and this attnpin reads schemas up to {PIN_SCHEMA}; install a newer attnpin")
    try:
        return from_plain(Pin, _from_mappings(plain))
    except (ValueError, TypeError) as error:
        raise PinError(f"pin {name} cannot be read: {error}; correct it or write it again with attnpin tune") from None


def in_order(pin: Pin) -> Pin:
    """The pin as reading it back gives it: mappings have no order, so theirs is that of the names."""
    return from_plain(Pin, _from_mappings(_to_mappings(pin)))


def _to_mappings(pin: Pin) -> dict[str, Any]:
    plain: dict[str, Any] = to_plain(pin)
    valid_for = plain["valid_for"]
    plain["flags"], plain["because"] = dict(plain["flags"]), dict(plain["because"])
    if plain["variables"]:
        plain["variables"] = dict(plain["variables"])
    else:
        del plain["variables"]
    if not plain["boards"]:
        del plain["boards"]
    if valid_for["image"] is None:
        del valid_for["image"]
    for key in ("variables", "settings"):
        valid_for[key] = dict(valid_for[key])
    valid_for["distributions"] = {name: {"digest": digest, "version": version} for name, version, digest in valid_for["distributions"]}
    plain["evidence"] = dict(zip(("file", "sha256"), plain["evidence"]))
    return plain


def _from_mappings(plain: dict[str, Any]) -> dict[str, Any]:
    valid_for = dict(_mapping(plain, "valid_for"))
    for key in {"variables", *valid_for.keys() & {"settings"}}:  # early pins have no settings
        valid_for[key] = _pairs(valid_for, key)
    distributions = _mapping(valid_for, "distributions")
    valid_for["distributions"] = [[name, *_values(found, name, ("version", "digest"))] for name, found in sorted(distributions.items())]
    if "variables" in plain:
        plain = plain | {"variables": _pairs(plain, "variables")}
    return plain | {
        "flags": _pairs(plain, "flags"),
        "because": _pairs(plain, "because"),
        "evidence": _values(_mapping(plain, "evidence"), "evidence", ("file", "sha256")),
        "valid_for": valid_for,
    }


def _mapping(plain: dict[str, Any], key: str) -> dict[str, Any]:
    value = plain.get(key)
    if not isinstance(value, dict):
        raise WireError(f"{key!r} is missing or no mapping")
    return value


def _pairs(plain: dict[str, Any], key: str) -> list[list[Any]]:
    return [[name, value] for name, value in sorted(_mapping(plain, key).items())]


def _values(plain: Any, key: str, names: tuple[str, ...]) -> list[Any]:
    if not isinstance(plain, dict) or set(plain) != set(names):
        raise WireError(f"{key!r} must have just {' and '.join(names)}")
    return [plain[name] for name in names]


def _load(text: str, name: str) -> dict[str, Any]:
    try:
        plain = YAML(typ="safe", pure=True).load(text)
    except (YAMLError, ValueError, RecursionError) as error:  # the last two: a number of 5000 digits, brackets 1000 deep
        raise PinError(f"pin {name} is not YAML{_where(error)}; restore it or write it again with attnpin tune") from None
    if not isinstance(plain, dict):
        raise PinError(f"{name} is no pin of attnpin's: it holds no mapping")
    return dict(plain)


def _where(error: Exception) -> str:
    if not isinstance(error, MarkedYAMLError) or error.problem_mark is None:
        return ""
    return f" (line {error.problem_mark.line + 1}: {str(error.problem).splitlines()[0]})"
