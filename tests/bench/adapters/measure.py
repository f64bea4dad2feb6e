"""Measures what is missing of the agreement table, in fresh processes of the product's own worker."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.bench.adapters.sitting import GROUPS, settings_of, sitting_of
from tests.bench.layouts.measure import missing, take
from tests.bench.layouts.rows import read_rows
from tuner.clock import PhaseClock
from tuner.device.host import Host
from tuner.device.machine import device_key, settings_on
from tuner.device.session import Session
from tuner.device.waiting import Wait, take_device
from tuner.limiting.drivers import imports_of
from tuner.progress import Progress
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
    host = Host(any_of.scenario.engine, code, any_of.world)
    with Progress() as progress, Session(host, progress, PhaseClock(), ahead=True) as session:
        environment = session.keeper.facts(("sglang", "torch", "triton", *imports_of(entries))).environment
        take_device(session, device_key(environment.board), OWNER, Wait(any_of.wait_for_gpu_s))
        sittings = [sitting_of(name, settings_on(each, environment), environment.releases) for name, each in settings.items()]
        take(session, list(missing(read_rows(file), [each for each in sittings if each.arms], processes)), environment, file)
