from __future__ import annotations

import io
import resource
from collections.abc import Iterator
from typing import BinaryIO, cast

import numpy as np
import pytest

from tests.tuner.traffic.building import json_lines, traced
from tuner.errors import UsageError
from tuner.traffic.columns import Columns
from tuner.traffic.gather import gather
from tuner.traffic.requests import Requests
from tuner.traffic.rows import rows
from tuner.traffic.trace import How

MOONCAKE = [
    {"timestamp": 0, "input_length": 1000, "output_length": 50, "hash_ids": [0, 1]},
    {"timestamp": 500, "input_length": 1500, "output_length": 60, "hash_ids": [0, 1, 2]},
    {"timestamp": 1500, "input_length": 900, "output_length": 70, "hash_ids": [0, 7]},
]
AZURE = (
    b"TIMESTAMP,ContextTokens,GeneratedTokens\n"
    b"2023-11-16 18:17:03.9799600,4808,10\n2023-11-16 18:17:04.0319600,3180,8\n2023-11-16 18:17:05.9799600,110,27\n"
)


def requests(content: bytes, how: How | None = None) -> Requests:
    found = traced(content, how).requests
    assert found is not None
    return found


def notes(content: bytes, how: How | None = None) -> str:
    return "\n".join(traced(content, how).notes)


def columns(found: Requests) -> tuple[list[int], ...]:
    return found.prompt.tolist(), found.output.tolist(), found.cached.tolist()


def arrivals(found: Requests) -> list[float]:
    assert found.arrival_s is not None
    return [round(float(at), 6) for at in found.arrival_s]


def test_a_mooncake_trace_has_milliseconds_and_finds_prefixes_by_blocks() -> None:
    found = requests(json_lines(*MOONCAKE))
    assert columns(found) == ([1000, 1500, 900], [50, 60, 70], [0, 1024, 512])
    assert arrivals(found) == [0, 0.5, 1.5] and found.shared == 512
    assert traced(json_lines(*MOONCAKE)).layout == "Mooncake" and "as if the cache lost none" in notes(json_lines(*MOONCAKE))


def test_an_azure_trace_has_dates_with_seven_decimals() -> None:
    found = requests(AZURE)
    assert columns(found)[:2] == ([4808, 3180, 110], [10, 8, 27]) and arrivals(found) == [0, 0.052, 2.0]
    assert traced(AZURE).layout == "Azure"


def test_burstgpt_is_known_and_its_failures_are_left_out() -> None:
    table = b"Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,GPT-4,472,18,490,API log\n45,GPT-4,11,0,11,API log\n"
    assert traced(table).layout == "BurstGPT" and columns(requests(table))[0] == [472]
    assert "1 row was left out: no output tokens: a request that failed (row 3)" in notes(table)


@pytest.mark.parametrize(
    "row",
    [
        {"prompt_tokens": 10, "completion_tokens": 5, "cached_tokens": 4},
        {"usage": {"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 4}}},
        {"meta_info": {"prompt_tokens": 10, "completion_tokens": 5, "cached_tokens": 4}},
        {"input_len": "10", "output_len": "5.0", "prefix_tokens": 4},
    ],
)
def test_usual_names_are_known_nested_ones_too(row: dict[str, object]) -> None:
    assert columns(requests(json_lines(row, row))) == ([10, 10], [5, 5], [4, 4])


def test_columns_are_those_that_are_named() -> None:
    how = How(columns=Columns("when", "n_in", "n_out", unit="ms"))
    table = b"when,n_in,n_out,prompt_tokens\n0,10,5,99\n2000,20,6,99\n"
    assert columns(requests(table, how))[:2] == ([10, 20], [5, 6]) and arrivals(requests(table, how)) == [0, 2]


def test_without_a_column_each_prompt_has_the_share_that_was_said() -> None:
    assert columns(requests(AZURE, How(cached_share=0.5)))[2] == [2404, 1590, 55]


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"prompt_tokens": -3, "output_tokens": 5}, "prompt tokens are negative"),
        ({"prompt_tokens": 3, "output_tokens": -5}, "output tokens are negative"),
        ({"prompt_tokens": 3.5, "output_tokens": 5}, "prompt tokens are no whole number"),
        ({"prompt_tokens": "4k", "output_tokens": 5}, "prompt tokens are no number"),
        ({"prompt_tokens": "1,50", "output_tokens": 5}, "prompt tokens are no number"),
        ({"prompt_tokens": float("nan"), "output_tokens": 5}, "prompt tokens are no whole number"),
        ({"prompt_tokens": 10**12, "output_tokens": 5}, "more than 10000000 prompt tokens"),
        ({"prompt_tokens": True, "output_tokens": 5}, "no prompt tokens are given"),
        ({"output_tokens": 5}, "no prompt tokens are given"),
        ({"prompt_tokens": 0, "output_tokens": 5}, "no prompt tokens: a request that failed"),
        ({"prompt_tokens": 5, "output_tokens": 5, "cached_tokens": 6}, "more cached than prompt tokens"),
        ({"prompt_tokens": 5, "output_tokens": 5, "cached_tokens": -6}, "cached tokens are negative"),
    ],
)
def test_a_row_with_a_senseless_length_is_left_out_counted_and_named(row: dict[str, object], why: str) -> None:
    good = {"prompt_tokens": 10, "output_tokens": 5, "cached_tokens": 0}
    found = traced(json_lines(good, row, good, good))
    assert (found.rows, found.bad, len(found.requests or ())) == (4, 1, 3)
    assert found.notes[0] == f"1 row was left out: {why} (row 2)"


def test_large_numbers_may_be_written_with_commas() -> None:
    found = traced(json_lines({"prompt_tokens": "12,345", "output_tokens": "1,000"}, {"prompt_tokens": 10, "output_tokens": 5}))
    assert found.requests is not None and sorted(found.requests.prompt) == [10, 12_345] and sorted(found.requests.output) == [5, 1000]


def test_a_row_without_its_time_is_left_out() -> None:
    assert "its time is no time" in notes(json_lines(*MOONCAKE, {**MOONCAKE[0], "timestamp": "yesterday"}))


def test_the_most_frequent_reason_comes_first_with_its_count_and_its_first_row() -> None:
    table = b"prompt_tokens,output_tokens\n1,0\n5,5\n-1,3\n5,5\n-1,3\n5,5\n5,5\n"
    assert traced(table).notes[0] == "2 rows were left out: prompt tokens are negative (the first is row 4)"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"prompt_tokens,output_tokens\n", "holds no request; check the file and its columns"),
        (b"prompt_tokens,output_tokens\n-1,4\n", "holds no request: 1 row was left out: prompt tokens are negative"),
        (b"prompt_tokens,output_tokens\n-1,4\n-1,4\n5,5\n", "2 of 3 rows of traffic.path=log cannot be used: 2 rows were left out"),
        (
            b"user,cost\n1,2\n",
            r"no column that is known as the tokens .* \(it has user, cost\); name them with traffic.trace.columns.prompt",
        ),
        (
            b"timestamp,prompt_tokens,output_tokens\n1700000000,5,5\n1700000000000,5,5\n",
            r"mixes seconds since 1970 \(row 2\) and milliseconds",
        ),
        (
            b"timestamp,prompt_tokens,output_tokens\n2024-01-01 00:00:00,5,5\n17,5,5\n",
            r"mixes dates \(row 2\) and times from a start \(row 3\)",
        ),
    ],
)
def test_a_file_of_hardly_any_requests_or_of_two_units_is_refused(content: bytes, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        traced(content)


def test_a_row_before_the_others_that_says_something_else_is_left_out() -> None:
    found = traced(json_lines({"format": "Mooncake", "version": 2}, *MOONCAKE))
    assert (found.layout, found.rows, found.bad) == ("Mooncake", 4, 1)
    assert found.notes[0] == "1 row was left out: no tokens of a prompt and of an output (row 1)"


def test_a_name_that_no_row_has_is_refused() -> None:
    with pytest.raises(UsageError, match="traffic.trace.columns.prompt=tokens is not in the first row, which has TIMESTAMP, ContextTokens"):
        traced(AZURE, How(columns=Columns(prompt="tokens")))


def test_a_single_row_is_taken_and_said_to_be_all() -> None:
    found = traced(b"prompt_tokens,output_tokens\n100,20\n")
    assert len(found.requests or ()) == 1 and "one request is all there is: the cells are those of that request alone" in found.notes


def test_a_clock_that_goes_backwards_is_sorted_and_said() -> None:
    table = b"arrival_s,prompt_tokens,output_tokens\n0,1,1\n9,2,1\n4,3,1\n12,4,1\n"
    assert columns(requests(table))[0] == [1, 3, 2, 4] and arrivals(requests(table)) == [0, 4, 9, 12]
    assert "1 times go backwards, by 5 s at most: the requests were sorted" in notes(table)
    assert "times were taken as seconds from a start" in notes(table)


def test_without_times_callers_wait_unless_a_rate_is_given_which_is_drawn_with_the_seed() -> None:
    table = b"prompt_tokens,output_tokens\n" + b"100,20\n" * 400
    assert requests(table).arrival_s is None and traced(table, How(at_once=7)).at_once == 7
    one, two, other = (requests(table, How(requests_per_s=5, seed=seed)) for seed in (0, 0, 1))
    assert arrivals(one) == arrivals(two) != arrivals(other) and 60 < arrivals(one)[-1] < 100
    assert "drawn at random, 5 a second on average (seed 0)" in notes(table, How(requests_per_s=5))


class Endless(io.RawIOBase):
    """A log that is made while it is read; it counts what was taken."""

    def __init__(self, size: int, head: bytes = b"arrival_s,prompt_tokens,output_tokens\n") -> None:
        self.left, self.held, self.lines = size, head, self._lines()

    def _lines(self) -> Iterator[bytes]:
        number = 0
        while True:
            number += 1
            yield b"%d,%d,%d\n" % (number // 10, 100 + number % 900, 50)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while len(self.held) < len(buffer):
            self.held += next(self.lines)
        size = min(len(buffer), self.left)
        buffer[:size], self.held, self.left = self.held[:size], self.held[size:], self.left - size
        return size


def test_of_a_file_of_gigabytes_the_first_requests_are_taken_and_the_rest_is_not_read() -> None:
    source, before = Endless(5 << 30), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = gather(rows(cast(BinaryIO, io.BufferedReader(source)), "log"), "log", How(most_requests=50_000))
    assert found.rows == len(found.requests or ()) == 50_000
    assert "the file goes on: its first 50000 requests stand for it (traffic.trace.most_requests)" in found.notes
    assert source.left > 4 << 30 and resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # KiB


def test_a_file_of_gigabytes_without_a_request_is_not_read_to_its_end() -> None:
    source = Endless(5 << 30)
    with pytest.raises(UsageError, match="traffic.trace.columns.prompt=n is not in the first row"):
        gather(rows(cast(BinaryIO, io.BufferedReader(source)), "log"), "log", How(columns=Columns(prompt="n")))
    source = Endless(5 << 30, b"a,b,c\n")
    with pytest.raises(UsageError, match="has no column that is known"):
        gather(rows(cast(BinaryIO, io.BufferedReader(source)), "log"), "log", How())
    assert source.left > 4 << 30


def test_the_digest_is_of_the_numbers() -> None:
    assert requests(AZURE).sha256 == requests(AZURE.replace(b"\n", b"\r\n")).sha256 != requests(AZURE.replace(b",27", b",28")).sha256
    assert np.array_equal(requests(AZURE).prompt, requests(AZURE).every(1).prompt)
