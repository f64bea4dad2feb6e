"""What the flags of a pin, or their absence, come to under another release of its engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from backends.environment import Environment
from backends.question import RULE_SETS
from reports import asked, wording
from store.engines.asked import EngineAnswer
from store.pins.pin import Pin
from store.runs.run import DefaultPick, Run
from store.scenario import Scenario
from store.verdicts.verdict import FlagsNow, Served
from tuner.composing.shipped import shipped_entries
from tuner.doctor.versions import parsed
from tuner.engines.heard import Consulted, heard
from tuner.engines.lookup import choices_of, engine_named
from tuner.engines.rules import Settled
from tuner.errors import UsageError
from tuner.unmeasured.regressions import served_pair

FIELDS = {  # of `Engine`, by the flags that are pinned; --block-size is vLLM's
    "attention-backend": "attention_backend",
    "prefill-attention-backend": "prefill_attention_backend",
    "decode-attention-backend": "decode_attention_backend",
    "page-size": "page_size",
    "block-size": "page_size",
    "kv-cache-dtype": "kv_cache_dtype",
}


@dataclass(frozen=True)
class Case:
    """A pin with the run behind it, and the environment that is there ``now``. Raises `UsageError` for flags that no run pins: somebody
    wrote them."""

    pin: Pin
    run: Run
    now: Environment

    def __post_init__(self) -> None:
        for name, value in self.pin.flags:
            if not _pinned(name, self.pin.engine) or (FIELDS.get(name) == "page_size" and not value.isdecimal()):
                raise UsageError(f"pin {self.pin.run} sets --{name} {value}, which attnpin does not; write it again with attnpin tune")


Ask = Callable[[Sequence[Case]], Sequence[FlagsNow]]


def all_by_rules(cases: Sequence[Case]) -> list[FlagsNow]:
    return [flags_by_rules(case) for case in cases]


def flags_by_rules(case: Case) -> FlagsNow:
    """By attnpin's rules for the release of the engine in ``now``, where they were read of that very release, and where those of the
    pin's own release give what was pinned: rules that do not explain what is known cannot foretell anything."""
    pin, run = case.pin, case.run
    pinned, version, name = pinned_for(pin, run), case.now.releases.get(pin.engine), wording.engine(pin.engine)
    release = parsed(version) if version else None
    if release is None or release.public not in RULE_SETS.get(pin.engine, ()):
        read = ", ".join(RULE_SETS.get(pin.engine, ()))
        there = version if release else f"what is there ({version})"
        why = f"its rules were read in {name} {read}, not in {there}" if version else f"no {name} is installed there"
        return FlagsNow("attnpin's rules", pinned, unknown=f"not to be told, since {why}")
    by = f"attnpin's rules for {name} {release.public}"
    before = _settled(pinned_scenario(case, run.default.rules_version), run.environment.releases)
    if before.refusals or served_by(before.default) != pinned:
        own = f"attnpin's rules do not explain what {name} {run.default.rules_version} served"
        return FlagsNow(by, pinned, unknown=f"not to be told from rules: {own}")
    after = _settled(pinned_scenario(case, release.public), case.now.releases)
    return FlagsNow(by, pinned, refusal=after.refusals[0]) if after.refusals else FlagsNow(by, pinned, now=served_by(after.default))


def flags_by_engine(case: Case, consulted: Consulted) -> FlagsNow:
    """By the word of the engine itself; by rules, with the reason, where it gave none."""
    engine = case.pin.engine
    scenario = pinned_scenario(case, consulted.version or case.run.default.rules_version)
    answer = heard(scenario, shipped_entries(engine), _settled(scenario, case.now.releases), consulted).default.asked
    if answer is None or answer.failure is not None:
        by_rules = flags_by_rules(case)
        return replace(by_rules, by=f"{by_rules.by}; {_unanswered(answer, engine)}")
    by, pinned = f"{wording.engine(engine)} {answer.version} itself ({asked.where(answer)})", pinned_for(case.pin, case.run)
    if answer.refusal is not None:
        return FlagsNow(by, pinned, refusal=answer.refusal)
    return FlagsNow(by, pinned, now=Served(str(answer.prefill), str(answer.decode), answer.page_size or 1, str(answer.kv_cache_dtype)))


def _pinned(name: str, engine: str) -> bool:
    """A knob of a backend changes nothing of what the rules settle."""
    return name in FIELDS or name in choices_of(engine).options


def pinned_scenario(case: Case, version: str) -> Scenario:
    """The run's scenario with the pin's flags on the command line in the place of what chose a backend or a page size there."""
    scenario, written = case.run.scenario, {FIELDS[name]: value for name, value in case.pin.flags if name in FIELDS}
    engine = replace(
        scenario.engine,
        version=version,
        attention_backend=written.get("attention_backend"),
        prefill_attention_backend=written.get("prefill_attention_backend"),
        decode_attention_backend=written.get("decode_attention_backend"),
        page_size=int(written["page_size"]) if "page_size" in written else None,
        kv_cache_dtype=written.get("kv_cache_dtype", scenario.engine.kv_cache_dtype),
    )
    return replace(scenario, engine=engine)


def pinned_for(pin: Pin, run: Run) -> Served:
    """What the pin was decided to serve; without a pick the default."""
    pair = served_pair(run.decision) if run.decision else None
    backends = {arm.name: arm.backend for arm in run.arms}
    prefill, decode = (backends.get(pair.prefill), backends.get(pair.decode)) if pair else (None, None)
    default, holds = run.default, pin.valid_for
    return Served(prefill or default.prefill, decode or default.decode, holds.page_size, holds.kv_cache_dtype)


def served_by(default: DefaultPick) -> Served:
    return Served(default.prefill, default.decode, default.page_size, default.kv_cache_dtype)


def _settled(scenario: Scenario, packages: Mapping[str, str]) -> Settled:
    engine = engine_named(scenario.engine.name)
    rules, _ = engine.rules_for(scenario.engine.version)
    return engine.settled(scenario, shipped_entries(scenario.engine.name), rules, packages)


def _unanswered(answer: EngineAnswer | None, engine: str) -> str:
    why = "attnpin cannot ask it" if answer is None else answer.failure
    return f"{wording.engine(engine)} itself was not asked: {why}"
