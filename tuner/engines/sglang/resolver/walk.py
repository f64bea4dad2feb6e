"""One request's way through the steps, and what can be told of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from tuner.engines.sglang.resolver.changes import applied, changes_between
from tuner.engines.sglang.resolver.outcome import Change, Refusal, Resolution
from tuner.engines.sglang.resolver.record import Refuses, Rule, Settings, Step, Tests
from tuner.engines.sglang.resolver.request import Request
from tuner.engines.sglang.resolver.start import settings_of

Held = tuple[Rule, Settings]  # a rule that held, and the settings it found


class Walk:
    """``settings``: those at the end. All else is told when it is asked for: most ways are walked for one of them alone."""

    def __init__(self, request: Request, held: Iterable[Held], settings: Settings) -> None:
        self.request, self.settings = request, settings
        self._held = tuple(held)

    @cached_property
    def refusals(self) -> tuple[Refusal, ...]:
        return tuple(self._refused())

    def _refused(self) -> Iterator[Refusal]:
        for rule, before in self._held:
            if isinstance(rule.then, Refuses):
                text = rule.then.text.format(r=self.request, s=before)
                yield Refusal(rule.id, text.replace(" None", " unset"), rule.then.engine_says)

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        after = (*[before for _, before in self._held[1:]], self.settings)
        pairs = zip(self._held, after, strict=False)
        return tuple(change for (rule, before), then in pairs if then is not before for change in changes_between(before, then, rule))

    def before(self, rule: str) -> Settings:
        """The settings that a rule found."""
        return next(before for held, before in self._held if held.id == rule)

    def resolution(self, error: Refusal | None = None) -> Resolution:
        """``error``: the refusal that the way ends with; others count as let through."""
        settings = self.settings
        return Resolution(
            base=settings.base,
            prefill=settings.prefill_side,
            decode=settings.decode_side,
            draft=settings.draft,
            verify_side=None if settings.algorithm is None else settings.verify_side,
            page_size=settings.page_size,
            kv_dtype=settings.kv_dtype,
            settings=settings,
            changes=self.changes,
            error=error,
            path=tuple(rule.id for rule, _ in self._held if not isinstance(rule.then, Refuses) or error is not None),
        )


def walk(steps: Iterable[Step], request: Request, without: frozenset[str] = frozenset(), to_refusal: bool = False) -> Walk:
    """To the end, or ``to_refusal``. Rules named in ``without`` are skipped."""
    settings, held = settings_of(request), list[Held]()
    for step in steps:
        if step.when and not _hold(step.tests, request, settings):
            continue
        for test, rules in step.groups:
            if not test(request, settings):
                continue
            for tests, rule in rules:
                if rule.id in without or not _hold(tests, request, settings):
                    continue
                held.append((rule, settings))
                if not isinstance(rule.then, Refuses):
                    settings = applied(rule.then, request, settings)
                    if step.first:
                        break
                elif to_refusal:
                    return Walk(request, held, settings)
            else:
                continue
            break
    return Walk(request, held, settings)


def _hold(tests: Tests, request: Request, settings: Settings) -> bool:
    for test in tests:  # noqa: SIM110 - a loop is quicker than a generator, and nothing is done as often
        if not test(request, settings):
            return False
    return True
