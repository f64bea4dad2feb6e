"""Whom a plan and a run ask, with a worker that answers what a test has it answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest

from backends.arm import Arm
from backends.engine_says import EngineSays
from backends.environment import Board, Distribution, Environment
from backends.simulated.world import World
from tests.backends.sglang.asked import made_up
from tuner import cli
from tuner.device.keeper import Keeper
from tuner.device.session import Session
from tuner.errors import UsageError
from tuner.planning import consult
from tuner.planning.consult import consulted_for_plan
from tuner.settings import Settings, compose
from tuner.workers.ahead import imports_of

H200 = Board("cuda", "NVIDIA H200", 90, "GPU-1", 150754820096, 700.0, None, "580.95.05")
CPU = Board("cpu", "a processor", None, None, None, None, None, None, arch="x86_64")
SAYS = EngineSays(failure="a test's word")
GPT_OSS = Path(__file__).parents[1] / "hf" / "configs" / "gpt-oss-20b.json"


@cache
def plain(gpu: str = "h200") -> Settings:
    return compose(["model=qwen3_8b", f"gpu={gpu}"])


def with_engine(settings: Settings, **changes: Any) -> Settings:
    return replace(settings, scenario=replace(settings.scenario, engine=replace(settings.scenario.engine, **changes)))


class Asked:
    """Stands in for a keeper: keeps the questions."""

    def __init__(self) -> None:
        self.questions: list[Mapping[str, Any]] = []
        self.at_once: list[int] = []

    def says(self, engine: str, questions: Sequence[Mapping[str, Any]], limit_s: float) -> tuple[EngineSays, ...]:
        self.limit_s = limit_s
        self.questions += questions
        self.at_once.append(len(questions))
        return (SAYS,) * len(questions)


def environment(board: Board = H200, version: str | None = "0.5.16") -> Environment:
    found = (Distribution("sglang", version, "sha256:made-up"),) if version else ()
    return Environment(board, "3.12.3", "2.11.0", "13.0", None, found, (), None, tuple((each.name, each.name) for each in found))


def ask(settings: Settings, seen: Environment) -> tuple[consult.Consulted | None, list[Mapping[str, Any]]]:
    keeper = Asked()
    return consult.consult(cast(Keeper, keeper), settings, seen), keeper.questions


class Foresees:
    """Stands in for a session: keeps what it is told to expect, and begins it."""

    def __init__(self) -> None:
        self.expected: list[Any] = []
        self.begun: list[Any] = []

    def expect(self, coming: Sequence[Sequence[Any]]) -> None:
        self.expected += coming

    def import_ahead(self) -> None:
        self.begun += self.expected


def test_the_first_process_imports_the_engine_beside_the_question_where_it_is_installed() -> None:
    session, none = Foresees(), Foresees()
    consult.begin_engine(cast(Session, session), plain(), environment())
    consult.begin_engine(cast(Session, none), plain(), environment(version=None))
    assert [[arm.packages for arm in arms] for arms in session.begun] == [[("sglang",)]] and none.begun == []
    fa3 = next(driver for entry in plain().entries if entry.name == "fa3" for driver in entry.drivers if "sglang" in driver.packages)
    measured = Arm("fa3", fa3.provider, fa3.driver, 1, "bfloat16", fa3.packages)
    assert imports_of(session.begun[0]) <= imports_of([measured])


def test_as_many_processes_begin_beside_the_question_as_are_asked_for() -> None:
    session = Foresees()
    consult.begin_engine(cast(Session, session), plain(), environment(), processes=3)
    assert len(session.begun) == 3 and len(set(session.begun)) == 1


def test_the_release_on_the_worker_is_asked_in_its_own_spelling() -> None:
    consulted, (question,) = ask(with_engine(plain("b200"), attn_dp_size=2, tensor_parallel=2), environment())
    assert consulted == consult.Consulted("0.5.16", "NVIDIA B200", SAYS)
    assert "--enable-dp-attention" in question["arguments"]
    assert (question["machine"]["kind"], question["machine"]["sm"]) == ("cuda", 100)


def test_on_the_gpu_it_is_asked_about_nothing_is_simulated() -> None:
    consulted, (question,) = ask(plain(), environment())
    assert consulted == consult.Consulted("0.5.16", None, SAYS)
    assert question["machine"] is None


def test_a_processor_is_simulated_where_the_worker_has_amx_and_the_sheet_has_not() -> None:
    assert ask(plain("cpu_x86"), environment(CPU))[1][0]["machine"] is None
    assert ask(plain("cpu_x86"), environment(replace(CPU, amx=True)))[1][0]["machine"]["kind"] == "cpu"


def test_an_engine_is_waited_for_as_long_as_the_request_says() -> None:
    session = Asked()
    consult.consult(cast(Keeper, session), replace(plain(), ask_limit_s=300.0), environment())
    assert session.limit_s == 300.0 and plain().ask_limit_s == 110.0


def test_all_about_one_kind_of_machine_are_asked_at_once() -> None:
    """One process simulates, and another one looks at its own machine; each answer goes back to who asked."""
    session, unasked = Asked(), replace(plain(), world=cast(World, object()))
    requests = [plain("b200"), plain(), unasked, plain("h100_sxm"), plain()]
    consulted = consult.consult_all(cast(Keeper, session), [(settings, None) for settings in requests], environment())
    assert [None if each is None else each.simulated or "here" for each in consulted] == [
        *("NVIDIA B200", "here", None, plain("h100_sxm").scenario.gpu.name, "here"),
    ]
    assert session.at_once == [2, 2]


def test_where_no_engine_is_nobody_is_asked() -> None:
    consulted, questions = ask(plain(), environment(version=None))
    assert consulted == consult.Consulted(None, None, consult.NOT_FOUND)
    assert questions == []


def test_a_checkpoint_is_put_in_its_own_words(tmp_path: Path) -> None:
    (own := tmp_path / "config.json").write_text(json.dumps(json.loads(GPT_OSS.read_text())["config"]))
    here, elsewhere = (ask(replace(plain(gpu), checkpoint=str(own)), environment())[1][0] for gpu in ("h200", "b200"))
    assert here["files"] == {"model/config.json": json.loads(own.read_text())}
    config = elsewhere["files"]["model/config.json"]
    assert config["model_type"] == "gpt_oss" and "quantization_config" not in config


def test_a_plan_on_a_machine_without_the_engine_starts_no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consult, "find_spec", lambda name: None)
    monkeypatch.setattr(consult, "Keeper", None)
    assert consulted_for_plan(plain()) == (plain(), None)


def test_a_plan_asks_an_engine_that_this_python_could_import(monkeypatch: pytest.MonkeyPatch) -> None:
    def started(*arguments: object, **options: object) -> None:
        raise UsageError("a worker was started")

    monkeypatch.setattr(consult, "find_spec", lambda name: name == "sglang" or None)
    monkeypatch.setattr(consult, "Keeper", started)
    assert consulted_for_plan(plain())[1] == consult.Consulted(None, None, EngineSays(failure="a worker was started"))


@pytest.mark.parametrize("changes", [{"command": ("/nowhere/python3",)}, {"path": ("/nowhere/sglang",)}])
def test_a_plan_whose_worker_cannot_be_had_is_the_rules_with_the_reason(changes: dict[str, Any]) -> None:
    settings = with_engine(plain(), **changes)
    same, consulted = consulted_for_plan(settings)
    assert same == settings
    assert consulted is not None and consulted.version is None and "/nowhere/" in str(consulted.says.failure)


def planned(capsys: pytest.CaptureFixture[str], *overrides: str) -> list[str]:
    assert cli.run(["plan", "model=qwen3_8b", "gpu=h200", *overrides]) == 0
    return [line.strip() for line in capsys.readouterr().out.splitlines()]


def test_a_plan_without_a_worker_says_that_the_rules_answered(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consult, "find_spec", lambda name: None)
    assert "attnpin's rules answered; no SGLang was asked" in planned(capsys)


def test_a_plan_asks_the_engine_on_its_workers_path(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Through a worker, with a small stand-in for SGLang that serves one page a GB of memory."""
    told = planned(capsys, f"engine.path=[{made_up.write(tmp_path, '0.5.22', '0.5.22')[0]}]")
    assert "SGLang 0.5.22 itself was asked (simulated NVIDIA H200): prefill fa3, decode fa3, page size 143, KV dtype bfloat16" in told
    assert "page size: SGLang 143, attnpin's rules 1; SGLang's answer is used" in told
    assert "attnpin's rules, which do not explain this answer, go this way" in told
    assert any(line.split()[:3] == ["fa3", "engine", "143"] for line in told)


def test_a_plan_warns_of_an_engine_that_resolves_somewhere_else(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    told = planned(capsys, f"engine.path=[{made_up.write(tmp_path, 'unknown', '0.9.1')[0]}]")
    warning = "SGLang 0.9.1 could not be asked (it resolves its arguments in a way that attnpin does not know"
    assert sum(line.startswith(warning) for line in told) == 2  # beside the default, and among the notes
    assert "no rules of SGLang 0.9.1 are known; those of 0.5.23, the nearest, were applied" in told
