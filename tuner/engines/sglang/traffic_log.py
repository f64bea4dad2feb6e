"""The steps that SGLang's scheduler prints: how many requests decode with how many tokens, what a prefill works off. Pure.

Source: sglang/srt/managers/scheduler_components/metrics_reporter.py (0.5.16 and 0.5.22). A line `Decode batch` is printed every
``decode_log_interval`` steps, a line `Prefill batch` for each. The prefix of a prompt whose earlier piece was computed before is in no
line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tuner.engines.sglang.printed import ARGUMENTS
from tuner.engines.sglang.steps import DECODE, TOKENS
from tuner.logs.fields import fields
from tuner.logs.lines import Line
from tuner.logs.numerals import COUNT, DECIMAL
from tuner.logs.printed_steps import PrintedSteps

WORDS: tuple[str, ...] = ("Decode batch", "Prefill batch", "server_args=", "max_total_num_tokens=")
PREFILL = re.compile(
    rf"Prefill batch\b.*?#new-seq: (?P<requests>{COUNT}), #new-token: (?P<new>{COUNT})(?:, #cached-token: (?P<cached>{COUNT}))?"
)
ACCEPTED = re.compile(rf"accept len: ({DECIMAL})")
CAPACITY = re.compile(rf"\b(max_total_num_tokens|chunked_prefill_size|max_running_requests)=({COUNT})")
CAPACITY_NAMES = {"max_total_num_tokens": "pool", "chunked_prefill_size": "chunk", "max_running_requests": "running"}
STEPS_A_LINE = 40  # sglang/srt/arg_groups, decode_log_interval
STEP = re.compile(rb"(?:Decode|Prefill) batch[,.]? ?#")
STARTS = re.compile(rb"server_args=(?:ServerArgs\(|\{)")


def printed(lines: Iterable[Line]) -> PrintedSteps:
    found = PrintedSteps(steps_a_line=STEPS_A_LINE)
    for line in lines:
        if ARGUMENTS.search(line.text):
            arguments = fields(ARGUMENTS.split(line.text, maxsplit=1)[1])
            found.steps_a_line = arguments.get("decode_log_interval") or STEPS_A_LINE
            found.mixed = bool(arguments.get("enable_mixed_chunk"))
        elif capacity := CAPACITY.findall(line.text):
            for name, value in capacity:
                setattr(found, CAPACITY_NAMES[name], int(value))
        elif "Decode batch" in line.text:
            _decode(found, line)
        elif "Prefill batch" in line.text:
            _prefill(found, line)
    return found


def _decode(found: PrintedSteps, line: Line) -> None:
    batch, tokens, accepted = DECODE.search(line.text), TOKENS.search(line.text), ACCEPTED.search(line.text)
    if batch is None or tokens is None:
        found.unread += 1
    elif (running := int(batch["running"])) and int(tokens[1]) >= running:
        found.decode.append((line.at, running, int(tokens[1]), float(accepted[1]) if accepted else 1.0))


def _prefill(found: PrintedSteps, line: Line) -> None:
    match = PREFILL.search(line.text)
    if match is None:
        found.unread += 1
    elif int(match["requests"]) and int(match["new"]) >= int(match["requests"]):
        found.prefill.append((line.at, int(match["requests"]), int(match["new"]), int(match["cached"] or 0)))
