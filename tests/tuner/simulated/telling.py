"""attnpin's command line on a simulated GPU, in this process, with real workers beside it."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from backends.simulated.world import Fault
from store.database.connect import open_store
from store.pins.pin import Pin
from store.pins.pin_files import read_pin
from store.runs.repository import newest_run
from store.runs.run import Run
from tuner import cli
from tuner.command_line.boundary import guarded
from tuner.commands import measuring
from tuner.settings import Settings, compose

TWO_ARMS = (
    *("gpu=simulated", "model=qwen3_8b", "traffic=single_user", "backend=[fa3,flashinfer]"),
    *("measure.processes=2", "measure.timing.blocks=2", "measure.timing.warmup_s=0"),
)
FIRST_ROUND = 3  # among the processes of such a job: each arm is probed in one before


@dataclass(frozen=True)
class Told:
    """A command that has ended: its exit code and what it printed."""

    folder: Path
    code: int
    out: str
    err: str

    @property
    def run(self) -> Run:
        """The run begun last."""
        run = newest_run(open_store(url_in(self.folder)))
        assert run is not None
        return run

    @property
    def pin(self) -> Pin:
        return read_pin(pin_in(self.folder))


def url_in(folder: Path) -> str:
    return f"sqlite:///{folder}/attnpin.db"


def pin_in(folder: Path) -> Path:
    return folder / "pin" / "pin.yaml"


def tuned(folder: Path, *more: str, faults: Sequence[Fault] = ()) -> Told:
    """`attnpin tune` of two arms on few cells, ``more`` overrides after that; composed once for all that ask the same."""
    settings = _composed(more)
    assert settings.world is not None
    world = replace(settings.world, faults=(*settings.world.faults, *faults))
    settings = replace(settings, store_url=url_in(folder), pin_path=pin_in(folder), world=world)
    return _told(folder, lambda: guarded(lambda: measuring.tune_with(settings), debug=False))


def tune_line(folder: Path, *more: str) -> tuple[str, ...]:
    """The same as a command line, which takes options too."""
    return ("tune", *TWO_ARMS, f"store.url={url_in(folder)}", f"pin.path={pin_in(folder)}", *more)


def told(folder: Path, *arguments: str) -> Told:
    """A whole command line."""
    return _told(folder, lambda: cli.run(arguments))


@cache
def _composed(more: tuple[str, ...]) -> Settings:
    return compose([*TWO_ARMS, *more])


def _told(folder: Path, command: Callable[[], int]) -> Told:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = command()
    return Told(folder, code, out.getvalue(), err.getvalue())
