"""Runs where an SGLang is: reads names of YAML files as lines, writes what its own `--config` makes of each, as JSON lines."""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module

MERGERS = ("sglang.srt.utils.server_args_config_parser", "sglang.srt.server_args_config_parser")  # since 0.5.22, and before


def main() -> None:
    from backends.sglang.asked.ask import prepare

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    prepare(simulated=True)
    from backends.sglang.asked.layouts import _parser

    merge = _merger()(_parser()).merge_config_with_args
    for line in sys.stdin:
        print(json.dumps(merge(["--model-path", "M", "--config", line.strip()])), file=answers)
    answers.close()


def _merger() -> type:
    for module in MERGERS:
        try:
            found: type = import_module(module).ConfigArgumentMerger
            return found
        except ModuleNotFoundError:
            continue
    raise ModuleNotFoundError(f"none of {MERGERS}")
