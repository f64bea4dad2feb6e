"""The end of `tune` in a terminal: what to paste, why, and where the rest lies."""

from __future__ import annotations

import re
from pathlib import PurePath

from backends.cell import Phase
from backends.simulated.world import is_simulated
from reports import costs, failures, headline, measured, numbers, onward, searched, sensitivity, wording
from reports.page import Table, clean, text_table
from store.decision import Decision, Ruling
from store.pins.pin import Pin
from store.runs.run import INCOMPLETE, Run
from store.scenario import WeightedCell

MOST_ROWS = 12  # of the table; the report has all of them
MOST_CAUTIONS = 4
LABEL_WIDTH = 8
WITHOUT_DEFAULT = ("without_default=true", "--without-default")
CREDENTIALS = re.compile(r"://[^/@]*@")


def render(run: Run, pin: Pin | None, pin_path: str | None, database: str | None = None) -> str:
    """Plain text of at most 40 lines. ``pin_path`` and ``database`` are shown as given, but for the URL's password; None: there is
    none."""
    return f"{told(run, pin)}\n" + "\n".join(_places(run, pin, pin_path, database)) + "\n"


def told(run: Run, pin: Pin | None) -> str:
    """The same without what to do next, of a run that lies in no database of the reader's."""
    undecided = [_labelled("decision", f"none: the run is {wording.status(run.status)}")]
    answer = [*_answer(run, run.decision, pin), *_arms(run, run.decision)] if run.decision else undecided
    blocks = [[f"{wording.title(run)}: {wording.status(run.status)}"], answer, _tally(run)]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def flags_and_times(run: Run, decision: Decision, pin: Pin) -> str:
    """No more than the flags, the default they are held against, and the times."""
    lines = [*_flags(decision, pin), _labelled("default", wording.default_and_why(run, decision))]
    return "\n".join([*(wording.by_backend(line, run.arms) for line in lines), *_arms(run, decision)]) + "\n"


def _labelled(label: str, sentence: str) -> str:
    return f"{label:<{LABEL_WIDTH}}  {sentence}"


def _answer(run: Run, decision: Decision, pin: Pin | None) -> list[str]:
    compared = headline.compared_score(decision)
    kept = decision.ruling is Ruling.KEEP and decision.flags
    found = (
        ("more", f"no other flag, because {wording.unset(decision.unset_because)}" if kept else ""),
        ("default", wording.default_and_why(run, decision)),
        ("pick", wording.pair(decision.pick) if decision.pick else ""),
        ("effect", headline.predicted_effect(run, decision, compared)),
        ("sure", headline.why_sure(decision, compared)),
        ("besides", sensitivity.line(run, decision)),
        ("search", searched.in_a_sentence(run.searched) if run.searched else ""),
        ("costs", costs.summary(run, decision)),
        ("no time", clean("; ".join(run.left_out))),
        *(("caution", clean(caution)) for caution in decision.cautions[:MOST_CAUTIONS]),
    )
    lines = [*_flags(decision, pin), *(_labelled(label, sentence) for label, sentence in found if sentence)]
    return [wording.by_backend(line, run.arms) for line in lines]


def _flags(decision: Decision, pin: Pin | None) -> list[str]:
    """The flags to paste, each with its reason, or why there are none."""
    if pin is None:
        return [_labelled("no pin", wording.unset(decision.unset_because))]
    if not pin.flags:
        return [_labelled("flags", f"unset, because {wording.unset(pin.unset)}")]
    reasons = (f"{wording.option(name)}: {clean(because)}" for name, because in pin.because)
    return [_labelled("flags", wording.settings(pin.flags, pin.variables)), *(_labelled("", reason) for reason in reasons)]


def _arms(run: Run, decision: Decision) -> list[str]:
    """Every arm on the cell of each phase that counts most."""
    names = [heaviest(run, phase) for phase in Phase]
    rows = [
        (result.cell, result.mode, wording.by_backend(result.arm, run.arms), *measured.timing(result, decision, phase)[1:])
        for phase in Phase
        for mode in measured.MODES
        for result in measured.results_of(run, decision, phase, mode)
        if result.cell in names
    ]
    if not rows:
        return []
    more = [f"  and {len(rows) - MOST_ROWS} more: {_report(run, run.command)}"] if len(rows) > MOST_ROWS else []
    about = [f"  {measured.ABOUT}: {measured.ONE_PROCESS}"] if measured.has_about(rows[:MOST_ROWS]) else []
    return ["", text_table(Table(("cell", "mode", "arm", "one call", "ratio to the default"), tuple(rows[:MOST_ROWS]))), *about, *more]


def heaviest(run: Run, phase: Phase) -> str | None:
    """The cell with the largest share of tokens; ``phase`` decode stands for all steps that generate, wherever drafts are verified."""
    cells: list[WeightedCell] = [weighted for weighted in run.cells if weighted.cell.generates is (phase is Phase.DECODE)]
    return max(cells, key=lambda weighted: weighted.token_share).cell.name if cells else None


def _tally(run: Run) -> list[str]:
    failed = failures.failure_counts(run)
    left_out = f"backends: {failures.exclusion_counts(run)}; trials that failed: {failed or 'none'}"
    phases = sorted(((spent, phase) for phase, spent in run.wall_seconds if spent > 0), reverse=True)
    spent = ", ".join(f"{phase} {numbers.seconds(spent)}" for spent, phase in phases)
    total = numbers.seconds(sum(spent for spent, _ in phases))
    return [_labelled("left out", left_out), *([_labelled("time", f"{total}: {spent}")] if phases else [])]


def _places(run: Run, pin: Pin | None, pin_path: str | None, database: str | None) -> list[str]:
    typed = run.command if database else ""  # a run that is only told was typed elsewhere
    found = (
        ("pin", _pin_files(pin, pin_path) if pin and pin_path else ""),
        ("database", CREDENTIALS.sub("://", database) if database else ""),
        ("report", _report(run, typed) if database or not pin_path else onward.command("attnpin", "report", "--pin", pin_path)),
        ("next", _next(run, pin, pin_path, typed)),
    )
    return [_labelled(label, sentence) for label, sentence in found if sentence]


def _pin_files(pin: Pin, pin_path: str) -> str:
    return f"{pin_path}, {PurePath(pin_path).with_suffix('.md').name} and {pin.evidence[0]} beside it"


def _report(run: Run, typed: str) -> str:
    return onward.command("attnpin", "report", "--run", run.id, *onward.store(typed))


def _next(run: Run, pin: Pin | None, pin_path: str | None, typed: str) -> str:
    """What to type, as it can be typed."""
    if pin is not None and pin_path is not None:
        if pin.flags and not is_simulated(pin.valid_for.gpu):
            return onward.command("attnpin", "export", "--pin", pin_path, "--to", pin.engine)
        return onward.command("attnpin", "check", "--pin", pin_path, "--fast", *onward.place(typed), about="after an upgrade")
    if run.status != INCOMPLETE:
        return onward.again(run.command, about="goes on with this run")
    if run.rounds and not any(word in run.command for word in WITHOUT_DEFAULT):
        return onward.again(run.command, "--without-default", about="pins the best of the rest")
    return onward.command("attnpin", "plan", *onward.scenario(run.command), about="says of every backend why it cannot be measured")
