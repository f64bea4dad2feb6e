"""Runs where vLLM's Python files are: reads command lines of `vllm serve` as JSON lists, writes what vLLM's own parser makes of each.

The parser is vLLM's, with its reading of `--config`, over the options of its engine; those of the HTTP server, which no pin sets, need
packages that are not here.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from tests.engine.vllm import stand_ins


def main() -> None:
    sys.meta_path.insert(0, stand_ins.Finder())
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what vLLM logs is no answer
    parser = _parser()
    for line in sys.stdin:
        print(json.dumps(_answer(parser, json.loads(line))), file=answers)
    answers.close()


def _parser() -> Any:
    from vllm.platforms import current_platform

    current_platform.device_type = "cuda"  # asked for a default while the options are made
    from vllm.engine.arg_utils import AsyncEngineArgs
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    parser = FlexibleArgumentParser()
    serve = parser.add_subparsers(dest="subparser").add_parser("serve")
    serve.add_argument("model_tag", nargs="?")
    serve.add_argument("--config")
    AsyncEngineArgs.add_cli_args(serve)
    return parser


def _answer(parser: Any, words: list[str]) -> dict[str, Any]:
    """As `EngineArgs.create_engine_config` joins the flag and the object."""
    from vllm.config.attention import AttentionConfig

    try:
        found = parser.parse_args(words)
        flag = AttentionConfig.validate_backend_before(found.attention_backend)
    except (Exception, SystemExit) as error:
        return {"refused": f"{type(error).__name__}: {error}"}
    held = found.attention_config
    return {
        "backend": getattr(flag or held.backend, "name", None),
        "twice": flag is not None and held.backend is not None,
        "block_size": found.block_size,
        "kv_cache_dtype": found.kv_cache_dtype,
        **{key: getattr(held, key) for key in ("use_trtllm_attention", "flash_attn_version")},
        "mla_prefill_backend": getattr(held.mla_prefill_backend, "name", None),
    }
