"""Seconds of `attnpin check` beside those of tuning again, out of what the processes of a recorded tune took: a check is some of the same
processes. Pure.

What a tune spent outside its rounds went into its probes: building and recording as each probe says, the rest alike. A round of fewer arms
than were recorded in one counts like the smallest that had as many; where rivals changed too, rounds are those of the tune. Kernels that an
upgrade has built anew count as the tune built them. Not in it: what a check does before it begins a process on the GPU, other conditions of
a `release`, kernels that never change, and both versions side by side.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from backends.cell import Phase
from backends.measured import Round
from store.runs.run import Run
from tuner.checking.resting import Resting, arms_to_measure
from tuner.checking.rounds import first_look
from tuner.pin import pairs_under
from tuner.unmeasured.regressions import served_pair


@dataclass(frozen=True)
class Cost:
    """Seconds of the GPU: of tuning again, of a check that finds the same machine code, and of one that times."""

    tune_s: float
    same_code_s: float
    timed_s: float


def cost(run: Run, most: int, everything: bool) -> Cost:
    """Of a pin whose profile allows ``most`` processes, after an upgrade of what its pick runs on, or of ``everything``. Raises ValueError
    for a run that was not decided."""
    allowed = replace(run, scenario=replace(run.scenario, measure=replace(run.scenario.measure, processes=most)))
    rests = rests_of(allowed, everything)
    arms = arms_to_measure(allowed, allowed.arms, rests)
    probes, touched = _probes_s(run), {name for _, name in rests.in_question}
    probed_s = sum(probes[arm.name] for arm in arms if arm.name in touched)
    looked, last_s, further = first_look(replace(allowed, arms=arms)), _seconds(run.race[-1]), _further(run, most)
    raced_s = sum(map(_seconds, run.race)) + max(further, looked - len(run.race)) * last_s
    rounds_s = raced_s if rests.rivals else looked * _round_s(run, len(arms))
    return Cost(_wall_s(run) + further * last_s, probed_s, probed_s + rounds_s)


def rests_of(run: Run, everything: bool) -> Resting:
    served = served_pair(run.decision) if run.decision else None
    if run.decision is None or served is None:
        raise ValueError(f"run {run.id} was not decided and has no pin")
    touched = {arm.name for arm in run.arms} if everything else {served.prefill, served.decode}
    under = frozenset((phase, pair.of(phase)) for pair in pairs_under(run.decision) for phase in Phase)
    return Resting(frozenset((phase, served.of(phase)) for phase in Phase), under, frozenset(touched))


def _further(run: Run, most: int) -> int:
    """Rounds of a race that goes on to its last look, beyond what was recorded; none where more were allowed then."""
    return max(0, most - run.scenario.measure.processes)


def _probes_s(run: Run) -> dict[str, float]:
    probed = tuple(dict.fromkeys(trial.arm for trial in run.trials))
    built = {arm: sum((each.build_s or 0.0) + (each.capture_s or 0.0) for each in run.trials if each.arm == arm) for arm in probed}
    rest = max(0.0, _wall_s(run) - sum(map(_seconds, run.rounds)) - sum(built.values()))
    return {arm: seconds + rest / len(probed) for arm, seconds in built.items()}


def _round_s(run: Run, arms: int) -> float:
    sizes = [(_arms(each), _seconds(each)) for each in run.rounds]
    enough = [(size, seconds) for size, seconds in sizes if size >= arms]
    if not enough:
        size, seconds = max(sizes)
        return seconds * arms / size
    fewest = min(size for size, _ in enough)
    alike = [seconds for size, seconds in enough if size == fewest]
    return sum(alike) / len(alike)


def _arms(measured: Round) -> int:
    return len({visit.arm for cell in measured.cells for visit in cell.visits})


def _seconds(measured: Round) -> float:
    return sum(seconds for _, seconds in measured.seconds)


def _wall_s(run: Run) -> float:
    return sum(seconds for phase, seconds in run.wall_seconds if phase != "waiting")
