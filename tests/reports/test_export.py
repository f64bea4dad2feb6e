from __future__ import annotations

from dataclasses import replace

import pytest

from reports.export import export
from reports.launchers.launcher import ExportError
from store.pins.pin import Pin
from tests.reports import building
from tuner.exporting.launchers import load_launchers

LAUNCHERS = load_launchers()
VLLM = [name for name, launcher in LAUNCHERS.items() if launcher.engine == "vllm"]
BARE = ["sglang", "vllm"]  # the two that have no place for a reason


def of_engine(engine: str, version: str) -> Pin:
    pin = building.pin()
    return replace(pin, engine=engine, valid_for=replace(pin.valid_for, engine=engine, engine_version=version))


def pin_for(target: str) -> Pin:
    """One that this launcher takes."""
    if target not in VLLM:
        return building.pin()
    pin = of_engine("vllm", "0.33.0")
    flags, because = (("attention-backend", "flashinfer"),), (("attention-backend", building.BECAUSE),)
    return replace(pin, flags=flags, because=because)


@pytest.mark.parametrize("target", sorted(set(LAUNCHERS) - set(BARE)))
def test_a_pin_of_a_covered_version_goes_out_without_a_warning(target: str) -> None:
    made = export(pin_for(target), LAUNCHERS[target])
    assert "flashinfer" in made.text and made.notes == tuple(filter(None, [LAUNCHERS[target].note]))


@pytest.mark.parametrize("target", sorted(set(LAUNCHERS) - {*BARE, "json"}))
def test_a_form_says_beside_a_flag_why_and_in_which_releases_its_words_were_read(target: str) -> None:
    made = export(pin_for(target), LAUNCHERS[target])
    assert building.BECAUSE in made.text and f"--to {target} was written for" in made.text


@pytest.mark.parametrize("target", BARE)
def test_a_form_without_room_for_a_reason_has_it_said_beside_it(target: str) -> None:
    made, launcher = export(pin_for(target), LAUNCHERS[target]), LAUNCHERS[target]
    (flag,) = [name for name, _ in pin_for(target).because]
    written_for = f"--to {target} was written for {'vLLM' if target in VLLM else 'SGLang'} {launcher.versions} (read in {launcher.read})"
    assert made.notes[:2] == (f"--{flag} flashinfer: {building.BECAUSE}", written_for)


@pytest.mark.parametrize("target", LAUNCHERS)
def test_a_pin_of_another_engine_is_refused(target: str) -> None:
    its, other = ("vLLM", "SGLang") if target in VLLM else ("SGLang", "vLLM")
    pin = pin_for("sglang" if target in VLLM else "vllm")
    with pytest.raises(ExportError, match=f"this pin belongs to {other}, and launcher {target} starts {its}"):
        export(pin, LAUNCHERS[target])


@pytest.mark.parametrize("target", LAUNCHERS)
def test_a_pin_of_a_simulated_gpu_is_refused(target: str) -> None:
    pin = pin_for(target)
    simulated = replace(pin, valid_for=replace(pin.valid_for, gpu="simulated H200"))
    with pytest.raises(ExportError, match="this pin was made on simulated H200, which is no GPU that anything could serve on"):
        export(simulated, LAUNCHERS[target])


@pytest.mark.parametrize("target", [name for name, launcher in LAUNCHERS.items() if launcher.comment and name not in VLLM])
def test_as_a_hint_it_is_commented_out_line_by_line(target: str) -> None:
    made = export(of_engine("vllm", "0.33.0"), LAUNCHERS[target], as_hint=True)
    assert all(line.startswith("# ") for line in made.text.splitlines())
    assert "# a hint, commented out: measured with vLLM 0.33.0\n" in made.text
    assert f"# --decode-attention-backend flashinfer ({building.BECAUSE})\n" in made.text
    assert made.notes[0] == "a hint, commented out: measured with vLLM 0.33.0"


@pytest.mark.parametrize("target", ["vllm-yaml", "compose", "kubernetes"])
def test_of_a_form_that_is_not_read_as_comments_alone_a_hint_says_so(target: str) -> None:
    made = export(of_engine("sglang" if target in VLLM else "vllm", "0.33.0"), LAUNCHERS[target], as_hint=True)
    assert "comments alone" in made.notes[1]


def test_a_form_without_comments_takes_no_hint() -> None:
    with pytest.raises(ExportError, match="json has no comments to put a hint in"):
        export(of_engine("vllm", "0.33.0"), LAUNCHERS["json"], as_hint=True)


def test_constraints_hold_no_flags_and_so_warn_of_no_engine() -> None:
    """As of a pin whose calls were issued without the engine."""
    pin = building.pin()
    made = export(replace(pin, valid_for=replace(pin.valid_for, engine_version=None)), LAUNCHERS["constraints"])
    assert made.notes == (LAUNCHERS["constraints"].note,) and "--to constraints was written for any SGLang; its form read" in made.text


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
    assert made.notes[0] == "this pin sets no flag: the line is empty, since nothing is to be added to the server's command"


def setting(page_size: int, *settings: tuple[str, str]) -> Pin:
    pin = building.pin()
    flags = (*pin.flags, ("page-size", str(page_size)), ("kv-cache-dtype", "fp8_e4m3"))
    return replace(pin, flags=flags, valid_for=replace(pin.valid_for, page_size=page_size, settings=settings))


@pytest.mark.parametrize("target", sorted(set(LAUNCHERS) - set(VLLM)))
def test_who_assumes_another_page_size_has_to_follow(target: str) -> None:
    """f03: 16 was written, a backend made 64 of it, and a router that kept 16 found no prefix."""
    (said,) = [note for note in export(setting(64, ("engine.page_size", "16")), LAUNCHERS[target]).notes if "page size is" in note]
    assert said.startswith("the page size is 64, and not the 16 that was asked for") and "router" in said


def test_the_servers_of_the_other_phase_have_to_follow_too() -> None:
    said = export(setting(64, ("engine.role", "decode")), LAUNCHERS["kubernetes"]).notes
    assert sum("the servers of the other phase" in note for note in said) == 2
    assert not any("other phase" in note for note in export(setting(64), LAUNCHERS["kubernetes"]).notes)


def test_a_pin_without_a_page_size_asks_nobody_to_follow() -> None:
    assert not any("page size is" in note for note in export(building.pin(), LAUNCHERS["sglang-yaml"]).notes)
