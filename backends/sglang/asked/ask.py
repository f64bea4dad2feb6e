"""Runs in a process of its own, in an empty folder: reads questions as JSON lines, writes what SGLang itself resolved, in order.

A question: {"files": JSON by path, "arguments": words, "machine": see `machine`, None = this one, "environment": variables}. Words
that begin with "./" name files of the question. One process asks thousands, of this machine or of made-up ones; each gets a folder
and a fresh record of arguments.
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
from backends.sglang.asked import layouts, machine
from backends.sglang.asked.plain import PLAIN
from backends.sglang.torchvision_stub import install_if_needed
from backends.wire import PLAIN as PLAIN_TYPES
from backends.wire import to_plain
from backends.worker.line import write_whole
from backends.worker.processes import die_with_parent

NOT_LOOKED_AT = ("torchvision", "uvicorn", "fastapi")  # images nobody processes, a server nobody starts
HIDING = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ZE_AFFINITY_MASK")
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}

Question = dict[str, Any]


def main() -> None:
    die_with_parent(os.getppid())
    answers = os.dup(1)
    os.dup2(2, 1)  # what libraries print is no answer
    questions = [json.loads(line) for line in sys.stdin]
    simulated = any(question["machine"] for question in questions)
    prepare(simulated)
    failure = _simulating() if simulated else None
    for index, question in enumerate(questions):
        says = failure or answer(question, Path(f"question-{index}").absolute())
        write_whole(answers, json.dumps(to_plain(says)).encode() + b"\n")


def prepare(simulated: bool) -> None:
    """Before SGLang is imported. A process that simulates must not see, nor use, the GPUs of this machine."""
    os.environ.update(OFFLINE)
    if simulated:
        os.environ.update(dict.fromkeys(HIDING, ""))
    for package in NOT_LOOKED_AT:
        install_if_needed(package)
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")


def _simulating() -> EngineSays | None:
    """Resolve a plain command line as this machine, so that SGLang imports what it imports late, then replace its probes."""
    words = ["--model-path", "./model", "--device", "cpu"]
    question = {"files": {"model/config.json": PLAIN}, "arguments": words, "machine": None, "environment": {}}
    plain = answer(question, Path("plain").absolute())
    if plain.failure:
        return plain
    try:
        machine.install()
    except Exception as error:
        return _failed(error)
    return None


def answer(question: Question, folder: Path) -> EngineSays:
    before = dict(os.environ)
    os.environ.update(question["environment"])
    machine.become(question["machine"] or {})
    try:
        _write(question["files"], folder)
        resolved = layouts.resolved([str(folder / word) if word.startswith("./") else word for word in question["arguments"]])
        return EngineSays(resolved={name: value if type(value) in PLAIN_TYPES else str(value) for name, value in resolved.items()})
    except (Exception, SystemExit) as error:
        return _refused(error) or _failed(error)
    finally:
        os.environ.clear()
        os.environ.update(before)


def _write(files: dict[str, Any], folder: Path) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))


def _refused(error: BaseException) -> EngineSays | None:
    """What SGLang's own code raised; None where it was another library's, or the import of one."""
    if isinstance(error, layouts.CommandLineRefused):
        return EngineSays(raised=Raised("argparse", str(error), "the parser of the command line"))
    last = traceback.extract_tb(error.__traceback__)[-1]
    if isinstance(error, (ImportError, layouts.UnknownLayout, layouts.NotKnown)) or not _is_sglangs(last.filename):
        return None
    return EngineSays(raised=Raised(type(error).__name__, str(error), f"{last.name} of {Path(last.filename).name}"))


def _is_sglangs(file: str) -> bool:
    """Or of a probe that stands in for one of SGLang's."""
    sglang = sys.modules.get("sglang")
    own = sglang is not None and any(Path(folder) in Path(file).parents for folder in sglang.__path__)
    return own or Path(file) == Path(machine.__file__)


def _failed(error: BaseException) -> EngineSays:
    if isinstance(error, layouts.UnknownLayout):
        return EngineSays(failure=f"it resolves its arguments in a way that attnpin does not know: {error}")
    if isinstance(error, layouts.NotKnown):
        return EngineSays(failure=f"it does not know options that a near release has: {error}")
    said = str(error).strip().splitlines() or [""]
    return EngineSays(failure=f"{type(error).__name__}: {said[0]}")
