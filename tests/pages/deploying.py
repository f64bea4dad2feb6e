"""docs/deploying.md: what people wrote of exporting, with what the exporters print for one made-up pin."""

from __future__ import annotations

import re
from pathlib import Path

from reports.launchers.header import header
from reports.launchers.launcher import Launcher, flags_of
from reports.page import Table, markdown_table
from reports.wording import engine
from store.pins.pin import PIN_SCHEMA, Pin, ValidFor
from tuner.exporting.launchers import load_launchers

WRITTEN = Path(__file__).with_name("deploying.md")
PLACE = re.compile(r"^<!-- (export|export-whole) (\S+) -->$", re.MULTILINE)
REASONS = {"json": "data", "sglang": "on stderr", "vllm": "on stderr"}
YAML = ("auto-benchmark", "compose", "kubernetes", "slurm", "sglang-yaml")
USED_AS = {
    "sglang": "words on a command line",
    "sglang-yaml": "a file for --config",
    "env": "an env file",
    "systemd": "a drop-in of a unit",
    "compose": "an override file that mounts the file for --config",
    "kubernetes": "a ConfigMap that holds the file for --config",
    "slurm": "a part of an srt-slurm recipe",
    "auto-benchmark": "a file for SGLang's own search end to end",
    "vllm": "words on a command line",
    "vllm-yaml": "a file for --config",
    "json": "data for a program",
    "constraints": "constraints for pip and uv",
}
PIN = Pin(
    schema=PIN_SCHEMA,
    engine="sglang",
    flags=(("decode-attention-backend", "trtllm_mha"), ("prefill-attention-backend", "fa4"), ("page-size", "128")),
    unset=None,
    because=(
        ("decode-attention-backend", "decode attention A of the default (B to C, 4 processes); a step D % to E % faster, predicted"),
        ("prefill-attention-backend", "prefill attention F of the default (G to H, 4 processes); a step I % to J % faster, predicted"),
        ("page-size", "measured at page size 128, which a backend or a release may set otherwise"),
    ),
    valid_for=ValidFor(
        gpu="NVIDIA B200",
        sm=100,
        memory_bytes=None,
        power_limit_w=None,
        mig=None,
        driver="DRIVER",
        engine="sglang",
        engine_version="0.5.22",
        rules_version="0.5.22",
        python="3.12",
        torch=None,
        cuda=None,
        distributions=(("flashinfer-python", "0.7.1", "HASH"),),
        variables=(),
        model="qwen3_8b",
        tensor_parallel=1,
        kv_cache_dtype="bfloat16",
        page_size=128,
        traffic="chat",
    ),
    evidence=("pin.evidence.jsonl.zst", "HASH"),
    run="RUN",
    created="DATE",
    tool_version="VERSION",
)


def render() -> str:
    launchers = load_launchers()
    page = WRITTEN.read_text().replace("<!-- table -->", markdown_table(_table(launchers)))
    page = page.replace("<!-- ome -->", "\n".join(f"            - {word}" for word in one_word_each(launchers["sglang"])))
    return PLACE.sub(lambda place: _fenced(launchers[place[2]], whole=place[1] == "export-whole"), page)


def one_word_each(launcher: Launcher) -> list[str]:
    return [f"--{flag.name}={flag.value}" for flag in flags_of(PIN, launcher)]


def _table(launchers: dict[str, Launcher]) -> Table:
    rows = [(f"--to {name}", USED_AS[name], REASONS.get(name, "comments"), _read(launchers[name])) for name in USED_AS]
    return Table(("", "what it prints", "reasons", "read in"), tuple(rows))


def _read(launcher: Launcher) -> str:
    engine_read = f"{engine(launcher.engine)} {launcher.read}" if launcher.read else ""
    return "; ".join(part for part in (engine_read, launcher.carrier or "") if part)


def _fenced(launcher: Launcher, whole: bool) -> str:
    """The payload in a block of code; its header cut after the first line unless it is shown ``whole``."""
    text = launcher.render(PIN, launcher)
    for line in () if whole else header(PIN, launcher)[1:]:
        text = re.sub(rf"^( *)# {re.escape(line)}\n", "", text, flags=re.MULTILINE)
    first = re.escape(header(PIN, launcher)[0])
    shown = text if whole else re.sub(rf"^( *)# {first}$", r"\1# ...", text, flags=re.MULTILINE)
    return f"```{'yaml' if launcher.name in YAML else 'sh'}\n{shown}```"
