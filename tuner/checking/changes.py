"""What a pin rests on that is not as it was: board, interpreter, distributions, variables, model. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from backends.environment import Environment
from backends.model import Model
from backends.worker.variables import kernel_variables
from store.evidence.scrub import without_paths
from store.pins.pin import Pin, ValidFor
from store.runs.run import Run
from store.verdicts.verdict import Change
from tuner.pin import arms_on, arms_under, distributions_under

SHORT = 12  # characters of a digest
ANOTHER_BOARD = ("GPU", "memory", "MIG slice")


def changes_under(pin: Pin, run: Run, now: Environment, model: Model | None) -> tuple[Change, ...]:
    """``run``: that of the pin; ``model`` None = it is not known which is served now."""
    return (
        *_board_changes(pin.valid_for, now),
        *_interpreter_changes(pin.valid_for, now),
        *distribution_changes(pin.valid_for, run, now),
        *_variable_changes(pin, now),
        *_model_changes(pin.valid_for, model),
    )


def is_another_board(changes: Iterable[Change]) -> bool:
    """One that the pin says nothing of."""
    return any(change.what in ANOTHER_BOARD for change in changes)


def _board_changes(then: ValidFor, now: Environment) -> tuple[Change, ...]:
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


def _interpreter_changes(then: ValidFor, now: Environment) -> tuple[Change, ...]:
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


def _variable_changes(pin: Pin, now: Environment) -> tuple[Change, ...]:
    """Environment variables that change kernels, set then or now; values compared as the pin keeps them, without paths."""
    then, kind = dict(pin.valid_for.variables), "cpu" if pin.valid_for.sm is None else "cuda"
    here = {name: without_paths(value) for name, value in kernel_variables(dict(now.variables), kind)}
    return _changes(((name, then.get(name), here.get(name)) for name in sorted({*then, *here})), ("every arm",))


def _model_changes(then: ValidFor, model: Model | None) -> tuple[Change, ...]:
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
