"""Does a pin help a real server? The story of `attnpin confirm`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from reports import justification
from reports import serving_words as words
from store.errors import StoreError
from store.pins.pin import Pin
from store.pins.pin_files import read_pin, write_pin
from store.runs.run import Run
from store.scenario import Engine
from store.serving.serving_run import ServedStart, ServingRun, latest
from store.verdicts.comparison import Label
from tuner.checking.edited import unedited
from tuner.confirming import kept
from tuner.confirming.gpus import kept_for
from tuner.confirming.judge import contrasts, verdict
from tuner.confirming.order import order
from tuner.confirming.predicted import predicted
from tuner.confirming.question import Question
from tuner.confirming.rows import rows_given
from tuner.confirming.sides import python_of, sides
from tuner.confirming.start import Bed, one_start
from tuner.confirming.traffic import AskedTraffic, traffic_of
from tuner.confirming.void import void
from tuner.engines.benchmarks import Bench
from tuner.engines.choices import Choices
from tuner.engines.lookup import benchmarks_of
from tuner.errors import OK, REGRESSED, Incomplete
from tuner.exporting.companions import completed
from tuner.launch import choices_for
from tuner.progress import Progress
from tuner.verifying.expected import expected
from tuner.verifying.patience import WITHIN_S
from tuner.version import __version__

FEWEST_STARTS = 3
MARGIN = 0.02  # of a time: what less than this means to a user no serving run of minutes can tell
EXIT_CODES = {Label.REGRESSED: REGRESSED, Label.IMPROVED: OK, Label.EQUIVALENT: OK}


@dataclass(frozen=True)
class Asked:
    """``overrides`` name a trace to send. ``against``: options of the other side, None = the user's command as it is. ``python`` starts the
    engine's, None = as the command shows. ``out``: where starts and logs are kept, None = beside the pin."""

    pin: Path
    command: tuple[str, ...]
    overrides: tuple[str, ...] = ()
    against: str | None = None
    traffic: AskedTraffic = AskedTraffic()
    bench: Bench = Bench.SERVING
    starts: int = FEWEST_STARTS
    margin: float = MARGIN
    seed: int = 1
    within_s: float = WITHIN_S
    python: str | None = None
    out: Path | None = None
    fresh: bool = False
    write: bool = False


def confirm(asked: Asked) -> ServingRun:
    """Raises `UsageError` for what cannot be compared, `Incomplete` for a server that does not start, `MeasurementInvalid` for a benchmark
    that fails, `StoreError` for files; what was measured until then is kept."""
    pin, run = unedited(asked.pin)
    choices = choices_for(pin, asked.command)
    whole = completed(pin, run)[0] if pin.flags else pin  # as launch gives it
    both = sides(pin, whole, asked.command, asked.against, choices)
    traffic = traffic_of(run, replace(asked.traffic, rows=rows_given(asked.overrides)), asked.bench, asked.seed)
    question = Question(pin.engine, both, asked.bench, traffic.sent, asked.starts)
    python = python_of(asked.command, benchmarks_of(pin.engine), asked.python)
    folder = kept.folder_of(asked.out or asked.pin.with_name(f"{asked.pin.stem}.confirm"), question.digest)
    with Progress() as progress, kept.ours(folder, progress.phase):
        if asked.fresh:
            kept.forget(folder)
        bed = Bed(question, traffic.passes, expected(pin, run), python, asked.within_s, folder, progress.note)
        starts = _measured(bed, choices, run.scenario.engine, progress)
    found = concluded(question, starts, choices, asked.margin)
    found = replace(found, predicted=predicted(run, found) if found.contrasts else ())
    if asked.write and found.label is not None:
        public = replace(found, starts=tuple(replace(start, settings=()) for start in found.starts))
        _write(asked.pin, pin, replace(run, serving_runs=latest(run.serving_runs, public)))
    return found


def _write(path: Path, pin: Pin, confirmed: Run) -> None:
    """Raises `StoreError` where somebody else has written the pin while it was measured."""
    if read_pin(path) != pin:
        raise StoreError(f"{path.name} was changed while it was measured, so nothing is written; run the same command again")
    write_pin(path, pin, justification.render(pin, confirmed), confirmed)


def _measured(bed: Bed, choices: Choices, engine: Engine, progress: Progress) -> tuple[ServedStart, ...]:
    """Those that are kept, and the rest of them; no more once the comparison is void."""
    starts = kept.read(bed.folder)
    course = order(bed.question.starts, bed.question.sent.seed)
    done = {(start.block, start.pinned) for start in starts}
    left = [(number, *each) for number, each in enumerate(course, 1) if each not in done]
    progress.total(len(course), len(course) - len(left))
    with kept_for(bed.question.sides.command, engine, progress) if left else nullcontext():
        for number, block, pinned in left:
            if void(starts, choices, _options(bed.question)):
                break
            progress.phase(f"start {number} of {len(course)}, {words.SIDES[pinned]}")
            start = one_start(bed, number, block, pinned)
            kept.add(bed.folder, start)
            starts = (*starts, start)
            progress.step()
            progress.note(words.of_start(number, start))
    return tuple(start for start in starts if (start.block, start.pinned) in course)


def concluded(question: Question, starts: Sequence[ServedStart], choices: Choices, margin: float) -> ServingRun:
    reasons = void(starts, choices, _options(question))
    found = () if reasons else contrasts(starts, margin)
    label = None if reasons else verdict(found)
    run = ServingRun(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        tool_version=__version__,
        flags=question.sides.given(True),
        against=question.sides.given(False),
        sent=question.sent,
        margin=margin,
        label=label,
        sentence="",
        starts=tuple(starts),
        contrasts=found,
        void=reasons,
        notes=words.notes(starts, question.sent, question.bench is Bench.ONE_BATCH),
        exit_code=Incomplete.exit_code if label is None else EXIT_CODES.get(label, Incomplete.exit_code),
    )
    return replace(run, sentence=words.sentence(run))


def _options(question: Question) -> tuple[str, ...]:
    given = (*question.sides.flags, *question.sides.against)
    return tuple(word.lstrip("-").partition("=")[0] for word in given if word.startswith("-"))
