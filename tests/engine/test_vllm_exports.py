"""Exported pins of vLLM read by vLLM's own parser, as flags and as a file; and that the traps around them are there."""

from __future__ import annotations

import json
import random
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from store.pins.pin import Pin
from tests.engine.folders import ROOT, engine_folders
from tests.reports import building
from tuner.engines.vllm.orders import names_for
from tuner.exporting.launchers import load_launchers

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]  # the first use unpacks a vLLM

COUNT = 300
ENTRY = "import sys, json; sys.path[:] = json.loads(sys.argv[1]); from tests.engine.vllm import parsed; parsed.main()"
VLLM, YAML = (load_launchers()[name] for name in ("vllm", "vllm-yaml"))
UNSET = {"backend": None, "twice": False, "block_size": None, "kv_cache_dtype": "auto", "use_trtllm_attention": None}
UNSET |= {"flash_attn_version": None, "mla_prefill_backend": None}
READ = {"true": True, "false": False}


def parsed(lines: list[list[str]], folder: Path) -> list[dict[str, Any]]:
    path = json.dumps([*engine_folders("vllm-0.33.0"), str(ROOT), *filter(None, sys.path)])
    asked = "".join(f"{json.dumps(['serve', 'M', *words])}\n" for words in lines)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", ENTRY, path], input=asked, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def pins() -> list[Pin]:
    """Of every backend and with every companion, in every combination that a seed draws; the first sets nothing."""
    draw, backends = random.Random(5), (*names_for("cuda", "mha"), *names_for("cuda", "mla"))
    more = {
        "block-size": ("16", "64", "128"),
        "kv-cache-dtype": ("fp8", "fp8_e4m3", "fp8_e5m2", "bfloat16"),
        "attention-config.use_trtllm_attention": ("true", "false"),
        "attention-config.flash_attn_version": ("2", "3", "4"),
        "attention-config.mla_prefill_backend": ("FLASH_ATTN", "TRTLLM_RAGGED"),
    }
    unset = replace(building.pin(building.kept()), engine="vllm")
    made = [unset]
    while len(made) < COUNT:
        some = [(flag, draw.choice(values)) for flag, values in more.items() if draw.random() < 0.4]
        flags = (("attention-backend", draw.choice(backends)), *some)
        made.append(replace(building.pin(), engine="vllm", flags=flags, because=tuple((flag, building.BECAUSE) for flag, _ in flags)))
    return made


def wanted(pin: Pin) -> dict[str, Any]:
    flags = {flag.removeprefix("attention-config.").replace("-", "_"): value for flag, value in pin.flags}
    renamed = {"backend" if flag == "attention_backend" else flag: value for flag, value in flags.items()}
    return UNSET | {flag: READ.get(value, int(value) if value.isdecimal() else value) for flag, value in renamed.items()}


def test_vllm_takes_what_was_pinned_from_flags_and_from_a_file(tmp_path: Path) -> None:
    made, lines = pins(), list[list[str]]()
    for index, pin in enumerate(made):
        (tmp_path / f"{index}.yaml").write_text(YAML.render(pin, YAML))
        lines += [shlex.split(VLLM.render(pin, VLLM)), ["--config", f"{index}.yaml"]]
    said = parsed(lines, tmp_path)
    for index, pin in enumerate(made):
        assert said[2 * index] == said[2 * index + 1] == wanted(pin), pin.flags


def test_the_traps_are_there_and_the_file_keeps_clear_of_them(tmp_path: Path) -> None:
    flags = (("attention-backend", "FLASHINFER"), ("attention-config.use_trtllm_attention", "false"))
    pin = replace(building.pin(), engine="vllm", flags=flags, because=())
    (tmp_path / "pin.yaml").write_text(YAML.render(pin, YAML))
    (tmp_path / "comments.yaml").write_text("# nothing\n")
    (tmp_path / "nested.yaml").write_text("attention-config:\n  backend: FLASHINFER\n")
    (tmp_path / "false.yaml").write_text("enable-prefix-caching: false\n")
    of_the_user = ["-ac.flash_attn_version", "3"]
    one_word, comments, nested, beside, other, unknown = parsed(
        [
            ["--config=pin.yaml"],
            ["--config", "comments.yaml"],
            ["--config", "nested.yaml", *of_the_user],
            ["--config", "pin.yaml", *of_the_user],
            ["--config", "pin.yaml", "--attention-backend", "TRITON_ATTN"],
            ["--attention-backend", "FLASHINVER"],
        ],
        tmp_path,
    )
    assert one_word == UNSET, "--config=FILE is passed over without an error"
    assert "NoneType" in comments["refused"], "a file of comments alone ends vLLM"
    assert nested["backend"] is None, "an object of the command line replaces the file's, and its backend is gone"
    assert beside["backend"] == "FLASHINFER" and beside["flash_attn_version"] == 3, "beside the object it stays"
    assert other["backend"] == "TRITON_ATTN" and not other["twice"], "the command line goes before the file"
    assert "refused" in unknown
