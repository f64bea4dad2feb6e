"""What a running SGLang serves, put together from what it printed or from what its `/server_info` answers. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from store.verified import DECODE, KV_DTYPE, PAGE_SIZE, PREFILL, Found, Quote, Start
from tuner.engines.sglang.printed import ARGUMENTS, Printed, printed
from tuner.engines.sglang.rules import KV_DTYPES
from tuner.engines.sglang.running_graphs import graphs
from tuner.engines.sglang.spelling import ALIASES
from tuner.logs.fields import fields
from tuner.logs.lines import Line

INFO: tuple[str, ...] = ("/server_info", "/get_server_info")  # the second is the older name, deprecated
MLX = "server args say {args}; MLX runs its own attention"
NO_ARGUMENTS = (
    "no server_args= line is there, and SGLang names a backend that was set in no other: give the older parts of the log too, or ask "
    "the server with --url"
)
USERS = "a flag or a configuration file named it, or a model's own override: no line says that SGLang chose it"
SWITCHED = "SGLang changed it by itself"


def starts(lines: Iterable[Line]) -> tuple[Start, ...]:
    """In the order of the log, those of several servers among one another."""
    return tuple(_start(one, _arguments(one)) for one in printed(lines))


def start_of(info: Mapping[str, Any], where: str) -> Start | None:
    """From the body that `/server_info` answers; None for the body of something else."""
    if "attention_backend" not in info:
        return None
    one = Printed(where, arguments=Line("", where, None, None, where), ready=True)
    return _start(one, info)


def _arguments(one: Printed) -> Mapping[str, Any]:
    return {} if one.arguments is None else fields(ARGUMENTS.split(one.arguments.text, maxsplit=1)[1])


def _start(one: Printed, arguments: Mapping[str, Any]) -> Start:
    found = dict(_settings(one, arguments))
    mlx = one.first("mlx") is not None or arguments.get("device") == "mps"
    base = arguments.get("attention_backend") or "torch_native"
    version = arguments.get("version")
    return Start(
        source=one.source,
        began=None if one.arguments is None else one.arguments.quote(""),
        settings=tuple(found.items()),
        graphs=graphs(one, arguments),
        missing=() if one.arguments is not None and all(side in found for side in _sides(arguments)) else (NO_ARGUMENTS,),
        foreign=MLX.format(args=base) if mlx else None,
        notes=tuple(_notes(one, arguments, found)),
        version=str(version) if version else None,
        ready=one.ready,
    )


def _settings(one: Printed, arguments: Mapping[str, Any]) -> Iterator[tuple[str, Found]]:
    for side in _sides(arguments):
        if (backend := _backend(one, arguments, side)) is not None:
            yield side, backend
    if isinstance(size := arguments.get("page_size"), int):
        yield PAGE_SIZE, Found(str(size), *_why_page_size(one, size))
    if (dtype := _kv_dtype(one, arguments)) is not None:
        yield KV_DTYPE, dtype


def _sides(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """A server of one phase runs that one alone."""
    mode = arguments.get("disaggregation_mode")
    return (mode,) if mode in (PREFILL, DECODE) else (PREFILL, DECODE)


def _backend(one: Printed, arguments: Mapping[str, Any], side: str) -> Found | None:
    """By the workers' own line where they run two; else as SGLang combines its fields: that of the side, or the base.

    Source: sglang/srt/arg_groups/model_override_base.py, attention_backends_of (0.5.22); sglang/srt/server_args.py (0.5.16).
    """
    own, base = arguments.get(f"{side}_attention_backend"), arguments.get("attention_backend")
    said = {str(line.ranks): (_name(match[side]), line.quote()) for match, line in one.said.get("hybrid", ())}
    if len({backend for backend, _ in said.values()}) > 1:
        each = ", ".join(f"{backend} ({ranks})" for ranks, (backend, _) in said.items())
        return Found(each, "the workers differ", next(iter(said.values()))[1])
    if said:
        backend, quote = next(iter(said.values()))
        return Found(backend, _why_hybrid(arguments, side), quote)
    value = own or base
    return None if value is None else Found(_name(value), *_why(one, arguments, side))


def _name(backend: object) -> str:
    return ALIASES.get(str(backend), str(backend))


def _why_hybrid(arguments: Mapping[str, Any], side: str) -> str:
    own, base = arguments.get(f"{side}_attention_backend"), arguments.get("attention_backend")
    if own is None:
        return f"hybrid: the base {base} serves {side}, another backend the other phase" if base else "hybrid: SGLang runs one a phase"
    return f"hybrid: {side}_attention_backend={own} goes before the base, attention_backend={base}"


def _why(one: Printed, arguments: Mapping[str, Any], side: str) -> tuple[str, Quote | None]:
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


def _why_page_size(one: Printed, size: int) -> tuple[str, Quote | None]:
    changed = [line for match, line in one.said.get("page size", ()) if _named(match) == str(size)]
    if changed:
        return SWITCHED, changed[-1].quote()
    return "no line says that SGLang changed it: its default, or what --page-size says", None


def _kv_dtype(one: Printed, arguments: Mapping[str, Any]) -> Found | None:
    """By the pool's own line; the arguments' "auto" says nothing, it is settled when the weights are read."""
    told = next(((match["dtype"], line) for match, line in one.said.get("kv cache", ()) if match["dtype"]), None)
    flag = arguments.get("kv_cache_dtype")
    why = f"--kv-cache-dtype is {flag}" if flag else "no server_args= line says what --kv-cache-dtype is"
    if told is not None:
        return Found(told[0], why, told[1].quote())
    return None if flag in (None, "auto") else Found(KV_DTYPES.get(str(flag), str(flag)), why)


def _notes(one: Printed, arguments: Mapping[str, Any], found: Mapping[str, Found]) -> Iterator[str]:
    if (draft := one.first("draft")) is not None:
        yield f"the draft runs {draft[0]['backend']}"
    mode, algorithm = arguments.get("speculative_attention_mode"), arguments.get("speculative_algorithm")
    sides = {side: found[side].value for side in (PREFILL, DECODE) if side in found}
    if algorithm and mode in sides and len(set(sides.values())) > 1:
        yield f"verify passes run on the {mode} side, {sides[mode]} (--speculative-attention-mode {mode})"
