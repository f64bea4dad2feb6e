"""An audit without a GPU: of a run that was recorded, or of figures that somebody reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from store.decision import Pair
from store.engines.rule_path import RuleStep
from store.evidence.run_evidence import read_evidence
from store.runs.run import Run
from store.scenario import Scenario
from store.verdicts.audit import Audit, DefaultFound, DefaultVerdict, ReasonFound, ReasonVerdict
from tuner.auditing import reported
from tuner.auditing.figures import Figures, read_figures
from tuner.auditing.steps import Steps, recorded
from tuner.auditing.verdict import about, audit_of_run, exit_code
from tuner.engines.lookup import rules_of
from tuner.engines.recorded import reason_here
from tuner.engines.rules import Settled
from tuner.past.stored import run_from_pin
from tuner.settings import Settings, compose, compose_backends

MEASURE_AGAIN = "measure here with attnpin audit"
# of `Engine`: what decides which heads and keys one rank reads, and how they lie
SAME_SERVER = ("tensor_parallel", "attn_dp_size", "attn_cp_size", "dcp_size", "kv_cache_dtype", "page_size")


def audit_of_pin(path: Path, config_dir: str | None) -> Audit:
    return _of_recorded(run_from_pin(path), config_dir)


def audit_of_evidence(path: Path, config_dir: str | None) -> Audit:
    return _of_recorded(read_evidence(path), config_dir)


def _of_recorded(run: Run, config_dir: str | None) -> Audit:
    entries, rules = compose_backends((), config_dir).entries, rules_of(run.scenario)
    settled = rules.settled(run.scenario, entries, run.default.rules_version, run.environment.releases)
    return replace(audit_of_run(run, recorded(settled.path)), run=None, command=None)  # typed elsewhere


def audit_of_figures(path: Path, overrides: Sequence[str], config_dir: str | None) -> Audit:
    """The file says what its figures are of; ``overrides`` what is asked, where that is something else."""
    figures = read_figures(path)
    of = compose(figures.scenario, config_dir)
    asked = compose(merged(figures.scenario, overrides), config_dir) if overrides else of
    rules_version = rules_of(asked.scenario).rules_for(asked.scenario.engine.version)[0]
    settled = rules_of(asked.scenario).settled(asked.scenario, asked.entries, rules_version)
    steps = _with_releases(settled.path, asked.scenario, dict(figures.packages))
    if elsewhere := foreign(asked.scenario, of.scenario):
        return _audit(asked.scenario, rules_version, figures, *_of_elsewhere(settled, steps, elsewhere))
    phases, decide = asked.scenario.engine.role.phases, asked.scenario.decide
    reasons = tuple(reported.judged(figures.figures, rule, here, phases, decide) for rule, here in steps)
    return _audit(asked.scenario, rules_version, figures, reasons, _default(asked, settled, figures))


def merged(given: Sequence[str], overrides: Sequence[str]) -> list[str]:
    """``overrides`` in the place of those in ``given`` that set the same."""
    replaced = {override.partition("=")[0] for override in overrides}
    return [*(word for word in given if word.partition("=")[0] not in replaced), *overrides]


def foreign(asked: Scenario, of: Scenario) -> str | None:
    """Why figures of one scenario say nothing of another: equal compute capability is not equal bandwidth and arithmetic."""
    pairs = (
        ("engine", asked.engine.name, of.engine.name),
        ("GPU", asked.gpu.name, of.gpu.name),
        ("model", asked.model.name, of.model.name),
        *((field.replace("_", " "), str(getattr(asked.engine, field)), str(getattr(of.engine, field))) for field in SAME_SERVER),
    )
    differing = [f"{what} {theirs}, and {ours} is asked" for what, ours, theirs in pairs if ours != theirs]
    return f"the figures are of {'; of '.join(differing)}: {MEASURE_AGAIN}" if differing else None


def _with_releases(path: Sequence[RuleStep], scenario: Scenario, packages: Mapping[str, str]) -> Steps:
    here = ((rule, reason_here(found.reason, scenario.gpu.sm, packages)) for rule, found in recorded(path))
    return tuple((rule, found) for rule, found in here if found)


def _of_elsewhere(settled: Settled, steps: Steps, why: str) -> tuple[tuple[ReasonFound, ...], DefaultFound]:
    default = Pair(settled.default.prefill, settled.default.decode)
    reasons = tuple(ReasonFound(rule, here, ReasonVerdict.UNTESTABLE, (), why) for rule, here in steps)
    return reasons, DefaultFound(default, DefaultVerdict.UNTESTED, why)


def _default(asked: Settings, settled: Settled, figures: Figures) -> DefaultFound:
    scenario, default = asked.scenario, settled.default
    known = [name for entry in asked.entries for name in (entry.name, *entry.aliases)]
    pair, phases = Pair(default.prefill, default.decode), scenario.engine.role.phases
    found = reported.default_of(figures.figures, pair, phases, known, scenario.decide)
    if found.use is None:
        return found
    flags = rules_of(scenario).pin_flags(found.use, default, default.page_size, scenario.engine, scenario.model.architecture)
    return replace(found, flags=flags)


def _audit(scenario: Scenario, rules_version: str, figures: Figures, reasons: tuple[ReasonFound, ...], default: DefaultFound) -> Audit:
    return Audit(
        on=about(scenario),
        engine=scenario.engine.name,
        engine_version=None,
        rules_version=rules_version,
        basis=f"{len(figures.figures)} figures of {figures.name}, reported in {', '.join(figures.source)}",
        reasons=reasons,
        default=default,
        run=None,
        exit_code=exit_code(reasons, default),
    )
