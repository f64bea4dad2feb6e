"""Has anything under a pin changed? Compares what the pin is valid for with the serving environment as it is now."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from backends.environment import Environment
from backends.model import Model
from backends.simulated.world import is_simulated
from store.evidence.scrub import without_paths
from store.pins.pin import Pin, ValidFor
from store.runs.run import Run
from store.verdicts.verdict import Status, Verdict
from tuner.checking.changes import changes_under, comparable_board, distribution_changes, is_another_board
from tuner.checking.edited import unedited
from tuner.clock import PhaseClock
from tuner.device.host import Host
from tuner.device.keeper import Keeper
from tuner.errors import OK, Incomplete, UsageError
from tuner.progress import Progress
from tuner.settings import Settings

Begin = Callable[[Verdict, Environment], None]


def check_fast(path: Path, settings: Settings) -> Verdict:
    """The verdict on the pin at ``path`` without measuring; ``settings`` say how to reach the serving environment and which checkpoint it
    serves now, if one is named. Where a distribution changed there, its engine is asked what it makes of the pin's flags.

    Raises `StoreError` for a pin or evidence that cannot be read, `UsageError` for a pin that was edited and for a command that does not
    start.
    """
    (pin, run), scenario = unedited(path), settings.scenario
    host = Host(scenario.engine, world=settings.world, patience=settings.patience)
    with Progress() as progress, Keeper(host, progress, PhaseClock()) as keeper:
        return fast_verdict(keeper, settings, pin, run)[0]


def fast_verdict(keeper: Keeper, settings: Settings, pin: Pin, run: Run, begin: Begin | None = None) -> tuple[Verdict, Environment]:
    """That of `check_fast`, by an open ``keeper``, with the environment found there. ``begin`` is told what moved before the engine is
    asked about it, which takes as long as to import it. Raises `UsageError` as `refuse_made_up`."""
    refuse_made_up(pin, settings)
    model, now = settings.scenario.model, keeper.facts(imports_under(run)).environment
    found = verdict(pin, run, now, model if model.config_sha256 else None)
    moved = found.status is Status.CHANGED and distribution_changes(pin.valid_for, run, now)
    if not moved:
        return found, now
    if begin is not None:
        begin(found, now)
    return _weighed(found, keeper, settings, pin, run, now), now


def refuse_made_up(pin: Pin, settings: Settings) -> None:
    """Raises `UsageError` where a pin of a GPU that is none is held against a real machine."""
    if is_simulated(pin.valid_for.gpu) and settings.world is None:
        asked = "gpu=simulated (or gpu=replay, and what else it was made with)"
        raise UsageError(f"pin {pin.run} was made on {pin.valid_for.gpu}, which this machine is not; check it with {asked}")


def _weighed(found: Verdict, keeper: Keeper, settings: Settings, pin: Pin, run: Run, now: Environment) -> Verdict:
    """With what is known of ``now`` and what its engine makes of the flags; imported here, since mostly nothing changed."""
    from tuner.unmeasured.asking import flags_asked
    from tuner.unmeasured.flags import Case
    from tuner.unmeasured.issues import issues, knowledge
    from tuner.unmeasured.weigh import weighed

    (flags,) = flags_asked(keeper, settings, [Case(pin, run, now)], now)
    return weighed(found, pin, flags, issues(run, now, knowledge(settings.config_dir)))


def imports_under(run: Run) -> tuple[str, ...]:
    """Import names whose distributions the pin may rest on, and the engine's."""
    packages = (package for arm in run.arms for package in arm.rests_on)
    return tuple(dict.fromkeys((run.scenario.engine.name, "torch", "triton", *packages)))


def verdict(pin: Pin, run: Run, now: Environment, model: Model | None = None) -> Verdict:
    """Pure: what of ``pin`` is not as it was in ``now`` and for ``model``, and which arms of its ``run`` that touches."""
    changes = changes_under(pin, run, now, model)
    if not changes:
        unseen = "".join(f" ({sentence})" for sentence in not_compared(pin.valid_for, now, model))
        return Verdict(Status.UNCHANGED, (), f"nothing the pin rests on has changed: it holds as measured{unseen}", OK)
    if is_another_board(changes):
        sentence = f"the pin was measured on another board ({pin.valid_for.gpu}) and says nothing here: measure with attnpin tune"
        return Verdict(Status.INCOMPARABLE, changes, sentence, Incomplete.exit_code)
    names = ", ".join(change.what for change in changes)
    return Verdict(
        Status.CHANGED,
        changes,
        f"{names} changed under the pin: whether it still holds needs measuring, run attnpin check without --fast",
        Incomplete.exit_code,
    )


def not_compared(then: ValidFor, now: Environment, model: Model | None) -> Iterator[str]:
    if not comparable_board(then, now):
        yield "no GPU is visible here, so the board was not compared"
    here = None if now.image is None else without_paths(now.image)
    if then.image not in (None, here):
        yield _other_image(then.image, here)
    if then.model_config is not None and model is None:
        yield "the model's config.json was not compared: name it with model=hf model.path=CHECKPOINT"


def _other_image(then: str | None, now: str | None) -> str:
    """Images are rebuilt daily, and what a pin rests on in one is compared by content: another one is told, and touches no arm."""
    if now is None:
        return "the image was not compared: name it in ATTNPIN_IMAGE where the worker runs"
    return f"the image is {now} instead of {then}: what the pin rests on in it is the same by content, its compilers were not compared"
