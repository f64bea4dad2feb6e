"""What a reader of SGLang's default must know about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from backends.capability import BackendEntry
from reports.wording import choices, whose_choice
from store.scenario import Scenario
from tuner.engines.sglang.pick import Packages, default_pick
from tuner.engines.sglang.platforms import platform_notes
from tuner.engines.sglang.resolution import answer_to
from tuner.engines.sglang.spelling import other_answers, replaced
from tuner.engines.sglang.unheard import unheard
from tuner.engines.sglang.windows import window_note


def caveats(scenario: Scenario, entries: Iterable[BackendEntry], rules: str, packages: Packages | None) -> tuple[str, ...]:
    """What a reader must know about the default: what SGLang replaces or never hears of, a spelling that would change it, a choice
    of the user's that stands in its place."""
    answer = answer_to(scenario, rules, packages)
    found = (*replaced(answer), *unheard(scenario), *other_answers(answer), *_choice(scenario, tuple(entries), rules, packages))
    return tuple(note for note in (*found, window_note(scenario.model), *platform_notes(scenario)) if note)


def refusals(scenario: Scenario, rules: str, packages: Packages | None) -> Iterator[str]:
    """Why a server with these settings would not start."""
    for refusal in answer_to(scenario, rules, packages).refusals:
        yield f"SGLang {rules} would not start with these settings: {refusal.text} ({refusal.rule})"


def _choice(scenario: Scenario, entries: tuple[BackendEntry, ...], rules: str, packages: Packages | None) -> Iterator[str]:
    """What the engine would do, had the user left it to it."""
    free = replace(scenario.engine, attention_backend=None, prefill_attention_backend=None, decode_attention_backend=None)
    chosen, own = (default_pick(replace(scenario, engine=engine), entries, rules, packages) for engine in (scenario.engine, free))
    if (chosen.prefill, chosen.decode) != (own.prefill, own.decode):
        yield f"{choices(scenario)} is {whose_choice(scenario)} and is kept; by itself SGLang would run {own.backends}"
