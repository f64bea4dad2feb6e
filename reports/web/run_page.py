"""One run, or the pin that came of it, as a page."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from backends.simulated.world import is_simulated
from reports import choice, details, failures, ground, headline, justification, run_report, serving_run, split, tails, wording
from reports.page import Section
from reports.web import limits, noise, processes, ratios, steps, times
from reports.web.page import Copied, Part, Tone, WebPage
from reports.web.series import Series
from store.decision import Decision, Ruling
from store.evidence.scrub import without_places
from store.pins.pin import Pin
from store.runs.run import Run

TONES = {Ruling.SWITCH: Tone.GOOD, Ruling.KEEP: Tone.PLAIN, Ruling.INCOMPLETE: Tone.OPEN}
LABELS = {Ruling.SWITCH: "set the flags", Ruling.KEEP: "keep the default", Ruling.INCOMPLETE: "no pin"}
UNDECIDED = "not decided"


def run_page(run: Run, pin: Pin | None = None) -> WebPage:
    """Of ``run`` alone, or with what its pin says of validity. Raises ImportError without matplotlib."""
    decision = run.decision
    lines = justification.first_screen(pin, run) if pin else headline.lines(run)
    (_, answer), *facts = lines
    parts = (*(_decided(run, decision) if decision else ()), *_grounds(run))
    placed = {section for part in parts for section in (*part.open_sections, *part.folded)}
    rest = tuple(section for section in details.sections(run) if section not in placed)
    parts = (_commands(run, pin), *parts, Part("everything", "Everything else that was measured", folded=rest))
    return WebPage(
        title=wording.title(run),
        subtitle=f"{wording.requests(run.scenario.traffic)}; {run_report.heading(run).rpartition(': ')[2]}",
        tone=TONES[decision.ruling] if decision else Tone.OPEN,
        label=LABELS[decision.ruling] if decision else UNDECIDED,
        answer=answer,
        facts=tuple((label, said) for label, said in facts if label != "Made by"),
        parts=tuple(part for part in parts if part.has_something),
        made=f"attnpin {run.tool_version}, run {run.id}, {run.created}",
    )


def _commands(run: Run, pin: Pin | None) -> Part:
    flags = run.decision.flags if run.decision else ()
    copied = [Copied("Flags", wording.flags(flags))] if flags else []
    if pin is not None:
        name = shlex.quote(wording.pin_file(pin))
        copied.append(Copied("After an upgrade", wording.check(pin, run.command)))
        if not is_simulated(pin.valid_for.gpu):
            copied.append(Copied("For a launcher", f"attnpin export --pin {name} --to {pin.engine}"))
            copied.append(Copied("Did the server take it?", f"attnpin verify --pin {name} --log server.log"))
    copied.append(Copied("Measure it again", without_places(run.command)))
    reasons = (justification.flags(pin),) if pin is not None and pin.flags else ()
    return Part("flags", "Flags and commands", copied=tuple(copied), open_sections=reasons)


def _decided(run: Run, decision: Decision) -> Iterator[Part]:
    spread, series = processes.times(run.race), _series(run, decision)
    shown = series.keys(result.arm for result in decision.cells)
    yield Part("latency", "Latency", (times.LEAD,), keys=shown, plots=times.plots(run, decision, spread, series))
    compared = ratios.plots(run, decision, series)
    yield Part(
        "winners",
        "Winners and margins",
        (ratios.lead(run, compared),),
        keys=series.keys(result.arm for result in decision.cells if result.ratio),
        plots=compared,
        open_sections=tuple(
            section for section in (ratios.winners(run, decision), split.beneath(choice.objective(run, decision), decision)) if section
        ),
    )
    of_limit = limits.plots(run, decision, series)
    yield Part("limit", "Share of the limit", limits.lead(run), keys=shown if of_limit else (), plots=of_limit)
    step_keys = steps.KEYS if decision.steps else ()
    yield Part("step", "The whole step", keys=step_keys, plots=steps.plots(decision), folded=_steps(run, decision))
    served = serving_run.section(run)
    yield Part("served", "A real server", open_sections=(served,) if served else ())
    apart = noise.plots(run, spread, series)
    watched = (noise.guards(run), choice.cautions(decision))
    yield Part(
        "noise",
        "Noise and guards",
        keys=series.keys(arm for arm, _ in spread) if apart else (),
        plots=apart,
        open_sections=tuple(section for section in watched if section),
    )


def _steps(run: Run, decision: Decision) -> tuple[Section, ...]:
    tail = tails.section(run, decision, headline.compared_pair(decision))
    return (choice.steps(decision), *([tail] if tail else []))


def _series(run: Run, decision: Decision) -> Series:
    """The default first, then the arms in the run's order, those without a result last."""
    first = (decision.default.decode, decision.default.prefill) if decision.default else ()
    there = {result.arm for result in decision.cells}
    return Series(tuple(dict.fromkeys((*first, *sorted((arm.name for arm in run.arms), key=lambda name: name not in there)))))


def _grounds(run: Run) -> Iterator[Part]:
    left_out = (failures.exclusions(run), failures.barred(run), failures.dropped(run), failures.kept_out(run), failures.failed_trials(run))
    yield Part("exclusions", "What was left out, and why", folded=tuple(section for section in left_out if section))
    versions = (ground.environment(run), ground.rules(run), ground.findings(run), ground.reproduce(run))
    yield Part("versions", "Versions", folded=tuple(section for section in versions if section))
