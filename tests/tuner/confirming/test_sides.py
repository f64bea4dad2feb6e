"""The commands of both servers, and what runs the engine's benchmark."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.reports import building
from tuner.confirming.question import Question
from tuner.confirming.sides import arguments_of, python_of, sides
from tuner.confirming.traffic import AskedTraffic, traffic_of
from tuner.engines.benchmarks import Bench
from tuner.engines.lookup import benchmarks_of, choices_of
from tuner.errors import UsageError

SGLANG = benchmarks_of("sglang")
CHOICES = choices_of("sglang")
SERVE = (sys.executable, "-m", "sglang.launch_server", "--model-path", "m")


def test_the_pins_flags_stand_on_one_side_and_the_others_on_the_other() -> None:
    made = sides(building.pin(), building.pin(), SERVE, '--attention-backend "triton"', CHOICES)
    assert made.started(pinned=True)[len(SERVE) :] == tuple(word for flag, value in building.pin().flags for word in (f"--{flag}", value))
    assert made.started(pinned=False) == (*SERVE, "--attention-backend", "triton")


def test_a_pin_without_flags_is_held_against_what_is_named() -> None:
    kept = replace(building.pin(), flags=(), unset="no arm beat the default")
    assert sides(kept, kept, SERVE, "--attention-backend triton", CHOICES).started(pinned=True) == SERVE
    with pytest.raises(UsageError, match="both sides would be the same server, since the pin sets no flag .no arm beat the default."):
        sides(kept, kept, SERVE, None, CHOICES)


def test_what_the_pin_leaves_to_the_engine_is_the_commands_where_it_sets_it() -> None:
    pin = building.pin()
    whole = replace(pin, flags=(*pin.flags, ("page-size", "64")))
    assert sides(pin, whole, SERVE, None, CHOICES).flags[-2:] == ("--page-size", "64")
    assert "--page-size" not in sides(pin, whole, (*SERVE, "--page-size", "16"), None, CHOICES).flags


def test_variables_of_a_pin_are_the_environment_of_its_side_alone() -> None:
    pin = replace(building.pin(), flags=(), variables=(("A", "1"),))
    made = sides(pin, pin, SERVE, None, CHOICES)
    assert made.environment(pinned=True) == {"A": "1"} and made.environment(pinned=False) == {}
    assert made.given(pinned=True) == ("A=1",) and made.started(pinned=True) == SERVE


@pytest.mark.parametrize("word", ["--attention-backend=fa3", "--attention_backend"])
def test_a_command_that_makes_a_sides_choice_is_refused(word: str) -> None:
    with pytest.raises(UsageError, match="CMD sets .* itself"):
        sides(building.pin(), building.pin(), (*SERVE, word), "--attention-backend triton", CHOICES)


def test_the_engines_python_stands_before_its_module_or_in_its_script(tmp_path: Path) -> None:
    before = ("env", "PYTHONPATH=x", "numactl", "-N", "0", "python3.12")
    assert python_of((*before, "-m", "sglang.launch_server"), SGLANG, None) == before
    script = tmp_path / "sglang"
    script.write_text(f"#!{sys.executable}\n")
    script.chmod(0o755)
    assert python_of(("env", "A=b", str(script), "serve", "m"), SGLANG, None) == ("env", "A=b", sys.executable)
    assert python_of(("./start.sh",), SGLANG, "docker exec box python3") == ("docker", "exec", "box", "python3")


def test_the_servers_arguments_are_given_to_the_one_batch_benchmark() -> None:
    assert arguments_of(("python3", "-m", "sglang.launch_server", "--model-path", "m", "--tp", "2"), SGLANG) == (
        "--model-path",
        "m",
        "--tp",
        "2",
    )
    assert arguments_of(("/venv/bin/sglang", "serve", "m", "--tp", "2"), SGLANG) == ("--model-path", "m", "--tp", "2")


def test_starts_of_another_question_are_not_taken_for_this_ones() -> None:
    run = building.run(building.decision())
    sent = traffic_of(run, AskedTraffic(), Bench.SERVING, 1).sent
    one = Question("sglang", sides(building.pin(), building.pin(), SERVE, None, CHOICES), Bench.SERVING, sent, 3)
    assert replace(one, starts=5).digest == one.digest
    others = [
        replace(one, sent=replace(sent, seed=2)),
        replace(one, sides=sides(building.pin(), building.pin(), (*SERVE, "--tp", "2"), None, CHOICES)),
    ]
    assert len({one.digest, *(other.digest for other in others)}) == 3
