"""docs/cost-of-checks.md: what a check takes beside the tune that made the pin, as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from reports import numbers
from reports.page import Table, markdown_table
from store.runs.run import Run
from tests.bench.recheck.aims import TOUCHED_SHARE, UNTOUCHED_S, UNTOUCHED_SHARE
from tests.bench.recheck.model import cost
from tests.pages.sources import value
from tuner.checking.edited import unedited

EXAMPLES = Path(__file__).parents[3] / "examples"
PROFILES = ("quick", "gate", "release")
HEADER = ("pin", "profile", "tune", "the same machine code", "timed, what is served changed", "timed, everything changed")
INTRODUCTION = f"""\
# What a check takes, beside tuning again

Made by `make docs` from the tunes under [examples](../examples), each of which keeps what every process of it took on an H200: a check is
some of the same processes. So it is foretold and not measured; two checks that were, with their pins, lie under
[examples/upgrade](../examples/upgrade). [After an upgrade](in-ci.md#where-the-gpu-is), step by step:

- **Nothing that an arm of the pin runs on moved.** Told from versions and contents: no process begins on the GPU, and none of it hangs on
  how long the tune took. On a GPU that is simulated, `python -m tests.bench.recheck` times it. It was to take under {UNTOUCHED_S:.0f} s and
  {numbers.percent(UNTOUCHED_SHARE)} of the tune.
- **It moved, and the machine code is the same.** One process for each arm in question, which imports the library, checks the answers and
  records every cell. An import alone is several percent of a short tune, so {numbers.percent(UNTOUCHED_SHARE)} cannot be kept here.
- **It moved, and the code with it.** Those processes, then rounds against the stored times. What nothing touched is not probed again, and
  is timed beside. The rounds are those up to a race's first look. Where what the pin was decided against changed too (a new torch or
  driver), its choice may be another one by now: rivals leave and rounds go on as in a race, and the check is tuning again, but for arms
  that the pin does not rest on.

The tune is that of the pin with as many processes as a profile allows: as recorded for `quick`, with the last of its rounds again for
those that ask for more. A race that is decided before its last look is shorter, and the shares larger. Left out on both sides: other
conditions of a `release`, and kernels that never change. Left out of the check: both versions side by side, which follow where stored
times do not settle it (in a `gate` four to nine pairs of processes; what was probed before is not probed again).
"""


@cache
def committed() -> str:
    """The page of the pins that are kept."""
    return render([(path.parent.name, unedited(path)[1]) for path in sorted(EXAMPLES.glob("*-h200/pin.yaml"))])


def render(pins: Sequence[tuple[str, Run]]) -> str:
    table = Table(HEADER, tuple(row for name, run in pins for row in _rows(name, run)))
    return f"{INTRODUCTION}\n{markdown_table(table)}\n\n{_kept(pins)}\n"


def _rows(name: str, run: Run) -> Iterator[tuple[str, ...]]:
    for profile in PROFILES:
        served, everything = (cost(run, most(profile), touched) for touched in (False, True))
        checks = (served.same_code_s, served.timed_s, everything.timed_s)
        shown = (f"{numbers.seconds(seconds)}, {numbers.percent(seconds / served.tune_s)}" for seconds in checks)
        yield name if profile == PROFILES[0] else "", profile, numbers.seconds(served.tune_s), *shown


def _kept(pins: Sequence[tuple[str, Run]]) -> str:
    found = [cost(run, most(profile), False) for _, run in pins for profile in PROFILES]
    same = sum(each.same_code_s < TOUCHED_SHARE * each.tune_s for each in found)
    timed = sum(each.timed_s < TOUCHED_SHARE * each.tune_s for each in found)
    return (
        f"A check of what an upgrade touches was to take under {numbers.percent(TOUCHED_SHARE)} of the tune. Where what is served alone "
        f"changed, that is kept by {same} of these {len(found)} with the same machine code, and by {timed} where times are taken."
    )


def most(profile: str) -> int:
    """Processes that it allows."""
    return int(value(f"conf/measure/{profile}/processes"))
