from __future__ import annotations

from dataclasses import replace

import pytest

from reports.export import export
from reports.launchers.launcher import ExportError
from store.pin import Pin
from tests.reports import building
from tuner.launchers import load_launchers

LAUNCHERS = load_launchers()


def of_engine(engine: str, version: str) -> Pin:
    pin = building.pin()
    return replace(pin, engine=engine, valid_for=replace(pin.valid_for, engine=engine, engine_version=version))


@pytest.mark.parametrize("target", LAUNCHERS)
def test_a_pin_of_a_covered_version_goes_out_without_a_warning(target: str) -> None:
    made = export(building.pin(), LAUNCHERS[target])
    assert "flashinfer" in made.text and made.notes == tuple(filter(None, [LAUNCHERS[target].note]))


@pytest.mark.parametrize("target", LAUNCHERS)
def test_a_pin_of_another_engine_is_refused(target: str) -> None:
    with pytest.raises(ExportError, match=f"this pin belongs to vLLM, and launcher {target} starts SGLang"):
        export(of_engine("vllm", "0.33.0"), LAUNCHERS[target])


@pytest.mark.parametrize("target", LAUNCHERS)
def test_a_pin_of_a_simulated_gpu_is_refused(target: str) -> None:
    pin = building.pin()
    simulated = replace(pin, valid_for=replace(pin.valid_for, gpu="simulated H200"))
    with pytest.raises(ExportError, match="this pin was made on simulated H200, which is no GPU that anything could serve on"):
        export(simulated, LAUNCHERS[target])


@pytest.mark.parametrize("target", ["sglang", "sglang-yaml", "env"])
def test_as_a_hint_it_is_commented_out_line_by_line(target: str) -> None:
    made = export(of_engine("vllm", "0.33.0"), LAUNCHERS[target], as_hint=True)
    assert all(line.startswith("# ") for line in made.text.splitlines())
    assert "# a hint, commented out: measured with vLLM 0.33.0\n" in made.text
    assert f"# --decode-attention-backend flashinfer ({building.BECAUSE})\n" in made.text
    assert made.notes == ("a hint, commented out: measured with vLLM 0.33.0",)


def test_a_form_without_comments_takes_no_hint() -> None:
    with pytest.raises(ExportError, match="json has no comments to put a hint in"):
        export(of_engine("vllm", "0.33.0"), LAUNCHERS["json"], as_hint=True)


@pytest.mark.parametrize("version", ["0.5.15", "0.6.0", "0.7", "a fork"])
def test_a_version_outside_the_launchers_range_is_a_warning(version: str) -> None:
    made = export(of_engine("sglang", version), LAUNCHERS["sglang"])
    assert made.text.startswith("--decode-attention-backend flashinfer")
    assert made.notes[-1].startswith(f"launcher sglang was written for SGLang >=0.5.16,<0.6, this pin was made with SGLang {version}")


def test_a_pin_made_without_the_engine_says_whose_rules_were_applied() -> None:
    pin = building.pin()
    made = export(replace(pin, valid_for=replace(pin.valid_for, engine_version=None)), LAUNCHERS["env"])
    said = "no SGLang on the worker's path (the rules of 0.5.22 were applied)"
    assert f"this pin was made with {said}: see whether yours has its flags" in made.notes[-1]
    assert said in made.text and "None" not in made.text


@pytest.mark.parametrize("version", ["0.5.16", "0.5.22", "0.5.22.post1", "0.5.23rc1", "0.5.22+local"])
def test_patch_and_pre_releases_of_a_covered_version_are_covered(version: str) -> None:
    assert export(of_engine("sglang", version), LAUNCHERS["env"]).notes == (LAUNCHERS["env"].note,)


def test_a_pin_that_sets_nothing_says_why_beside_the_empty_payload() -> None:
    made = export(building.pin(building.kept()), LAUNCHERS["sglang"])
    assert (made.text, made.notes[-1]) == ("\n", "unset, because with the best arm a step is at most 0.42 % faster")
