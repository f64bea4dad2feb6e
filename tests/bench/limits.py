"""How fast the limits judge scenarios, on one core: `python -m tests.bench.limits`.

10,000 scenarios have a budget of 5 s, of which the engine's resolution takes its own part (`tests/bench/`); this prints what
the limits take: every backend in both phases.
"""

from __future__ import annotations

import random
import time

from backends.asked import asking
from backends.cell import Phase
from backends.judgement import judge
from backends.question import RULES, Question
from store.scenario import Scenario, Speculation
from tests.asking import entries, gpu
from tests.tuner.planning import A100, B200, CPU, DSV3, GEMMA3, GPT_OSS, H100, L40S, LLAMA, MI300, MIMO, RTX5090, scenario
from tuner.engines.sglang_questions import question_for

COUNT = 10_000
BOARDS = (H100, A100, L40S, B200, RTX5090, MI300, CPU, gpu(75), gpu(86), gpu(103), gpu(121))
MODELS = (LLAMA, GPT_OSS, DSV3, GEMMA3, MIMO)
SPECULATION = (Speculation(), Speculation("EAGLE"), Speculation("EAGLE", 4), Speculation("NGRAM"))
FEATURES = ((), ("deterministic",), ("radix_cache",), ("deterministic", "radix_cache"))
BACKENDS = tuple(entries().values())


def scenarios(count: int = COUNT, seed: int = 1) -> list[Scenario]:
    pick = random.Random(seed).choice
    return [
        scenario(
            pick(BOARDS),
            pick(MODELS),
            version=pick(RULES),
            page_size=pick((None, 1, 16, 64, 128)),
            kv_cache_dtype=pick(("auto", "bf16", "fp8_e4m3", "fp8_e5m2")),
            features=pick(FEATURES),
            speculation=pick(SPECULATION),
        )
        for _ in range(count)
    ]


def kept(question: Question) -> int:
    """Backends that may serve some phase."""
    ask = asking(question)
    return sum(any(not judge(entry.capability, ask(phase, question.page_size)).reasons for phase in Phase) for entry in BACKENDS)


def main() -> None:
    cases = scenarios()
    begun = time.process_time()
    candidates = sum(kept(question_for(case, case.engine.version, 1)) for case in cases)
    took = time.process_time() - begun
    each = took / COUNT * 1e6
    print(f"{COUNT} scenarios x {len(BACKENDS)} backends judged in {took:.2f} s of one core, {each:.0f} us each; {candidates} kept")


if __name__ == "__main__":
    main()
