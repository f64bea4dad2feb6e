from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from backends.cell import Phase
from tests.tuner.traffic.building import PACE
from tuner.errors import UsageError
from tuner.traffic.read import read_trace
from tuner.traffic.trace import How, Logged, Trace

ARGUMENTS = "[2026-10-18 14:28:30] server_args=ServerArgs(model_path='q', decode_log_interval=20, enable_mixed_chunk=True)"
CAPACITY = "[2026-10-18 14:28:40] max_total_num_tokens=24094, chunked_prefill_size=4096, max_running_requests=2048, context_len=40960"
# as published of a server under load (shared case h13-log-lines), and a prefill in the words of the same version
DECODE = (
    "[2026-10-18 16:11:42] Decode batch, #running-req: 33, #token: 20422, token usage: 0.85, cuda graph: True, "
    "gen throughput (token/s): 311.50, #queue-req: 0"
)
PREFILL = "[2026-10-18 16:11:43] Prefill batch, #new-seq: 1, #new-token: 480, #cached-token: 120, token usage: 0.70, #running-req: 30"
SEVERAL = "[2026-10-18 16:11:44] Prefill batch, #new-seq: 3, #new-token: 1200, #cached-token: 300, token usage: 0.70, #running-req: 30"
LONG = PREFILL.replace("480", "1000").replace("120", "0")


def read(folder: Path, *lines: str, engine: str = "sglang") -> Trace:
    (folder / "server.log").write_text("\n".join(lines) + "\n")
    return read_trace(str(folder / "server.log"), How(), engine)


def logged(trace: Trace) -> Logged:
    assert trace.logged is not None
    return trace.logged


def test_a_line_on_decoding_stands_for_the_steps_between_two_and_keeps_its_tokens(tmp_path: Path) -> None:
    decode, _ = logged(read(tmp_path, ARGUMENTS, CAPACITY, DECODE, PREFILL, LONG)).steps(PACE)
    assert (decode.phase, decode.count.tolist(), decode.batch.tolist(), decode.keys.tolist()) == (Phase.DECODE, [20], [33], [20422])
    shape = decode.shape(0)
    assert len(shape.contexts) == 33 and sum(shape.contexts) == 20422 and min(shape.prompts) >= 1
    assert max(shape.contexts) / min(shape.contexts) == pytest.approx(1000 / 600, rel=0.1)  # as the prompts in the log differ


def test_a_line_on_a_prefill_is_one_step_with_its_prefix(tmp_path: Path) -> None:
    _, prefill = logged(read(tmp_path, DECODE, PREFILL, SEVERAL)).steps(PACE)
    assert (prefill.count.tolist(), prefill.new.tolist(), prefill.keys.tolist()) == ([1, 1], [480, 1200], [600, 1500])
    shape = prefill.shape(1)
    assert (len(shape.new), sum(shape.new), sum(shape.contexts)) == (3, 1200, 1500)
    assert np.allclose(prefill.at_s, [1, 2])


def test_the_log_says_what_bounds_its_server(tmp_path: Path) -> None:
    limits = read(tmp_path, ARGUMENTS, CAPACITY, DECODE).limits
    assert (limits.pool_tokens, limits.chunked_prefill_size, limits.max_running_requests, limits.mixed_chunks) == (24094, 4096, 2048, True)


def test_speculation_makes_more_tokens_a_step(tmp_path: Path) -> None:
    drafted = DECODE.replace("cuda graph", "accept len: 2.50, cuda graph")
    decode, _ = logged(read(tmp_path, drafted)).steps(PACE)
    assert decode.tokens.tolist() == [33 * 2.5] and decode.count.tolist() == [40]


def test_lines_that_say_less_are_counted_and_what_is_missing_is_said(tmp_path: Path) -> None:
    found = read(tmp_path, DECODE, "[2026-10-18 16:11:47] Decode batch, oops")
    assert (found.layout, found.rows, found.bad) == ("SGLang server log", 2, 1)
    text = "\n".join(found.notes)
    assert "lines left out, since they do not say how many requests and tokens a step has: 1" in text
    assert "no prefill is in the log" in text and "the contexts of a batch are taken as equal" in text


def test_a_container_s_log_is_a_log_too(tmp_path: Path) -> None:
    wrapped = '{"log":"' + DECODE + '\\n","stream":"stdout","time":"2026-10-18T16:11:42Z"}'
    decode, _ = logged(read(tmp_path, wrapped)).steps(PACE)
    assert decode.keys.tolist() == [20422]


def test_an_idle_server_s_log_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no line of SGLang on a step with requests; give the log of a server under load"):
        read(tmp_path, ARGUMENTS, CAPACITY)
    with pytest.raises(UsageError, match="holds no line of SGLang"):
        read(tmp_path, DECODE.replace("33", "0").replace("20422", "0"))
