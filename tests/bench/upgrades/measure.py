"""Comparisons on this GPU, each as `attnpin compare` makes it; what is there already is not measured again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from store.comparisons.side_by_side import SLOWED, SideBySide
from store.database.connect import open_store
from tests.bench.upgrades.rows import finished
from tuner.compare import run_compare
from tuner.comparing.env import PRESENT, env_of
from tuner.settings import compose
from tuner.verdicts.rule import Rule, rule_for

PROFILE = "measure=gate"
SHARE = 0.05
CANDIDATES = {"same": PRESENT, "slowed": f"{SLOWED}{SHARE}"}
ORACLE_SEED, ORACLE_PAIRS = 1000, 12

# Calls of 40 us to 0.8 ms, without an engine: little but timing has to be waited for.
PROOF = ("model=qwen3_8b", "traffic=chat", "engine.role=decode", "backend=[flashinfer]", "engine.attention_backend=flashinfer")
LARGE = ("model=qwen3_235b_a22b", "engine.tensor_parallel=4", "engine.role=decode")  # issue 17411's heads
SMALL = ("model=qwen3_8b", "traffic=chat")

# What an upgrade of a distribution is measured on: arms that it touches, and where there are some, arms that it does not touch.
KINDS: Mapping[str, tuple[str, ...]] = {
    "flashinfer": (
        *(*LARGE, "backend=[flashinfer]", "engine.attention_backend=flashinfer"),
        "measure.variants=[{backend: flashinfer, decode_backend: auto}, {backend: flashinfer, decode_backend: fa3}]",
    ),
    "triton": (*SMALL, "backend=[triton]", "engine.attention_backend=triton"),
    "sglang-kernel": (*SMALL, "backend=[fa3,triton]"),
    "flash-attn-4": (*SMALL, "backend=[fa4,fa3,triton]"),
}


def repeated(candidate: str, times: int, overrides: Sequence[str]) -> Iterator[SideBySide]:
    """What is configured against ``candidate``, each time in processes of other orders and placements."""
    asked = [PROFILE, *PROOF, *overrides]
    store = open_store(compose(asked).store_url)
    for seed in range(1, times + 1):
        there = (each for each in finished(store) if each.said == (PRESENT, candidate) and seed_of(each) == seed)
        yield next(there, None) or _compared((PRESENT, candidate), [*asked, f"measure.seed={seed}"])


def contest(kind: str, envs: tuple[str, str], overrides: Sequence[str]) -> SideBySide:
    return _compared(envs, [PROFILE, *KINDS[kind], *overrides])


def oracle(kind: str, envs: tuple[str, str], overrides: Sequence[str]) -> SideBySide:
    """No process of it is one of `contest`, and it ends at a number of pairs that is fixed before."""
    rule = replace(rule_for("release"), looks=(ORACLE_PAIRS,))
    return _compared(envs, [PROFILE, *KINDS[kind], *overrides, f"measure.seed={ORACLE_SEED}"], rule)


def _compared(envs: tuple[str, str], overrides: Sequence[str], rule: Rule | None = None) -> SideBySide:
    baseline, candidate = map(env_of, envs)
    return run_compare((baseline, candidate), overrides, None, None, rule).measured


def seed_of(measured: SideBySide) -> int:
    return measured.baseline.scenario.measure.seed


def is_oracle(measured: SideBySide) -> bool:
    return seed_of(measured) == ORACLE_SEED
