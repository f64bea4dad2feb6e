"""Which scenarios, and how each is measured: as little as makes rounds of two arms, since a core and no GPU is what it takes."""

from __future__ import annotations

from math import ceil

MODELS = ("qwen3_8b", "qwen3_32b", "llama3_1_8b", "llama3_1_70b", "mistral_7b")
TRAFFICS = ("chat", "rag", "single_user", "agent_coding")
MEASURED = (
    *("gpu=simulated", "backend=[fa3,flashinfer]", "measure.processes=2"),
    *("measure.timing.blocks=2", "measure.timing.replays=2", "measure.timing.warmup_s=0"),
)
PILOT = 10  # scenarios that are measured before anything is foretold


def overrides(scenarios: int) -> tuple[str, ...]:
    """So many or a few more: every model and traffic at as many concurrencies as it takes."""
    each = ceil(scenarios / (len(MODELS) * len(TRAFFICS)))
    return (*MEASURED, f"model={','.join(MODELS)}", f"traffic={','.join(TRAFFICS)}", f"traffic.concurrency=range(1,{each + 1})")


def pilot() -> tuple[str, ...]:
    """Other concurrencies than any of those that are foretold, so that what is known of these is scaled from others."""
    return (*MEASURED, f"model={','.join(MODELS)}", "traffic=chat,rag", "traffic.concurrency=256")
