"""What limits the answer: said beside it, in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from backends.arm import Provider
from backends.cell import Phase
from backends.simulated.world import CAUTION, is_simulated
from reports import numbers, wording
from reports.doctor import in_a_sentence
from store.decision import Pair
from store.runs.run import Run
from tuner.deciding.bars import late_builds
from tuner.deciding.believable import unbelievable
from tuner.deciding.contest import Contest
from tuner.deciding.deviations import said_of_deviations
from tuner.deciding.floor import said_of
from tuner.deciding.how_timed import how_timed
from tuner.deciding.incumbent import incumbent
from tuner.deciding.wrong_answers import no_answers, wrong_answers
from tuner.pin import distributions_under
from tuner.racing.sieve import left_out
from tuner.step_model.step import rest_times

ENOUGH_PROCESSES = 4
POOL_SIZED_LATER = "SGLANG_ENABLE_POST_CAPTURE_KV_SIZING"  # sglang/srt/arg_groups/overrides.py, post_capture_kv_sizing_planned
TRUE = ("1", "true", "yes", "y")  # sglang/srt/environ.py, EnvBool
HOST_BOUND = 1.1  # served/device time of an eager call above which the host, not the kernel, sets the pace


def cautions(run: Run, contest: Contest, shown: Iterable[Pair | None], elsewhere: Iterable[str] = ()) -> tuple[str, ...]:
    """Foremost first, since a first screen shows few. ``shown`` are the pairs the decision names: pick and default; ``elsewhere`` says
    where their order does not hold, or how far boards agree on it."""
    pairs = tuple(pair for pair in shown if pair)
    arms = tuple(dict.fromkeys(name for pair in pairs for name in (pair.prefill, pair.decode)))
    aside = _notes_aside(run, arms)
    return (
        *_simulated(run),
        *dict.fromkeys(sentence for pair in pairs for sentence in (*wrong_answers(run, pair), *no_answers(run, pair))),
        *dict.fromkeys(sentence for pair in pairs for sentence in said_of_deviations(run, pair)),
        *elsewhere,
        *_assumptions(run, contest),
        *_processes(run, contest),
        *_imported_ahead(run),
        *_findings(run, arms),
        *_labels(run),
        *how_timed(run, arms),
        *unbelievable(run, contest),
        *(note for note in run.notes if note not in aside),
        *_comparisons(contest),
        *_adapters(contest, arms),
        *_host_bound(run, contest, arms),
        *_late_builds(run, arms),
        *_pool_sized_later(run),
        *_unguarded(contest),
        *_left_out(run, contest),
        *aside,
    )


def _simulated(run: Run) -> Iterator[str]:
    if is_simulated(run.environment.board.name):
        yield CAUTION


def _processes(run: Run, contest: Contest) -> Iterator[str]:
    """Where the last one timed the default alone there is no interval to narrow."""
    default = contest.default and {contest.default.prefill, contest.default.decode}
    raced = {visit.arm for measured in run.race[-1:] for cell in measured.cells for visit in cell.visits}
    if raced and len(run.race) < ENOUGH_PROCESSES and not (default and raced <= default):
        yield f"processes measured: {len(run.race)}; {ENOUGH_PROCESSES} or more narrow the intervals"


def _imported_ahead(run: Run) -> Iterator[str]:
    if run.scenario.measure.import_ahead and not all(measured.quiet for measured in run.rounds):
        yield "host times (metadata, served, opening, first call) were taken while the next process imported: higher than alone"


def _findings(run: Run, shown: Iterable[str]) -> Iterator[str]:
    """What is wrong with the distributions that ``shown`` rest on, or with all that ran there."""
    under = {each.name for each in distributions_under(run.environment, [arm for arm in run.arms if arm.name in shown])}
    for finding in run.findings:
        if not finding.concerns or under.intersection(finding.concerns):
            yield in_a_sentence(finding)


def _notes_aside(run: Run, shown: Iterable[str]) -> tuple[str, ...]:
    """What was noted of backends that the decision does not name. A note on a backend begins with its name."""
    others = {arm.backend for arm in run.arms} - {arm.backend for arm in run.arms if arm.name in shown}
    return tuple(note for note in run.notes if note.partition(" ")[0] in others)


def _labels(run: Run) -> Iterator[str]:
    labels = Counter(label for round_ in run.rounds for label in round_.labels)
    for label, count in sorted(labels.items()):
        yield f"{label} in {count} of {len(run.rounds)} processes"


def _assumptions(run: Run, contest: Contest) -> Iterator[str]:
    yield said_of(run.noise_floor, run.scenario.decide)
    ways = {rest_times(weighted.cell, contest.around) is not None for weighted in contest.cells}
    if ways == {True}:
        yield "attention's share of a step is of a rest that was measured by itself on this board, not in a server"
    else:
        some = "on some cells " if True in ways else ""
        yield f"attention's share of a step is {some}predicted, not measured; {contest.around.rates.source}"


def _comparisons(contest: Contest) -> Iterator[str]:
    rules = contest.rules
    looks = len(contest.looks)
    if contest.comparisons * looks > 1:
        over = f"{wording.count(contest.comparisons, 'rival')}{f' and {looks} looks' if looks > 1 else ''}"
        yield (
            f"intervals of pairs hold together at {numbers.level(rules.confidence)} over {over} "
            f"(Bonferroni: each at {numbers.level(contest.confidence)})"
        )


def _adapters(contest: Contest, arms: Iterable[str]) -> Iterator[str]:
    for name in arms:
        if contest.table.arms[name].provider is Provider.KERNEL:
            yield f"{name} was driven through a kernel adapter, not through the engine's own object"


def _served_in_rounds(run: Run) -> bool:
    return any(visit.served_us is not None for measured in run.rounds for cell in measured.cells for visit in cell.visits)


def _host_bound(run: Run, contest: Contest, arms: tuple[str, ...]) -> Iterator[str]:
    """Of runs whose rounds timed eager calls on the device alone: where the host is slower, serving sees less of a difference."""
    for (arm, cell), trial in contest.table.trials.items() if not _served_in_rounds(run) else ():
        cost = trial.cost
        if arm in arms and cost and cost.served_us is not None and cost.served_us > HOST_BOUND * cost.device_us:
            served, device = numbers.microseconds(cost.served_us), numbers.microseconds(cost.device_us)
            yield f"{arm} on {cell} takes {served} with its host work and {device} on the device, which is what was compared"


def _late_builds(run: Run, arms: Iterable[str]) -> Iterator[str]:
    for name in arms:
        if why := late_builds(run, name):
            yield f"{name} may compile kernels while it serves: {why}"


def _pool_sized_later(run: Run) -> Iterator[str]:
    """SGLang then gives the pool what is left after capture, so that workspaces and graphs come out of it."""
    if dict(run.environment.variables).get(POOL_SIZED_LATER, "").lower() in TRUE:
        yield f"{POOL_SIZED_LATER} is set where the arms ran: a server that has it too holds other numbers of KV tokens than are said here"


def _unguarded(contest: Contest) -> Iterator[str]:
    default, table = contest.default, contest.table
    for weighted in table.cells if default else ():
        name = weighted.cell.name
        if default and not table.measured(default.of(weighted.cell.phase), name):
            yield f"the default was not measured on {name}, so nothing is known of what a pick loses there"


def _left_out(run: Run, contest: Contest) -> Iterator[str]:
    """Arms that the probes kept out of the race: for them there is nothing but those probes."""
    pair = incumbent(run)
    default = {phase: pair.of(phase) for phase in Phase} if pair else {}
    for arm in left_out(run.arms, run.cells, run.trials, default):
        if not any(contest.table.measured(arm.arm, weighted.cell.name) for weighted in contest.table.cells_of(arm.phase)):
            yield str(arm)
