"""What a server says, held against what was pinned."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reports.verified import render_text
from store.serving.verified import DECODE, GRAPHS, PAGE_SIZE, Standing, Verified
from store.verdicts.verdict import Served
from tests.tuner.verifying.pinned import log, pinned, pinned_for_vllm, raw, starts
from tuner.engines.lookup import spoken_by
from tuner.logs.lines import lines
from tuner.verifying.judge import NOT_COMPARABLE, NOT_SAID, judged


def verdict(*names: str) -> Verified:
    """On the pin that sets nothing (fa3), of logs one after another."""
    return judged(starts("".join(map(log, names))), pinned())


@pytest.mark.parametrize(
    ("name", "standing", "code"),
    [
        ("sglang-0.5.16-default", Standing.AS_PINNED, 0),
        ("sglang-0.5.16-user-triton", Standing.DIFFERENT, 1),
        ("sglang-0.5.16-no-graphs", Standing.DIFFERENT, 1),
        ("sglang-0.5.22-hybrid", Standing.DIFFERENT, 1),
        ("sglang-0.5.22-fp8-switch", Standing.DIFFERENT, 1),
        ("sglang-0.5.22-page-size", Standing.DIFFERENT, 1),
        ("sglang-0.5.22-mlx", Standing.UNKNOWN, 3),
    ],
)
def test_each_log_has_its_verdict(name: str, standing: Standing, code: int) -> None:
    found = verdict(name)
    assert (found.standing, found.exit_code) == (standing, code)


def test_a_difference_says_since_when_and_that_it_was_as_pinned_before() -> None:
    user = "sglang-0.5.16-user-triton"
    (first, *_) = verdict("sglang-0.5.16-default", user, user).servers[0].differences
    assert (first.found, first.pinned, first.before) == ("triton", "fa3", True)
    begins = len(log("sglang-0.5.16-default").splitlines()) + 1
    assert first.since is not None and first.since.where == f"server.log line {begins}" and first.since.at is not None


def test_what_an_earlier_start_served_does_not_count() -> None:
    found = verdict("sglang-0.5.16-user-triton", "sglang-0.5.16-default")
    assert found.standing is Standing.AS_PINNED and found.servers[0].starts == 2
    assert "the newest of 2 starts" in render_text(found)


def test_servers_that_share_a_log_are_judged_each_and_the_worst_counts() -> None:
    one = [f"[pod/a/server] {line}" for line in log("sglang-0.5.16-default").splitlines()]
    other = [f"[pod/b/server] {line}" for line in log("sglang-0.5.16-user-triton").splitlines()]
    mixed = "\n".join(line for pair in zip(one, [*other, *[""] * len(one)]) for line in pair)
    found = judged(spoken_by("sglang").starts(lines(raw(mixed))), pinned())
    assert [each.standing for each in found.servers] == [Standing.AS_PINNED, Standing.DIFFERENT]
    assert found.exit_code == 1 and found.sentence.endswith("(1 of 2 servers)") and "pod/" not in render_text(found)


def test_h14_a_server_without_graphs_is_not_comparable_and_attention_is_not_blamed() -> None:
    (difference,) = verdict("sglang-0.5.16-no-graphs").servers[0].differences
    assert difference.what == GRAPHS and NOT_COMPARABLE in difference.cause
    (eager,) = judged(starts(log("vllm-0.33.0-eager"), "vllm"), pinned_for_vllm("FLASH_ATTN")).servers[0].differences
    assert eager.what == GRAPHS and eager.cause == f"--enforce-eager is set: {NOT_COMPARABLE}"


def test_two_servers_in_different_graph_modes_are_not_comparable() -> None:
    logs = ("sglang-0.5.16-default", "sglang-0.5.16-no-graphs")
    both = [start for name in logs for start in spoken_by("sglang").starts(lines(raw(log(name)), name))]
    assert any(NOT_COMPARABLE in note for note in judged(both, pinned()).notes)


def test_h15_what_ran_under_mlx_is_not_to_be_told() -> None:
    found = verdict("sglang-0.5.22-mlx")
    assert found.sentence == "server args say torch_native; MLX runs its own attention" and not found.servers[0].differences


CHANGED = "only supports page_size of {of}, changing page_size from {before} to {after}."


@pytest.mark.parametrize(
    ("backend", "line", "before", "after"),
    [
        pytest.param("trtllm_mla", f"TensorRT-LLM MLA {CHANGED.format(of='32 or 64', before=16, after=64)}", 16, 64, id="f03"),
        pytest.param("trtllm_mha", f"TensorRT-LLM MHA {CHANGED.format(of='16, 32 or 64', before=1, after=64)}", 1, 64, id="f04-1"),
        pytest.param("cutlass_mla", "Cutlass MLA only supports a page_size of 128, change page_size to 128.", 1, 128, id="f04-2"),
        pytest.param("flashmla", "FlashMLA only supports a page_size of 64, change page_size to 64.", 1, 64, id="f04-3"),
        pytest.param(
            "fa4",
            "FA4 backend only supports page size 128 for non-MLA model architectures, changing page_size from 1 to 128.",
            *(1, 128),
            id="f04-4",
        ),
    ],
)
def test_a_page_size_that_the_engine_replaced_is_a_difference_with_its_line(backend: str, line: str, before: int, after: int) -> None:
    arguments = log("sglang-0.5.16-user-triton").replace("'triton'", f"'{backend}'").replace("page_size=1,", f"page_size={after},")
    served = Served(backend, backend, before, "bfloat16")
    (difference,) = judged(starts(f"[2026-11-30 08:00:00] {line}\n{arguments}"), replace(pinned(), served=served)).servers[0].differences
    assert (difference.what, difference.found, difference.pinned) == (PAGE_SIZE, str(after), str(before))
    assert difference.cause == "SGLang changed it by itself" and difference.said is not None and difference.said.text == line


def test_f06_a_drafts_backend_sets_the_page_size_of_the_whole_server() -> None:
    drafted = log("sglang-0.5.22-page-size").replace("'trtllm_mha'", "'triton'")
    drafted = drafted.replace(
        "'speculative_algorithm': None", "'speculative_algorithm': 'EAGLE', 'speculative_draft_attention_backend': 'trtllm_mha'"
    )
    found = judged(starts(drafted), replace(pinned(), served=Served("triton", "triton", 1, "bfloat16")))
    assert [difference.what for difference in found.servers[0].differences] == [PAGE_SIZE]
    assert "the draft runs trtllm_mha; a page size that it needs" in render_text(found)


def test_b12_2_what_ran_counts_and_not_what_was_asked_for() -> None:
    found = verdict("sglang-0.5.22-fp8-switch")
    assert "triton instead of fa3" in found.sentence
    said = found.servers[0].differences[0].said
    assert said is not None and said.text == "FlashAttention3 only supports fp8_e4m3 if using FP8; Setting attention backend to triton."


def test_a_pair_is_compared_side_by_side() -> None:
    hybrid = log("sglang-0.5.22-hybrid")
    (difference,) = judged(starts(hybrid), pinned(unset=False)).servers[0].differences
    assert (difference.what, difference.found, difference.pinned) == (DECODE, "triton", "flashinfer")
    taken = judged(starts(hybrid.replace("triton", "flashinfer")), pinned(unset=False))
    assert taken.standing is Standing.AS_PINNED and "prefill fa3, decode flashinfer" in taken.sentence


def test_flags_that_the_server_never_read_are_named_as_the_cause() -> None:
    """As with --config=FILE, which SGLang passes over: the log shows the default's line."""
    (difference,) = judged(starts(log("sglang-0.5.16-default")), pinned(unset=False)).servers[0].differences
    assert difference.cause.startswith("no flag named a backend that SGLang read")
    assert difference.said is not None and difference.said.text == "Attention backend not specified. Use fa3 backend by default."


def test_a_worker_alone_leaves_open_what_only_the_arguments_say() -> None:
    workers = "\n".join(line for line in log("sglang-0.5.22-hybrid").splitlines() if " TP1]" in line)
    found = judged(starts(workers.replace("triton", "flashinfer")), pinned(unset=False))
    assert found.exit_code == 3 and "no server_args= line" in found.sentence


def test_a_kv_dtype_that_nothing_tells_is_said_and_decides_nothing() -> None:
    without = "\n".join(line for line in log("sglang-0.5.16-default").splitlines() if "KV Cache" not in line)
    found = judged(starts(without), pinned())
    assert found.standing is Standing.AS_PINNED and NOT_SAID in found.notes


@pytest.mark.parametrize(
    ("name", "backend", "block_size", "standing"),
    [
        ("vllm-0.33.0-flash-attn", "FLASH_ATTN", 16, Standing.AS_PINNED),
        ("vllm-0.33.0-flashinfer-xqa", "FLASHINFER", 64, Standing.AS_PINNED),
        ("vllm-0.33.0-flashinfer-xqa", "FLASHINFER", 16, Standing.DIFFERENT),
        ("vllm-0.33.0-precluded", "FLASH_ATTN", 24, Standing.DIFFERENT),
    ],
)
def test_vllm_is_judged_alike(name: str, backend: str, block_size: int, standing: Standing) -> None:
    assert judged(starts(log(name), "vllm"), pinned_for_vllm(backend, block_size)).standing is standing
