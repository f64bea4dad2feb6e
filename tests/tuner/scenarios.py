"""Scenarios for whatever plans: a plain model, chat traffic and an engine with nothing set, changed as a test needs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from backends.gpu import Gpu
from backends.model import LayerKind, Model
from backends.spec import TimingSpec
from store.plan import Server
from store.scenario import Decide, Engine, Measure, Objective, Scenario, Speculation
from store.traffic import Lengths, Traffic
from tests.asking import gpu, mla_model, model

TIMING = TimingSpec(blocks=4, replays=8, replay_ms=4.0, discard_ms=5.0, warmup_s=1.0, warmup_cap_s=10.0)
CHAT = Traffic("chat", Lengths(1000, 6000), Lengths(250, 800), 64, 0.3, "made up")
ENGINE = Engine("sglang", "0.5.22", 1, (), (), Speculation(), "auto", None, None, (), None, None, None, None)
SERVER = Server(131072, 8192, (1, 2, 4, 8, 12, 16, 24, 32, 64), None, 0.9, 16 * 10**9, 131072, 10**7)
GIB = 1 << 30

H100, A100, L40S, B200, RTX5090 = gpu(90), gpu(80), gpu(89), gpu(100), gpu(120)
MI300, MAC = gpu(None, kind="rocm"), gpu(None, kind="mps")
CPU, CPU_AMX = gpu(None, kind="cpu", cuda=None), gpu(None, kind="cpu", cuda=None, amx=True)

LLAMA = model()
GPT_OSS = model(LayerKind("full", 36, 64, 8, 64, 64, sinks=True), architecture="GptOssForCausalLM")
DSV3 = mla_model(architecture="DeepseekV3ForCausalLM", params_total=671e9, params_active=37e9)
GEMMA3 = model(LayerKind("full", 10, 32, 16, 128, 128), LayerKind("window", 52, 32, 16, 128, 128, 1024), architecture="Gemma3ForCausalLM")
MIMO = model(LayerKind("full", 48, 64, 4, 192, 128), architecture="MiMoForCausalLM")


def engine(**changes: Any) -> Engine:
    return replace(ENGINE, **changes)


def scenario(
    board: Gpu = H100, asked: Model = LLAMA, traffic: Traffic = CHAT, backends: tuple[str, ...] = (), seed: int = 0, **changes: Any
) -> Scenario:
    """``changes`` are fields of the engine."""
    measure = Measure("quick", 4, TIMING, 0.6, backends, seed)
    decide = Decide(Objective.THROUGHPUT, 0.01, 0.05, 0.01, 0.95, 0.006)
    return Scenario(asked, board, traffic, engine(**changes), measure, decide)


def server(**changes: Any) -> Server:
    """A roomy one: nothing is cut or dropped."""
    return replace(SERVER, **changes)
