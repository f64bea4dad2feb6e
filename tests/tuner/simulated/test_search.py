"""The whole of `attnpin tune search=...` on a simulated GPU whose kernels answer to a knob."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.cell import Phase
from backends.simulated.world import Fault, Misfortune
from store.pins.pin_files import read_pin
from store.search import Fate
from tests.tuner.simulated.telling import Told, pin_in, tuned
from tuner import tune
from tuner.search.screen import Screen

SPLITS, STATIC = "triton_attention_num_kv_splits", "SGLANG_TRITON_DECODE_ATTN_STATIC_KV_SPLITS"
BEST = f"triton/p1,{STATIC}=true,{SPLITS}=16"
WORLD = (
    *(
        "backend=[fa3,triton]",
        "traffic=long_context",
        "measure.processes=2",
        f"search.knobs=[{SPLITS},{STATIC}]",
        "search.steps=5",
        "search.finalists=1",
    ),
    *("gpu.simulated.factor.fa3.decode=2.0", "gpu.simulated.factor.triton.decode=2.0"),
    f"gpu.simulated.knobs=[{{backend: triton, knob: {SPLITS}, value: '16', phase: decode, factor: 0.7}},"
    f"{{backend: triton, knob: {STATIC}, value: 'true', phase: decode, factor: 0.8}}]",
)


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Told:
    return tuned(tmp_path_factory.mktemp("searched"), "search=exhaustive", *WORLD)


def test_the_best_setting_is_pinned_with_its_flag_and_its_variable(searched: Told) -> None:
    assert searched.code == 0, searched.err
    pin = searched.pin
    assert dict(pin.flags)["decode-attention-backend"] == "triton"
    assert dict(pin.flags)["triton-attention-num-kv-splits"] == "16" and pin.variables == ((STATIC, "true"),)
    assert set(dict(pin.because)) == {*dict(pin.flags), STATIC}
    assert read_pin(pin_in(searched.folder)) == pin


def test_the_default_and_the_finalists_alone_are_raced(searched: Told) -> None:
    run = searched.run
    assert run.searched is not None
    finalists = {each.arm for each in run.searched.tried if each.fate is Fate.FINALIST}
    assert {arm.name for arm in run.arms} == finalists | {"fa3/p1"} and BEST in finalists


def test_what_was_pruned_after_how_much_time_is_said_in_summary_and_justification(searched: Told) -> None:
    record = searched.run.searched
    assert record is not None
    pruned = [each for each in record.tried if each.fate is Fate.PRUNED]
    assert pruned and all(each.phase is Phase.DECODE for each in pruned if each.arm != "triton/p1")
    said = f"{len(pruned)} trials pruned after"
    assert said in searched.out and said in pin_in(searched.folder).with_suffix(".md").read_text()


def test_a_split_is_held_against_the_best_single_backend(searched: Told) -> None:
    decision = searched.run.decision
    assert decision is not None and decision.split is not None and decision.split.ratio is not None
    assert decision.split.pair == decision.pick and decision.split.ratio.high < 1
    assert "Pair or single" in pin_in(searched.folder).with_suffix(".md").read_text()


@pytest.fixture
def no_race(monkeypatch: pytest.MonkeyPatch) -> None:
    """The run is begun, and nothing of it measured."""
    monkeypatch.setattr(tune, "work_off", lambda job, run: None)


@pytest.mark.usefixtures("no_race")
def test_settings_that_fail_are_lost_with_their_reason_and_the_search_goes_on(tmp_path: Path) -> None:
    fault = Fault(Misfortune.REFUSED, backend="triton", phase=Phase.DECODE)
    told = tuned(tmp_path, "search=exhaustive", *WORLD, f"search.knobs=[{STATIC}]", faults=[fault])
    record = told.run.searched
    assert record is not None
    failed = [each for each in record.tried if each.fate is Fate.FAILED]
    assert {each.phase for each in failed} == {Phase.DECODE} and all("does not take this decode" in str(each.detail) for each in failed)
    assert "fa3/p1" in {arm.name for arm in told.run.arms}


@pytest.mark.usefixtures("no_race")
def test_of_a_backend_whose_settings_hang_no_more_than_two_are_waited_for(tmp_path: Path) -> None:
    hang = Fault(Misfortune.HANG, backend="triton", phase=Phase.DECODE)
    told = tuned(tmp_path, "search=exhaustive", *WORLD, "patience.timing=1s", faults=[hang])
    record = told.run.searched
    assert record is not None
    failed = [str(each.detail) for each in record.tried if each.fate is Fate.FAILED]
    hung = [detail for detail in failed if detail.startswith("timed out: no word for 1 s")]
    assert len(hung) == 2 < len(failed)
    assert {detail for detail in failed if detail not in hung} == {"not tried: 2 settings of triton timed out in decode"}


@pytest.mark.usefixtures("no_race")
def test_an_interrupted_search_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told, asked = Screen.tried, list[tuple[Phase, str]]()

    def interrupted(screen: Screen, study, attempt, steps: int) -> None:  # type: ignore[no-untyped-def]
        if len(asked) == 3:
            asked.append((study.phase, "interrupted"))
            raise KeyboardInterrupt
        asked.append((study.phase, attempt.setting.arm.name))
        told(screen, study, attempt, steps)

    monkeypatch.setattr(Screen, "tried", interrupted)
    assert tuned(tmp_path, "search=optuna", *WORLD).code == 130
    ended = tuned(tmp_path, "search=optuna", *WORLD)
    tried = [each for each in asked if each[1] != "interrupted"]
    assert len(tried) == len(set(tried))
    record = ended.run.searched
    assert record is not None and {(each.phase, each.arm) for each in record.tried if each.arm != "fa3/p1"} == set(tried)


@pytest.mark.usefixtures("no_race")
def test_where_the_default_fails_nothing_is_searched_and_the_run_says_the_rest(tmp_path: Path) -> None:
    told = tuned(tmp_path, "search=exhaustive", *WORLD, faults=[Fault(Misfortune.REFUSED, backend="fa3")])
    assert "no knob was searched, since the default fails: fa3/p1" in told.err
    assert told.code == 3 and told.run.searched is None
