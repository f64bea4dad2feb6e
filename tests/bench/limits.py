"""How fast the limits judge scenarios, on one core: `python -m tests.bench.limits`.

10,000 scenarios have a budget of 5 s, the engine's resolution included. This prints what the limits take, every backend in both
phases, and what a tenth as many take from the engine's default to the arms, where each backend's page size is resolved too.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence

from backends.asked import asking
from backends.cell import Phase
from backends.judgement import judge
from backends.question import RULES, Question
from store.scenario import Scenario, Speculation
from tests.asking import entries, gpu
from tests.tuner.planning import A100, B200, CPU, DSV3, GEMMA3, GPT_OSS, H100, L40S, LLAMA, MI300, MIMO, RTX5090, scenario
from tuner.engines.sglang.pick import default_pick
from tuner.engines.sglang.questions import question_for
from tuner.limits import sift

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


def arms(case: Scenario) -> int:
    """Candidates of a plan, with everything that leads to them."""
    return len(sift(case, BACKENDS, default_pick(case, BACKENDS, case.engine.version), pool_tokens=10**6).arms)


def timed(count: Callable[[Scenario], int], cases: Sequence[Scenario]) -> str:
    begun = time.process_time()
    found = sum(map(count, cases))
    took = time.process_time() - begun
    return f"{took:.2f} s of one core, {took / len(cases) * 1e6:.0f} us each; {found} kept"


def main() -> None:
    cases, some = scenarios(), scenarios(COUNT // 10, seed=2)
    judged = timed(lambda case: kept(question_for(case, case.engine.version, 1)), cases)
    print(f"{len(cases)} scenarios x {len(BACKENDS)} backends judged in {judged}")
    print(f"{len(some)} scenarios x {len(BACKENDS)} backends resolved and filtered in {timed(arms, some)}")


if __name__ == "__main__":
    main()
