"""The rules of an engine, by its name. The one place outside their folders that knows which engines there are."""

from __future__ import annotations

from functools import cache

from store.scenario import Scenario
from tuner.engines.benchmarks import Benchmarks
from tuner.engines.choices import Choices
from tuner.engines.rules import EngineRules, Paced, QuestionOf, Spoken, StepsPrinted


def rules_of(scenario: Scenario) -> EngineRules:
    return engine_named(scenario.engine.name)


@cache
def engine_named(name: str) -> EngineRules:
    """``name`` is one of `tuner.engines.WITH_RULES`, else `KeyError`. An engine is imported when it is first asked for."""
    if name == "sglang":
        from tuner.engines.sglang import verbs

        return verbs
    if name == "vllm":
        from tuner.engines.vllm import verbs as of_vllm

        return of_vllm
    raise KeyError(name)


def question_of(name: str) -> QuestionOf | None:
    """What the engine itself is asked; None where attnpin cannot ask it."""
    if name == "sglang":
        from tuner.engines.sglang.asking import question

        return question
    if name == "vllm":
        from tuner.engines.vllm.asking import question as of_vllm

        return of_vllm
    return None


def spoken_by(name: str) -> Spoken:
    """How a running server of an engine is understood. ``name`` is one of `tuner.engines.WITH_RULES`, else `KeyError`."""
    if name == "sglang":
        from tuner.engines.sglang import running

        return running
    if name == "vllm":
        from tuner.engines.vllm import running as of_vllm

        return of_vllm
    raise KeyError(name)


def paced_by(name: str) -> Paced:
    """How the work of a running server is read from its log. ``name`` as for `spoken_by`."""
    if name == "sglang":
        from tuner.engines.sglang import steps

        return steps
    if name == "vllm":
        from tuner.engines.vllm import steps as of_vllm

        return of_vllm
    raise KeyError(name)


def steps_printed_by(name: str) -> StepsPrinted | None:
    """How a server's log is read as traffic; None for an engine whose log does not tell its steps."""
    if name == "sglang":
        from tuner.engines.sglang import traffic_log

        return traffic_log
    return None


def choices_of(name: str) -> Choices:
    """The words with which a command line makes the choices that a pin makes. ``name`` as for `spoken_by`."""
    if name == "sglang":
        from tuner.engines.sglang.choices import CHOICES

        return CHOICES
    if name == "vllm":
        from tuner.engines.vllm.choices import CHOICES as OF_VLLM

        return OF_VLLM
    raise KeyError(name)


def benchmarks_of(name: str) -> Benchmarks:
    """The engine's own benchmarks. ``name`` as for `spoken_by`."""
    if name == "sglang":
        from tuner.engines.sglang import benchmarks

        return benchmarks
    if name == "vllm":
        from tuner.engines.vllm import benchmarks as of_vllm

        return of_vllm
    raise KeyError(name)
