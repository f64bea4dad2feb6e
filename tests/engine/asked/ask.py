"""Runs in an interpreter that has an SGLang: reads questions as JSON lines, writes what its own resolver answered, in order.

A question: {"machine", "model_path", "arguments", "environment"}. One process asks thousands; each gets a fresh record of
arguments. The first is a plain one that is not answered: it makes SGLang import what it imports late.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import warnings
from functools import cache
from typing import Any
from unittest.mock import MagicMock

from backends.sglang.torchvision_stub import install_if_needed

install_if_needed()
sys.modules.update({name: MagicMock() for name in ("uvicorn", "fastapi", "fastapi.responses")})  # a server nobody starts here
logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")

import sglang.srt.server_args as server_args  # noqa: E402  (after the stub)

from tests.engine.asked import machine  # noqa: E402

FIELDS = {
    "base": "attention_backend",
    "draft": "speculative_draft_attention_backend",
    "verify_side": "speculative_attention_mode",
    "page_size": "page_size",
    "kv_dtype": "kv_cache_dtype",
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


def main() -> None:
    plain, *questions = (json.loads(line) for line in sys.stdin)
    _resolved(plain, device="cpu")  # as this machine: imports what is imported late, before the probes are replaced
    machine.install()
    for question in questions:
        print(json.dumps(answer(question)), flush=True)


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """The fields of the resolved arguments, or {"error": text, "kind": exception}."""
    machine.become(question["machine"])
    before = dict(os.environ)
    os.environ.update(question["environment"])
    try:
        return _fields(_resolved(question))
    except SystemExit:
        return {"error": "the command line was refused", "kind": "SystemExit"}
    except Exception as error:
        return {"error": f"{error}", "kind": type(error).__name__}
    finally:
        os.environ.clear()
        os.environ.update(before)


def _resolved(question: dict[str, Any], device: str | None = None) -> Any:
    device = device or machine.device_of(question["machine"])
    words = ["--model-path", question["model_path"], "--device", device, *question["arguments"]]
    arguments = server_args.ServerArgs.from_cli_args(_parser().parse_args(words))
    if not hasattr(arguments, "resolve_once"):  # 0.5.16 resolves while it is made
        arguments.check_server_args()
        return arguments
    from sglang.srt.arg_groups.overrides import resolved_view

    arguments.resolve_once()
    arguments.check_server_args()
    return resolved_view(arguments)


@cache
def _parser() -> argparse.ArgumentParser:
    """As `prepare_server_args` makes it each time, which takes ten times as long as all the rest."""
    parser = argparse.ArgumentParser()
    server_args.ServerArgs.add_cli_args(parser)
    return parser


def _fields(resolved: Any) -> dict[str, Any]:
    found = {ours: getattr(resolved, theirs) for ours, theirs in FIELDS.items()}
    graphs = resolved.cuda_graph_config
    return {
        **found,
        "prefill": resolved.prefill_attention_backend or found["base"],
        "decode": resolved.decode_attention_backend or found["base"],
        "decode_graph": graphs.decode.backend,
        "prefill_graph": graphs.prefill.backend,
        "radix_cache": not resolved.disable_radix_cache,
        "overlap": not resolved.disable_overlap_schedule,
    }


if __name__ == "__main__":
    main()
