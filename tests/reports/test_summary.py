from __future__ import annotations

import re
from dataclasses import replace

from backends.reason import Reason
from reports import summary
from store.decision import CellResult
from store.scenario import NO_DRIVER, NOT_SELECTED, Exclusion
from tests.reports import building

PATH = "pins/qwen3_8b-chat/pin.yaml"
SWITCH = """\
qwen3_8b on NVIDIA H200, chat traffic: finished

flags     --decode-attention-backend flashinfer --prefill-attention-backend fa3
          --decode-attention-backend: decode attention 0.912 of fa3 (0.905 to 0.919, 4 processes); a step 1.6 % to 3.1 % faster, predicted
default   fa3: Hopper with CUDA 12.3 or later takes fa3
pick      prefill fa3, decode flashinfer
effect    a step (throughput) 1.6 % to 3.1 % faster; TPOT 3.2 % to 5.1 % faster, TTFT unchanged; predicted, not measured; \
not confirmed by a serving run
sure      attention per 1000 output tokens 73.77 ms against 80.26 ms; ratio 0.919 (0.912 to 0.926), 95 % interval over 4 fresh \
processes; smallest change of it this run could see 0.84 %
costs     builds kernels never -> once a machine; workspaces 17.0 MiB -> 392 MiB + 16.0 MiB; first decode call, in its probe 250 ms -> \
16.2 s; first decode call, later processes 100 ms -> 320 ms
caution   exclusivity not verifiable

  cell              mode   arm           one call  ratio to the default
  decode_b64_c2048  graph  flashinfer    119.7 us  0.912 (0.905 to 0.919)
  decode_b64_c2048  graph  fa3           131.2 us  default
  decode_b64_c2048  eager  torch_native  5124 us   not ranked
  prefill_b1_c4096  eager  fa3           256.4 us  default
  prefill_b1_c4096  eager  flashinfer    297.3 us  1.159 (1.152 to 1.166)

left out  backends: 1 by limits, 1 from one phase by limits; trials that failed: 1 crashed
time      180 s: build 98.7 s, timing 61.3 s, imports 20.4 s

pin       pins/qwen3_8b-chat/pin.yaml, pin.md and pin.evidence.jsonl.zst beside it
database  sqlite:///attnpin.db
report    attnpin report --run 7f3a9c store.url=postgresql://bob:***@db.example.net/a
next      attnpin export --pin pins/qwen3_8b-chat/pin.yaml --to sglang
"""


def test_a_switch_ends_with_the_flags_to_paste_and_where_things_lie() -> None:
    assert summary.render(building.run(building.decision()), building.pin(), PATH, "sqlite:///attnpin.db") == SWITCH


def test_what_limits_and_the_user_and_the_tool_leave_out_is_counted_apart() -> None:
    left = [Exclusion(rule, None, (Reason(rule, "asked", "allowed", "remedy", "source"),)) for rule in (NOT_SELECTED, NO_DRIVER)]
    half = Exclusion("fa4", "decode", building.exclusions()[0].reasons)
    undriven = replace(left[1], backend="fa4")
    run = building.run(building.decision())
    text = summary.render(replace(run, exclusions=(*run.exclusions, *left, half, undriven)), None, None)
    assert "backends: 1 by limits, 1 from one phase by limits, 1 by measure.backends, 2 without a driver in attnpin;" in text
    assert "backends: none;" in summary.render(replace(run, exclusions=()), None, None)


def test_an_arm_of_a_backend_with_several_keeps_its_whole_name() -> None:
    run = building.run(building.decision())
    wide = replace(run.arms[0], page_size=64)
    text = summary.render(replace(run, arms=(*run.arms, wide)), building.pin(), PATH)
    assert "pick      prefill fa3/p1, decode flashinfer\n" in text


def test_a_kept_default_says_unset_because_once() -> None:
    text = summary.render(building.run(building.kept()), building.pin(building.kept()), PATH)
    assert "flags     unset, because with the best arm a step is at most 0.42 % faster\n" in text
    assert text.endswith(f"next      attnpin check --pin {PATH} --fast  # after an upgrade\n")
    assert "database" not in text


def test_an_incomplete_run_has_no_pin_and_says_why_and_what_next() -> None:
    text = summary.render(building.run(building.incomplete(), "incomplete"), None, None)
    assert "no pin    incomplete: the default (fa3) was not measured: fa3 on decode_b64_c2048: crashed" in text
    assert "default   fa3 (Hopper with CUDA 12.3 or later takes fa3), which was not measured" in text
    assert "flags" not in text and "pin  " not in text.split("report")[1]
    assert text.endswith(" --without-default  # pins the best of the rest\n") and "next      attnpin tune model=qwen3_8b" in text


def test_without_a_rest_to_pin_the_plan_says_why() -> None:
    run = building.run(building.incomplete(), "incomplete")
    asked = r"next +attnpin plan model=qwen3_8b traffic=chat 'engine.path=\[.*'.* +# says of every backend why it cannot be measured\n"
    for hopeless in (replace(run, rounds=()), replace(run, command=f"{run.command} without_default=true fresh=true")):
        text = summary.render(hopeless, None, None)
        assert re.search(asked, text) and "without" not in text.partition("next  ")[2] and "fresh" not in text.partition("next  ")[2]


def test_no_launcher_is_offered_a_pin_of_a_gpu_that_is_none() -> None:
    pin = building.pin()
    simulated = replace(pin, valid_for=replace(pin.valid_for, gpu="simulated H200"))
    run = replace(building.run(building.decision()), command="attnpin tune gpu=simulated gpu.simulated.seed=2 traffic=rag -cd 'my conf'")
    text = summary.render(run, simulated, PATH, "sqlite:///attnpin.db")
    words = f"--pin {PATH} --fast gpu=simulated gpu.simulated.seed=2 -cd 'my conf'"
    assert text.endswith(f"next      attnpin check {words}  # after an upgrade\n")


def test_a_broken_off_run_can_be_continued() -> None:
    text = summary.render(building.run(None, "running"), None, None)
    assert "decision  none: the run is unfinished" in text and text.endswith("  # goes on with this run\n")


def test_forty_lines_are_enough_for_many_arms_and_cautions() -> None:
    decision = building.decision()
    many = tuple(CellResult(f"arm{index}/p1", building.DECODE, "graph", 100.0 + index, None) for index in range(40))
    crowded = replace(decision, cells=(*decision.cells, *many), cautions=tuple(f"caution {index}" for index in range(9)))
    text = summary.render(building.run(crowded), building.pin(crowded), PATH, "sqlite:///a.db")
    assert len(text.splitlines()) <= 40
    assert "and 33 more: attnpin report --run 7f3a9c" in text


def test_the_password_of_a_database_is_not_printed() -> None:
    text = summary.render(building.run(building.kept()), None, None, "postgresql://bob:secret@db/attnpin")
    assert "secret" not in text and "postgresql://db/attnpin" in text


def test_a_path_with_blanks_can_be_pasted() -> None:
    text = summary.render(building.run(building.decision()), building.pin(), "my pins/pin.yaml")
    assert re.search(r"next +attnpin export --pin 'my pins/pin.yaml' --to sglang", text)
