"""`attnpin bisect`: the first release of a distribution that makes attention slower, each held against the good one side by side."""

from __future__ import annotations

from collections.abc import Sequence

from reports.wording import title
from store.runs.run import Run
from store.verdicts.bisection import TOLD, WELL, Bisection, Standing, Tried, Turn
from tuner.bisecting.releases import Asked, Line, in_files, line_of
from tuner.bisecting.search import turn
from tuner.bisecting.trying import Compare, Trying
from tuner.command_line.boundary import say
from tuner.compare import Compared, Enough, run_compare
from tuner.comparing.env import PRESENT, Env
from tuner.comparing.overlay import refusals_as_usage
from tuner.comparing.side import session_for
from tuner.errors import OK, Incomplete
from tuner.progress import Progress
from tuner.settings import compose


def run_bisect(asked: Asked, overrides: Sequence[str], config_dir: str | None) -> Bisection:
    """Each comparison is stored: one that was broken off goes on, one that came to an end is not measured again. The good release is probed
    once."""
    line = line_of(asked, () if asked.releases else offered(asked, overrides, config_dir))

    earlier: list[Run] = []

    def compare(envs: tuple[Env, Env], overrides: Sequence[str], enough: Enough) -> Compared:
        say(f"{envs[1].said} beside {envs[0].said}")
        found = run_compare(envs, overrides, config_dir, asked.wheels, enough=enough, earlier=earlier)
        earlier.extend((found.measured.baseline, found.measured.candidate))
        return found

    return bisected(line, overrides, compare)


def offered(asked: Asked, overrides: Sequence[str], config_dir: str | None) -> tuple[str, ...]:
    """By the word of the index, or of the folder of wheels, where the worker runs."""
    settings = compose(overrides, config_dir)
    with Progress() as progress, session_for(Env(PRESENT), settings, progress) as session, refusals_as_usage():
        found = session.keeper.offers(asked.distribution, asked.wheels)
    return in_files(found["files"], asked.distribution) if "files" in found else tuple(found["versions"])


def bisected(line: Line, overrides: Sequence[str], compare: Compare) -> Bisection:
    """First the bad release, which may not be slower at all; then halves of what lies between; then what comes after, which is asked
    for the cure of what was found and for nothing else."""
    asked, trying = line.asked, Trying(line, tuple(overrides), compare)
    bad = trying.bad_release()
    if bad.standing is not Standing.BAD:
        return _told(trying, None, None, OK if bad.standing is Standing.GOOD else Incomplete.exit_code)
    first_bad = turn(line.to_bad, lambda release: _is_well(trying.release(release), False))
    cure, good_again = trying.cure_of(first_bad.first[-1]), None
    if asked.until_good and cure(asked.until_good).standing in WELL:
        good_again = turn(line.from_bad, lambda release: _is_well(cure(release), True))
    return _told(trying, first_bad, good_again, trying.exit_code(first_bad.first[-1]))


def _is_well(tried: Tried, wanted: bool) -> bool | None:
    return (tried.standing in WELL) is wanted if tried.standing in TOLD else None


def _told(trying: Trying, first_bad: Turn | None, good_again: Turn | None, exit_code: int) -> Bisection:
    asked, run = trying.line.asked, trying.compared[trying.line.asked.bad].measured.baseline
    return Bisection(
        distribution=asked.distribution,
        good=asked.good,
        bad=asked.bad,
        until_good=asked.until_good,
        about=title(run),
        cells=tuple(weighted.cell.name for weighted in run.cells),
        fault=trying.fault.keys,
        tried=tuple(trying.tried.values()),
        untold=tuple(each for each in trying.line.releases if each not in trying.tried and each != asked.good),
        first_bad=first_bad,
        good_again=good_again,
        advice=() if first_bad is None else trying.advice(first_bad.first[-1]),
        exit_code=exit_code,
    )
