"""What the rest asks of an engine's rules; each engine's folder answers in its module `verbs`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from backends.capability import BackendEntry
from backends.cell import Phase
from backends.gpu import Gpu
from backends.model import LayerKind, Model
from backends.question import Question
from store.decision import Pair
from store.engines.rule_path import DefaultTree, RuleStep
from store.plan import Server
from store.runs.run import DefaultPick
from store.scenario import Engine, Exclusion, Scenario
from store.serving.verified import Start
from tuner.engines.remedies import Remedies
from tuner.logs.lines import Line
from tuner.logs.printed_steps import PrintedSteps
from tuner.logs.steps import Event

Packages = Mapping[str, str]


@dataclass(frozen=True)
class Settled:
    """``default``: what the engine would serve a scenario with and no pin, ``path`` the rules that led there. ``caveats`` are
    sentences that a reader of it must know, ``refusals`` why a server with these settings would not start, ``endings`` why one would
    start and end, which its arguments do not show. ``takers``: the backends that would serve it if they were named, of an engine that
    judges them one by one."""

    default: DefaultPick
    path: tuple[RuleStep, ...]
    caveats: tuple[str, ...]
    refusals: tuple[str, ...]
    takers: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()


class EngineRules(Protocol):
    """``rules`` names the rule set that applies, as `rules_for` gives it; ``packages`` are the import names found where the worker
    runs, with their versions, None = nobody has looked."""

    LATENT_PREFILLS: str  # how it runs prefills of latent attention, a clause

    def rules_for(self, version: str) -> tuple[str, str | None]:
        """The rule set that applies to a release, and a note unless it is that release's own."""

    def settled(self, scenario: Scenario, entries: tuple[BackendEntry, ...], rules: str, packages: Packages | None = None) -> Settled: ...

    def default_tree(self, scenario: Scenario, rules: str) -> DefaultTree | None:
        """The tree the engine asks where nobody names a backend, as the scenario walks through it; None where it has none."""

    def server_for(self, scenario: Scenario, rules: str, page_size: int) -> Server: ...

    def default_page_size(self, gpu: Gpu) -> int: ...

    def page_sizes(self, scenario: Scenario, rules: str, packages: Packages | None = None) -> Callable[[BackendEntry], int]:
        """Of the scenario's server, by the backend that it is told to run in both phases."""

    def question_for(
        self,
        scenario: Scenario,
        rules: str,
        page_size: int,
        phase: Phase = ...,
        packages: Packages | None = None,
        pool_tokens: int | None = None,
    ) -> Question:
        """What the scenario's backends are asked; ``page_size`` stands where the user set none."""

    def served_model(self, model: Model) -> Model: ...

    def rank_layers(self, scenario: Scenario) -> tuple[LayerKind, ...]:
        """Each layer kind that is served, with the heads of one rank; `UsageError` where they do not divide."""

    def resolved_kv_dtype(self, model: Model, flag: str) -> str:
        """The KV pool's dtype, as a torch name where torch has one."""

    def refused(self, scenario: Scenario, backend: str, default: DefaultPick, packages: Packages | None = None) -> tuple[Exclusion, ...]:
        """The phases that the engine refuses to serve with ``backend``, whatever its kernels can do."""

    def refusal_of(
        self, scenario: Scenario, pair: Pair, page_size: int, default: DefaultPick, packages: Packages | None = None
    ) -> str | None:
        """Why a server with the flags that pin ``pair`` at ``page_size`` would not start; None where it would."""

    def changed_by(
        self, scenario: Scenario, flags: Mapping[str, str], more: Mapping[str, str], rules: str, packages: Packages | None = None
    ) -> str | None:
        """What a server with ``flags`` would serve otherwise if ``more`` were written too, which say what ``flags`` came to; None where
        nothing would change."""

    def pin_flags(
        self, pair: Pair, default: DefaultPick, page_size: int, engine: Engine, architecture: str = ""
    ) -> tuple[tuple[str, str], ...]:
        """The long options, without dashes, that make a server with nothing else set serve ``pair`` at ``page_size``."""


class QuestionOf(Protocol):
    """The question for an engine's ``asked`` folder in `backends`, JSON-ready. ``checkpoint`` is the model's own config.json, None for a
    preset; ``simulated``: the engine is to believe in the scenario's GPU, not to look for one."""

    def __call__(
        self, scenario: Scenario, rules: str, packages: Packages | None, checkpoint: Mapping[str, Any] | None, simulated: bool
    ) -> dict[str, Any]: ...


class Spoken(Protocol):
    """What a running server says of itself, understood."""

    INFO: tuple[str, ...]  # where it answers what it serves, the current path first
    WORDS: tuple[str, ...]  # one of them is in every line that counts

    def starts(self, lines: Iterable[Line]) -> tuple[Start, ...]:
        """Each start of each server in a log, in order."""

    def start_of(self, info: Mapping[str, Any], where: str) -> Start | None:
        """From the answer of a path of `INFO`; None for the answer of something else. ``where`` names the server."""


class StepsPrinted(Protocol):
    """The steps that a scheduler prints, as traffic."""

    WORDS: tuple[str, ...]  # one of them is in every line that counts
    STEP: re.Pattern[bytes]  # of a line on a step
    STARTS: re.Pattern[bytes]  # of a line with which a server starts

    def printed(self, lines: Iterable[Line]) -> PrintedSteps: ...


class Paced(Protocol):
    """What a scheduler prints of its work, understood."""

    WORDS: tuple[str, ...]  # one of them is in every line that counts
    BEGINS: tuple[bytes, ...]  # one of them is in a line with which a server starts
    REMEDIES: Remedies

    def read(self, text: str) -> tuple[Event, ...]: ...
