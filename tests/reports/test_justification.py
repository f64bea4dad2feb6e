from __future__ import annotations

from dataclasses import replace

import pytest

from backends.simulated.world import MARK
from reports import justification
from reports.page import clean
from store.decision import Decision
from tests.reports import building
from tests.reports.evidence import strange_numbers, unescaped

FIRST_SCREEN = """\
# SGLang attention: qwen3_8b on NVIDIA H200, chat traffic

- **Decision**: set --decode-attention-backend flashinfer --prefill-attention-backend fa3
- **Instead of**: fa3, what would run without a pin: Hopper with CUDA 12.3 or later takes fa3
- **Predicted effect**: a step (throughput) 1.6 % to 3.1 % faster; TPOT 3.2 % to 5.1 % faster, TTFT unchanged; predicted, not measured; \
not confirmed by a serving run
- **Worst cell**: decode_b64_c2048: 0.912 (0.905 to 0.919) of the default's time
- **Why sure**: attention per 1000 output tokens 73.77 ms against 80.26 ms; ratio 0.919 (0.912 to 0.926), 95 % interval over 4 fresh \
processes; smallest change of it this run could see 0.84 %
- **What it costs**: builds kernels never -> once a machine; workspaces 17.0 MiB -> 392 MiB + 16.0 MiB; first decode call, in its \
probe 250 ms -> 16.2 s; first decode call, later processes 100 ms -> 320 ms
- **Cautions**: exclusivity not verifiable
- **Valid for**: NVIDIA H200, sm 90, driver 580.95.05; SGLang 0.5.16, flashinfer-python 0.6.14, torch 2.11.0+cu130; tensor parallel 1, \
KV cache bfloat16, page size 1; model qwen3_8b, chat traffic: 64 at once, prompts of 1000 tokens (p95 6000), outputs of 250 (p95 800), \
30 % of prompt tokens cached; decide.objective=throughput, engine.context_length=32768
- **Check again when**: one of these changes: attnpin check --pin pin.yaml --fast
- **Made by**: attnpin tune model=qwen3_8b traffic=chat engine.path=PATH engine.command=COMMAND store.url=URL
"""

DECISIONS = [building.decision(), building.kept()]


def rendered(decision: Decision) -> str:
    return unescaped(justification.render(building.pin(decision), building.run(decision)))


def first_screen(text: str) -> str:
    return text.partition("\n<details>")[0]


def test_the_first_screen_answers_a_reviewer() -> None:
    assert first_screen(rendered(building.decision())) == FIRST_SCREEN


def test_a_pin_of_a_simulated_gpu_is_checked_on_what_it_was_made_on() -> None:
    pin, run = building.pin(), building.run(building.decision())
    run = replace(run, command="attnpin tune engine.path=[PATH] gpu=simulated gpu.simulated.seed=3")
    pin = replace(pin, valid_for=replace(pin.valid_for, gpu=f"{MARK}NVIDIA H200"))
    assert dict(justification.first_screen(pin, run))["Check again when"].endswith(
        ": attnpin check --pin pin.yaml --fast gpu=simulated gpu.simulated.seed=3"
    )


@pytest.mark.parametrize("decision", DECISIONS)
def test_the_first_screen_has_at_most_fifteen_lines_whatever_there_is_to_say(decision: Decision) -> None:
    crowded = replace(decision, cautions=tuple(f"caution {index}" for index in range(9)))
    assert len(first_screen(rendered(crowded)).splitlines()) <= 15
    assert "6 more below" in first_screen(rendered(crowded)) and "caution 8" in rendered(crowded)


def test_an_unset_pin_says_why_and_what_the_best_other_pair_would_have_done() -> None:
    screen = first_screen(rendered(building.kept()))
    assert "**Decision**: leave the flags unset (fa3 stays), because with the best arm a step is at most 0.42 % faster" in screen
    assert "**Predicted effect**: with prefill fa3, decode flashinfer it would be: a step" in screen
    assert "What it costs" not in screen


def test_a_switch_without_a_measured_default_says_so() -> None:
    decision = replace(building.decision(), default=None)
    assert "**Instead of**: fa3 (Hopper with CUDA 12.3 or later takes fa3), which was not measured" in first_screen(rendered(decision))


def test_a_faster_pair_that_may_not_be_picked_is_named() -> None:
    decision = building.decision()
    barred = replace(decision.scores[2], objective_ms=60.0, barred="fa4 lacks deterministic inference")
    screen = first_screen(rendered(replace(decision, scores=(*decision.scores[:2], barred))))
    assert "**Given up**: flashinfer, ratio 0.932 (0.925 to 0.939): fa4 lacks deterministic inference" in screen


@pytest.mark.parametrize("decision", DECISIONS)
def test_every_number_is_one_of_the_record(decision: Decision) -> None:
    pin, run = building.pin(decision), building.run(decision)
    assert strange_numbers(justification.render(pin, run), run, pin) == set()


def test_a_number_that_is_not_of_the_record_would_be_found() -> None:
    run = building.run(building.decision())
    assert strange_numbers("faster by 7.77 % on 64 requests", run) == {"7.77"}


def test_eager_and_graph_times_stand_in_tables_of_their_own() -> None:
    sections = rendered(building.decision()).split("<details>")
    graph = next(section for section in sections if "Arms x cells: decode, graph" in section)
    eager = next(section for section in sections if "Arms x cells: decode, eager" in section)
    assert building.NATIVE not in graph and "flashinfer/p1 | 119.7 us | 0.912 (0.905 to 0.919)" in graph
    assert "torch_native/p1 | 5124 us | not ranked" in eager and "Not ranked: the default does not run in this mode." in eager


def test_every_exclusion_stands_with_all_its_reasons() -> None:
    rows = [line for line in rendered(building.decision()).splitlines() if line.startswith("|")]
    for exclusion in building.exclusions():
        for reason in exclusion.reasons:
            parts = (reason.rule, exclusion.backend, reason.asked, reason.allowed, reason.remedy, reason.source)
            assert any(all(clean(part) in row for part in parts) for row in rows), (exclusion.backend, reason.rule)


def test_what_was_said_of_measured_trials_stands_once_an_arm_with_its_cells() -> None:
    run = building.run(building.decision())
    said = tuple(replace(trial, detail="driven with the names of 0.5.16, the nearest") for trial in run.trials[:2])
    text = unescaped(justification.render(building.pin(), replace(run, trials=(*said, *run.trials[2:]))))
    row = f"| fa3/p1 | {building.DECODE}, {building.PREFILL} | driven with the names of 0.5.16, the nearest |"
    assert text.count("the nearest") == 1 and row in text.partition("Said of the trials that gave a time")[2]


def test_a_pin_made_without_the_engine_says_whose_rules_were_applied() -> None:
    pin = building.pin()
    text = justification.render(replace(pin, valid_for=replace(pin.valid_for, engine_version=None)), building.run(building.decision()))
    assert "no SGLang on the worker's path (the rules of 0.5.22 were applied), flashinfer-python 0.6.14" in first_screen(text)


def test_an_early_pin_that_kept_no_more_than_a_name_of_its_traffic_says_that() -> None:
    pin = building.pin()
    early = replace(pin, valid_for=replace(pin.valid_for, requests=None, settings=()))
    text = unescaped(justification.render(early, building.run(building.decision())))
    assert "page size 1; model qwen3_8b, chat traffic\n" in first_screen(text)


def test_every_reason_beside_a_flag_is_repeated() -> None:
    assert building.BECAUSE in rendered(building.decision())
