"""All that was found of a server and its pin: what causes are read from."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from backends.cell import Cell, Phase
from store.pins.pin import Pin
from store.runs.run import Run
from store.serving.triaged import Load
from store.serving.verified import Verified
from store.verdicts.checked import Checked
from store.verdicts.verdict import Verdict
from tuner.engines.remedies import Remedies
from tuner.triaging.figures import Figure, Figures
from tuner.verifying.expected import Expected


@dataclass(frozen=True)
class Signs:
    """``path``: the pin's file; ``where``: the overrides by which it is reached where it serves. ``fast``: what changed under it, None =
    that could not be looked at; ``figures``: what somebody states; ``screened``: what the GPU says."""

    path: Path
    run: Run
    expected: Expected
    verified: Verified
    remedies: Remedies
    load: Load | None = None
    fast: Verdict | None = None
    figures: Figures | None = None
    screened: Checked | None = None
    where: tuple[str, ...] = ()

    @property
    def pin(self) -> Pin:
        return self.expected.pin

    @property
    def named(self) -> str:
        """``--pin F``, to be typed."""
        return f"--pin {shlex.quote(str(self.path))}"

    @property
    def check(self) -> str:
        return " ".join(["attnpin check", self.named, *map(shlex.quote, self.where)])

    def tune(self, *overrides: str) -> str:
        """With what the pin was asked for, except where ``overrides`` say otherwise."""
        holds = self.pin.valid_for
        ranks = [f"engine.tensor_parallel={holds.tensor_parallel}"] if holds.tensor_parallel > 1 else []
        asked = (f"model={holds.model}", f"traffic={holds.traffic}", *ranks, *overrides)
        words = {each.strip("'").partition("=")[0]: each for each in asked}.values()
        return " ".join(["attnpin tune", *words, *map(shlex.quote, self.where)])

    @property
    def served(self) -> frozenset[str]:
        """Backends, by the pin."""
        sides = {Phase.DECODE.value: self.expected.served.decode, Phase.PREFILL.value: self.expected.served.prefill}
        return frozenset(backend for side, backend in sides.items() if side in self.expected.phases)

    @property
    def stated(self) -> tuple[Figure, ...]:
        """None of two boards: those say nothing of each other."""
        return self.figures.figures if self.figures and not self.figures.of_two_boards else ()

    @property
    def decode_cells(self) -> tuple[Cell, ...]:
        """Those that the traffic visits."""
        return tuple(each.cell for each in self.run.cells if each.cell.generates and not each.is_guard)
