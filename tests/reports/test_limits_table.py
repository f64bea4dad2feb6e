from __future__ import annotations

import json
from dataclasses import replace

import pytest

from backends.capability import BackendEntry, Capability
from backends.limits import Limit
from backends.vocabulary import WORDS
from reports.limits_table import render_json, render_markdown, render_text
from tests.asking import entries

ALL = tuple(entries().values())
SECTIONS = (
    *("Where and what for", "Heads, pages and dtypes", "What a model may bring", "Features", "Under a condition"),
    "Kernels behind a name",
    "Costs and answers to look at",
    "Answers that deviate",
)


def rows(title: str, rules: str = "0.5.22") -> dict[str, list[str]]:
    """The cells of one Markdown table by backend; of a backend with several rows, its last."""
    section = render_markdown(ALL, rules).partition(f"## {title}\n")[2].partition("\n## ")[0]
    lines = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| ")]
    return {line[0]: line for line in lines}


def cell(title: str, backend: str, column: str, rules: str = "0.5.22") -> str:
    table = rows(title, rules)
    section = render_markdown(ALL, rules).partition(f"## {title}\n")[2]
    line = next(line for line in section.splitlines() if line.startswith(f"| {backend} |"))
    return [part.strip() for part in line.split(" | ")][table["backend"].index(column)].strip("| ")


def test_every_backend_the_version_knows_has_a_row() -> None:
    for title in SECTIONS[:4]:
        assert len(rows(title)) == 2 + 23
        assert len(rows(title, "0.5.16")) == 2 + 23 - 5 + 2


def test_a_terminal_of_a_hundred_columns_holds_the_text() -> None:
    for rules in ("0.5.16", "0.5.22"):
        assert max(map(len, render_text(ALL, rules).splitlines())) <= 100


def test_text_and_markdown_have_the_same_sections() -> None:
    for render in (render_text, render_markdown):
        assert all(title in render(ALL, "0.5.22") for title in SECTIONS)


@pytest.mark.parametrize(
    ("title", "backend", "column", "said"),
    [
        ("Where and what for", "fa3", "SM or architecture", "80-90\\*; CUDA 12.3 or more"),
        ("Where and what for", "aiter", "SM or architecture", "gfx942, gfx950"),
        ("Where and what for", "intel_amx", "SM or architecture", "CPU with AMX"),
        ("Where and what for", "dsa, nsa", "SM or architecture", "90-103, 120-121\\*"),
        ("Where and what for", "cutedsl_mla", "phases", "decode"),
        ("Where and what for", "torch_native", "CUDA graphs", "no"),
        ("Where and what for", "torch_native", "measured on", "cuda, cpu"),
        ("Where and what for", "flex_attention", "builds kernels", "while serving too"),
        ("Where and what for", "trtllm_mha", "builds kernels", ""),
        ("Heads, pages and dtypes", "trtllm_mha", "page sizes", "16, 32, 64, 128 (else 64)"),
        ("Heads, pages and dtypes", "flashinfer", "unequal K/V", "no"),
        ("Heads, pages and dtypes", "tokenspeed_mla", "KV cache", "e4m3 (spelled fp8_e4m3)"),
        ("What a model may bring", "torch_native", "sinks", "no"),
        ("Features", "trtllm_mha", "topk", "0, 1"),
        ("Features", "flashinfer", "radix", "if"),
        ("What a model may bring", "triton", "sinks", ""),
        ("What a model may bring", "fa4", "gated delta", "if"),
    ],
)
def test_a_cell_reads_from_the_data(title: str, backend: str, column: str, said: str) -> None:
    assert cell(title, backend, column) == said


def test_a_version_shows_its_own_limits_only() -> None:
    assert cell("Heads, pages and dtypes", "trtllm_mha", "page sizes", "0.5.16") == "16, 32, 64 (else 64)"


def test_a_limit_under_a_condition_is_told_with_it() -> None:
    text = render_markdown(ALL, "0.5.22")
    assert "| fa3 | mla attention | sm 90 |  |" in text
    assert "| flashinfer | deterministic | no radix cache | switched off |" in text
    assert "| fa3 | sm 80, 86, 87, 89 | no unequal K/V widths | only Hopper takes another V width |" in text


@pytest.mark.parametrize("rule", sorted(WORDS))
def test_no_rule_is_left_out_of_the_tables(rule: str) -> None:
    plain = BackendEntry("mine", Capability(()))
    limited, conditional = (
        replace(plain, capability=Capability((Limit(rule, ("x",), "my notes", when=when),))) for when in ((), (("phase", ("decode",)),))
    )
    assert render_text([plain], "0.5.22") != render_text([limited], "0.5.22")
    assert "mine" in render_text([conditional], "0.5.22").partition("Under a condition")[2]


def test_kernels_behind_a_name_stand_with_where_they_run() -> None:
    text = render_markdown(ALL, "0.5.22")
    assert "| trtllm_mha | decode and sm 90, 120, 121 | XQA |" in text
    assert "| trtllm_mha | prefill and sm 90, 120, 121 | FMHA v2 |" in text
    assert "| FMHA v2 |" not in render_markdown(ALL, "0.5.16")


def test_what_is_no_reason_against_a_backend_is_told_apart_from_limits() -> None:
    notes = render_markdown(ALL, "0.5.22").partition("## Costs and answers to look at")[2]
    assert "| trtllm_mha | FMHA v2 kernels | copies the layer's whole KV pool at every prefill" in notes
    assert "whole KV pool" not in render_markdown(ALL, "0.5.23")


def test_answers_that_are_declared_to_deviate_stand_with_their_steps_and_by_how_much() -> None:
    assert rows("Answers that deviate")["triton"][1:4] == ["a sliding window of 2 or more", "decode", "-1"]
    sums = rows("Answers that deviate", "0.5.16")["triton"]
    assert "1 query heads per KV head" in sums[1] and sums[2:4] == ["decode", "as asked"] and "summed in the model's dtype" in sums[4]
    assert rows("Answers that deviate")["flashinfer"][1:4] == [
        "a sliding window of 1 or more and mha attention, not with deterministic",
        "fresh prefill",
        "all",
    ]
    assert "update_sliding_window_buffer" in render_markdown(ALL, "0.5.22").partition("## Read from")[2]
    assert "Answers that deviate" not in render_markdown([replace(ALL[0], capability=Capability(()))], "0.5.22")


def test_markdown_names_where_a_limit_was_read() -> None:
    assert "sglang/srt/arg_groups/overrides.py, \\_fa4_page_constraint" in render_markdown(ALL, "0.5.22").partition("## Read from")[2]


def test_data_holds_every_limit_of_the_version_with_its_source() -> None:
    data = json.loads(render_json(ALL, "0.5.16"))
    assert data["rules"] == "0.5.16" and len(data["backends"]) == 20
    [trtllm] = [backend for backend in data["backends"] if backend["name"] == "trtllm_mha"]
    limits = trtllm["capability"]["limits"]
    assert all("0.5.16" in limit["versions"] and limit["source"] for limit in limits)
    assert [limit["becomes"] for limit in limits if limit["rule"] == "page_size"] == [64]


def test_a_backend_that_nothing_drives_says_why() -> None:
    assert rows("Not measured")["hpc_ops"][1] == entries()["hpc_ops"].undriven
    assert (cell("Where and what for", "hpc_ops", "measured on"), cell("Where and what for", "fa3", "measured on")) == ("no", "cuda")
