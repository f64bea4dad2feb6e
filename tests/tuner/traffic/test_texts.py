from __future__ import annotations

import json

from tests.tuner.traffic.building import json_lines, traced
from tuner.traffic.trace import How

SHAREGPT = [
    {"id": "a", "conversations": [{"from": "human", "value": "x" * 400}, {"from": "gpt", "value": "y" * 80}]},
    {
        "id": "b",
        "conversations": [
            {"from": "system", "value": "s" * 40},
            {"from": "human", "value": "x" * 200},
            {"from": "gpt", "value": "y" * 40},
            {"from": "human", "value": "z" * 20},
            {"from": "gpt", "value": "w" * 60},
        ],
    },
    {"id": "c", "conversations": []},
]


def lengths(content: bytes, how: How | None = None) -> list[tuple[int, int, int]]:
    found = traced(content, how).requests
    assert found is not None
    return list(zip(found.prompt.tolist(), found.output.tolist(), found.cached.tolist()))


def test_each_answer_is_a_request_behind_all_that_was_said_and_cached_up_to_the_last_answer() -> None:
    found = traced(json.dumps(SHAREGPT).encode())
    assert lengths(json.dumps(SHAREGPT).encode()) == [(100, 20, 0), (60, 10, 0), (75, 15, 70)]
    assert (found.layout, found.rows, found.bad) == ("conversations", 3, 1)
    assert found.notes == (
        "1 row was left out: no answer in the conversation (row 3)",
        "the file holds texts: 4 bytes were taken for a token",
    )


def test_as_many_conversations_as_callers_go_on_side_by_side() -> None:
    talk = {"messages": [{"role": role, "content": "abcd" * 10} for role in ("user", "assistant", "user", "assistant")]}
    assert [prompt for prompt, _, _ in lengths(json_lines(*[talk] * 3), How(at_once=2))] == [10, 10, 30, 30, 10, 30]


def test_prompts_of_a_data_set_have_the_length_that_is_said_or_that_of_their_answer() -> None:
    rows = json_lines(
        {"prompt": "abcd" * 5, "output_tokens": 7}, {"prompt": "abcd", "completion": "abcd" * 3}, {"prompt": "", "output": "x"}
    )
    assert lengths(rows) == [(5, 7, 0), (1, 3, 0)]
    assert "no prompt" in traced(rows).notes[0]


def test_other_scripts_are_counted_by_their_bytes() -> None:
    assert lengths(json_lines({"prompt": "你好世界" * 10, "output_tokens": 1})) == [(30, 1, 0)]
