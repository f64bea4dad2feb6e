"""Traffic that was read from a file: what was in it, what stands for it, and what nothing stands for."""

from __future__ import annotations

from collections.abc import Iterator

from reports import numbers, wording
from reports.page import Section
from store.recorded_traffic import Coverage, RecordedTraffic
from store.traffic import Traffic


def section(traffic: Traffic) -> Section | None:
    """None where the traffic was made up from its lengths."""
    recorded = traffic.recorded
    if recorded is None:
        return None
    return Section(
        "Traffic", (_source(traffic.name, recorded), wording.requests(traffic), *_covered(recorded), *_paced(recorded), *recorded.notes)
    )


def _source(name: str, recorded: RecordedTraffic) -> str:
    left_out = f", {recorded.bad} of them left out" if recorded.bad else ", none left out"
    span = numbers.seconds(recorded.block_s * len(recorded.block_tokens))
    return f"{name}: {wording.count(recorded.rows, 'row')} read as {recorded.layout}{left_out}; {span} of serving"


def _covered(recorded: RecordedTraffic) -> Iterator[str]:
    for each in recorded.coverage:
        cells = sum(step.phase is each.phase for step in recorded.steps)
        yield f"{each.phase.value}: {wording.count(cells, 'cell')} {'stands' if cells == 1 else 'stand'} for {_share(each)}"


def _share(found: Coverage) -> str:
    said = f"{numbers.percent(found.share)} of the predicted attention time, within a factor of 2 in batch, new tokens and context"
    return f"{said}; outside: {found.outside}" if found.outside else said


def _paced(recorded: RecordedTraffic) -> Iterator[str]:
    """Of a replay; a server's log needs none."""
    said = "predicted from the datasheet, not measured"
    if recorded.tpot_ms is not None:
        median, p99 = map(numbers.milliseconds, recorded.tpot_ms)
        yield f"time per output token {median} (99th percentile {p99}): {said}"
    if recorded.decode_share is not None:
        share, part = numbers.percent(recorded.decode_share), numbers.percent(recorded.decode_share / 10)
        yield f"attention of decode steps takes {share} of it: a kernel that is 10 % faster there makes a token at most {part} faster"
    if recorded.ttft_ms is not None:
        median, p99 = (numbers.wait(ms / 1000) for ms in recorded.ttft_ms)
        yield f"time to the first token {median} (99th percentile {p99}): {said}"
