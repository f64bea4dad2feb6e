"""What the newer pin stands on that the older one did not: board, versions, variables; and what was asked for. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from reports import numbers, wording
from store.pins.pin import ValidFor
from store.verdicts.verdict import Change
from tuner.checking.changes import distribution_changes
from tuner.diffing.changes import changes
from tuner.diffing.side import Side
from tuner.pin import arms_on

EVERY_ARM = ("every arm",)
BOARD = ("GPU", "compute capability", "memory", "MIG slice")


def moved(old: Side, new: Side) -> tuple[Change, ...]:
    """Board, versions and variables; which boards of the type, where both pins name theirs."""
    ground = changes(_ground(old.pin.valid_for), _ground(new.pin.valid_for), EVERY_ARM)
    variables = changes(dict(old.pin.valid_for.variables), dict(new.pin.valid_for.variables), EVERY_ARM)
    return (*ground, *_distributions(old, new), *variables, *_boards(old.pin.boards, new.pin.boards))


def asked(old: Side, new: Side) -> tuple[Change, ...]:
    """Model, traffic and settings; they touch the pin as a whole."""
    return tuple(changes(_question(old.pin.valid_for), _question(new.pin.valid_for), ("the pin",)))


def other_board(under: Iterable[Change]) -> tuple[Change, ...]:
    return tuple(change for change in under if change.what in BOARD)


def _ground(holds: ValidFor) -> Mapping[str, str | None]:
    return {
        "GPU": holds.gpu,
        "compute capability": _text(holds.sm),
        "memory": None if holds.memory_bytes is None else numbers.gib(holds.memory_bytes),
        "MIG slice": holds.mig,
        "power limit": None if holds.power_limit_w is None else f"{holds.power_limit_w:.0f} W",
        "driver": holds.driver,
        **({} if any(name == holds.engine for name, *_ in holds.distributions) else {wording.engine(holds.engine): holds.engine_version}),
        "the engine's rules": holds.rules_version,
        "Python": holds.python,
        "CUDA": holds.cuda,
    }


def _boards(old: Sequence[str], new: Sequence[str]) -> Iterator[Change]:
    """They touch no arm: a pin of one board is valid for another like it. That times of two boards scatter more is reckoned with."""
    if old and new and set(old) != set(new):
        yield Change("boards", ", ".join(sorted(old)), ", ".join(sorted(new)), ())


def _question(holds: ValidFor) -> Mapping[str, str | None]:
    return {
        "model": holds.model,
        "config.json": holds.model_config and wording.digest(holds.model_config),
        "traffic": holds.traffic if holds.requests is None else f"{holds.traffic}: {wording.requests(holds.requests)}",
        "tensor parallel": _text(holds.tensor_parallel),
        "KV cache": holds.kv_cache_dtype,
        "page size": _text(holds.page_size),
        **dict(holds.settings),
    }


def _distributions(old: Side, new: Side) -> Iterator[Change]:
    """As a check finds them in the newer run's environment; without the runs those that both pins name."""
    if old.run and new.run:
        yield from distribution_changes(old.pin.valid_for, old.run, new.run.environment)
        return
    before, after = (
        {name: f"{version} ({wording.digest(digest)})" for name, version, digest in side.pin.valid_for.distributions} for side in (old, new)
    )
    its = old.run or new.run
    for name in before.keys() & after.keys():
        if before[name] != after[name]:
            yield Change(name, before[name], after[name], arms_on(its, its.environment, name) if its else EVERY_ARM)


def _text(value: int | None) -> str | None:
    return None if value is None else str(value)
