"""What SGLang prints about itself: which lines count, and to which start of a server each belongs. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tuner.logs.lines import Line

# sglang/srt/entrypoints/engine.py: a dataclass's repr (0.5.16), a dictionary's (0.5.22)
ARGUMENTS = re.compile(r"server_args=(?=ServerArgs\(|\{)")
# sglang/srt/arg_groups/overrides.py
DEFAULT = re.compile(r"Attention backend not specified\.\s*(?:Use|Falling back to) '?(?P<backend>\w+)'? ")
PAGE_SIZE = re.compile(r"chang(?:e|ing) page[_ ]size (?:from \w+ )?to (?P<to>\d+)|[Ss]etting page[_ ]size(?: to |=)(?P<set>\d+)")
SWITCH = re.compile(
    r"[Ss]etting attention backend to (?P<to>\w+)|will fallback to (?P<fall>\w+) backend"
    r"|Use (?P<use>\w+) (?:as (?:the )?(?:default )?(?:prefill (?:and decode )?)?)?attention backend\b"
)
# sglang/srt/model_executor/model_runner_components/attention_backend_setup.py, cuda_graph_setup.py
HYBRID = re.compile(
    r"Using hybrid attention backend for decode and prefill: decode_backend=(?P<decode>\w+), prefill_backend=(?P<prefill>\w+)"
)
DRAFT = re.compile(r"Overriding draft attention backend to (?P<backend>\w+)")
CAPTURE = re.compile(r"Capture (?:target |draft )?(?:decode |verify )?(?:\w+ )?graph (?:begin|bs)\b", re.IGNORECASE)
DRAFT_OR_PREFILL = re.compile(r"Capture (?:draft|target prefill|prefill)\b")
SIZES = re.compile(r"\bbs[= ]\s*(\[[\d, ]+\])")
CAPTURED = re.compile(r"Capture (?:target )?(?:decode|verify) [\w ]*graph end\b")
# sglang/srt/server_args.py, arg_groups/
NO_GRAPHS = re.compile(r"\b[Cc](?:uda|UDA) graph is disabled because[^.]*")
KV_CACHE = re.compile(r"KV Cache is allocated\.(?: dtype: (?:torch\.)?(?P<dtype>\w+)(?=,))?")
# sglang/srt/hardware_backend/mlx
MLX = re.compile(r"MlxModelRunner|MLX model loaded")
# sglang/srt/managers/scheduler_components/metrics_reporter.py; "Decode batch." before 0.5
STEP = re.compile(r"Decode batch\b.*?\b(?:cuda|cpu|npu|musa|xpu) graph: (?P<inside>True|False)")
READY = re.compile(r"The server is fired up and ready to roll")

KINDS = {
    "arguments": ARGUMENTS,
    "ready": READY,
    "default": DEFAULT,
    "hybrid": HYBRID,
    "capture": CAPTURE,
    "captured": CAPTURED,
    "no graphs": NO_GRAPHS,
    "page size": PAGE_SIZE,
    "switch": SWITCH,
    "draft": DRAFT,
    "kv cache": KV_CACHE,
    "mlx": MLX,
}
# one is in every line that counts, and few others hold one
WORDS: tuple[str, ...] = (
    *("Decode batch", "server_args=", "backend", "page", "KV Cache", "Mlx", "MLX", "ready to roll"),
    *("graph begin", "graph end", "graph bs", "graph is disabled"),
)
BEFORE_ARGUMENTS = ("default", "page size", "switch", "no graphs")  # SGLang resolves them, then prints them


@dataclass
class Printed:
    """The lines of one start, by kind, while they are gathered. ``said`` holds each with what its pattern found; ``later`` what is printed
    before arguments, and came after these: another start has begun."""

    source: str
    arguments: Line | None = None
    said: dict[str, list[tuple[re.Match[str], Line]]] = field(default_factory=dict)
    later: dict[str, list[tuple[re.Match[str], Line]]] = field(default_factory=dict)
    steps: int = 0
    outside: int = 0
    ready: bool = False

    def first(self, kind: str) -> tuple[re.Match[str], Line] | None:
        return next(iter(self.said.get(kind, ())), None)


def printed(lines: Iterable[Line]) -> list[Printed]:
    """One a start, in order; lines that say nothing are forgotten at once, so that logs of any length can be read."""
    found: list[Printed] = []
    newest: dict[str, Printed] = {}
    for line in lines:
        for kind, match in _kinds(line.text):
            current = newest.get(line.source)
            if current is None or (kind == "arguments" and current.arguments is not None):
                current = newest[line.source] = Printed(line.source, said={} if current is None else current.later)
                found.append(current)
            _add(current, kind, match, line)
    return found


def _kinds(text: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Most lines that count are steps."""
    if match := STEP.search(text):
        yield "step", match
    else:
        yield from ((kind, match) for kind, pattern in KINDS.items() if (match := pattern.search(text)))


def _add(current: Printed, kind: str, match: re.Match[str], line: Line) -> None:
    if kind == "step":
        current.steps += 1
        current.outside += match["inside"] == "False"
    elif kind == "arguments":
        current.arguments = line
    elif kind == "ready":
        current.ready = True
    else:
        next_one = kind in BEFORE_ARGUMENTS and current.arguments is not None and not line.ranks
        (current.later if next_one else current.said).setdefault(kind, []).append((match, line))
