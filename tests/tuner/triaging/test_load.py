"""The work of a server out of the lines of its scheduler."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.serving.triaged import Load
from tests.tuner.triaging.serving import PREFILL, RETRACTED, decode, printed, start
from tests.tuner.verifying.pinned import raw
from tuner.engines.lookup import paced_by, steps_printed_by
from tuner.logs.lines import Line, lines
from tuner.logs.steps import Decoded, Prefill, Retracted
from tuner.triaging.load import load_of
from tuner.triaging.watch import MOST_BEFORE, RECENT, Entry, Thinned, Watch

H13 = "Decode batch, #running-req: 33, #token: 20422, token usage: 0.85, cuda graph: True, gen throughput (token/s): 311.50, #queue-req: 0"
VLLM = (
    "Engine 000: Avg prompt throughput: 812.0 tokens/s, Avg generation throughput: 640.0 tokens/s, Running: 32 reqs, Waiting: 5 reqs, "
    "Preemptions: 2, GPU KV cache usage: 97.5%, Prefix cache hit rate: 0.0%"
)


LINE = Line(H13, "server.log line 1", None, None, "")


def load(messages: Sequence[str], engine: str = "sglang") -> Load | None:
    watch = Watch(paced_by(engine).read)
    for _ in watch.seeing(lines(raw(printed(messages)), words=paced_by(engine).WORDS)):
        pass
    return load_of(watch)


def loaded(messages: Sequence[str]) -> Load:
    found = load(messages)
    assert found is not None
    return found


def test_h13_a_decode_line_is_read() -> None:
    assert paced_by("sglang").read(H13) == (Decoded(33, 0, 20422, 0.85, True, 311.5),)


@pytest.mark.parametrize(
    ("line", "decoded"),
    [
        (H13.replace("Decode batch, ", "Decode batch. "), Decoded(33, 0, 20422, 0.85, True, 311.5)),
        (H13.replace("Decode batch,", "Decode batch [120],"), Decoded(33, 0, 20422, 0.85, True, 311.5)),
        (
            "Decode batch, #running-req: 2, #full token: 90, full token usage: 0.31, #swa token: 80, swa token usage: 0.9, "
            "cpu graph: False, gen throughput (token/s): 10.0, #queue-req: 4",
            Decoded(2, 4, 90, 0.31, False, 10.0),
        ),
        ("Decode batch, #running-req: 2", Decoded(2, None, None, None, None, None)),
    ],
    ids=["before 0.5", "counted steps", "two pools", "cut"],
)
def test_lines_of_other_releases_are_read(line: str, decoded: Decoded) -> None:
    assert paced_by("sglang").read(line) == (decoded,)


@pytest.mark.parametrize("odd", ["9..9", ".", "nan", "-1", "1e999", "9" * 5000])
def test_what_only_looks_like_a_number_stops_nothing(odd: str) -> None:
    for field in ("33", "20422", "0.85", "311.50"):
        paced_by("sglang").read(H13.replace(field, odd, 1))
        steps_printed = steps_printed_by("sglang")
        assert steps_printed is not None and steps_printed.printed(lines(raw(H13.replace(field, odd, 1))))
    for field in ("812.0", "640.0", "32", "5 reqs", "97.5"):
        paced_by("vllm").read(VLLM.replace(field, odd, 1))


def test_vllm_tells_in_one_line_what_it_did_since_the_last() -> None:
    assert paced_by("vllm").read(VLLM) == (Prefill(), Retracted(2), Decoded(32, 5, None, 0.975, None, 640.0))


def test_an_idle_vllm_decodes_nothing() -> None:
    assert paced_by("vllm").read(VLLM.replace("Running: 32", "Running: 0").replace("812.0", "0.0")) == (Retracted(2),)


def test_the_last_lines_come_to_medians() -> None:
    found = loaded([*start("fa3"), *(decode(running, token_ms=10.0 + running, queued=running % 2) for running in (8, 9, 10, 11, 12))])
    assert (found.lines, found.batch, found.most, found.tokens_per_request, found.queued, found.waiting_lines) == (5, 10, 12, 2048, 0, 2)
    assert found.token_ms == pytest.approx(20.0, rel=1e-3) and found.last.where == "server.log line 9" and found.pace is None


def test_what_is_shown_speaks_for_most_lines() -> None:
    """The last line may be of the end of the last request, which holds no tokens any more, or of a queue that has just emptied."""
    ended = "Decode batch, #running-req: 1, #token: 0, token usage: 0.00, cuda graph: True, gen throughput (token/s): 80.0, #queue-req: 0"
    found = loaded([*start("fa3"), *[decode(8)] * 6, ended, ended.replace("req: 1", "req: 8"), decode(8, queued=3), ended])
    assert found.last.text == decode(8) and found.tokens_per_request == loaded([*start("fa3"), decode(8)]).tokens_per_request
    assert loaded([*start("fa3"), *[decode(8, queued=3)] * 5, decode(8)]).last.text == decode(8, queued=3)


def test_an_idle_sglang_decodes_nothing() -> None:
    assert load([*start("fa3"), H13.replace("#running-req: 33, #token: 20422", "#running-req: 0, #token: 0")]) is None


def test_only_what_came_since_the_newest_start_is_now() -> None:
    assert load([*start("fa3"), *[decode(8)] * 5, *start("fa3")]) is None
    assert loaded([*start("fa3"), *[decode(8)] * 5, *start("fa3"), decode(64)]).batch == 64


def test_ranks_that_print_for_themselves_are_several_schedulers() -> None:
    text = printed([*start("fa3"), *[decode(8)] * 3]).replace("] Decode", " DP0 TP0] Decode")
    more = text + "\n" + printed([decode(16)] * 3).replace("] Decode", " DP1 TP0] Decode")
    watch = Watch(paced_by("sglang").read)
    for _ in watch.seeing(lines(raw(more))):
        pass
    found = load_of(watch)
    assert found is not None and (found.workers, found.lines) == (2, 6)


def test_decode_is_compared_with_before_the_last_start_at_the_same_batch() -> None:
    before = [*start("fa3"), *[decode(8, 5.0)] * 50, *[decode(60, 40.0)] * 20]
    pace = loaded([*before, *start("fa3"), *[decode(64, 280.0)] * 20]).pace
    assert pace is not None and pace.restarted and pace.batch == (60, 64) and (pace.now_lines, pace.before_lines) == (20, 20)
    assert pace.ratio == pytest.approx(7.0, rel=1e-3)


def test_without_a_restart_decode_is_compared_with_earlier() -> None:
    pace = loaded([*start("fa3"), *[decode(64, 40.0)] * 60, *[decode(64, 60.0)] * RECENT]).pace
    assert pace is not None and not pace.restarted and pace.ratio == pytest.approx(1.5, rel=1e-3)


@pytest.mark.parametrize("other", [decode(8, 5.0), decode(64, 40.0, tokens=64 * 8000)], ids=["batch", "contexts"])
def test_another_batch_and_other_contexts_are_no_comparison(other: str) -> None:
    assert loaded([*start("fa3"), *[other] * 60, *start("fa3"), *[decode(64, 280.0)] * 20]).pace is None


def test_prefills_between_decode_lines_are_told_from_quiet_ones() -> None:
    found = loaded([*start("fa3"), *[PREFILL, PREFILL, decode(16, 40.0), decode(16, 20.0)] * 10])
    assert found.quiet_ms == pytest.approx(20.0, rel=1e-3) and found.busy_ms == pytest.approx(40.0, rel=1e-3)
    assert (found.busy_lines, found.prefills) == (10, 1.0)


def test_a_larger_batch_is_not_taken_for_what_prefills_cost() -> None:
    """While requests come in, they are many; when the last ones end, nothing is prefilled."""
    found = loaded([*start("fa3"), *[PREFILL, decode(64, 11.8)] * 10, *[decode(2, 5.0)] * 30])
    assert (found.busy_lines, found.quiet_ms, found.busy_ms) == (10, None, None)


def test_requests_that_lost_their_place_are_counted_with_the_line() -> None:
    found = loaded([*start("fa3"), decode(16), RETRACTED, decode(16, usage=1.0, queued=3)])
    assert found.retracted == 3 and found.retraction is not None and found.retraction.text == RETRACTED and found.full_lines == 1


def test_steps_outside_graphs_are_counted_by_batch() -> None:
    found = loaded([*start("fa3"), *[decode(80, graph=False)] * 3, decode(8)])
    assert found.outside == ((80, 3),) and found.told == 4


@given(st.integers(0, 40_000))
def test_however_long_a_log_is_what_is_kept_of_it_is_little_and_even(count: int) -> None:
    kept = Thinned()
    for number in range(count):
        kept.add(Entry(Decoded(number, None, None, None, None, None), 0, 0, 0, LINE))
    numbers = [entry.decoded.running for entry in kept.kept]
    assert len(numbers) <= MOST_BEFORE and min(len(numbers), 1) == min(count, 1)
    gaps = {after - before for before, after in zip(numbers, numbers[1:])}
    assert len(gaps) <= 1 and count - (numbers[-1] if numbers else 0) <= 2 * max(gaps, default=1)
