"""Every spelling in which a user may have chosen what a pin chooses."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuner.engines.choices import BACKEND, KV_DTYPE, PAGE_SIZE
from tuner.engines.lookup import choices_of
from tuner.launching.written import unread_config, written

SGLANG, VLLM = choices_of("sglang"), choices_of("vllm")


@pytest.mark.parametrize(
    ("words", "choice", "value"),
    [
        (["--attention-backend", "triton"], BACKEND, "triton"),
        (["--attention-backend=triton"], BACKEND, "triton"),
        (["--attention-back", "triton"], BACKEND, "triton"),
        (["--decode-attention-backend=fa3"], BACKEND, "fa3"),
        (["--page-size", "64"], PAGE_SIZE, "64"),
        (["--kv-cache-dtype=fp8_e4m3"], KV_DTYPE, "fp8_e4m3"),
    ],
)
def test_sglangs_spellings_are_known(words: list[str], choice: str, value: str) -> None:
    (found,) = written(["sglang", "serve", "--model-path", "M", *words, "--port", "1"], SGLANG)
    assert (found.choice, found.value) == (choice, value)


@pytest.mark.parametrize(
    ("words", "choice", "value"),
    [
        (["--attention-backend", "FLASHINFER"], BACKEND, "FLASHINFER"),
        (["--attention_backend=FLASHINFER"], BACKEND, "FLASHINFER"),
        (["--attention-config.backend", "FLASHINFER"], BACKEND, "FLASHINFER"),
        (["-ac.backend=FLASHINFER"], BACKEND, "FLASHINFER"),
        (["-ac", '{"backend": "FLASHINFER", "flash_attn_version": 3}'], BACKEND, "FLASHINFER"),
        (['--attention-config={"backend": "FLASHINFER"}'], BACKEND, "FLASHINFER"),
        (["--block-size", "64"], PAGE_SIZE, "64"),
    ],
)
def test_vllms_spellings_are_known(words: list[str], choice: str, value: str) -> None:
    (found,) = written(["vllm", "serve", "M", *words], VLLM)
    assert (found.choice, found.value) == (choice, value)


@pytest.mark.parametrize(
    "words", [["--mm-attention-backend", "fa3"], ["--speculative-draft-attention-backend", "fa3"], ["-p", "1"], ["--", "-"], ["page-size"]]
)
def test_other_options_choose_nothing(words: list[str]) -> None:
    assert written(words, SGLANG) == ()


def test_another_key_of_an_object_chooses_no_backend() -> None:
    assert written(["-ac", '{"use_trtllm_attention": false}', "-ac.flash_attn_version", "3"], VLLM) == ()


@pytest.mark.parametrize("text", ["attention-backend: triton\npage-size: 64\n", "{attention-backend: triton, page-size: 64}"])
def test_a_configuration_file_counts_after_the_command_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "server.yaml").write_text(text)
    found = written(["sglang", "serve", "--config", str(tmp_path / "server.yaml"), "--attention-backend", "fa3"], SGLANG)
    assert [(each.choice, each.value, each.place) for each in found] == [
        (BACKEND, "fa3", "the command line"),
        (BACKEND, "triton", "server.yaml"),
        (PAGE_SIZE, "64", "server.yaml"),
    ]


def test_a_nested_object_of_a_configuration_file_counts(tmp_path: Path) -> None:
    (tmp_path / "server.yaml").write_text("attention-config: {backend: FLASHINFER}\n")
    (found,) = written(["vllm", "serve", "M", "--config", str(tmp_path / "server.yaml")], VLLM)
    assert (found.choice, found.value) == (BACKEND, "FLASHINFER")


def test_a_file_that_the_engine_passes_over_is_named_and_not_read(tmp_path: Path) -> None:
    (tmp_path / "server.yaml").write_text("attention-backend: triton\n")
    word = f"--config={tmp_path / 'server.yaml'}"
    assert written(["sglang", "serve", word], SGLANG) == () and unread_config(["sglang", "serve", word], SGLANG) == word


@pytest.mark.parametrize("content", [None, b"\xff\xfe", b": : :", b"- a list\n"])
def test_a_configuration_file_that_cannot_be_read_is_the_servers_to_refuse(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "server.yaml"
    if content is not None:
        path.write_bytes(content)
    assert written(["sglang", "serve", "--config", str(path)], SGLANG) == ()


@given(st.lists(st.text(max_size=30), max_size=8))
def test_no_command_line_breaks_the_reading(words: list[str]) -> None:
    for choices in (SGLANG, VLLM):
        assert all(each.choice in (BACKEND, PAGE_SIZE, KV_DTYPE) for each in written(words, choices))
