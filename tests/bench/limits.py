"""How fast scenarios are resolved and filtered, on one core: `python -m tests.bench.limits`.

10,000 of them have a budget of 5 s: from a scenario to the engine's default, and on to the backends that may be measured with their
page sizes. Writing out why the others may not comes on top, where somebody wants to know. No scenario is drawn twice.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence

from backends.model import LayerKind
from backends.question import RULES
from store.scenario import Role, Scenario, Speculation
from tests.asking import entries, gpu, mla_model, model
from tests.tuner.scenarios import A100, B200, CPU, DSV3, GEMMA3, GPT_OSS, H100, L40S, LLAMA, MI300, MIMO, RTX5090, scenario
from tuner.engines.sglang.pick import default_pick
from tuner.limits import Sifted, sift

COUNT = 10_000
GIB = 1 << 30
BOARDS = (H100, A100, L40S, B200, RTX5090, MI300, CPU, gpu(75), gpu(86), gpu(103), gpu(121), *(gpu(90, memory_bytes=96 * GIB), gpu(120)))
WIDE = LayerKind("full", 32, 32, 8, 256, 256)
MODELS = (
    *(LLAMA, GPT_OSS, DSV3, GEMMA3, MIMO),
    *(model(architecture=name) for name in ("Qwen3ForCausalLM", "MistralForCausalLM", "Qwen3MoeForCausalLM", "Glm4MoeForCausalLM")),
    *(mla_model(architecture=name) for name in ("DeepseekV2ForCausalLM", "KimiK25ForConditionalGeneration")),
    model(WIDE, architecture="Gemma2ForCausalLM", logit_softcap=50.0),
)
SPECULATION = (Speculation(), Speculation("EAGLE"), Speculation("EAGLE", 4), Speculation("NGRAM"))
FEATURES = ((), ("deterministic",), ("radix_cache",), ("deterministic", "radix_cache"))
BACKENDS = tuple(entries().values())

Case = tuple[Scenario, int]  # with the KV slots of its pool


def cases(count: int = COUNT, seed: int = 1) -> list[Case]:
    draw, found = random.Random(seed), dict[Scenario, int]()
    while len(found) < count:
        found[drawn(draw)] = draw.randrange(10**5, 10**7)
    return list(found.items())


def drawn(draw: random.Random) -> Scenario:
    return scenario(
        draw.choice(BOARDS),
        draw.choice(MODELS),
        version=draw.choice(RULES),
        page_size=draw.choice((None, 1, 16, 64, 128)),
        kv_cache_dtype=draw.choice(("auto", "bf16", "fp8_e4m3", "fp8_e5m2")),
        features=draw.choice(FEATURES),
        speculation=draw.choice(SPECULATION),
        tensor_parallel=draw.choice((1, 2, 4, 8)),
        context_length=draw.choice((None, 8192, 32768)),
        role=draw.choice((Role.UNIFIED, Role.UNIFIED, *Role)),
    )


def sifted(case: Case) -> Sifted:
    """With everything that leads to it."""
    asked, pool_tokens = case
    return sift(asked, BACKENDS, default_pick(asked, BACKENDS, asked.engine.version), pool_tokens=pool_tokens)


def arms(case: Case) -> int:
    return len(sifted(case).arms)


def reasons(case: Case) -> int:
    return sum(len(one.reasons) for one in sifted(case).exclusions)


def timed(count: Callable[[Case], int], some: Sequence[Case]) -> str:
    begun = time.process_time()
    found = sum(map(count, some))
    took = time.process_time() - begun
    return f"{took:.2f} s of one core, {len(some) / took:.0f} a second ({found} found)"


def main() -> None:
    both = f"{COUNT} distinct scenarios x {len(BACKENDS)} backends"
    print(f"{both} resolved and filtered in {timed(arms, cases())}")
    print(f"{both} with every reason written out in {timed(reasons, cases(seed=2))}")


if __name__ == "__main__":
    main()
