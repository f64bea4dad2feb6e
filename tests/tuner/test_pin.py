from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from backends.environment import Distribution
from store.decision import Decision, Ruling
from store.evidence.run_evidence import read_evidence
from store.pins.pin import Requests
from store.pins.pin_files import read_pin, verify_evidence
from store.runs.run import Run
from tests.tuner.building import DECODE, PREFILL, Recipe, arm, build, one_cell_each
from tuner.conclude import write
from tuner.decide import decide
from tuner.pin import arms_under, pin_of, valid_for

NAMES = ("torch", "triton", "flashinfer-python", "flashinfer-cubin", "sgl-kernel", "wave")
IMPORTS = (
    *(("torch", "torch"), ("triton", "triton"), ("fa3", "sgl-kernel"), ("wave", "wave")),
    *(("flashinfer", "flashinfer-cubin"), ("flashinfer", "flashinfer-python")),
)
SLOWER = {"fa3": (500.0, 100.0), "flashinfer": (500.0, 50.0), "wave": (900.0, 900.0)}


def installed(run: Run) -> Run:
    found = tuple(Distribution(name, "1.0", f"sha256:{name}") for name in NAMES)
    return replace(run, environment=replace(run.environment, distributions=found, imports=IMPORTS))


@pytest.fixture(scope="module")
def run() -> Run:
    return installed(one_cell_each(SLOWER))


@pytest.fixture(scope="module")
def decision(run: Run) -> Decision:
    made = decide(run)
    assert made.ruling is Ruling.SWITCH
    return made


def test_a_pin_rests_on_the_distributions_of_the_picked_and_the_default_arms_and_on_torch_alone(run: Run, decision: Decision) -> None:
    under = {name for name, _, _ in valid_for(run, decision).distributions}
    assert under == {"torch", "triton", "flashinfer-python", "flashinfer-cubin", "sgl-kernel"}
    assert arms_under(decision) == {"fa3/p1", "flashinfer/p1"}


def test_a_pin_that_keeps_the_default_rests_on_every_arm_that_was_ranked_since_its_upgrade_may_make_it_win(run: Run) -> None:
    keep = decide(installed(one_cell_each({"fa3": (500.0, 100.0), "flashinfer": (900.0, 900.0)})))
    assert arms_under(keep) == {"fa3/p1", "flashinfer/p1"} and keep.ruling is Ruling.KEEP
    pin = pin_of(run, keep, ("pin.evidence.jsonl.zst", "00"))
    assert pin.flags == () and pin.unset and "flashinfer-python" in {name for name, _, _ in pin.valid_for.distributions}


def test_a_pin_says_what_the_board_engine_and_model_were(run: Run, decision: Decision) -> None:
    stands = valid_for(run, decision)
    assert (stands.gpu, stands.sm, stands.driver, stands.power_limit_w) == ("NVIDIA H200", 90, "580.95.05", 700.0)
    assert (stands.engine, stands.engine_version, stands.rules_version) == ("sglang", "0.5.16", "0.5.16")
    assert (stands.model, stands.traffic, stands.page_size, stands.tensor_parallel) == ("made_up_8b", "chat", 1, 1)


def test_a_pin_says_in_numbers_what_was_asked(run: Run, decision: Decision) -> None:
    stands = valid_for(run, decision)
    traffic = run.scenario.traffic
    assert stands.requests == Requests(traffic.concurrency, traffic.prompt, traffic.output, traffic.cached_share)
    always = (("decide.objective", "throughput"), ("model.context_length", "131072"), ("model.dtype", "bfloat16"))
    assert stands.settings == always
    engine = replace(run.scenario.engine, context_length=4096, features=("radix_cache", "deterministic"))
    asked = valid_for(replace(run, scenario=replace(run.scenario, engine=engine)), decision).settings
    assert set(asked) - set(always) == {("engine.context_length", "4096"), ("engine.features", "[radix_cache,deterministic]")}


def test_where_the_engine_was_not_installed_the_pin_names_none_but_the_rules_that_were_applied(run: Run, decision: Decision) -> None:
    stands = valid_for(replace(run, engine_version=None), decision)
    assert (stands.engine_version, stands.rules_version) == (None, "0.5.16")


def test_the_page_size_is_the_picks() -> None:
    default, paged = arm("fa3"), arm("triton", page_size=64)
    times = {(default.name, PREFILL): 500.0, (default.name, DECODE): 100.0, (paged.name, PREFILL): 400.0, (paged.name, DECODE): 50.0}
    decided = build(Recipe((default, paged), times))
    assert valid_for(decided, decide(decided)).page_size == 64


def test_an_incomplete_run_has_no_pin() -> None:
    run = one_cell_each({"flashinfer": (500.0, 50.0)})
    with pytest.raises(ValueError, match="incomplete; it has no pin"):
        pin_of(run, decide(run), ("", ""))


def test_what_is_written_reads_back_with_its_evidence_and_names_no_place(run: Run, decision: Decision, tmp_path: Path) -> None:
    engine = replace(run.scenario.engine, command=("ssh", "anna@gpu07", "/opt/venv/bin/python3"), path=("/home/anna/sglang",))
    there = replace(
        run, scenario=replace(run.scenario, engine=engine), decision=decision, command="attnpin tune store.url=sqlite:////srv/a.db"
    )
    path = tmp_path / "pins" / "pin.yaml"
    pin = write(there, decision, path)
    assert read_pin(path) == pin and sorted(pin.flags) == sorted(decision.flags)
    again = read_evidence(verify_evidence(path, pin))
    assert decide(again).pick == decision.pick and again.decision == decision
    texts = path.read_text(), path.with_suffix(".md").read_text(), repr(again)
    assert not any(word in text for text in texts for word in ("anna", "gpu07", "/opt", "/home", "/srv", str(tmp_path)))
