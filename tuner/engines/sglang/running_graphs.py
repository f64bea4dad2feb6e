"""Whether a running SGLang replays CUDA graphs in decode, and which sizes it captured. Pure."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from store.serving.verified import Graphs, Quote
from tuner.engines.sglang.printed import DRAFT_OR_PREFILL, SIZES, Printed


def graphs(one: Printed, arguments: Mapping[str, Any]) -> Graphs:
    """The lines of the capture go before the arguments: not all that is asked for is captured (on CPUs, for one)."""
    captures = [line for _, line in (*one.said.get("capture", ()), *one.said.get("captured", ())) if not DRAFT_OR_PREFILL.search(line.text)]
    sizes = next((_sizes(found[1]) for line in captures if (found := SIZES.search(line.text))), ())
    on, why, said = _on(one, arguments, captures[0].quote() if captures else None)
    asked = _asked_sizes(arguments) if on and not sizes else ()
    return Graphs(on, why, said, sizes or asked, bool(asked), one.steps, one.outside)


def _on(one: Printed, arguments: Mapping[str, Any], captured: Quote | None) -> tuple[bool | None, str, Quote | None]:
    backend = _phase(arguments).get("backend")
    if captured is not None:
        return True, "SGLang captured them", captured
    if (disabled := one.first("no graphs")) is not None:
        return False, "SGLang turned them off by itself", disabled[1].quote(disabled[0][0])
    if backend == "disabled" or arguments.get("disable_cuda_graph") is True:
        return False, "a flag turned them off, or SGLang did without a line", None
    if one.steps and one.outside == one.steps:
        return False, "no decode step that it printed ran in one", None
    if one.outside < one.steps:
        return True, "decode steps that it printed ran in one", None
    if arguments.get("device") == "cuda" and backend:
        return True, "by its arguments; no line of the capture is there", None
    return None, "nothing that it said tells", None


def _phase(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    config = arguments.get("cuda_graph_config")
    decode = config.get("decode") if isinstance(config, dict) else None
    return decode if isinstance(decode, dict) else {}


def _asked_sizes(arguments: Mapping[str, Any]) -> tuple[int, ...]:
    """`cuda_graph_bs` before 0.5.16."""
    listed = _phase(arguments).get("bs") or arguments.get("cuda_graph_bs")
    return tuple(size for size in listed if isinstance(size, int)) if isinstance(listed, list) else ()


def _sizes(listed: str) -> tuple[int, ...]:
    return tuple(ast.literal_eval(listed))
