"""Runs in a process of its own: reads questions as JSON lines, writes what vLLM's own selector answers, in order.

A question: {"machine": see `simulated`, None = this one, "environment": variables, "layers": fields of vLLM's
AttentionSelectorConfig by the name of a layer kind, "heads": query heads of a rank by the same, "default": the kind whose backend is
the answer, "config": see `standing`, "backend": a name or None, "judged": names to validate one by one, perhaps "judge_alone": and to
pick none}, or {"unknown": why nothing can be asked}. One process asks thousands.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import traceback
import warnings
from pathlib import Path
from typing import Any

from backends.engine_says import EngineSays, Raised
from backends.vllm.asked import selector, simulated
from backends.wire import to_plain
from backends.worker.line import write_whole
from backends.worker.processes import die_with_parent

QUIET = {"VLLM_LOGGING_LEVEL": "ERROR", "VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1"}

Question = dict[str, Any]


def main() -> None:
    die_with_parent(os.getppid())
    answers = os.dup(1)
    os.dup2(2, 1)  # what libraries print is no answer
    questions = [json.loads(line) for line in sys.stdin]
    prepare(any(question.get("machine") for question in questions))
    for question in questions:
        write_whole(answers, json.dumps(to_plain(answer(question))).encode() + b"\n")


def prepare(simulating: bool) -> None:
    """Before vLLM is imported. A process that simulates must not see, nor use, the GPUs of this machine."""
    os.environ.update(QUIET)
    if simulating:
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")


def answer(question: Question) -> EngineSays:
    if "unknown" in question:
        return EngineSays(failure=question["unknown"])
    before = dict(os.environ)
    os.environ.update(question["environment"])
    try:
        if question["machine"]:
            simulated.become(question["machine"])
        return EngineSays(resolved=selector.selected(question))
    except (Exception, SystemExit) as error:
        return _refused(error) or _failed(error)
    finally:
        os.environ.clear()
        os.environ.update(before)


def _refused(error: BaseException) -> EngineSays | None:
    """What vLLM's selector raises where nothing is valid; None for anything else."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    if not isinstance(error, (ValueError, NotImplementedError)) or not _is_vllms(last.filename):
        return None
    return EngineSays(raised=Raised(type(error).__name__, str(error), f"{last.name} of {Path(last.filename).name}"))


def _is_vllms(file: str) -> bool:
    vllm = sys.modules.get("vllm")
    return vllm is not None and any(Path(folder) in Path(file).parents for folder in vllm.__path__)


def _failed(error: BaseException) -> EngineSays:
    if isinstance(error, selector.UnknownLayout):
        return EngineSays(failure=f"it chooses its backends in a way that attnpin does not know: {error}")
    said = str(error).strip().splitlines() or [""]
    return EngineSays(failure=f"{type(error).__name__}: {said[0]}")
