"""Something got slow: what is it? The story of `attnpin triage`: a first answer from the log and the packages, a second from the GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from reports import onward, wording
from store.errors import StoreError
from store.serving.triaged import Triaged
from store.serving.verified import Standing, Start, Verified
from store.verdicts.verdict import Status, Verdict
from tuner.check import fast_verdict
from tuner.checking.changes import comparable_board
from tuner.checking.edited import unedited
from tuner.checking.packages import check_packages
from tuner.checking.pinned import as_pinned
from tuner.device.machine import engine_version
from tuner.device.session_of import session_of
from tuner.engines.lookup import paced_by
from tuner.engines.rules import Spoken
from tuner.errors import AttnpinError
from tuner.logs.excerpt import never
from tuner.logs.files import STDIN, distinct
from tuner.new_run import command_line
from tuner.progress import Progress
from tuner.settings import Settings
from tuner.triaging.concluding import concluded
from tuner.triaging.deadline import first_answer_due
from tuner.triaging.figures_file import read_figures
from tuner.triaging.load import load_of
from tuner.triaging.reading import lines_of, read_log
from tuner.triaging.signs import Signs
from tuner.triaging.watch import Watch
from tuner.verify import spoken_for, unspoken
from tuner.verifying.ask import ask
from tuner.verifying.expected import Expected, expected
from tuner.verifying.judge import judged

NO_LOAD = "what runs now is not known: no decode line is in the log since the server's newest start"
NOT_THERE = (
    "what changed under the pin was not looked at: {engine} is not in the Python that was asked; name the one that serves "
    "(engine.command=...), or --packages FILE"
)
PASSED = "{mib} MiB between the starts and the end of the log were passed over"
NOT_YET = (
    "{mib} MiB of the log were not looked at yet: if the server has started again there, this is not about what runs now; all of it is "
    "read next, for another answer"
)
SCREEN_FOLLOWS = "the GPU is measured now, a minute at most"


@dataclass(frozen=True)
class Request:
    """``logs`` as for verify; ``url`` is asked where they do not tell; ``packages`` instead of a look where it serves; ``figures`` as in
    `tuner.triaging.figures_file`. ``fast``: the GPU is left alone. ``settings`` say how to reach where it serves."""

    pin: Path
    logs: tuple[str, ...]
    settings: Callable[[], Settings]
    url: str | None = None
    packages: str | None = None
    figures: Path | None = None
    fast: bool = False
    config_dir: str | None = None


def triage(asked: Request) -> Iterator[Triaged]:
    """The first answer as soon as there is one; where the GPU that serves can be measured, a second that includes what it says.

    Raises `StoreError` for a pin or evidence that cannot be read, `UsageError` for a log, list or figures that are not there.
    """
    signs, notes, unseen = signs_of(asked, never if STDIN in asked.logs else first_answer_due())  # a pipe is not read twice
    if unseen:
        yield concluded(signs, (*notes, NOT_YET.format(mib=mib(unseen))), final=False)
        signs, notes, _ = signs_of(asked)
    if asked.packages is not None:
        (fast,) = check_packages((asked.pin,), asked.packages, asked.config_dir)
        yield concluded(replace(signs, fast=fast), notes)
        return
    question, first = as_pinned(asked.settings(), signs.run), True
    try:
        for answer in _where_it_serves(asked, question, signs, notes):
            first = False
            yield answer
    except (AttnpinError, StoreError) as error:
        if not first:
            raise
        yield concluded(signs, (*notes, f"what changed under the pin was not looked at: {error}"))


def signs_of(asked: Request, late: Callable[[], bool] = never) -> tuple[Signs, tuple[str, ...], int]:
    """What the pin, the logs, the server's address and the figures tell, what is to be said beside it, and how many bytes of the logs were
    not looked at, since it was ``late``."""
    pin, run = unedited(asked.pin)
    spoken, paced, wanted = spoken_for(pin), paced_by(pin.engine), expected(pin, run)
    watch, starts, passed, unseen = Watch(paced.read), list[Start](), 0, 0
    for log in distinct(asked.logs):
        read, found = read_log(log, spoken, paced, watch, late)
        starts += found or (unspoken(log, pin.engine, partial(lines_of, log, late)),)
        passed, unseen = passed + read.passed_bytes, unseen + read.unseen_bytes
    load = load_of(watch)
    verified = _verified(asked, judged(starts, wanted), wanted, spoken)
    figures = read_figures(asked.figures) if asked.figures else None
    notes = (*([NO_LOAD] if load is None else ()), *([PASSED.format(mib=mib(passed))] if passed else ()))
    return Signs(asked.pin, run, wanted, verified, paced.REMEDIES, load, figures=figures, where=onward.place(command_line())), notes, unseen


def mib(count: int) -> int:
    return -(-count // (1 << 20))


def _verified(asked: Request, by_log: Verified, wanted: Expected, spoken: Spoken) -> Verified:
    """By the log; where it does not tell, by the server's own answer."""
    if asked.url is None or by_log.standing is not Standing.UNKNOWN:
        return by_log
    return judged([ask(asked.url, spoken, wanted.pin.engine)], wanted)


def _where_it_serves(asked: Request, question: Settings, signs: Signs, notes: tuple[str, ...]) -> Iterator[Triaged]:
    with Progress() as progress, session_of(question, progress) as session:
        fast, here = fast_verdict(session.keeper, question, signs.pin, signs.run)
        if engine_version(here, signs.pin.engine) is None and signs.pin.valid_for.engine_version is not None:
            yield concluded(signs, (*notes, NOT_THERE.format(engine=wording.engine(signs.pin.engine))))
            return
        signs = replace(signs, fast=fast)
        if not measurable(asked, fast) or not comparable_board(signs.pin.valid_for, here) or here.board.sm is None:
            yield concluded(signs, notes)
            return
        yield concluded(signs, (*notes, SCREEN_FOLLOWS), final=False)
        from tuner.triaging import screen  # SQLAlchemy and scipy take longer than a first answer may

        try:
            found = screen.screened(signs, fast, here, question, session)
        except (AttnpinError, StoreError) as error:
            yield concluded(signs, (*notes, f"the GPU was not measured: {error}"))
            return
    yield concluded(replace(signs, screened=found), notes)


def measurable(asked: Request, fast: Verdict) -> bool:
    return not asked.fast and fast.status not in (Status.INCOMPARABLE, Status.REFUSED)
