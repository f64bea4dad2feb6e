"""What an exported pin writes out beside its flags, and what it leaves to the engine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from backends.gpu import Gpu
from store.pins.pin import Pin
from store.pins.pin_files import evidence_path, write_pin
from store.runs.run import Run
from store.verdicts.verdict import Status, Verdict
from tests.reports import building
from tuner import cli, launch
from tuner.engines.lookup import choices_of
from tuner.exporting.companions import companions, completed
from tuner.launching.additions import additions
from tuner.launching.written import written

H200 = building.scenario().gpu
B200 = replace(H200, name="NVIDIA B200", sm=100)


def pinned(measured_at: int, gpu: Gpu = B200, kv_cache_dtype: str = "auto", **flags: str) -> tuple[Pin, Run]:
    """A run and a pin of ``flags``, underscores for dashes, measured at that page size."""
    written = tuple((name.replace("_", "-"), value) for name, value in flags.items())
    run, pin = building.run(replace(building.decision(), flags=written)), building.pin()
    engine = replace(run.scenario.engine, kv_cache_dtype=kv_cache_dtype)
    pin = replace(pin, flags=written, because=(), valid_for=replace(pin.valid_for, page_size=measured_at))
    return pin, replace(run, scenario=replace(run.scenario, gpu=gpu, engine=engine))


def test_a_page_size_that_a_backend_would_set_is_written_out() -> None:
    pin, said = completed(*pinned(64, prefill_attention_backend="flashinfer", decode_attention_backend="trtllm_mha"))
    assert dict(pin.flags)["page-size"] == "64" and said == ()
    assert "measured at page size 64" in dict(pin.because)["page-size"]


@pytest.mark.parametrize("flag", ["attention_backend", "prefill_attention_backend"])
def test_it_is_written_out_whichever_flag_names_the_backend(flag: str) -> None:
    """f02-1, f02-2: the short spelling left the page size alone, and the server broke."""
    pin, _ = completed(*pinned(128, **{flag: "fa4"}))
    assert dict(pin.flags)["page-size"] == "128"


def test_the_engines_own_page_size_is_not_written() -> None:
    pin, said = completed(*pinned(1, H200, attention_backend="flashinfer"))
    assert (pin.flags, said) == ((("attention-backend", "flashinfer"),), ())


def test_what_the_pin_sets_itself_stays_as_it_is() -> None:
    pin, run = pinned(64, attention_backend="trtllm_mha", page_size="64")
    assert completed(pin, run) == (pin, ())


def test_the_kv_dtype_that_was_asked_for_is_written_out_and_what_auto_comes_to_is_not() -> None:
    asked = dict(completed(*pinned(1, H200, "fp8_e4m3", attention_backend="triton"))[0].flags)
    assert asked == {"attention-backend": "triton", "kv-cache-dtype": "fp8_e4m3"}
    assert "kv-cache-dtype" not in dict(completed(*pinned(1, H200, attention_backend="triton"))[0].flags)


def test_a_pin_that_sets_nothing_has_no_companions() -> None:
    pin, run = pinned(64)
    assert completed(pin, run) == (pin, ())


def test_what_the_engine_would_refuse_written_out_is_left_to_it_and_that_is_said() -> None:
    pin, run = pinned(64, prefill_attention_backend="flashinfer", decode_attention_backend="trtllm_mha")
    hybrid = replace(run.scenario.model, architecture="ZayaForCausalLM")
    whole, said = completed(pin, replace(run, scenario=replace(run.scenario, model=hybrid)))
    assert whole.flags == pin.flags
    assert said[0].startswith("--page-size 64 is not written out, the engine comes to it by itself: SGLang 0.5.22 would not start with it")


def test_vllm_calls_it_a_block_size() -> None:
    pin, _ = pinned(64, attention_backend="FLASHINFER")
    assert [flag for flag, *_ in companions(replace(pin, engine="vllm"), 16, "fp8")] == ["block-size", "kv-cache-dtype"]
    assert not list(companions(replace(pin, engine="vllm", valid_for=replace(pin.valid_for, page_size=16)), 16, "auto"))


def test_a_launch_adds_what_an_export_writes_out_and_names_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = {"prefill_attention_backend": "flashinfer", "decode_attention_backend": "trtllm_mha"}
    pin, run = pinned(64, B200, "fp8_e4m3", **flags)
    write_pin(tmp_path / "pin.yaml", pin, "# why\n", run)
    started = list[list[str]]()
    monkeypatch.setattr(launch, "become", lambda command: started.append(list(command)))
    monkeypatch.setattr(launch, "check_fast", lambda path, settings: Verdict(Status.UNCHANGED, (), "nothing changed", 0))
    assert cli.run(["launch", "--pin", str(tmp_path / "pin.yaml"), "--", "sglang", "serve"]) == 0
    assert started[0][-4:] == ["--page-size", "64", "--kv-cache-dtype", "fp8_e4m3"]
    said = capsys.readouterr().err
    assert "--page-size goes with the pin's own flags: measured at page size 64" in said
    assert "--kv-cache-dtype goes with the pin's own flags: measured with a KV cache of" in said


def test_companions_stay_away_from_backends_that_they_were_not_measured_with() -> None:
    sglang = choices_of("sglang")
    pin, _ = completed(*pinned(64, B200, "fp8_e4m3", attention_backend="trtllm_mha"))
    found = additions(pin, written(["--attention-backend", "fa4"], sglang), sglang)
    assert found.words == () and "--kv-cache-dtype fp8_e4m3 is not added: it was measured with the pinned backends" in found.said[-1]


def test_export_writes_it_out_from_the_evidence_and_says_when_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pin, run = pinned(64, prefill_attention_backend="flashinfer", decode_attention_backend="trtllm_mha")
    path = tmp_path / "pin.yaml"
    write_pin(path, pin, "# why\n", run)
    command = ["export", "--pin", str(path), "--to", "sglang"]
    assert cli.run(command) == 0
    said = capsys.readouterr()
    assert said.out.endswith("--page-size 64\n") and "the page size is 64" in said.err and "router" in said.err
    evidence_path(path).unlink()
    assert cli.run(command) == 0
    said = capsys.readouterr()
    assert "--page-size" not in said.out and "without its evidence a pin gives only the flags that it sets itself" in said.err
