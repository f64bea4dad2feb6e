"""Releases held against the good one, one after the other, by a function that compares two environments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from reports import ways_out
from reports.side_by_side import headline
from store.comparisons.side_by_side import SideBySide
from store.verdicts.bisection import Standing, Tried
from store.verdicts.comparison import Label
from tuner.bisecting.releases import Line
from tuner.bisecting.standing import Fault, Word, cured, fault_of, fault_there, standing
from tuner.compare import Compared, Enough
from tuner.comparing.differences import pairs_of
from tuner.comparing.env import Env
from tuner.comparing.judge import judge as verdict_of
from tuner.errors import Incomplete, UsageError
from tuner.verdicts.rule import Rule

MEASURE = "measure="
LONGEST = f"{MEASURE}release"  # the profile that looks most often
LABELS = {Label.REGRESSED: Standing.BAD, Label.EQUIVALENT: Standing.GOOD, Label.IMPROVED: Standing.GOOD}
Compare = Callable[[tuple[Env, Env], Sequence[str], Enough], Compared]
Judge = Callable[[Compared], Word]


@dataclass
class Trying:
    """``tried``: each release once, in the order of asking; ``compared``: what its answer rests on."""

    line: Line
    overrides: tuple[str, ...]
    compare: Compare
    fault: Fault = field(default_factory=lambda: Fault((), ()))
    tried: dict[str, Tried] = field(default_factory=dict)
    compared: dict[str, Compared] = field(default_factory=dict)

    def bad_release(self) -> Tried:
        """Whatever is slower in it is the fault that the others are asked for. Raises what a comparison raises."""
        bad = self.line.asked.bad
        found = self._held(bad, _whole)
        self.tried[bad] = found
        if found.standing is Standing.BAD and found.verdict is not None:
            self.fault = fault_of(found.verdict)
        return found

    def release(self, release: str) -> Tried:
        """Bad where it has any of the fault."""
        return self._asked(release, lambda found: standing(found.verdict, self.fault))

    def cure_of(self, first_bad: str) -> Callable[[str], Tried]:
        """Asks a later release whether it is rid of what was found in the first bad one."""
        worst = self.compared[first_bad].verdict
        fault = fault_there(worst, self.fault)
        return lambda release: self._asked(release, lambda found: cured(found.verdict, fault, worst))

    def _asked(self, release: str, judge: Judge) -> Tried:
        """What does not install, load or run is skipped with its reason."""
        if release not in self.tried:
            try:
                self.tried[release] = self._held(release, judge)
            except (UsageError, Incomplete) as error:  # of this release: the bad one was compared just so
                self.tried[release] = Tried(release, Standing.SKIPPED, str(error))
        return self.tried[release]

    def exit_code(self, release: str) -> int:
        return self.compared[release].verdict.exit_code

    def advice(self, release: str) -> tuple[str, ...]:
        """Beside holding the distribution itself, of which the report says how far."""
        found = self.compared[release]
        others = tuple(change for change in found.verdict.moved if change.what != self.line.asked.distribution)
        return tuple(ways_out.sentences(found.measured.baseline, replace(found.verdict, moved=others)))

    def _held(self, release: str, judge: Judge) -> Tried:
        """Beside the good release."""
        found, word = sure(self.compare, (self.line.env(self.line.asked.good), self.line.env(release)), self.overrides, judge)
        self.compared[release] = found
        needs = tuple(sentence for sentence in found.unmet[1] if sentence not in found.unmet[0])
        return Tried(release, *word, found.measured.id, found.verdict, needs)


def sure(compare: Compare, envs: tuple[Env, Env], overrides: Sequence[str], judge: Judge) -> tuple[Compared, Word]:
    """Measured until ``judge`` can tell, and no further. An open answer is asked for once more, with more rounds."""
    enough = told_by(judge)
    found = compare(envs, overrides, enough)
    word = judge(found)
    if word[0] is not Standing.OPEN or LONGEST in overrides:
        return found, word
    found = compare(envs, (LONGEST, *(each for each in overrides if not each.startswith(MEASURE))), enough)
    return found, judge(found)


def told_by(judge: Judge) -> Enough:
    def enough(measured: SideBySide, rule: Rule) -> bool:
        if len(pairs_of(measured)) < rule.looks[0]:
            return False
        return judge(Compared(measured, verdict_of(measured, rule)))[0] is not Standing.OPEN

    return enough


def _whole(found: Compared) -> Word:
    label = LABELS.get(found.verdict.label, Standing.OPEN)
    return label, headline(found.measured, found.verdict) if label is Standing.OPEN else None
