"""How a setting of a running SGLang likely came to be, and the line that says so. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from store.serving.verified import Quote
from tuner.engines.sglang.printed import Printed

USERS = "a flag or a configuration file named it, or a model's own override: no line says that SGLang chose it"
SWITCHED = "SGLang changed it by itself"


def why_hybrid(arguments: Mapping[str, Any], side: str) -> str:
    own, base = arguments.get(f"{side}_attention_backend"), arguments.get("attention_backend")
    if own is None:
        return f"hybrid: the base {base} serves {side}, another backend the other phase" if base else "hybrid: SGLang runs one a phase"
    return f"hybrid: {side}_attention_backend={own} goes before the base, attention_backend={base}"


def why(one: Printed, arguments: Mapping[str, Any], side: str) -> tuple[str, Quote | None]:
    own, base = arguments.get(f"{side}_attention_backend"), arguments.get("attention_backend")
    if own is not None and own != base:
        words = ", ".join(f"{name}={arguments.get(name)}" for name in ("attention_backend", f"{side}_attention_backend"))
        return f"hybrid: {side}_attention_backend={own} goes before the base", one.arguments.quote(words) if one.arguments else None
    switched = [line for match, line in one.said.get("switch", ()) if _named(match) == base]
    if switched:
        return SWITCHED, switched[-1].quote()
    if (default := one.first("default")) is not None:
        return "no flag named a backend that SGLang read: it took its default", default[1].quote()
    return _by_command(arguments, base) or USERS, None


def _by_command(arguments: Mapping[str, Any], base: object) -> str | None:
    """`launch_command` of `/server_info` (0.5.22) is what was typed; its words are not shown, they may hold keys."""
    command = arguments.get("launch_command")
    if not isinstance(command, str):
        return None
    if "attention-backend" in command:
        return f"its command line names an attention backend, and {base} is what came of it"
    return f"its command line names no attention backend: SGLang, or a file behind --config, chose {base}"


def _named(match: Any) -> str | None:
    return next((value for value in match.groupdict().values() if value), None)


def why_page_size(one: Printed, size: int) -> tuple[str, Quote | None]:
    changed = [line for match, line in one.said.get("page size", ()) if _named(match) == str(size)]
    if changed:
        return SWITCHED, changed[-1].quote()
    return "no line says that SGLang changed it: its default, or what --page-size says", None
