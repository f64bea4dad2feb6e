"""What a running SGLang serves, put together from what it printed or from what its `/server_info` answers. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from store.serving.verified import DECODE, KV_DTYPE, PAGE_SIZE, PREFILL, Found, Start
from tuner.engines.sglang.printed import ARGUMENTS, WORDS, Printed, printed
from tuner.engines.sglang.rules import KV_DTYPES
from tuner.engines.sglang.running_graphs import graphs
from tuner.engines.sglang.running_why import why, why_hybrid, why_page_size
from tuner.engines.sglang.spelling import ALIASES
from tuner.logs.fields import fields
from tuner.logs.lines import Line

INFO: tuple[str, ...] = ("/server_info", "/get_server_info")  # the second is the older name, deprecated
__all__ = ["INFO", "WORDS", "start_of", "starts"]

MLX = "server args say {args}; MLX runs its own attention"
NO_ARGUMENTS = (
    "no server_args= line is there, and SGLang names a backend that was set in no other: give the older parts of the log too, or ask "
    "the server with --url"
)


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
        asked=tuple(_asked(arguments)),
    )


def _settings(one: Printed, arguments: Mapping[str, Any]) -> Iterator[tuple[str, Found]]:
    for side in _sides(arguments):
        if (backend := _backend(one, arguments, side)) is not None:
            yield side, backend
    if isinstance(size := arguments.get("page_size"), int):
        yield PAGE_SIZE, Found(str(size), *why_page_size(one, size))
    if (dtype := _kv_dtype(one, arguments)) is not None:
        yield KV_DTYPE, dtype


def _asked(arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if isinstance(ranks := arguments.get("tp_size"), int):
        yield "tensor parallel", str(ranks)
    if "speculative_algorithm" in arguments:
        yield "speculation", str(arguments["speculative_algorithm"] or "none")
    if isinstance(deterministic := arguments.get("enable_deterministic_inference"), bool):
        yield "deterministic", "yes" if deterministic else "no"


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
        return Found(backend, why_hybrid(arguments, side), quote)
    value = own or base
    return None if value is None else Found(_name(value), *why(one, arguments, side))


def _name(backend: object) -> str:
    return ALIASES.get(str(backend), str(backend))


def _kv_dtype(one: Printed, arguments: Mapping[str, Any]) -> Found | None:
    """By the pool's own line; the arguments' "auto" says nothing, it is settled when the weights are read."""
    told = next(((match["dtype"], line) for match, line in one.said.get("kv cache", ()) if match["dtype"]), None)
    flag = arguments.get("kv_cache_dtype")
    words = f"--kv-cache-dtype is {flag}" if flag else "no server_args= line says what --kv-cache-dtype is"
    if told is not None:
        return Found(told[0], words, told[1].quote())
    return None if flag in (None, "auto") else Found(KV_DTYPES.get(str(flag), str(flag)), words)


def _notes(one: Printed, arguments: Mapping[str, Any], found: Mapping[str, Found]) -> Iterator[str]:
    overriding, named = one.first("draft"), arguments.get("speculative_draft_attention_backend")
    if draft := overriding[0]["backend"] if overriding else named:
        yield f"the draft runs {draft}; a page size that it needs is the whole server's"
    mode, algorithm = arguments.get("speculative_attention_mode"), arguments.get("speculative_algorithm")
    sides = {side: found[side].value for side in (PREFILL, DECODE) if side in found}
    if algorithm and mode in sides and len(set(sides.values())) > 1:
        yield f"verify passes run on the {mode} side, {sides[mode]} (--speculative-attention-mode {mode})"
