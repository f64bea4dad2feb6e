"""A server's log as SGLang 0.5.16 prints it, put together from what a test says, and what a triage makes of it. Times are made up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from store.serving.triaged import Load, Triaged
from store.serving.verified import Verified
from store.verdicts.verdict import Served, Verdict
from tests.tuner.unmeasured.pinned import Pinned
from tests.tuner.verifying.pinned import raw
from tuner.engines.lookup import paced_by, spoken_by
from tuner.logs.lines import lines
from tuner.triaging.concluding import concluded
from tuner.triaging.figures import Figures
from tuner.triaging.load import load_of
from tuner.triaging.signs import Signs
from tuner.triaging.watch import Watch
from tuner.verifying.expected import Expected, expected
from tuner.verifying.judge import judged

ENGINE = "sglang"
SETTINGS: Mapping[str, Any] = {
    **{"attention_backend": "fa3", "page_size": 1, "kv_cache_dtype": "auto", "device": "cuda", "tp_size": 1},
    **{"speculative_algorithm": None, "enable_deterministic_inference": False},
}
POOL = "KV Cache is allocated. dtype: torch.bfloat16, #tokens: 500000, K size: 55.78 GB, V size: 55.78 GB"
CAPTURE = "Capture target decode CUDA graph begin. backend=full, num_tokens_per_req=1, bs=[1, 2, 4, 8, 16, 32, 64], avail mem=14.02 GB"
PREFILL = (
    "Prefill batch, #new-seq: 1, #new-token: 8192, #cached-token: 0, token usage: 0.10, #running-req: 3, #queue-req: 0, cuda graph: False"
)
RETRACTED = "KV cache pool is full. Retract requests. #retracted_reqs: 3, #new_tokens_gained: 4096, #new_token_ratio: 0.1000 -> 0.3000"


def start(served: str, said: Sequence[str] = (), **settings: Any) -> list[str]:
    """Its messages until it is ready; ``settings`` as in `SETTINGS`, ``said`` before them."""
    fields = ", ".join(f"{name}={value!r}" for name, value in {**SETTINGS, "attention_backend": served, **settings}.items())
    return [*said, f"server_args=ServerArgs({fields})", POOL, CAPTURE, "The server is fired up and ready to roll!"]


def decode(running: int, token_ms: float = 20.0, tokens: int | None = None, usage: float = 0.4, queued: int = 0, graph: bool = True) -> str:
    """A decode line at which each request gets a token in ``token_ms``; contexts of 2048 tokens unless told otherwise."""
    held, speed = 2048 * running if tokens is None else tokens, 1000 * running / token_ms
    return (
        f"Decode batch, #running-req: {running}, #token: {held}, token usage: {usage:.2f}, cuda graph: {graph}, "
        f"gen throughput (token/s): {speed:.2f}, #queue-req: {queued}"
    )


def printed(messages: Sequence[str]) -> str:
    """As one log, a second between two lines."""
    return "\n".join(
        f"[2026-11-30 {second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}] {each}" for second, each in enumerate(messages)
    )


def read(text: str, wanted: Expected) -> tuple[Verified, Load | None]:
    paced, spoken = paced_by(ENGINE), spoken_by(ENGINE)
    watch = Watch(paced.read)
    found = judged(spoken.starts(watch.seeing(lines(raw(text), words=(*spoken.WORDS, *paced.WORDS)))), wanted)
    return found, load_of(watch)


def serving(of: Pinned, served: str, page_size: int = 1, kv_dtype: str = "bfloat16") -> Expected:
    """The pin's expectation, of another backend than it was made for: what is asked is what causes make of it."""
    return replace(expected(of.pin, of.run), served=Served(served, served, page_size, kv_dtype), graphs=True)


def triaged(of: Pinned, text: str, wanted: Expected, fast: Verdict | None = None, figures: Figures | None = None) -> Triaged:
    verified, load = read(text, wanted)
    signs = Signs(Path("pin.yaml"), of.run, wanted, verified, paced_by(ENGINE).REMEDIES, load, fast, figures)
    return concluded(signs)
