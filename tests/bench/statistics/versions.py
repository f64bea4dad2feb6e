"""V1 to V9: two versions side by side, by the rule that ships, over many simulated sittings."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from backends.simulated.world import Noise
from tests.bench.statistics.noise import Array, rounds, with_spread
from tests.bench.statistics.row import Row
from tuner.verdicts.inference import estimates
from tuner.verdicts.rule import Rule, rule_for
from tuner.verdicts.side_by_side import CONFIDENCE, Code, Codes, labels

CELLS = 20
PROFILES = ("gate", "release")
BASE = Noise(visit_pct=0.5)
CHUNK = 2000  # sittings at once: some 50 MB


def claims(rng: np.random.Generator, runs: int) -> Iterator[Row]:
    for profile in PROFILES:
        rule = rule_for(profile)
        yield from unchanged(rng, runs, profile, rule)
        yield from at_the_margin(rng, runs, profile, rule)
        yield from changed(rng, runs, profile, rule)
        yield from two_states(rng, runs, profile, rule)
    yield from coverage(rng, runs)


def unchanged(rng: np.random.Generator, runs: int, profile: str, rule: Rule) -> Iterator[Row]:
    for sd in (0.4, 0.8, 1.6):
        codes = judged(rng, runs, rule, sd, np.zeros(CELLS))
        case = f"{profile}, noise {sd} %"
        yield Row("V1", f"any of {CELLS} cells called regressed or improved, true change 0", case, 0, 0.001, *hits(changes(codes).any(-1)))
        if sd <= 0.8:
            yield Row("V5", "cell called equivalent, true change 0", case, 0.99, 1, *hits(codes == Code.EQUIVALENT))


def at_the_margin(rng: np.random.Generator, runs: int, profile: str, rule: Rule) -> Iterator[Row]:
    for sd in (0.4, 0.8, 1.6):
        codes = judged(rng, runs, rule, sd, np.full(CELLS, math.log(1.02)))
        case = f"{profile}, noise {sd} %"
        regressed = (codes == Code.REGRESSED).any(-1)
        yield Row("V2", f"any of {CELLS} cells called regressed, all at exactly +2 %", case, 0, 0.01, *hits(regressed))
        yield Row("V6", "cell at +2 % called equivalent", case, 0, 0.05, *hits(codes == Code.EQUIVALENT))


def changed(rng: np.random.Generator, runs: int, profile: str, rule: Rule) -> Iterator[Row]:
    """One cell of many is slower, or faster; the rest are as they were."""
    asked = (
        ("V3", 0.05, (0.4, 0.8), Code.REGRESSED, 0.99),
        ("V4", 0.10, (0.8, 1.6), Code.REGRESSED, 0.995),
        ("V7", -0.05, (0.4, 0.8), Code.IMPROVED, 0.99),
    )
    for claim, change, noises, code, target in asked:
        for sd in noises:
            codes = judged(rng, runs, rule, sd, one_of(CELLS, math.log1p(change)))
            what = f"{100 * change:+.0f} % in one of {CELLS} cells called {code.name.lower()}"
            yield Row(claim, what, f"{profile}, noise {sd} %", target, 1, *hits(codes[:, 0] == code))


def two_states(rng: np.random.Generator, runs: int, profile: str, rule: Rule) -> Iterator[Row]:
    """A cell whose processes start in one of two states, on a board that was never calibrated. Its mean did not change, so that those
    which many rounds show to be within the margin are rightly called equivalent."""
    for apart in (3, 5):
        codes = judged(rng, runs, rule, 0.4, np.zeros(1), replace(BASE, modes_pct=apart))
        case = f"{profile}, {apart} % apart"
        yield Row("V8", "cell with two-state processes called regressed or improved", case, 0, 0.005, *hits(changes(codes)))
        yield Row("V8", "the rest: inconclusive, or equivalent as its mean is", case, 0.995, 1, *hits(~changes(codes)))
        yield Row("V8", "of all, called equivalent", case, 0, 1, *hits(codes == Code.EQUIVALENT))


def coverage(rng: np.random.Generator, runs: int) -> Iterator[Row]:
    for count in (6, 9, 14):
        found = estimates(rounds(rng, with_spread(BASE, 0.8), runs, count, 1), rule_for("gate").floor)
        inside = np.abs(found.centre) <= found.half_width((1 - CONFIDENCE) / 2)
        yield Row("V9", "98 % interval holds the true change", f"{count} rounds, noise 0.8 %", 0.975, 0.985, *hits(inside))


def judged(rng: np.random.Generator, runs: int, rule: Rule, sd: float, truth: Array, base: Noise = BASE) -> Codes:
    """The labels of so many sittings at their last look, shape (runs, cells)."""
    noise, sizes = with_spread(base, sd), [min(CHUNK, runs - done) for done in range(0, runs, CHUNK)]
    return np.concatenate([labels(rounds(rng, noise, size, rule.looks[-1], len(truth)) + truth, rule)[0] for size in sizes])


def changes(codes: Codes) -> np.ndarray:
    return (codes == Code.REGRESSED) | (codes == Code.IMPROVED)


def one_of(cells: int, change: float) -> Array:
    return np.eye(1, cells)[0] * change


def hits(flags: np.ndarray) -> tuple[int, int]:
    return int(np.count_nonzero(flags)), flags.size
