from __future__ import annotations

import json
from typing import Any

import pytest

from tests.tuner.traffic.building import json_lines, traced
from tuner.errors import UsageError
from tuner.traffic.trace import Trace

RESULT: dict[str, Any] = {
    "request_rate": float("inf"),
    "max_concurrency": 16,
    "request_throughput": 4.2,
    "mean_ttft_ms": 90.1,
    "completed": 3,
}
DETAILS = {"input_lens": [512, 600, 700], "output_lens": [128, 0, 64]}


def lengths(found: Trace) -> tuple[list[int], list[int]]:
    assert found.requests is not None
    return found.requests.prompt.tolist(), found.requests.output.tolist()


def test_a_result_with_details_is_the_requests_it_sent_as_many_callers_at_once_as_it_had() -> None:
    found = traced(json_lines({**RESULT, **DETAILS}))
    assert lengths(found) == ([512, 700], [128, 64]) and found.at_once == 16
    assert (found.layout, found.rows, found.bad) == ("benchmark result", 3, 1)


def test_a_pretty_printed_result_is_the_same() -> None:
    assert lengths(traced(json.dumps({**RESULT, **DETAILS}, indent=1).encode())) == ([512, 700], [128, 64])


def test_of_several_results_in_a_file_the_last_counts() -> None:
    assert lengths(traced(json_lines({**RESULT, **DETAILS}, {**RESULT, "input_lens": [9], "output_lens": [8]}))) == ([9], [8])


def test_requests_that_were_sent_at_a_rate_are_drawn_at_it() -> None:
    found = traced(json_lines({**RESULT, "request_rate": 2.0, **DETAILS}))
    assert found.at_once is None and found.requests is not None and found.requests.arrival_s is not None
    assert any("2 a second on average" in note for note in found.notes)


def test_start_times_are_arrivals() -> None:
    found = traced(json_lines({**RESULT, **DETAILS, "start_times": [100.0, 100.5, 102.0]}))
    assert found.requests is not None and found.requests.arrival_s is not None
    assert found.requests.arrival_s.tolist() == [0.0, 2.0]


def test_a_result_without_details_is_refused_with_the_options_that_give_them() -> None:
    with pytest.raises(UsageError, match=r"--output-details \(SGLang\) or --save-detailed \(vLLM\)"):
        traced(json_lines({**RESULT, "total_input_tokens": 1812}))
