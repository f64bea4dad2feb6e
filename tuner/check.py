"""Has anything under a pin changed? Compares what the pin is valid for with the serving environment as it is now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from backends.environment import Environment
from backends.model import Model
from backends.simulated.world import is_simulated
from backends.worker.variables import kernel_variables
from store.evidence.scrub import without_paths
from store.pins.pin import Pin, ValidFor
from store.runs.run import Run
from store.verdicts.verdict import Change, Status, Verdict
from tuner.checking.edited import unedited
from tuner.clock import PhaseClock
from tuner.errors import OK, Incomplete, UsageError
from tuner.pin import arms_on, arms_under, distributions_under
from tuner.progress import Progress
from tuner.session import Session
from tuner.settings import Settings

SHORT = 12  # characters of a digest
Begin = Callable[[Verdict, Environment], None]


def check_fast(path: Path, settings: Settings) -> Verdict:
    """The verdict on the pin at ``path`` without measuring; ``settings`` say how to reach the serving environment and which checkpoint it
    serves now, if one is named. Where a distribution changed there, its engine is asked what it makes of the pin's flags.

    Raises `StoreError` for a pin or evidence that cannot be read, `UsageError` for a pin that was edited and for a command that does not
    start.
    """
    (pin, run), scenario = unedited(path), settings.scenario
    with Progress() as progress, Session(scenario.engine, progress, PhaseClock(), world=settings.world) as session:
        return fast_verdict(session, settings, pin, run)[0]


def fast_verdict(session: Session, settings: Settings, pin: Pin, run: Run, begin: Begin | None = None) -> tuple[Verdict, Environment]:
    """That of `check_fast`, in an open ``session``, with the environment found there. ``begin`` is told what moved before the engine is
    asked about it, which takes as long as to import it. Raises `UsageError` as `refuse_made_up`."""
    refuse_made_up(pin, settings)
    model, now = settings.scenario.model, session.facts(imports_under(run)).environment
    found = verdict(pin, run, now, model if model.config_sha256 else None)
    moved = found.status is Status.CHANGED and distribution_changes(pin.valid_for, run, now)
    if not moved:
        return found, now
    if begin is not None:
        begin(found, now)
    return _weighed(found, session, settings, pin, run, now), now


def refuse_made_up(pin: Pin, settings: Settings) -> None:
    """Raises `UsageError` where a pin of a GPU that is none is held against a real machine."""
    if is_simulated(pin.valid_for.gpu) and settings.world is None:
        asked = "gpu=simulated (or gpu=replay, and what else it was made with)"
        raise UsageError(f"pin {pin.run} was made on {pin.valid_for.gpu}, which this machine is not; check it with {asked}")


def _weighed(found: Verdict, session: Session, settings: Settings, pin: Pin, run: Run, now: Environment) -> Verdict:
    """With what is known of ``now`` and what its engine makes of the flags; imported here, since mostly nothing changed."""
    from tuner.unmeasured.asking import flags_asked
    from tuner.unmeasured.flags import Case
    from tuner.unmeasured.issues import issues, knowledge
    from tuner.unmeasured.weigh import weighed

    (flags,) = flags_asked(session, settings, [Case(pin, run, now)], now)
    return weighed(found, pin, flags, issues(run, now, knowledge(settings.config_dir)))


def imports_under(run: Run) -> tuple[str, ...]:
    """Import names whose distributions the pin may rest on, and the engine's."""
    packages = (package for arm in run.arms for package in arm.rests_on)
    return tuple(dict.fromkeys((run.scenario.engine.name, "torch", "triton", *packages)))


def verdict(pin: Pin, run: Run, now: Environment, model: Model | None = None) -> Verdict:
    """Pure: what of ``pin`` is not as it was in ``now`` and for ``model``, and which arms of its ``run`` that touches."""
    board = board_changes(pin.valid_for, now)
    changes = (
        *board,
        *interpreter_changes(pin.valid_for, now),
        *distribution_changes(pin.valid_for, run, now),
        *variable_changes(pin, now),
        *model_changes(pin.valid_for, model),
    )
    if not changes:
        unseen = "".join(f" ({sentence})" for sentence in not_compared(pin.valid_for, now, model))
        return Verdict(Status.UNCHANGED, (), f"nothing the pin rests on has changed: it holds as measured{unseen}", OK)
    if any(change.what in ("GPU", "memory", "MIG slice") for change in board):
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


def board_changes(then: ValidFor, now: Environment) -> tuple[Change, ...]:
    """Whole-board differences; they touch every arm. Where no GPU is visible the board is not compared."""
    if not comparable_board(then, now):
        return ()
    board = now.board
    pairs = (
        ("GPU", then.gpu, board.name),
        ("memory", _gib(then.memory_bytes), _gib(board.memory_bytes)),
        ("MIG slice", then.mig, board.mig),
        ("power limit", _watt(then.power_limit_w), _watt(board.power_limit_w)),
        ("driver", then.driver, board.driver),
    )
    return _changes(pairs, ("every arm",))


def comparable_board(then: ValidFor, now: Environment) -> bool:
    """False on a machine without the kind of board the pin is for, where a pin may be checked all the same."""
    return then.sm is None or now.board.sm is not None


def interpreter_changes(then: ValidFor, now: Environment) -> tuple[Change, ...]:
    """Python and CUDA; torch itself is among the distributions."""
    return _changes((("Python", then.python, now.python), ("CUDA", then.cuda, now.cuda)), ("every arm",))


def distribution_changes(then: ValidFor, run: Run, now: Environment) -> tuple[Change, ...]:
    """Distributions under the pin whose version or content differs, or that came or went, with the arms that import them."""
    before = {name: _version(version, digest) for name, version, digest in then.distributions}
    under = [arm for arm in run.arms if run.decision and arm.name in arms_under(run.decision)]
    after = {found.name: _version(found.version, found.digest) for found in distributions_under(now, under)}
    return tuple(
        Change(name, before.get(name), after.get(name), arms_on(run, now, name))
        for name in dict.fromkeys((*before, *after))
        if before.get(name) != after.get(name)
    )


def variable_changes(pin: Pin, now: Environment) -> tuple[Change, ...]:
    """Environment variables that change kernels, set then or now; values compared as the pin keeps them, without paths."""
    then, kind = dict(pin.valid_for.variables), "cpu" if pin.valid_for.sm is None else "cuda"
    here = {name: without_paths(value) for name, value in kernel_variables(dict(now.variables), kind)}
    return _changes(((name, then.get(name), here.get(name)) for name in sorted({*then, *here})), ("every arm",))


def model_changes(then: ValidFor, model: Model | None) -> tuple[Change, ...]:
    """A checkpoint under another name, or another configuration under the same."""
    if model is None:
        return ()
    before, after = (then.model_config, model.config_sha256) if then.model_config else (None, None)  # an early pin kept the name alone
    pairs = (("model", then.model, model.name), ("config.json", before and before[:SHORT], after and after[:SHORT]))
    return _changes(pairs, ("every arm",))


def _changes(pairs: Iterable[tuple[str, str | None, str | None]], touches: tuple[str, ...]) -> tuple[Change, ...]:
    return tuple(Change(what, before, after, touches) for what, before, after in pairs if before != after)


def _version(version: str, digest: str) -> str:
    return f"{version} ({digest[:SHORT]})"


def _gib(size: int | None) -> str | None:
    return None if size is None else f"{size / (1 << 30):.1f} GiB"


def _watt(power: float | None) -> str | None:
    return None if power is None else f"{power:.0f} W"
