"""A pin that sets both phases (prefill fa3, decode flashinfer), and one that sets nothing (fa3), as files; and the logs beside this one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from store.pins.pin import Pin
from store.pins.pin_files import write_pin
from store.serving.verified import Start
from store.verdicts.verdict import Served
from tests.reports import building
from tuner.engines.lookup import spoken_by
from tuner.logs.files import Raw
from tuner.logs.lines import lines
from tuner.verifying.expected import Expected, expected

LOGS = Path(__file__).parent / "logs"
PAIR = "fa3 for prefill, flashinfer for decode"


def log(name: str) -> str:
    return (LOGS / f"{name}.log").read_text()


def raw(text: str, file: str = "server.log") -> list[Raw]:
    return [Raw(file, number, line) for number, line in enumerate(text.removesuffix("\n").split("\n"), 1)]


def starts(text: str, engine: str = "sglang") -> tuple[Start, ...]:
    spoken = spoken_by(engine)
    return spoken.starts(lines(raw(text), words=spoken.WORDS))


def written(folder: Path, unset: bool = False, gpu: str = "NVIDIA H200") -> Path:
    made = building.kept() if unset else building.decision()
    pin, run, path = building.pin(made), building.run(made), folder / "pin.yaml"
    here = replace(run.environment, board=replace(run.environment.board, name=gpu))
    write_pin(path, replace(pin, valid_for=replace(pin.valid_for, gpu=gpu)), "", replace(run, environment=here))
    return path


def pinned(unset: bool = True) -> Expected:
    made = building.kept() if unset else building.decision()
    return expected(building.pin(made), building.run(made))


def pinned_as(prefill: str, decode: str) -> Expected:
    """That sets both phases."""
    flags = (("decode-attention-backend", decode), ("prefill-attention-backend", prefill))
    return Expected(replace(building.pin(), flags=flags), Served(prefill, decode, 1, "bfloat16"), ("decode", "prefill"), True)


def pinned_for_vllm(backend: str, block_size: int = 16) -> Expected:
    pin: Pin = replace(building.pin(), engine="vllm", flags=(("attention-backend", backend),))
    return Expected(pin, Served(backend, backend, block_size, "bfloat16"), ("decode", "prefill"), True)
