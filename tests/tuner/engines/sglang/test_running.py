"""What SGLang printed, understood (logs in tests/tuner/verifying/logs, in the forms of 0.5.16 and 0.5.22)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from store.serving.verified import DECODE, KV_DTYPE, PAGE_SIZE, PREFILL, Found, Start
from tests.tuner.verifying.pinned import log, starts
from tuner.engines.sglang.running import NO_ARGUMENTS, start_of
from tuner.engines.sglang.running_why import SWITCHED, USERS


def one(text: str) -> Start:
    (start,) = starts(text)
    return start


def found(start: Start) -> dict[str, Found]:
    return dict(start.settings)


def values(start: Start) -> tuple[str | None, ...]:
    said = found(start)
    return tuple(said[what].value if what in said else None for what in (PREFILL, DECODE, PAGE_SIZE, KV_DTYPE))


@dataclass(frozen=True)
class Case:
    log: str
    values: tuple[str | None, ...]
    why: str  # of decode, a part of it
    quoted: str | None


@pytest.mark.parametrize(
    "case",
    [
        Case("sglang-0.5.16-default", ("fa3", "fa3", "1", "bfloat16"), "it took its default", "Use fa3 backend by default"),
        Case("sglang-0.5.16-user-triton", ("triton", "triton", "1", "bfloat16"), USERS, None),
        Case("sglang-0.5.22-hybrid", ("fa3", "triton", "1", "bfloat16"), "hybrid", "decode_backend=triton, prefill_backend=fa3"),
        Case("sglang-0.5.22-fp8-switch", ("triton", "triton", "1", "float8_e5m2"), SWITCHED, "FlashAttention3 only supports fp8_e4m3"),
        Case("sglang-0.5.22-page-size", ("trtllm_mha", "trtllm_mha", "64", "bfloat16"), USERS, None),
    ],
    ids=lambda case: case.log,
)
def test_base_and_split_fields_come_together_with_their_likely_cause(case: Case) -> None:
    start = one(log(case.log))
    assert values(start) == case.values and start.ready and not start.missing
    decode = found(start)[DECODE]
    assert case.why in decode.why
    assert (decode.said is None) if case.quoted is None else (decode.said is not None and case.quoted in decode.said.text)


def test_a_page_size_that_sglang_changed_quotes_its_line() -> None:
    said = found(one(log("sglang-0.5.22-page-size")))[PAGE_SIZE].said
    assert said is not None and said.text.startswith("TensorRT-LLM MHA only supports page_size") and said.where == "server.log line 1"


def test_without_the_workers_line_the_fields_are_combined_as_sglang_does() -> None:
    without = "\n".join(line for line in log("sglang-0.5.22-hybrid").splitlines() if "hybrid" not in line)
    start = one(without)
    assert values(start)[:2] == ("fa3", "triton")
    assert "goes before the base" in found(start)[DECODE].why


def test_workers_that_differ_are_all_named() -> None:
    odd = log("sglang-0.5.22-hybrid").replace(
        "TP1] Using hybrid attention backend for decode and prefill: decode_backend=triton",
        "TP1] Using hybrid attention backend for decode and prefill: decode_backend=fa3",
    )
    assert found(one(odd))[DECODE].value == "triton (TP0), fa3 (TP1)"


@pytest.mark.parametrize(("shown", "name"), [("nsa", "dsa"), ("compressed", "dsv4")])
def test_an_alias_is_the_backend_that_it_stands_for(shown: str, name: str) -> None:
    assert values(one(log("sglang-0.5.16-user-triton").replace("'triton'", f"'{shown}'")))[:2] == (name, name)


def test_a_server_of_one_phase_says_only_that_phase() -> None:
    decode = log("sglang-0.5.16-user-triton").replace("disaggregation_mode='null'", "disaggregation_mode='decode'")
    assert set(found(one(decode))) == {DECODE, PAGE_SIZE, KV_DTYPE}


def test_arguments_that_were_rotated_away_are_missed_by_name() -> None:
    later = "\n".join(line for line in log("sglang-0.5.16-default").splitlines() if "server_args=" not in line)
    assert one(later).missing == (NO_ARGUMENTS,)


def test_arguments_that_are_cut_are_read_as_far_as_they_go() -> None:
    text = log("sglang-0.5.22-hybrid")
    cut = text[: text.index("cuda_graph_config")]
    assert values(one(cut)) == ("fa3", "triton", "1", None)


def test_captured_sizes_and_steps_outside_graphs_are_counted() -> None:
    graphs = one(log("sglang-0.5.16-default")).graphs
    assert (graphs.on, graphs.sizes, graphs.sizes_by_arguments) == (True, (1, 2, 4, 8, 12, 16), False)
    assert (graphs.steps, graphs.outside) == (4, 1)  # a prefill's line does not count


def test_0_5_22_names_the_captured_sizes_at_the_end() -> None:
    graphs = one(log("sglang-0.5.22-hybrid")).graphs
    assert graphs.on and graphs.sizes == (1, 2, 4, 8, 12, 16) and not graphs.sizes_by_arguments


def test_graphs_of_a_draft_are_not_those_of_the_model() -> None:
    draft = (
        log("sglang-0.5.16-no-graphs")
        + "[2026-11-30 08:01:00] Capture draft decode CUDA graph begin. backend=full, bs=[1], avail mem=1 GB\n"
    )
    assert one(draft).graphs.on is False


def test_h13_a_line_of_another_version_is_read() -> None:
    lines = (
        "[2026-10-18 14:28:40] KV Cache is allocated. dtype: torch.bfloat16, #tokens: 24094, K size: 1.65 GB, V size: 1.65 GB\n"
        "[2026-10-18 16:11:42] Decode batch, #running-req: 33, #token: 20422, token usage: 0.85, cuda graph: True, "
        "gen throughput (token/s): 311.50, #queue-req: 0\n"
    )
    start = one(lines)
    assert found(start)[KV_DTYPE].value == "bfloat16" and (start.graphs.steps, start.graphs.outside) == (1, 0) and start.graphs.on


def test_a_line_that_another_broke_into_tells_no_half_a_word() -> None:
    torn = "[2026-10-18 14:28:40] KV Cache is allocated. dtype: torch.b[2026-10-18 14:28:40] Decode batch, #running-req: 1\n"
    assert KV_DTYPE not in found(one(torn))


def test_h15_mlx_runs_its_own_attention() -> None:
    assert one(log("sglang-0.5.22-mlx")).foreign == "server args say torch_native; MLX runs its own attention"


def test_h15_a_server_that_answers_so_is_not_told_either() -> None:
    start = start_of({**INFO, "attention_backend": "torch_native", "device": "mps"}, "/server_info")
    assert start is not None and start.foreign is not None


def test_verify_passes_are_attributed_to_the_side_that_runs_them() -> None:
    drafted = log("sglang-0.5.22-hybrid").replace("'speculative_algorithm': None", "'speculative_algorithm': 'EAGLE'")
    assert one(drafted).notes == ("verify passes run on the prefill side, fa3 (--speculative-attention-mode prefill)",)


INFO = {
    "attention_backend": "fa3",
    "prefill_attention_backend": None,
    "decode_attention_backend": "triton",
    "page_size": 1,
    "kv_cache_dtype": "fp8_e4m3",
    "device": "cuda",
    "cuda_graph_config": {"decode": {"backend": "full", "bs": [1, 2]}, "prefill": {"backend": "disabled"}},
    "version": "0.5.22",
}


def test_the_answer_of_server_info_is_read_like_a_log() -> None:
    start = start_of(INFO, "/server_info")
    assert start is not None and values(start) == ("fa3", "triton", "1", "float8_e4m3fn")
    assert start.graphs.on and start.graphs.sizes == (1, 2) and start.graphs.sizes_by_arguments and start.version == "0.5.22"


@pytest.mark.parametrize(
    ("command", "says"),
    [("sglang serve --attention-backend triton --api-key k", "names an attention backend"), ("sglang serve", "names no attention backend")],
)
def test_the_command_that_server_info_shows_tells_whose_choice_it_was(command: str, says: str) -> None:
    start = start_of({**INFO, "decode_attention_backend": None, "launch_command": command}, "/server_info")
    assert start is not None and says in found(start)[DECODE].why and "--api-key" not in found(start)[DECODE].why


def test_the_answer_of_something_else_is_none() -> None:
    assert start_of({"status": "ok"}, "/server_info") is None


def test_a_start_that_breaks_off_keeps_its_lines_from_the_next() -> None:
    """And what another start resolves before it prints its arguments says nothing of the one before."""
    default = log("sglang-0.5.16-default")
    broken = log("sglang-0.5.22-fp8-switch").splitlines()[:2]
    first, second = starts("\n".join([*broken, *default.splitlines(), broken[0]]))
    assert found(first)[DECODE].why == SWITCHED and not first.ready
    assert values(second)[:2] == ("fa3", "fa3") and "took its default" in found(second)[DECODE].why


def test_a_second_start_begins_with_what_is_resolved_before_its_arguments() -> None:
    first, second = starts(log("sglang-0.5.16-user-triton") + log("sglang-0.5.16-default"))
    assert values(first)[:2] == ("triton", "triton") and values(second)[:2] == ("fa3", "fa3")
    assert replace(second, source="").graphs.steps == 4 and first.graphs.steps == 1
