"""What comes back from an SGLang of either layout, of none, and from one that fails, with small stand-ins for it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from backends.engine_says import EngineSays
from backends.worker.asking import asked
from tests.backends.sglang.asked import made_up

ROOT = Path(__file__).parents[4]
H200 = {"kind": "cuda", "sm": 90, "cuda": [13, 0], "memory_mib": 143000.0, "flashinfer": True, "amx": False, "xmx": True, "arm64": False}
LAYOUTS = pytest.mark.parametrize("layout", ["0.5.16", "0.5.22"])

Ask = Callable[..., tuple[EngineSays, ...]]


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    def put(layout: str, *questions: dict[str, Any], changed: tuple[tuple[str, str], ...] = ()) -> tuple[EngineSays, ...]:
        place, room = tmp_path / f"path-{layout}", tmp_path / f"room-{layout}"
        room.mkdir()
        return asked("sglang", questions, 60.0, room, [*made_up.write(place, layout, "9.9.9", *changed), str(ROOT), *sys.path])

    return put


def question(
    *words: str, machine: dict[str, Any] | None = None, config: dict[str, Any] | None = None, **environment: str
) -> dict[str, Any]:
    arguments = ["--model-path", "./model", "--device", "cuda", *words]
    return {"files": {"model/config.json": config or {}}, "arguments": arguments, "machine": machine, "environment": environment}


def served(says: EngineSays) -> tuple[Any, ...]:
    assert says.resolved is not None, says
    return tuple(says.resolved[name] for name in ("prefill", "decode", "page_size", "kv_dtype"))


@LAYOUTS
def test_the_settings_after_resolution_come_back(ask: Ask, layout: str) -> None:
    plain, split = ask(layout, question(), question("--decode-attention-backend", "flashinfer", "--page-size", "64"))
    assert served(plain) == ("triton", "triton", 1, "auto")
    assert served(split) == ("triton", "flashinfer", 64, "auto")


@LAYOUTS
def test_what_one_question_sets_in_the_environment_is_gone_at_the_next(ask: Ask, layout: str) -> None:
    """Resolving once adds one x to a variable, which makes the page."""
    pages = [served(says)[2] for says in ask(layout, question(), question(RESOLVED="xx"), question())]
    assert pages == [1, 3, 1]


@LAYOUTS
def test_a_machine_is_simulated_for_each_question_apart(ask: Ask, layout: str) -> None:
    b200 = {**H200, "sm": 100, "memory_mib": 183000.0}
    first, second = ask(layout, question(machine=H200), question(machine=b200))
    assert served(first) == ("fa3", "fa3", 143, "auto") and served(second) == ("trtllm_mha", "trtllm_mha", 183, "auto")


def test_a_name_that_the_parser_does_not_take_is_a_refusal_in_its_words(ask: Ask) -> None:
    (says,) = ask("0.5.22", question("--attention-backend", "fa5"))
    assert says.raised is not None and says.raised.kind == "argparse"
    assert "invalid choice: 'fa5'" in says.raised.text


def test_what_sglang_raises_is_a_refusal_with_its_place(ask: Ask) -> None:
    value, bare = ask("0.5.22", question(config={"raises": "ValueError"}), question("--page-size", "48"))
    assert value.raised is not None and value.raised.kind == "ValueError" and value.raised.text == "the model is refused"
    assert value.raised.place == "resolve of server_args.py"
    assert bare.raised is not None and bare.raised.kind == "AssertionError"


def test_what_another_library_raises_is_no_refusal(ask: Ask) -> None:
    (says,) = ask("0.5.22", question(config={"raises": "elsewhere"}))
    assert says.failure is not None and says.failure.startswith("JSONDecodeError: Expecting value")


def test_an_option_that_this_release_does_not_know_is_no_refusal(ask: Ask) -> None:
    (says,) = ask("0.5.22", question("--dcp-size", "2"))
    assert says.failure == "it does not know options that a near release has: unrecognized arguments: --dcp-size 2"


@pytest.mark.parametrize("machine", [None, H200])
def test_a_release_that_resolves_somewhere_else_is_not_guessed_at(ask: Ask, machine: dict[str, Any] | None) -> None:
    says = ask("unknown", question(machine=machine), question(machine=machine))
    assert len(says) == 2
    assert all(one.failure and one.failure.startswith("it resolves its arguments in a way that attnpin does not know: ") for one in says)


def test_a_release_whose_settings_have_other_names_is_not_guessed_at(ask: Ask) -> None:
    (says,) = ask("0.5.22", question(), changed=(("self.disable_radix_cache = ", "self.other = "),))
    assert says.failure is not None and "its resolved arguments lack disable_radix_cache" in says.failure


def test_a_release_without_the_probes_is_not_simulated(ask: Ask) -> None:
    (says,) = ask("0.5.22", question(machine=H200), changed=(("def is_hip", "def is_rocm"),))
    assert says.failure is not None and says.failure.endswith("has no is_hip, by which a GPU is simulated")


def test_without_sglang_the_missing_module_is_named(tmp_path: Path) -> None:
    (says,) = asked("sglang", [question()], 60.0, tmp_path, [str(ROOT), *sys.path])
    assert says.failure == "ModuleNotFoundError: No module named 'sglang'"
