"""Where the releases of SGLang resolve their arguments, and the settings that come out."""

from __future__ import annotations

import argparse
from functools import cache
from typing import Any, NoReturn

FIELDS = {"base": "attention_backend", "page_size": "page_size", "kv_dtype": "kv_cache_dtype"}
# A release that lacks one of these has it unset.
MORE_FIELDS = {
    "draft": "speculative_draft_attention_backend",
    "verify_side": "speculative_attention_mode",
    "topk": "speculative_eagle_topk",
    "steps": "speculative_num_steps",
    "draft_tokens": "speculative_num_draft_tokens",
    "algorithm": "speculative_algorithm",
    "dsa_prefill": "dsa_prefill_backend",
    "dsa_decode": "dsa_decode_backend",
    "mamba_strategy": "mamba_radix_cache_strategy",
    "mem_fraction": "mem_fraction_static",
    "chunk": "chunked_prefill_size",
}


class UnknownLayout(Exception):
    """This SGLang resolves its arguments somewhere else; the text says what is missing."""


class CommandLineRefused(ValueError):
    """The parser's own message."""


class NotKnown(Exception):
    """The parser does not know an option that was written for a neighbouring release."""


def resolved(words: list[str]) -> dict[str, Any]:
    """The settings after resolution of the command line ``words``. Raises what the engine raises, and the three above."""
    found = _resolve(_arguments().from_cli_args(_parser().parse_args(words)))
    try:
        return {**_settings(found), **_switches(found)}
    except AttributeError as error:
        raise UnknownLayout(f"its resolved arguments lack {error.name}") from error


def _arguments() -> Any:
    try:
        from sglang.srt.server_args import ServerArgs
    except ImportError as error:
        if not (error.name or "").startswith("sglang."):
            raise
        raise UnknownLayout(f"it has no {error.name}") from error
    found = any(hasattr(ServerArgs, name) for name in ("resolve_once", "_handle_attention_backend_compatibility"))
    if not found or not hasattr(ServerArgs, "from_cli_args"):
        raise UnknownLayout("its ServerArgs has neither resolve_once (0.5.22) nor the handlers of 0.5.16")
    return ServerArgs


def _resolve(arguments: Any) -> Any:
    if not hasattr(arguments, "resolve_once"):  # 0.5.16 resolves while it is made
        arguments.check_server_args()
        return arguments
    from sglang.srt.arg_groups.overrides import resolved_view

    arguments.resolve_once()
    arguments.check_server_args()
    return resolved_view(arguments)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise NotKnown(message) if message.startswith("unrecognized arguments") else CommandLineRefused(message)


@cache
def _parser() -> argparse.ArgumentParser:
    """As `prepare_server_args` makes it each time, which takes ten times as long as all the rest."""
    parser = _Parser()
    _arguments().add_cli_args(parser)
    return parser


def _settings(resolved: Any) -> dict[str, Any]:
    found = {ours: getattr(resolved, theirs) for ours, theirs in FIELDS.items()}
    return {
        **found,
        **{ours: getattr(resolved, theirs, None) for ours, theirs in MORE_FIELDS.items()},
        "prefill": resolved.prefill_attention_backend or found["base"],
        "decode": resolved.decode_attention_backend or found["base"],
    }


def _switches(resolved: Any) -> dict[str, Any]:
    graphs = getattr(resolved, "cuda_graph_config", None)
    return {
        "decode_graph": graphs and graphs.decode.backend,
        "prefill_graph": graphs and graphs.prefill.backend,
        "radix_cache": not resolved.disable_radix_cache,
        "overlap": not resolved.disable_overlap_schedule,
    }
