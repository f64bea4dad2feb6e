"""One run, whole: everything a report, a re-decision or a check needs. Read from the database or from a pin's evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from backends.anchored import Anchors
from backends.arm import Arm
from backends.environment import Environment
from backends.measured import Round, Trial
from backends.step.shape import RestTimes
from store.boards.calibration import NoiseFloor
from store.decision import Decision
from store.engines.asked import EngineAnswer
from store.engines.serving_terms import ServingTerms
from store.revisit import Revisit
from store.scenario import Exclusion, Scenario, WeightedCell
from store.search import Searched
from store.serving.diagnosis import Finding
from store.serving.serving_run import ServingRun

# Raised when what a stored number means changes; numbers of different protocols are never compared.
PROTOCOL_VERSION = 3

# Statuses. An open run may be at work or long dead: a store that several machines share cannot tell.
RUNNING, INCOMPLETE, FINISHED = "running", "incomplete", "finished"
# Measured elsewhere, as somebody says: whatever asks for one of the others never comes upon it, so that nothing is pinned by it.
FOREIGN = "foreign"


@dataclass(frozen=True)
class DefaultPick:
    """What would run without a pin, per phase: the engine's own pick or the user's explicit choice. ``because`` is the rule
    path that led there, in words. ``asked`` is what the engine itself said, None = nobody was there to be asked;
    ``rules_version`` then is its release, the nearest one whose rules are known is its for everything else."""

    prefill: str
    decode: str
    page_size: int
    kv_cache_dtype: str
    because: str
    rules_version: str
    asked: EngineAnswer | None = None

    @property
    def backends(self) -> str:
        """ "fa3", or "prefill fa3, decode triton"."""
        return self.decode if self.prefill == self.decode else f"prefill {self.prefill}, decode {self.decode}"


@dataclass(frozen=True)
class Run:
    """``engine_version`` is the one found on the worker's path (None where the engine is not installed), ``created`` ISO 8601 UTC,
    ``wall_seconds`` by phase.

    ``status``: `RUNNING`, `INCOMPLETE`, `FINISHED` or `FOREIGN`
    ``notes``: sentences of the plan that a reader of the result must know: what was cut, dropped or not applied
    ``left_out``: what the last job on it had no time for
    ``terms``: what each arm serves on
    ``findings``: what was wrong where they ran, and can spoil a measurement
    ``noise_floor``: that of the board, None = it was not calibrated
    ``revisits``: what was measured of the finalists after the race, under other conditions
    ``serving_runs``: a real server with the pin and without it, the latest of each question; they stand in a pin's evidence alone
    ``anchors``: what kernels that never change took before its first process and after its last
    ``searched``: the screen that the arms came out of, None = no knob was searched
    ``rests``: what of its steps is not attention, as far as that was measured on the board
    """

    RETIRED: ClassVar[frozenset[str]] = frozenset({"serving_run"})  # while evidence held one; `store.evidence` reads it

    id: str
    digest: str
    protocol: int
    status: str
    created: str
    tool_version: str
    command: str
    scenario: Scenario
    environment: Environment
    engine_version: str | None
    default: DefaultPick
    arms: tuple[Arm, ...]
    cells: tuple[WeightedCell, ...]
    exclusions: tuple[Exclusion, ...]
    trials: tuple[Trial, ...]
    rounds: tuple[Round, ...]
    decision: Decision | None
    wall_seconds: tuple[tuple[str, float], ...]
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    terms: tuple[ServingTerms, ...] = ()
    findings: tuple[Finding, ...] = ()
    noise_floor: NoiseFloor | None = None
    revisits: tuple[Revisit, ...] = ()
    serving_runs: tuple[ServingRun, ...] = ()
    anchors: tuple[Anchors, ...] = ()
    searched: Searched | None = None
    rests: tuple[RestTimes, ...] = ()

    @property
    def race(self) -> tuple[Round, ...]:
        """The processes that choices rest on."""
        return tuple(measured for measured in self.rounds if not measured.confirms)

    @property
    def confirmation(self) -> tuple[Round, ...]:
        """The processes after the choice, in which the pick was measured again."""
        return tuple(measured for measured in self.rounds if measured.confirms)

    @property
    def boards(self) -> tuple[str, ...]:
        """UUIDs of those that its rounds ran on, in order; its own where none ran. None is told of a processor."""
        own = self.environment.board.uuid
        seen = dict.fromkeys(measured.board or own for measured in self.rounds) or {own: None}
        return tuple(board for board in seen if board)

    def terms_of(self, arm: str) -> ServingTerms | None:
        """None: an early run, which kept none."""
        return next((terms for terms in self.terms if terms.arm == arm), None)
