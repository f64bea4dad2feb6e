"""An interrupt while Hydra composes: OmegaConf would make a wrong complaint about a setting of it, or nothing at all."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from typing import Any

import hydra
import pytest
from omegaconf import OmegaConf

from tuner.command_line import hydra_app
from tuner.settings import Settings, compose


@pytest.fixture(autouse=True)
def ctrl_c_is_heard() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(("where", "name"), [(hydra, "compose"), (OmegaConf, "to_container")])
def test_it_is_heard_once_that_is_done(where: object, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    usual, done = getattr(where, name), []

    def interrupted(*given: Any, **named: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        done.append(usual(*given, **named))
        return done[-1]

    monkeypatch.setattr(where, name, interrupted)
    with pytest.raises(KeyboardInterrupt):
        compose(["gpu=h200", "backend=[fa3]", f"++model.name=interrupted_in_{name}"])  # composed for no other test
    assert len(done) == 1


def test_it_ends_a_hydra_application_before_its_job_begins_and_not_earlier(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []

    def main(**named: Any) -> Callable[[Callable[[Any], None]], Callable[[], None]]:
        def run(task: Callable[[Any], None]) -> None:
            signal.raise_signal(signal.SIGINT)
            steps.append("composed")
            task(None)

        return lambda task: lambda: run(task)

    def job(settings: Settings) -> int:
        steps.append("job")
        return 0

    monkeypatch.setattr(hydra, "main", main)
    with pytest.raises(KeyboardInterrupt):
        hydra_app.run(["model=tiny"], job, debug=False)
    assert steps == ["composed"]


def test_a_job_hears_it_at_once() -> None:
    def job(settings: Settings) -> int:
        signal.raise_signal(signal.SIGINT)
        raise AssertionError("it was not heard")

    with pytest.raises(KeyboardInterrupt):
        hydra_app.run(["model=tiny", "gpu=h200", "backend=[fa3]"], job, debug=False)
