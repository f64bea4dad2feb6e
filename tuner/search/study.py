"""One phase's study: which setting is tried next, and what became of those that were. Optuna asks and is told; it runs nothing.

A setting is measured once. Where the sampler asks again for one that was (Optuna's own samplers do, GridSampler too once there are several
workers), that is told as failed without measuring, and one that was not is queued by name, which never repeats.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from backends.cell import Phase
from store.runs.studies import Studies
from store.search import Fate, Search, SearchKind, Setting, Tried

if TYPE_CHECKING:
    from optuna import Trial
    from optuna.pruners import BasePruner
    from optuna.samplers import BaseSampler
    from optuna.trial import FrozenTrial

BASE = "backend"
ALONE = ""  # a knob that is left alone
SECONDS, WHY, REPEAT = "seconds", "why", "repeat"
STARTUP_STEPS = 4  # fewer repetitions than that are never significant

Params = Mapping[str, str]


@dataclass(frozen=True)
class Attempt:
    """A setting that is being tried."""

    trial: Trial
    setting: Setting


class PhaseStudy:
    """Of the settings that change ``phase``; ``baseline`` is the name of the default's arm there, whose ratio is 1 by definition."""

    def __init__(
        self, studies: Studies, name: str, fresh: bool, phase: Phase, settings: Iterable[Setting], search: Search, seed: int
    ) -> None:
        self.phase = phase
        self.settings = tuple(setting for setting in settings if phase in setting.phases)
        self._search = search
        self._knobs = _knobs(self.settings)
        self._rng = random.Random(f"{seed}/{phase.value}")
        self.study = studies.open(f"{name}/{phase.value}", fresh, *_sampler_and_pruner(search, seed))
        self._forget_interrupted()

    def begin(self, baseline: str) -> None:
        """Tell of the default, so that whatever is surely slower is pruned."""
        setting = next((each for each in self.settings if each.base == baseline and not each.chosen), None)
        if setting is not None and setting.arm.name not in self._done():
            attempt = self._queued(setting)
            for step in range(self._search.steps):
                attempt.trial.report(1.0, step)
            self.study.tell(attempt.trial, 1.0)

    def next(self) -> Attempt | None:
        """None: all was tried, or as much as was allowed."""
        done = self._done()
        left = [setting for setting in self.settings if setting.arm.name not in done]
        exhaustive = self._search.kind is SearchKind.EXHAUSTIVE
        if not left or (not exhaustive and len(done) - 1 >= self._search.trials):
            return None
        if exhaustive:
            return self._queued(left[0])
        trial = self.study.ask()
        setting = self._suggested(trial)
        if setting in left:
            return Attempt(trial, setting)
        trial.set_user_attr(REPEAT, True)
        self.study.tell(trial, state=_states().FAIL)
        return self._queued(self._rng.choice(left))

    def report(self, attempt: Attempt, step: int, ratio: float) -> bool:
        """Whether it is to be given up."""
        attempt.trial.report(ratio, step)
        return attempt.trial.should_prune()

    def end(self, attempt: Attempt, fate: Fate, ratio: float | None, seconds: float, why: str | None = None) -> None:
        attempt.trial.set_user_attr(SECONDS, seconds)
        if why is not None:
            attempt.trial.set_user_attr(WHY, why)
        if fate is Fate.FINISHED:
            self.study.tell(attempt.trial, ratio)
        else:
            self.study.tell(attempt.trial, state=_states().PRUNED if fate is Fate.PRUNED else _states().FAIL)

    def tried(self) -> tuple[Tried, ...]:
        """The default first, then the best."""
        found = (self._tried(trial) for trial in self._ended())
        return tuple(sorted(found, key=lambda each: (each.fate is Fate.FAILED, each.fate is Fate.PRUNED, each.ratio or 0.0)))

    def _tried(self, trial: FrozenTrial) -> Tried:
        states, values = _states(), list(trial.intermediate_values.values())
        fate = {states.COMPLETE: Fate.FINISHED, states.PRUNED: Fate.PRUNED}.get(trial.state, Fate.FAILED)
        return Tried(
            arm=self._named(trial.params).arm.name,
            phase=self.phase,
            fate=fate,
            ratio=fmean(values) if values else None,
            steps=len(values),
            seconds=trial.user_attrs.get(SECONDS, 0.0),
            detail=trial.user_attrs.get(WHY),
        )

    def _ended(self) -> Iterator[FrozenTrial]:
        """Those that say something: a repeat and what broke off say nothing."""
        states = _states()
        for trial in self.study.get_trials(deepcopy=False):
            if trial.state in (states.COMPLETE, states.PRUNED) or (trial.state is states.FAIL and WHY in trial.user_attrs):
                yield trial

    def _done(self) -> set[str]:
        return {self._named(trial.params).arm.name for trial in self._ended()}

    def _forget_interrupted(self) -> None:
        """A trial that runs was left by a process that is gone: the device's lock lets one in at a time. Its setting is open again."""
        states = _states()
        for trial in self.study.get_trials(deepcopy=False, states=(states.RUNNING,)):
            self.study.tell(trial.number, state=states.FAIL)
        for _ in self.study.get_trials(deepcopy=False, states=(states.WAITING,)):
            self.study.tell(self.study.ask(), state=states.FAIL)

    def _queued(self, setting: Setting) -> Attempt:
        self.study.enqueue_trial(self._params(setting))
        trial = self.study.ask()
        asked = self._suggested(trial)
        if asked is None:
            raise RuntimeError(f"the study {self.study.study_name} does not know {setting.arm.name}")
        return Attempt(trial, asked)

    def _suggested(self, trial: Trial) -> Setting | None:
        """Walk down the conditional space: the backend, then its knobs, without those that do nothing beside what was chosen."""
        base = trial.suggest_categorical(BASE, list(self._knobs))
        chosen = dict[str, str]()
        for knob, values in self._knobs[base].items():
            if any(each.base == base and {*chosen, knob} == set(dict(each.chosen)) for each in self.settings):
                value = trial.suggest_categorical(f"{base}.{knob}", [ALONE, *values])
                chosen |= {knob: value} if value != ALONE else {}
        return next((each for each in self.settings if each.base == base and dict(each.chosen) == chosen), None)

    def _named(self, params: Params) -> Setting:
        chosen = {key.removeprefix(f"{params[BASE]}."): value for key, value in params.items() if key != BASE and value != ALONE}
        return next(each for each in self.settings if each.base == params[BASE] and dict(each.chosen) == chosen)

    def _params(self, setting: Setting) -> dict[str, str]:
        chosen = dict(setting.chosen)
        return {BASE: setting.base, **{f"{setting.base}.{knob}": chosen.get(knob, ALONE) for knob in self._knobs[setting.base]}}


def _knobs(settings: Iterable[Setting]) -> dict[str, dict[str, tuple[str, ...]]]:
    """Of each base arm its knobs in order, each with its values."""
    found = dict[str, dict[str, tuple[str, ...]]]()
    for setting in settings:
        knobs = found.setdefault(setting.base, {})
        for name, value in setting.chosen:
            knobs[name] = tuple(dict.fromkeys((*knobs.get(name, ()), value)))
    return found


def _sampler_and_pruner(search: Search, seed: int) -> tuple[BaseSampler, BasePruner]:
    import optuna

    pruner = optuna.pruners.WilcoxonPruner(p_threshold=search.p_threshold, n_startup_steps=STARTUP_STEPS)
    return optuna.samplers.TPESampler(seed=seed), pruner


def _states() -> Any:
    from optuna.trial import TrialState

    return TrialState
