"""What is known of the packages of an image that bears on a pin: releases that were taken back or do not fit together, regressions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from backends.condition import Installed, Management, ServingCondition
from backends.environment import Environment
from store.runs.run import Run
from store.serving.diagnosis import Finding, Severity
from store.verdicts.verdict import Bearing, KnownIssue
from tuner.doctor import flashinfer_packages, releases, requirements, torch_builds
from tuner.doctor.examine import Rules, findings
from tuner.doctor.known import Known, load_known
from tuner.doctor.patient import Patient
from tuner.pin import arms_on
from tuner.unmeasured.regressions import Regression, load_regressions, regressions_in, served_pair

OF_PACKAGES: Rules = (flashinfer_packages.findings, torch_builds.findings, releases.findings, requirements.findings)
SURE = ("version-withdrawn",)  # a warning in the doctor's words, and recorded of just this release

Requirements = tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Knowledge:
    """Of packages and of regressions: the folder `known` of conf, and of --config-dir beside it."""

    packages: Known
    regressions: tuple[Regression, ...]


def knowledge(config_dir: str | None = None) -> Knowledge:
    """Raises `UsageError` for an entry that cannot be used."""
    return Knowledge(load_known(config_dir), load_regressions(config_dir))


def issues(run: Run, now: Environment, known: Knowledge, requires: Requirements = ()) -> tuple[KnownIssue, ...]:
    """Those that ``now`` has and the environment of ``run`` had not, nearest to what is served first. ``requires``: what the
    distributions of ``now`` ask of one another, by name, where that is known."""
    before = {(each.rule, each.what) for each in _findings(run.environment, run, known.packages, ())}
    new = [each for each in _findings(now, run, known.packages, requires) if (each.rule, each.what) not in before]
    found = (*regressions_in(run, now, known.regressions), *_bearing_on(run, now, new))
    return tuple(sorted(found, key=lambda issue: list(Bearing).index(issue.bearing)))


def _findings(here: Environment, run: Run, known: Known, requires: Requirements) -> tuple[Finding, ...]:
    """What the doctor's rules about packages find in ``here``."""
    asked = dict(requires)
    installed = tuple(Installed(each.name, each.version, "", asked.get(each.name, ())) for each in here.distributions)
    nothing = ServingCondition(installed, (), (), (), (), None, (), (), Management(None), (), None, ())
    return findings(Patient(here, nothing, None, run.scenario.engine.name), _comparable(known, here), OF_PACKAGES)


def _comparable(known: Known, here: Environment) -> Known:
    """Without builds for the torch of one CUDA where it is not told for which this torch was built."""
    builds = tuple(each for each in known.torch_builds if "+" in (here.torch or "") or "+" not in each.torch)
    return replace(known, torch_builds=builds)


def _bearing_on(run: Run, now: Environment, found: Iterable[Finding]) -> Iterator[KnownIssue]:
    """Those that concern an arm the decision of ``run`` rests on."""
    pair = served_pair(run.decision) if run.decision else None
    served = {pair.prefill, pair.decode} if pair else set()
    ranked = {arm for score in (run.decision.scores if run.decision else ()) for arm in (score.pair.prefill, score.pair.decode)}
    for finding in found:
        arms = {arm for name in finding.concerns for arm in arms_on(run, now, name)}
        if arms & (served | ranked):
            sure = finding.severity is Severity.FAULT or finding.rule in SURE
            bearing = (Bearing.SERVED if sure else Bearing.POSSIBLE) if arms & served else Bearing.RIVAL
            sources = (finding.source,) if finding.source else ()
            yield KnownIssue(finding.rule, bearing, finding.what, finding.why, (finding.remedy,), sources)
