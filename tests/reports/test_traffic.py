from __future__ import annotations

from dataclasses import replace

from backends.cell import Phase
from reports.traffic import section
from store.recorded_traffic import Coverage, RecordedStep, RecordedTraffic
from tests.tuner.scenarios import CHAT

STEP = RecordedStep(Phase.DECODE, (1000,), (1,), (999,), 1.0, 1.0, 10.0, (5.0, 5.0))
RECORDED = RecordedTraffic(
    *("0", "Mooncake", 2000, 3, ("3 rows were left out: no JSON (the first is row 7)",), 3600.0, (10.0, 20.0), (STEP,)),
    coverage=(Coverage(Phase.DECODE, 0.97, "mostly 1 to 3 requests with contexts of 200 to 900 on average"),),
    tpot_ms=(8.25, 12.5),
    ttft_ms=(90.0, 2500.0),
)


def test_traffic_that_was_made_up_has_no_section() -> None:
    assert section(CHAT) is None


def test_the_section_says_what_was_read_what_stands_for_it_and_what_nothing_stands_for() -> None:
    found = section(replace(CHAT, name="moon", recorded=RECORDED))
    assert found is not None
    assert found.body == (
        "moon: 2000 rows read as Mooncake, 3 of them left out; 120 min of serving",
        "64 at once, prompts of 1000 tokens (p95 6000), outputs of 250 (p95 800), 30 % of prompt tokens cached",
        "decode: 1 cell stands for 97 % of the predicted attention time, within a factor of 2 in batch, new tokens and context; outside: "
        "mostly 1 to 3 requests with contexts of 200 to 900 on average",
        "time per output token 8.250 ms (99th percentile 12.50 ms): predicted from the datasheet, not measured",
        "time to the first token 90 ms (99th percentile 2.50 s): predicted from the datasheet, not measured",
        "3 rows were left out: no JSON (the first is row 7)",
    )
