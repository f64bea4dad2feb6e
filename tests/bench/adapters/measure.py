"""Measures what is missing of the agreement table, in fresh processes of the product's own worker."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.bench.adapters.sitting import GROUPS, settings_of, sitting_of
from tests.bench.layouts.measure import missing, take
from tests.bench.layouts.rows import read_rows
from tuner.clock import PhaseClock
from tuner.drivers import imports_of
from tuner.machine import device_key, settings_on
from tuner.progress import Progress
from tuner.session import Session
from tuner.waiting import Wait, take_device
from tuner.workers.bundle import bundle

OWNER = "attnpin adapters"
LISTER = Path(__file__).with_name("launched.py")


def measure(file: Path, processes: int, overrides: Sequence[str], groups: Sequence[str] = tuple(GROUPS)) -> None:
    """Adds rows to ``file`` as cells are done; what it holds already is not measured again.

    ``overrides`` as `attnpin tune` takes them: where the engine is found, which GPU.
    """
    settings = {name: settings_of(name, overrides) for name in groups}
    any_of = next(iter(settings.values()))
    entries = [entry for each in settings.values() for entry in each.entries]
    code = bundle([LISTER])
    with Progress() as progress, Session(any_of.scenario.engine, progress, PhaseClock(), code, ahead=True, world=any_of.world) as session:
        environment = session.facts(("sglang", "torch", "triton", *imports_of(entries))).environment
        take_device(session, device_key(environment.board), OWNER, Wait(any_of.wait_for_gpu_s))
        sittings = [sitting_of(name, settings_on(each, environment), environment.releases) for name, each in settings.items()]
        take(session, list(missing(read_rows(file), [each for each in sittings if each.arms], processes)), environment, file)
