"""What vLLM prints about itself: which lines count, and to which start of a server each belongs. Pure.

Sources: vllm/platforms/cuda.py, rocm.py and interface.py; vllm/v1/attention/backends/flash_attn.py and flashinfer.py;
vllm/v1/attention/backends/mla/prefill/selector.py; vllm/config/compilation.py and vllm.py; vllm/entrypoints/common/startup.py;
vllm/v1/engine/core.py; vllm/v1/worker/gpu_model_runner.py (0.33.0).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from tuner.logs.lines import Line

NAME = r"[A-Z][A-Z0-9_]+"
ARGUMENTS = re.compile(r"non-default args: ")
CONFIG = re.compile(r"Initializing a V\d LLM engine \(v(?P<version>[\w.+-]+)\) with config: ")
CHOSEN = re.compile(
    rf"Using (?:AttentionBackendEnum\.)?(?P<backend>{NAME})(?: attention)? backend"
    r"(?:\.| out of potential backends: .*| \(selected via --attention-backend\)\.)\s*$"
)
OVERRIDDEN = re.compile(rf"Found incompatible backend\(s\) .*Overriding with (?P<backend>{NAME}) out of potential backends")
OLD_NAMES = re.compile(r"Using (?P<backend>Flash Attention|FlashInfer|Triton) backend(?: on V1 engine)?\.?\s*$")
INNER = {
    "flash attention": re.compile(r"Using FlashAttention version (?P<what>\d+)"),
    "flashinfer": re.compile(r"FlashInfer resolved query dtypes:.*decode_backend=(?P<what>[\w-]+), kv_cache_dtype=(?P<dtype>[\w.]+)"),
    "mla prefill": re.compile(rf"Using (?P<what>{NAME}) MLA prefill backend"),
}
KINDS = {
    "chosen": CHOSEN,
    "overridden": OVERRIDDEN,
    "old name": OLD_NAMES,
    **INNER,
    "block size": re.compile(r"Setting kv cache block size to (?P<size>\d+) for "),
    "precluded": re.compile(r"--block-size (?P<size>\d+) precluded higher-priority backend\(s\)"),
    "graph mode": re.compile(r"(?:setting cudagraph_mode=|[Cc]udagraph mode .*Overriding to (?:CUDAGraphMode\.)?)(?P<mode>[A-Z_]+)"),
    "eager": re.compile(r"Enforce eager set, disabling|[Cc]udagraph is disabled under eager mode"),
    "capture": re.compile(r"Capturing CUDA graphs \((?P<what>[^)]*)\)|Graph capturing finished in"),
}
# one is in every line that counts
WORDS: tuple[str, ...] = (
    *("backend", "non-default args", "LLM engine", "FlashAttention version", "kv cache block size", "block-size", "graph", "eager"),
    *("startup complete", "Starting vLLM"),
)
READY = re.compile(r"Application startup complete|Starting vLLM server on")
MODES = {"Flash Attention": "FLASH_ATTN", "FlashInfer": "FLASHINFER", "Triton": "TRITON_ATTN"}  # until 0.11


@dataclass
class Printed:
    """The lines of one start, by kind, while they are gathered."""

    source: str
    arguments: Line | None = None
    config: Line | None = None
    version: str | None = None
    said: dict[str, list[tuple[re.Match[str], Line]]] = field(default_factory=dict)
    ready: bool = False

    def first(self, kind: str) -> tuple[re.Match[str], Line] | None:
        return next(iter(self.said.get(kind, ())), None)

    def last(self, kind: str) -> tuple[re.Match[str], Line] | None:
        return next(reversed(self.said.get(kind, ())), None)


def printed(lines: Iterable[Line]) -> list[Printed]:
    """One a start, in order. The frontend's arguments come first, the engine's configuration after them."""
    found: list[Printed] = []
    newest: dict[str, Printed] = {}
    for line in lines:
        kind, match = _kind(line.text)
        if match is None:
            continue
        current = newest.get(line.source)
        if current is None or _begins(current, kind):
            current = newest[line.source] = Printed(line.source)
            found.append(current)
        _add(current, kind, match, line)
    return found


def _begins(current: Printed, kind: str) -> bool:
    if kind == "arguments":
        return current.arguments is not None or current.config is not None
    return kind == "config" and current.config is not None


def _kind(text: str) -> tuple[str, re.Match[str] | None]:
    first = {"arguments": ARGUMENTS, "config": CONFIG, "ready": READY, **KINDS}
    return next(((kind, match) for kind, pattern in first.items() if (match := pattern.search(text))), ("", None))


def _add(current: Printed, kind: str, match: re.Match[str], line: Line) -> None:
    if kind == "arguments":
        current.arguments = line
    elif kind == "config":
        current.config, current.version = line, match["version"]
    elif kind == "ready":
        current.ready = True
    else:
        current.said.setdefault(kind, []).append((match, line))
