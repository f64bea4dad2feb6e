"""The requests that both sides are sent: whose lengths they have, which tokens, and what of them a prefix cache will hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.recorded_traffic import RecordedTraffic
from store.runs.run import Run
from tests.reports import building
from tuner.confirming.requests import drawn
from tuner.confirming.rows import rows_given
from tuner.confirming.tokens import Vocabulary, beginnings, ordinary, rows_of
from tuner.confirming.traffic import AskedTraffic, traffic_of
from tuner.engines.benchmarks import Bench, Row
from tuner.errors import UsageError
from tuner.traffic.requests import Requests
from tuner.workload.lengths import mean_tokens

RUN = building.run(building.decision())
CHAT = RUN.scenario.traffic
LIMIT = RUN.scenario.model.context_length
LEVELS = AskedTraffic(concurrency=(1, 16, 64), each=2)


def with_traffic(**changes: object) -> Run:
    return replace(RUN, scenario=replace(RUN.scenario, traffic=replace(CHAT, **changes)))  # type: ignore[arg-type]


def ids(row: Row) -> list[int]:
    return [each for first, count in row[0] for each in range(first, first + count)]


def begin_alike(rows: Sequence[Row]) -> int:
    """The longest beginning that any two have in common."""
    prompts = sorted(ids(row) for row in rows)
    return max(
        next((at for at, (a, b) in enumerate(zip(one, two)) if a != b), min(len(one), len(two))) for one, two in zip(prompts, prompts[1:])
    )


def requests(prompt: Sequence[int], output: Sequence[int], cached: int = 0, shared: int = 0) -> Requests:
    return Requests(None, np.array(prompt), np.array(output), np.full(len(prompt), cached), shared)


def test_the_pins_traffic_is_sent_unless_another_is_wished_for() -> None:
    sent = traffic_of(RUN, AskedTraffic(), Bench.SERVING, 1).sent
    assert sent.concurrency == (CHAT.concurrency,) and sent.requests == (4 * CHAT.concurrency,) and sent.lengths == "chat"
    assert traffic_of(RUN, replace(LEVELS, prompt_tokens=100, output_tokens=10), Bench.SERVING, 1).sent.requests == (4, 32, 128)


def test_lengths_are_those_of_the_distribution_and_not_of_its_mean() -> None:
    found = drawn(CHAT, None, 256, LIMIT, Random(1))
    for lengths, tokens in ((CHAT.prompt, found.prompt), (CHAT.output, found.output)):
        assert np.median(tokens) == pytest.approx(lengths.median_tokens, rel=0.02)
        assert np.percentile(tokens, 95) == pytest.approx(lengths.p95_tokens, rel=0.1)
        assert tokens.mean() == pytest.approx(mean_tokens(lengths, LIMIT), rel=0.03)
    assert abs(np.corrcoef(found.prompt, found.output)[0, 1]) < 0.2


def test_a_wished_mean_keeps_the_shape() -> None:
    usual, short = (traffic_of(RUN, AskedTraffic(output_tokens=tokens), Bench.SERVING, 1) for tokens in (None, 128))
    assert short.sent.output_tokens == pytest.approx(128, rel=0.05) and short.sent.prompt_tokens == usual.sent.prompt_tokens
    longest, own = (max(output for _, output in each.passes[1]) / each.sent.output_tokens for each in (short, usual))
    assert longest == pytest.approx(own, rel=0.02)


def test_every_start_is_sent_the_same_and_another_seed_something_else() -> None:
    one, again, other = (traffic_of(RUN, LEVELS, Bench.SERVING, seed) for seed in (7, 7, 8))
    assert one == again and one.passes != other.passes and one.sent.sha256 != other.sent.sha256


def test_no_two_prompts_begin_alike_but_for_what_all_share() -> None:
    for shared in (0, 200):
        passes = traffic_of(with_traffic(shared_prefix_tokens=shared, cached_share=0.0), LEVELS, Bench.SERVING, 1).passes
        measured = [row for each in passes[1:] for row in each if len(ids(row)) > shared]
        assert begin_alike(measured) == shared


def test_what_the_cache_is_to_hold_is_sent_before_it_is_measured() -> None:
    warm, *levels = traffic_of(RUN, LEVELS, Bench.SERVING, 1).passes
    before = {ids(row)[0]: ids(row) for row in warm}  # no two begin alike
    held = total = 0
    for row in (row for level in levels for row in level):
        prompt, found = ids(row), before[ids(row)[0]]
        assert prompt[: len(found)] == found and len(found) < len(prompt)
        held, total = held + len(found), total + len(prompt)
    assert held / total == pytest.approx(CHAT.cached_share, rel=0.01)
    assert traffic_of(RUN, LEVELS, Bench.SERVING, 1).sent.cached_share == pytest.approx(held / total, abs=1e-4)


def test_where_nothing_is_cached_only_prompts_of_its_own_warm_up() -> None:
    warm, *levels = traffic_of(with_traffic(cached_share=0.0), LEVELS, Bench.SERVING, 1).passes
    assert len(warm) == 64 and max(output for _, output in warm) <= 32
    assert begin_alike([*warm, *levels[0], *levels[1], *levels[2]]) == 0


@given(start=st.integers(0, 10**6), tokens=st.integers(0, 500), first=st.integers(0, 9), count=st.integers(1, 60))
def test_ids_stay_in_the_vocabulary_and_follow_each_other(start: int, tokens: int, first: int, count: int) -> None:
    found = ids((tuple(Vocabulary(first, count).runs(start, tokens)), 1))
    assert found == [first + (start + at) % count for at in range(tokens)]


def test_special_tokens_at_the_ends_of_a_vocabulary_are_not_sent() -> None:
    assert ordinary(100) == Vocabulary(5, 70) and ordinary(1).count == 1


def test_a_small_vocabulary_makes_prompts_too() -> None:
    (rows,) = rows_of((requests([5] * 9, [1] * 9),), Vocabulary(2, 3), 1)
    assert all(len(ids(row)) == 5 and set(ids(row)) <= {2, 3, 4} for row in rows)


def test_a_beginning_is_sent_once() -> None:
    (rows,) = rows_of((requests([50, 60], [4, 4], cached=20, shared=20),), ordinary(1000), 1)
    (only,) = beginnings(rows, [20, 20])
    assert ids(only) == ids(rows[0])[:20] == ids(rows[1])[:20] and only[1] == 1


def test_the_rows_of_a_trace_stay_together(tmp_path: Path) -> None:
    rows = requests(range(100, 1100), [prompt // 2 for prompt in range(100, 1100)], cached=40)
    found = traffic_of(RUN, replace(LEVELS, rows=rows), Bench.SERVING, 3)
    pairs = [(len(ids(row)), row[1]) for level in found.passes[1:] for row in level]
    assert all(output == prompt // 2 for prompt, output in pairs) and found.sent.lengths == "the trace"
    assert found.sent.prompt_tokens == pytest.approx(float(rows.prompt.mean()), rel=0.02)
    longer = traffic_of(RUN, replace(LEVELS, rows=rows, prompt_tokens=1200), Bench.SERVING, 3)
    assert longer.sent.prompt_tokens == pytest.approx(1200, rel=0.02) and longer.sent.cached_share == pytest.approx(
        found.sent.cached_share, rel=0.02
    )


def test_a_trace_is_read_from_the_file_that_is_named(tmp_path: Path) -> None:
    file = tmp_path / "requests.csv"
    file.write_text("n_in,output_tokens\n" + "".join(f"{prompt},{prompt // 4}\n" for prompt in (8, 80, 800)))
    rows = rows_given((f"traffic.path={file}", "traffic.trace.columns.prompt=n_in"))
    assert rows is not None and rows.prompt.tolist() == [8, 80, 800] and rows.output.tolist() == [2, 20, 200]
    assert rows_given(()) is None
    with pytest.raises(UsageError, match="model=x is neither; leave it out"):
        rows_given((f"traffic.path={file}", "model=x"))
    with pytest.raises(UsageError, match="give traffic.path=FILE"):
        rows_given(("traffic.cached_share=0.2",))


def test_a_log_of_steps_is_no_trace_that_could_be_sent(tmp_path: Path) -> None:
    at = "[2026-11-30 08:00:{:02d}] "
    prefill = "Prefill batch, #new-seq: 8, #new-token: 8000, #cached-token: 0, token usage: 0.0, #running-req: 0, #queue-req: 0, "
    decode = "Decode batch, #running-req: 8, #token: 9000, token usage: 0.1, gen throughput (token/s): 800.0, #queue-req: 0, "
    file = tmp_path / "server.log"
    file.write_text("".join(at.format(second) + (decode if second else prefill) + "\n" for second in range(30)))
    with pytest.raises(UsageError, match="tells its steps and no requests"):
        rows_given((f"traffic.path={file}",))


def test_what_is_sent_in_the_place_of_the_pins_trace_is_said() -> None:
    recorded = RecordedTraffic("abc", "rows", 10, 0, (), 1.0, (1.0,), (), ())
    (note,) = traffic_of(with_traffic(recorded=recorded), LEVELS, Bench.SERVING, 1).sent.notes
    assert "give it with traffic.path=FILE" in note
    rows = requests([100, 200], [10, 20])
    (note,) = traffic_of(with_traffic(recorded=recorded), replace(LEVELS, rows=rows), Bench.SERVING, 1).sent.notes
    assert note == "the requests are those of the trace that was given, and the pin was made for chat"
    mine = replace(recorded, sha256=rows.sha256)
    assert not traffic_of(with_traffic(recorded=mine), replace(LEVELS, rows=rows), Bench.SERVING, 1).sent.notes
    assert not traffic_of(RUN, LEVELS, Bench.SERVING, 1).sent.notes


def test_nothing_is_longer_than_the_context_and_means_that_are_are_refused() -> None:
    with pytest.raises(UsageError, match=f"do not fit a context of {LIMIT}"):
        traffic_of(RUN, AskedTraffic(prompt_tokens=LIMIT - 5, output_tokens=10), Bench.SERVING, 1)
    found = traffic_of(RUN, AskedTraffic(prompt_tokens=LIMIT // 2, output_tokens=10), Bench.SERVING, 1)
    assert max(len(ids(row)) + row[1] for each in found.passes for row in each) <= LIMIT


def test_one_batch_has_the_means_and_no_requests() -> None:
    found = traffic_of(RUN, replace(LEVELS, output_tokens=9), Bench.ONE_BATCH, 1)
    assert found.passes == () and found.sent.requests == (1, 16, 64)
    assert (found.sent.prompt_tokens, found.sent.output_tokens) == (round(mean_tokens(CHAT.prompt, LIMIT)), 9)
