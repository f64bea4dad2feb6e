"""A serving run in words."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from reports import headline, run_report, serving_run
from reports.serving_run import render_json, render_text
from reports.serving_words import beside_the_prediction, notes, sentence
from store.decision import Interval
from store.serving.serving_run import Contrast, Level, Predicted, Sent, ServedStart, ServingRun, latest
from store.verdicts.comparison import Label
from tests.reports import building

START = ServedStart(
    0,
    True,
    31.0,
    (("prefill", "fa3"), ("decode", "fa3")),
    None,
    True,
    (1, 64),
    800_000,
    "0.5.16",
    (Level(64, 9.0, 19.0, 90.0, 200.0, 7000.0),),
)
OTHER = replace(START, pinned=False, serves=(("prefill", "triton"), ("decode", "triton")), settings=(("chunked_prefill_size", "8192"),))
FASTER = Contrast(64, "itl_ms", Interval(0.9, 0.88, 0.92, 0.95, 3), 0.03, Label.IMPROVED)
RUN = ServingRun(
    created="2026-11-30T16:00:00+00:00",
    tool_version="1",
    flags=(),
    against=("--attention-backend", "triton"),
    sent=Sent("serving", (64,), (256,), 1000, 200, 1),
    margin=0.02,
    label=Label.IMPROVED,
    sentence="",
    starts=(START, OTHER),
    contrasts=(FASTER,),
    void=(),
    notes=(),
    exit_code=0,
)


def test_the_sentence_says_how_much_and_where() -> None:
    assert sentence(RUN) == "median ITL with the pin is 10 % faster (8.0 % to 12 % faster) at concurrency 64"
    open_one = replace(FASTER, concurrency=1, ratio=Interval(1.0, 0.9, 1.1, 0.95, 3), label=Label.INCONCLUSIVE)
    assert sentence(replace(RUN, contrasts=(open_one, FASTER))).endswith("; inconclusive at concurrency 1")
    assert sentence(replace(RUN, label=None, contrasts=(), void=("the KV pool differs",))) == "the KV pool differs"


def test_a_reviewer_reads_it_beside_the_prediction() -> None:
    made = building.decision()
    run = building.run(made)
    assert headline.NOT_CONFIRMED in dict(headline.lines(run))["Predicted effect"]
    told = dict(headline.lines(replace(run, serving_runs=(RUN,))))
    assert told["Measured effect"] == (
        "confirmed by a serving run: fa3 against triton, median ITL ratio 0.900 (0.880 to 0.920) at concurrency 64; 1 start a side, "
        "serving benchmark"
    )
    assert "not confirmed" not in told["Predicted effect"]


def test_the_prediction_stands_beside_what_was_measured() -> None:
    known = replace(RUN, starts=(START, slower(OTHER)), predicted=(Predicted(64, 4.5, 8.8, ("decode-64",)),))
    assert "at concurrency 64 (4.00 ms faster, predicted 4.30 ms faster)" in beside_the_prediction(known)
    assert "64       9.000 ms  13.00 ms      4.00 ms faster  4.500 ms        8.800 ms            4.30 ms faster  decode-64" in render_text(
        known
    )
    unknown = replace(known, predicted=(Predicted(64, None, None, missing="it is too far"),))
    assert "predicted" not in beside_the_prediction(unknown)
    assert "note         against triton nothing is predicted at concurrency 64: it is too far\n" in render_text(unknown)


def slower(start: ServedStart) -> ServedStart:
    return replace(start, levels=tuple(replace(level, itl_ms=13.0) for level in start.levels))


def test_a_report_has_every_serving_run_with_its_numbers() -> None:
    other = replace(RUN, against=("--attention-backend", "flashinfer"), starts=(START, replace(OTHER, serves=(("decode", "flashinfer"),))))
    run = replace(building.run(building.decision()), serving_runs=(RUN, other))
    assert [said for label, said in headline.lines(run) if label == "Measured effect"] == [
        beside_the_prediction(each) for each in (RUN, other)
    ]
    said = run_report.render_text(run)
    assert "fa3 (CMD as it is) against triton (started with --attention-backend triton), 2026-11-30" in said
    assert "against flashinfer" in said and said.count("ITL median  9.000 ms  9.000 ms  0.900 (0.880 to 0.920)") == 2
    assert serving_run.section(replace(run, serving_runs=())) is None


def test_the_latest_answer_to_a_question_takes_the_place_of_the_one_before() -> None:
    other, later = replace(RUN, against=("--attention-backend", "flashinfer")), replace(RUN, created="2026-12-01T16:00:00+00:00")
    both = latest(latest((), RUN), other)
    assert both == (RUN, other) and latest(both, later) == (later, other)
    busier = replace(RUN, sent=replace(RUN.sent, concurrency=(128,)))
    assert latest(both, busier) == (RUN, other, busier)


@pytest.mark.parametrize(
    ("label", "begins"),
    [
        (Label.REGRESSED, "contradicted by a serving run: "),
        (Label.EQUIVALENT, "a serving run saw no difference: "),
        (Label.INCONCLUSIVE, "a serving run leaves it open: "),
        (None, ""),
    ],
)
def test_only_a_faster_server_confirms(label: Label | None, begins: str) -> None:
    assert beside_the_prediction(replace(RUN, label=label)).startswith(begins)


def test_a_terminal_gets_both_sides_and_the_table() -> None:
    out = render_text(RUN)
    assert "  pin          fa3, CMD as it is" in out and "  against      triton, started with --attention-backend triton" in out
    assert "ITL median  9.000 ms  9.000 ms  0.900 (0.880 to 0.920)" in out


def test_json_is_the_record_without_what_stays_beside_the_logs() -> None:
    found = json.loads(render_json(RUN))
    assert found["label"] == "improved" and all(start["settings"] == [] for start in found["starts"])


def test_several_releases_are_noted() -> None:
    assert "0.5.16, 0.5.22" in notes((START, replace(OTHER, version="0.5.22")), RUN.sent, False)[-1]


def test_what_the_prefix_cache_was_given_is_said() -> None:
    sent = replace(RUN.sent, lengths="chat", cached_share=0.3, notes=("of a trace",))
    assert notes((START,), sent, False)[0].startswith("30 % of the prompt tokens were sent before") and "of a trace" in notes(
        (START,), sent, False
    )
    assert "no two prompts begin alike" in notes((START,), RUN.sent, False)[0]
    assert "on average, lengths of chat; requests: 256 at concurrency 64" in render_text(replace(RUN, sent=sent))
