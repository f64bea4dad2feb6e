"""The rules that can hold for a request at all, found once for all requests like it.

Of some 350 rules most speak of one kind of device, one kind of model or one switch that nearly every server leaves alone; a plan of all
backends walks through them several times. Nothing declares what a condition reads: it is asked about a `Likeness`, which knows
these and nothing else. A condition that reads anything else may be met.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any, NamedTuple, cast

from tuner.engines.sglang.resolver.record import Condition, Settings, Step
from tuner.engines.sglang.resolver.request import Request

SWITCHES = (
    *("prefill_kv_dequant_dtype", "graphs", "deterministic", "disable_radix_cache", "disable_overlap", "mamba_strategy"),
    *("attn_dp", "attn_cp", "dcp", "pipeline_parallel", "role", "dsa_prefill_backend", "dsa_decode_backend", "dsv4_backend"),
    *("hierarchical_cache", "multi_item_scoring", "embedding", "without_kv_cache", "unified_memory", "kv_sharding"),
    *("dllm_algorithm", "environment"),
)
KIND_OF_MODEL = (
    *("architecture", "mla", "sparse", "sinks", "unequal_widths", "windowed", "mamba_layers", "kda", "sparse_blocks", "lightning"),
    "prefix_lm",
)
DEFAULTS = {field.name: field.default for field in fields(Request)}
LEFT_ALONE = {name: DEFAULTS[name] for name in SWITCHES}
switches_of, kind_of = attrgetter(*SWITCHES), attrgetter(*KIND_OF_MODEL)

Switches = frozenset[str]
Needs = tuple[Switches, ...]  # of each at least one must be written


class Unread(Exception):
    """A condition reads what is not known."""


class UnreadModel(Unread):
    """Of the model."""


class Known:
    """A record of which only some fields can be read; another raises ``unread``."""

    def __init__(self, unread: Unread, **known: Any) -> None:
        vars(self).update(known, unread=unread)

    def __getattr__(self, name: str) -> Any:
        raise self.unread


UNREAD = Unread()
NO_SETTINGS, NO_MODEL = cast(Settings, Known(UNREAD)), Known(UnreadModel())


class Likeness(Known):
    """A request with its switches left alone; ``read`` are those that were looked at. ``model``: in the order of `KIND_OF_MODEL`."""

    def __init__(self, version: str, device: str, model: tuple[Any, ...] | None = None) -> None:
        known = NO_MODEL if model is None else Known(UNREAD, **dict(zip(KIND_OF_MODEL, model, strict=True)))
        super().__init__(UNREAD, version=version, machine=Known(UNREAD, kind=device), model=known, read=set[str]())

    def __getattr__(self, name: str) -> Any:
        if name not in LEFT_ALONE:
            raise UNREAD
        self.read.add(name)
        return LEFT_ALONE[name]

    def variable(self, name: str) -> str | None:
        return Request.variable(cast(Request, self), name)


class Open(NamedTuple):
    """Of conditions that may all be met: what must be written for that, and those that hang on the model."""

    needs: Needs
    of_model: tuple[Condition, ...]

    def possible(self, written: Switches) -> bool:
        """Where nothing but ``written`` is written."""
        return not self.needs or not any(switches.isdisjoint(written) for switches in self.needs)


class OpenStep(NamedTuple):
    """A step and its rules, by what is open of their own conditions."""

    step: Step
    own: Open
    rules: tuple[Open, ...]

    def possible(self, written: Switches) -> Step | None:
        """With the rules that can hold where nothing but ``written`` is written; None where none can."""
        if not self.own.possible(written):
            return None
        return _with(self.step, [left.possible(written) for left in self.rules])


def _with(step: Step, kept: Sequence[bool]) -> Step | None:
    """Some of its rules; itself where these are all, None where there are none."""
    if all(kept):
        return step
    rules = tuple([rule for rule, stays in zip(step.rules, kept, strict=True) if stays])
    return Step(step.name, rules, step.first, step.when) if rules else None


def opened(steps: Iterable[Step], like: Likeness) -> Iterator[OpenStep]:
    """The steps that requests like this can come to."""
    return narrowed((OpenStep(step, Open((), step.when), tuple([Open((), rule.when) for rule in step.rules])) for step in steps), like)


def narrowed(steps: Iterable[OpenStep], like: Likeness) -> Iterator[OpenStep]:
    """The same where more is known."""
    for step, own, rules in steps:
        if (now := _asked(own, like)) is not None:
            left = [_asked(rule, like) if rule.of_model else rule for rule in rules]
            if (mine := _with(step, [rule is not None for rule in left])) is not None:
                yield OpenStep(mine, now, tuple([rule for rule in left if rule is not None]))


def _asked(left: Open, like: Likeness) -> Open | None:
    """None where a condition is not met whatever is written."""
    if not left.of_model:
        return left
    needs, of_model = list(left.needs), list[Condition]()
    for condition in left.of_model:
        like.read.clear()
        try:
            met = condition.holds(cast(Request, like), NO_SETTINGS)
        except UnreadModel:
            of_model.append(condition)
        except Unread:
            continue
        else:
            if not met and not like.read:
                return None
            if not met:
                needs.append(frozenset(like.read))
    return Open(tuple(needs), tuple(of_model))


def written_in(request: Request) -> Switches:
    """The switches that are not left alone."""
    found = switches_of(request)
    if found == ALONE:
        return NONE
    return frozenset([name for name, value in zip(SWITCHES, found, strict=True) if value != LEFT_ALONE[name]])


ALONE, NONE = tuple(LEFT_ALONE.values()), Switches()
