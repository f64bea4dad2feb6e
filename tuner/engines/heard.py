"""What the engine itself said, in the place of what attnpin's rules say of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from backends.capability import BackendEntry
from backends.engine_says import EngineSays, Raised
from reports import asked, wording
from store.decision import Pair
from store.engines.asked import Difference, EngineAnswer
from store.runs.run import DefaultPick
from store.scenario import Scenario
from store.serving.diagnosis import Finding
from tuner.engines.lookup import rules_of
from tuner.engines.rules import Settled
from tuner.engines.served import named, served_pair

# How an engine refuses; anything else it raises may be the fault of how it was asked, unless the rules refuse too.
REFUSING = ("argparse", "ValueError", "AssertionError", "RuntimeError", "NotImplementedError")
MOST_WORDS = 300

COMPARED = {"prefill": "prefill", "decode": "decode", "page size": "page_size", "KV dtype": "kv_cache_dtype"}


@dataclass(frozen=True)
class Consulted:
    """An engine that was asked. ``version`` and ``simulated`` as in `EngineAnswer`; ``findings`` are what is wrong in the environment
    it was found in, where somebody looked."""

    version: str | None
    simulated: str | None
    says: EngineSays
    findings: tuple[Finding, ...] = ()


def heard(scenario: Scenario, entries: Iterable[BackendEntry], settled: Settled, consulted: Consulted | None) -> Settled:
    """``settled`` by the rules, changed to the engine's answer: what it would serve with, or that it refuses. Where nobody was asked,
    or no answer came, the rules' word stands."""
    if consulted is None:
        return settled
    answer = _answer(scenario, entries, settled, consulted)
    default = replace(settled.default, asked=answer)
    if answer.refusal is not None:
        engine = f"{wording.engine(scenario.engine.name)} {answer.version}"
        own = f'{engine} itself would not start with these settings: "{answer.refusal}"'
        return replace(settled, default=default, refusals=(own, *settled.refusals))
    if not answer.resolved:
        warning = asked.lines(answer, scenario.engine.name) if answer.version else ()
        return replace(settled, default=default, caveats=(*settled.caveats, *warning))
    unlike = _judged_otherwise(scenario, settled, consulted)
    return replace(settled, default=_picked(scenario, default, answer), refusals=(), caveats=(*settled.caveats, *unlike))


def _judged_otherwise(scenario: Scenario, settled: Settled, consulted: Consulted) -> Iterator[str]:
    """Backends that the engine judges one by one, where it says otherwise than the rules: a package may be missing there."""
    engine = f"{wording.engine(scenario.engine.name)} {consulted.version}"
    judged: dict[str, list[str]] = (consulted.says.resolved or {}).get("rejected", {})
    for backend, reasons in judged.items():
        if reasons and backend in settled.takers:
            yield f"{engine} itself refuses {backend}, which attnpin's rules allow: {'; '.join(reasons)}"
        elif not reasons and backend not in settled.takers:
            yield f"{engine} itself takes {backend}, which attnpin's rules refuse"


def _answer(scenario: Scenario, entries: Iterable[BackendEntry], settled: Settled, consulted: Consulted) -> EngineAnswer:
    says, answer = consulted.says, partial(EngineAnswer, consulted.version, consulted.simulated)
    if says.raised is not None:
        if says.raised.kind not in REFUSING and not settled.refusals:
            return answer(failure=f"its argument resolution failed: {_words(says.raised)}")
        unlike = () if settled.refusals else (Difference("start", "refused", "allowed"),)
        return answer(refusal=_words(says.raised), differences=unlike)
    if says.resolved is None:
        return answer(failure=says.failure)
    found = answer(**_served(scenario, entries, says.resolved))
    return replace(found, differences=tuple(_differences(settled, found)))


def _words(raised: Raised) -> str:
    said = " ".join(raised.text.split()) or f"{raised.kind} in {raised.place}"
    return said if len(said) <= MOST_WORDS else f"{said[:MOST_WORDS]} ..."


def _served(scenario: Scenario, entries: Iterable[BackendEntry], resolved: dict[str, Any]) -> dict[str, Any]:
    engine = rules_of(scenario)
    pair = named(served_pair(Pair(resolved["prefill"], resolved["decode"]), scenario.engine.role), entries)
    return {
        "prefill": pair.prefill,
        "decode": pair.decode,
        "page_size": resolved["page_size"] or engine.default_page_size(scenario.gpu),
        "kv_cache_dtype": engine.resolved_kv_dtype(scenario.model, resolved["kv_dtype"]),
    }


def _differences(settled: Settled, answer: EngineAnswer) -> Iterator[Difference]:
    if settled.refusals:
        yield Difference("start", "allowed", f"refused ({'; '.join(settled.refusals)})")
    for what, field in COMPARED.items():
        own, rules = getattr(answer, field), getattr(settled.default, field)
        if own != rules:
            yield Difference(what, str(own), str(rules))


def _picked(scenario: Scenario, default: DefaultPick, answer: EngineAnswer) -> DefaultPick:
    engine = f"{wording.engine(scenario.engine.name)} {answer.version}"
    by_rules = "do not explain it; by them" if answer.differences else "agree"
    fields = {field: getattr(answer, field) for field in COMPARED.values()}
    because = f"{engine} itself answered ({asked.where(answer)}), and attnpin's rules {by_rules}: {default.because}"
    return replace(default, **fields, because=because, rules_version=answer.version or default.rules_version)
